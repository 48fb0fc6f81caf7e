/* The exact sum, the hull and the complete set by number of ranks, beside a plain loop and
   mpfr_sum: one JSON line each, nanoseconds a call, median of many. Loss-like fp32 values from a
   fixed seed. */
#include "exact.h"
#include "hull.h"
#include "reach.h"
#include "rng.h"

#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    RANKS_MAX = 16,
    SET_RANKS_MAX = 8,
    SET_BYTES = 4096, /* of scratch, times the number of subsets */
    ROUNDS = 41
};

struct input {
    uint32_t n;
    float value[RANKS_MAX];
    uint64_t bits[RANKS_MAX];
    mpfr_t number[RANKS_MAX];
    mpfr_ptr pointer[RANKS_MAX];
    mpfr_t sum;
    struct alar_range *range;
    void *room;  /* for the set */
    double sink; /* what was computed, so that it is */
};

static double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void plain(struct input *input)
{
    float sum = input->value[0];

    for (uint32_t i = 1; i < input->n; i++) {
        sum += input->value[i];
    }
    input->sink += (double)sum;
}

static void exact(struct input *input)
{
    input->sink += (double)alar_exact_sum_f32(input->value, input->n);
}

static void mpfr(struct input *input)
{
    mpfr_sum(input->sum, input->pointer, input->n, MPFR_RNDN);
    input->sink += mpfr_get_d(input->sum, MPFR_RNDN);
}

static void hull(struct input *input)
{
    const struct alar_adder adder = {.dtype = ALAR_F32, .wide = ALAR_F32, .model = ALAR_NEAREST};
    struct alar_hull made;

    alar_hull_build(&made, adder, input->bits, input->n, input->range);
    input->sink += input->range[(UINT32_C(1) << input->n) - 1].low;
}

static void set(struct input *input)
{
    const struct alar_adder adder = {.dtype = ALAR_F32, .wide = ALAR_F32, .model = ALAR_NEAREST};
    const struct alar_scratch scratch = {input->room, (size_t)SET_BYTES << input->n};
    struct alar_reach made;

    if (alar_reach_any(&made, adder, input->bits, input->n, UINT64_MAX, scratch) != ALAR_OK) {
        fprintf(stderr, "sums: the set of %u ranks does not fit\n", input->n);
        exit(2);
    }
    input->sink += alar_reach_count(&made);
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;

    return (left > right) - (left < right);
}

static void measure(const char *what, struct input *input, int calls, void (*call)(struct input *))
{
    double each[ROUNDS];

    for (int round = 0; round < ROUNDS; round++) {
        double start = now_ns();

        for (int i = 0; i < calls; i++) {
            input->value[0] += 0x1p-20F; /* so that no call can be left out */
            call(input);
        }
        each[round] = (now_ns() - start) / calls;
    }
    qsort(each, ROUNDS, sizeof(each[0]), compare);
    printf("{\"what\":\"%s\",\"n\":%u,\"ns\":%.1f}\n", what, input->n, each[ROUNDS / 2]);
}

static void fill(struct input *input, uint32_t n, struct alar_rng *rng)
{
    input->n = n;
    for (uint32_t i = 0; i < n; i++) {
        input->value[i] = 1.0F + 11.0F * (float)alar_rng_unit(rng);
        input->bits[i] = alar_fp_from_double(ALAR_F32, (double)input->value[i]);
        mpfr_set_d(input->number[i], (double)input->value[i], MPFR_RNDN);
    }
}

int main(void)
{
    struct input input = {.range = calloc(UINT32_C(1) << RANKS_MAX, sizeof(*input.range)),
                          .room = malloc((size_t)SET_BYTES << SET_RANKS_MAX)};
    struct alar_rng rng = alar_rng_stream(20261129, 0);

    if (input.range == NULL || input.room == NULL) {
        return 2;
    }
    mpfr_init2(input.sum, 24);
    for (int i = 0; i < RANKS_MAX; i++) {
        mpfr_init2(input.number[i], 24);
        input.pointer[i] = input.number[i];
    }
    for (uint32_t n = 2; n <= RANKS_MAX; n *= 2) {
        fill(&input, n, &rng);
        measure("plain loop", &input, 20000, plain);
        measure("exact sum", &input, 20000, exact);
        measure("mpfr_sum", &input, 2000, mpfr);
        measure("hull", &input, n < 16 ? 200 : 1, hull);
        if (n <= SET_RANKS_MAX) {
            measure("set", &input, n < 8 ? 200 : 1, set);
        }
    }
    fprintf(stderr, "checksum %g\n", input.sink);
    free(input.room);
    free(input.range);
    return 0;
}

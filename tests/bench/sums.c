/* The exact sum, the hull and the complete set by number of ranks, beside a plain loop and
   mpfr_sum: one JSON line each, nanoseconds a call, median of many. Loss-like values from a fixed
   seed, in fp32 where nothing else is said. */
#include "base/rng.h"
#include "legal/hull.h"
#include "legal/reachable.h"
#include "numbers/exact.h"

#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    RANKS_MAX = 16,
    SET_RANKS = 12,
    SET_BYTES = 4 << 20,
    ROUNDS = 41
};

struct input {
    uint32_t n;
    float value[RANKS_MAX];
    uint64_t bits[RANKS_MAX];
    mpfr_t number[RANKS_MAX];
    mpfr_ptr pointer[RANKS_MAX];
    mpfr_t sum;
    enum alar_dtype dtype; /* of bits */
    struct alar_range *range;
    void *memory; /* for sets */
    double sink;  /* what was computed, so that it is */
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
    input->sink += (double)alar_exact_sum(ALAR_F32, input->bits, input->n);
}

static void mpfr(struct input *input)
{
    mpfr_sum(input->sum, input->pointer, input->n, MPFR_RNDN);
    input->sink += mpfr_get_d(input->sum, MPFR_RNDN);
}

static void hull(struct input *input)
{
    const struct alar_adder adder = {input->dtype, input->dtype, ALAR_NEAREST, false};
    struct alar_hull made;

    alar_hull_build(&made, adder, input->bits, input->n, input->range);
    input->sink += input->range[(UINT32_C(1) << input->n) - 1].low;
}

static void set(struct input *input)
{
    const struct alar_adder adder = {input->dtype, input->dtype, ALAR_NEAREST, false};
    const struct alar_scratch scratch = {input->memory, SET_BYTES};
    struct alar_reachable made;

    if (alar_reachable_any(&made, adder, input->bits, input->n, UINT64_MAX, scratch) != ALAR_OK) {
        exit(2);
    }
    input->sink += (double)made.values;
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

static void fill_bits(struct input *input, enum alar_dtype dtype)
{
    input->dtype = dtype;
    for (uint32_t i = 0; i < input->n; i++) {
        input->bits[i] = alar_fp_from_double(dtype, (double)input->value[i]);
    }
}

static void fill(struct input *input, uint32_t n, struct alar_rng *rng)
{
    input->n = n;
    for (uint32_t i = 0; i < n; i++) {
        input->value[i] = 1.0F + 11.0F * (float)alar_rng_unit(rng);
        mpfr_set_d(input->number[i], (double)input->value[i], MPFR_RNDN);
    }
    fill_bits(input, ALAR_F32);
}

int main(void)
{
    static const uint32_t sizes[] = {2, 4, 8, SET_RANKS, RANKS_MAX};
    static const struct {
        enum alar_dtype dtype;
        const char *hull, *set;
    } dtypes[] = {{ALAR_F16, "hull f16", "set f16"},
                  {ALAR_BF16, "hull bf16", "set bf16"},
                  {ALAR_F32, "hull f32", "set"}};
    struct input input = {.range = calloc(UINT32_C(1) << RANKS_MAX, sizeof(*input.range)),
                          .memory = malloc(SET_BYTES)};
    struct alar_rng rng = alar_rng_stream(20261129, 0);

    if (input.range == NULL || input.memory == NULL) {
        return 2;
    }
    mpfr_init2(input.sum, 24);
    for (int i = 0; i < RANKS_MAX; i++) {
        mpfr_init2(input.number[i], 24);
        input.pointer[i] = input.number[i];
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint32_t n = sizes[i];

        fill(&input, n, &rng);
        measure("plain loop", &input, 20000, plain);
        measure("exact sum", &input, 20000, exact);
        measure("mpfr_sum", &input, 2000, mpfr);
        measure("hull", &input, n < SET_RANKS ? 200 : 1, hull);
        if (n < SET_RANKS) {
            continue;
        }
        for (unsigned k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
            fill_bits(&input, dtypes[k].dtype);
            measure(dtypes[k].hull, &input, 1, hull);
            if (n == SET_RANKS) {
                measure(dtypes[k].set, &input, 1, set);
            }
        }
    }
    fprintf(stderr, "checksum %g\n", input.sink);
    free(input.range);
    free(input.memory);
    return 0;
}

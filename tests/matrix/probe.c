/* What one configuration of an MPI library does with sums and with NaN, asked in plain MPI:

       probe sum SEED RUN sync|async     prints calls, disagree, changed, twin, digest, nan_sum
       probe nan SEED RUN sync|async     prints nan_max, nan_min

   `disagree`: calls after which ranks held different bits (an MPI library must not). `changed`: of
   calls on an input summed before, those with other bits (it should not). `twin`: calls whose bits
   the other kind of call, blocking or not, did not give (it may). `digest`: of all results, to hold
   against another RUN, in which other ranks come late. NaN of one rank is kept, lost, or gives
   ranks different answers. */
#define _GNU_SOURCE
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    COUNT_MOST = 1024,
    INPUTS = 8, /* for each count */
    CALLS = 3,  /* on each input */
    LATE_US = 150
};

static int rank, ranks, is_sync;
static uint64_t state;
static long calls, disagree, changed, repeated, twin;
static uint64_t digest = 1469598103934665603U;

static uint64_t draw(uint64_t *from)
{
    uint64_t z = *from += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* Loss sums, mean losses, values about zero, and mixed exponents, by turns. */
static float value(uint64_t *from, int kind)
{
    float unit = (float)(draw(from) >> 40) * 0x1p-24F;

    switch (kind % 4) {
    case 0:
        return 2000 + 500 * unit;
    case 1:
        return 2.3F + 0.1F * unit;
    case 2:
        return 2 * unit - 1;
    default:
        return ldexpf(2 * unit - 1, (int)(draw(from) % 31) - 15);
    }
}

/* Another rank comes late each time, and another one in another run. */
static void late(long run)
{
    struct timespec rest = {0, LATE_US * 1000};

    if ((calls * 7 + run * 3) % ranks == rank) {
        nanosleep(&rest, NULL);
    }
}

static void reduce(int is_blocking, const float *in, float *out, int count, MPI_Op op)
{
    MPI_Request request;

    if (is_blocking) {
        MPI_Allreduce(in, out, count, MPI_FLOAT, op, MPI_COMM_WORLD);
        return;
    }
    MPI_Iallreduce(in, out, count, MPI_FLOAT, op, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* What is true on any rank, by messages that no all-reduce carries. */
static int anywhere(int mine)
{
    int *all = calloc((size_t)ranks, sizeof(int));
    int any = 0;

    MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int k = 0; k < ranks; k++) {
        any |= all[k];
    }
    free(all);
    return any;
}

/* Bits, but NaN is NaN whatever its payload. */
static int differ(const float *a, const float *b, int count)
{
    for (int k = 0; k < count; k++) {
        if (memcmp(&a[k], &b[k], sizeof(float)) != 0 && !(isnan(a[k]) && isnan(b[k]))) {
            return 1;
        }
    }
    return 0;
}

/* Does any rank hold other bits than rank 0? */
static int ranks_differ(const float *out, int count)
{
    static float first[COUNT_MOST];

    memcpy(first, out, (size_t)count * sizeof(float));
    MPI_Bcast(first, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
    return anywhere(differ(first, out, count));
}

static void sums(int count, long run)
{
    static float in[COUNT_MOST], out[COUNT_MOST], kept[COUNT_MOST], other[COUNT_MOST];

    for (int input = 0; input < INPUTS; input++) {
        uint64_t own = draw(&state) + (uint64_t)rank * 977;

        for (int k = 0; k < count; k++) {
            in[k] = value(&own, input);
        }
        for (int call = 0; call < CALLS; call++) {
            late(run);
            reduce(is_sync, in, out, count, MPI_SUM);
            calls++;
            disagree += ranks_differ(out, count);
            if (call == 0) {
                memcpy(kept, out, sizeof(kept));
            } else {
                repeated++;
                changed += anywhere(differ(kept, out, count));
            }
            for (int k = 0; k < count; k++) {
                uint32_t bits;

                memcpy(&bits, &out[k], sizeof(bits));
                digest = (digest ^ bits) * UINT64_C(1099511628211);
            }
        }
        reduce(!is_sync, in, other, count, MPI_SUM);
        twin += anywhere(differ(kept, other, count));
    }
}

/* One rank after the other contributes NaN, the others their number. */
static const char *nans(MPI_Op op)
{
    static const int counts[] = {1, 9};
    float in[9], out[9];
    int lost = 0, apart = 0;

    for (int bad = 0; bad < ranks; bad++) {
        for (int c = 0; c < 2; c++) {
            int mine = 0;

            for (int k = 0; k < counts[c]; k++) {
                in[k] = rank == bad ? NAN : (float)(rank + 1);
            }
            reduce(is_sync, in, out, counts[c], op);
            for (int k = 0; k < counts[c]; k++) {
                mine |= !isnan(out[k]);
            }
            lost |= anywhere(mine);
            apart |= ranks_differ(out, counts[c]);
        }
    }
    return apart ? "ranks differ" : lost ? "lost" : "kept";
}

int main(int argc, char **argv)
{
    static const int counts[] = {1, 2, COUNT_MOST};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 5) {
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    state = strtoull(argv[2], NULL, 10);
    is_sync = strcmp(argv[4], "sync") == 0;
    if (strcmp(argv[1], "sum") == 0) {
        const char *sum = nans(MPI_SUM);

        for (int c = 0; c < 3; c++) {
            sums(counts[c], strtol(argv[3], NULL, 10));
        }
        if (rank == 0) {
            printf("calls=%ld disagree=%ld repeated=%ld changed=%ld twin=%ld digest=%016llx\n",
                   calls, disagree, repeated, changed, twin, (unsigned long long)digest);
            printf("nan_sum='%s'\n", sum);
        }
    } else {
        const char *max = nans(MPI_MAX);
        const char *min = nans(MPI_MIN);

        if (rank == 0) {
            printf("nan_max='%s' nan_min='%s'\n", max, min);
        }
    }
    MPI_Finalize();
    return 0;
}

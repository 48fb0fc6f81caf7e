/* The generator: the same everywhere, streams apart, draws without bias. */
#include "base/rng.h"

#include <criterion/criterion.h>
#include <signal.h>

/* A printed seed must mean the same run on another machine: the sequence of splitmix64 from state 0
   is published with the algorithm, and fold(seed, i) is its i-th output. */
Test(rng, fold_is_splitmix64)
{
    cr_assert_eq(alar_rng_fold(0, 0), UINT64_C(0xe220a8397b1dcdaf));
    cr_assert_eq(alar_rng_fold(0, 1), UINT64_C(0x6e789e6aa1b965f4));
    cr_assert_eq(alar_rng_fold(0, 2), UINT64_C(0x06c45d188009454f));
}

/* The published reference: xoshiro256** from state 1, 2, 3, 4. */
Test(rng, next_is_xoshiro256)
{
    struct alar_rng rng = {{1, 2, 3, 4}};

    cr_assert_eq(alar_rng_next(&rng), UINT64_C(11520));
    cr_assert_eq(alar_rng_next(&rng), 0);
    cr_assert_eq(alar_rng_next(&rng), UINT64_C(1509978240));
    cr_assert_eq(alar_rng_next(&rng), UINT64_C(1215971899390074240));
}

/* Drawing for one purpose must not change another: streams with neighbouring numbers differ. */
Test(rng, streams_are_reproducible_and_apart)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct alar_rng a = alar_rng_stream(seed, 1);
        struct alar_rng again = alar_rng_stream(seed, 1);
        struct alar_rng other = alar_rng_stream(seed, 2);
        int equal = 0;

        for (int i = 0; i < 100; i++) {
            uint64_t value = alar_rng_next(&a);

            cr_assert_eq(value, alar_rng_next(&again));
            equal += value == alar_rng_next(&other);
        }
        cr_assert_eq(equal, 0, "seed %llu", (long long)seed);
    }
}

/* Every value below the bound comes, none at or above it, and none much more often: with 6000 draws
   a share of 1/6 lies within 850 .. 1150 but for one in 10^7 seeds. */
Test(rng, below_is_uniform)
{
    struct alar_rng rng = alar_rng_stream(7, 0);
    int seen[6] = {0};

    for (int i = 0; i < 6000; i++) {
        uint64_t value = alar_rng_below(&rng, 6);

        cr_assert_lt(value, 6);
        seen[value]++;
    }

    for (int i = 0; i < 6; i++) {
        cr_assert(seen[i] > 850 && seen[i] < 1150, "%d came %d times", i, seen[i]);
    }
}

/* A bound just above 2^63 rejects nearly half of all draws: without that, values below 2^63 - 1
   would come twice as often as the others. */
Test(rng, below_has_no_bias_at_great_bounds)
{
    struct alar_rng rng = alar_rng_stream(8, 0);
    uint64_t bound = (UINT64_C(3) << 62);
    int low = 0;

    for (int i = 0; i < 9000; i++) {
        low += alar_rng_below(&rng, bound) < UINT64_C(1) << 62;
    }

    cr_assert(low > 2700 && low < 3300, "%d of 9000 in the lowest third", low);
}

Test(rng, below_one_is_zero)
{
    struct alar_rng rng = alar_rng_stream(9, 0);

    for (int i = 0; i < 10; i++) {
        cr_assert_eq(alar_rng_below(&rng, 1), 0);
    }
}

Test(rng, below_nothing_is_refused, .signal = SIGABRT)
{
    struct alar_rng rng = alar_rng_stream(9, 0);

    (void)alar_rng_below(&rng, 0);
}

/* Units lie in [0, 1) on both sides of the middle. */
Test(rng, units_are_below_one)
{
    struct alar_rng rng = alar_rng_stream(10, 0);
    int low = 0;

    for (int i = 0; i < 1000; i++) {
        double unit = alar_rng_unit(&rng);

        cr_assert(unit >= 0.0 && unit < 1.0);
        low += unit < 0.5;
    }
    cr_assert(low > 400 && low < 600, "%d of 1000 below a half", low);
}

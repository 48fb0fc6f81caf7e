/* Floats by the many: the same sums and counts as one by one. */
#include "numbers/exact.h"
#include "tests/lib/demand.h"
#include "tests/lib/draw.h"

#include <string.h>

enum {
    SEED = 77034
};

/* Floats by the many are floats one by one, NaN, infinities and zeros of both signs included, over
   more of them than a bin holds. spec: N-11 */
Test(exact_floats, many_floats_are_single_floats)
{
    static float value[1000];
    static uint8_t mask[1000];
    struct draw draw = {SEED};

    for (int round = 0; round < 300; round++) {
        enum draw_family family = (enum draw_family)draw_below(&draw, DRAW_FAMILY_COUNT);
        struct alar_exact single = {.terms = 0};
        struct alar_exact many = {.terms = 0};
        uint32_t n = draw_below(&draw, 1001);
        uint64_t bits[1000];

        draw_values(&draw, family, ALAR_F32, bits, n);
        for (uint32_t i = 0; i < n; i++) {
            static const uint32_t special[] = {0, 0x80000000, 0x7fc00000, 0x7f800000, 0xff800000,
                                               1, 0x807fffff, 0x7f7fffff, 0xff7fffff};
            uint32_t narrow = draw_below(&draw, 8) ? (uint32_t)bits[i] : special[round % 9];

            memcpy(&value[i], &narrow, sizeof(narrow));
            mask[i] = draw_below(&draw, 4) > 0;
            if (mask[i]) {
                alar_exact_add(&single, ALAR_F32, narrow);
            }
        }
        alar_exact_add_floats(&many, value, mask, n);
        struct alar_exact_magnitude a, b;
        alar_exact_magnitude(&single, &a);
        alar_exact_magnitude(&many, &b);
        demand(memcmp(a.digit, b.digit, sizeof(a.digit)) == 0 && a.is_negative == b.is_negative,
               "seed %d, round %d: another sum", SEED, round);
        demand(single.terms == many.terms && single.minus_zeros == many.minus_zeros &&
                   single.nans == many.nans && single.infinities[0] == many.infinities[0] &&
                   single.infinities[1] == many.infinities[1],
               "seed %d, round %d: other counts", SEED, round);
    }
}

/* All at once the largest, as often as a bin must be emptied in time. */
Test(exact_floats, bins_do_not_overflow)
{
    static float value[4096];
    static uint8_t mask[4096];
    struct alar_exact sum = {.terms = 0};

    for (size_t i = 0; i < 4096; i++) {
        value[i] = -0x1.fffffep127F;
        mask[i] = 1;
    }
    alar_exact_add_floats(&sum, value, mask, 4096);
    cr_assert_eq(alar_exact_round(&sum, 4096, ALAR_F32, ALAR_NEAREST), 0xff7fffff);
}

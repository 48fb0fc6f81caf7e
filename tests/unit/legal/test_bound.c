/* The bounds hold over every tree: proved in the numerics note, tried here in toy precisions where
   they are attained, and in the real dtypes against the exact hull. */
#include "legal/bound.h"
#include "legal/hull.h"
#include "numbers/exact.h"
#include "tests/lib/draw.h"

#include <criterion/criterion.h>
#include <math.h>

enum {
    SEED = 20605,
    FEW = 5,
    RANKS = 10
};

static const enum alar_dtype floats[] = {ALAR_F16, ALAR_BF16, ALAR_F32, ALAR_F64};

/* Rounds to nearest even with a toy precision, exponents unbounded. */
static double toy_round(double value, int precision)
{
    int exponent;
    double fraction = frexp(value, &exponent);

    return ldexp(nearbyint(ldexp(fraction, precision)), exponent - precision);
}

/* The worst distance from the exact sum over every tree on the values. */
static double toy_worst(const double *value, uint32_t n, double exact, int precision)
{
    double worst = 0;

    if (n == 1) {
        return fabs(value[0] - exact);
    }
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = i + 1; j < n; j++) {
            double left[FEW];
            uint32_t count = 0;
            for (uint32_t k = 0; k < n; k++) {
                if (k != i && k != j) {
                    left[count++] = value[k];
                }
            }
            left[count] = toy_round(value[i] + value[j], precision);
            worst = fmax(worst, toy_worst(left, n - 1, exact, precision));
        }
    }
    return worst;
}

/* Toy precisions 2, 3 and 4: no order of any drawn input leaves either bound, and the sharp one is
   attained, so no smaller constant would do. spec: N-14 */
Test(bound, holds_over_every_tree_in_toy_precisions)
{
    struct draw draw = {SEED};
    double scratch[FEW];
    unsigned attained = 0;

    for (int round = 0; round < DRAWN(6000); round++) {
        int precision = 2 + round % 3;
        uint32_t n = 2 + draw_below(&draw, FEW - 1);
        double value[FEW];
        double exact = 0;
        double magnitude = 0;
        for (uint32_t i = 0; i < n; i++) {
            double sign = draw_below(&draw, 3) ? 1 : -1;
            double digits = (double)draw_below(&draw, 1u << precision);
            value[i] = sign * ldexp(digits, (int)draw_below(&draw, 4));
            exact += value[i];
            magnitude += fabs(value[i]);
        }
        double worst = toy_worst(value, n, exact, precision);
        double sharp = alar_bound_sharp(value, n, precision, scratch);
        double classic = alar_bound_classic(magnitude, n, precision);

        cr_assert(worst <= sharp, "seed %d round %d: %a > %a", SEED, round, worst, sharp);
        cr_assert(worst <= classic, "seed %d round %d: %a > %a", SEED, round, worst, classic);
        attained += worst > 0 && worst >= sharp * (1 - 0x1p-30);
    }
    cr_assert(attained > DRAWN(50), "attained %u times", attained);
}

/* The sharp bound by hand: |x| = 4, 3, 1; Q = 4, 7, 7 (the -1 is of the other sign), P = 4, 7, 8;
   with u = 1/8, Z_2 = 7 and Z_3 = 8: u (4 + 8). One leaf less of error and Z_3 would stay below 8.
 */
Test(bound, sharp_bound_by_hand)
{
    const double value[] = {3, -1, 4};
    double scratch[3];
    double bound = alar_bound_sharp(value, 3, 3, scratch);

    cr_assert(bound >= 1.5 && bound < 1.5 + 0x1p-30);
    bound = alar_bound_sharp(value, 3, 4, scratch);
    cr_assert(bound >= 0.5 && bound < 0.5 + 0x1p-30);
}

/* What is proven without the sharp bound is proven with it: the radius is never narrower, and all
   else is the same. spec: N-14, N-15 */
Test(bound, estimate_is_never_narrower)
{
    struct draw draw = {SEED + 3};
    double scratch[2 * RANKS];
    unsigned wider = 0;

    for (int round = 0; round < DRAWN(8000); round++) {
        enum alar_dtype dtype = floats[round % 4];
        struct alar_adder adder = {dtype, dtype, (enum alar_model)draw_below(&draw, 5), false};
        uint32_t n = 1 + draw_below(&draw, RANKS);
        uint64_t bits[RANKS];
        struct alar_bound sharp, estimate;
        draw_values(&draw, (enum draw_family)draw_below(&draw, DRAW_FAMILY_COUNT), dtype, bits, n);

        alar_bound_evaluate(&sharp, adder, bits, n, n - 1, scratch);
        alar_bound_estimate(&estimate, adder, bits, n, n - 1, scratch);

        cr_assert_eq(sharp.is_order_free, estimate.is_order_free, "round %d", round);
        cr_assert_eq(sharp.granularity, estimate.granularity, "round %d", round);
        cr_assert_eq(sharp.only, estimate.only, "round %d", round);
        cr_assert_eq(sharp.can_overflow, estimate.can_overflow, "round %d", round);
        cr_assert(sharp.is_valid || !estimate.is_valid, "round %d", round);
        cr_assert(!sharp.is_valid || sharp.radius <= estimate.radius, "round %d", round);
        wider += sharp.is_valid && sharp.radius < estimate.radius;
    }
    cr_assert_gt(wider, DRAWN(1000));
}

/* In every dtype and model the ends of the exact hull are inside the radius, unless the bound says
   that it does not hold. spec: N-14 */
Test(bound, contains_the_hull)
{
    struct draw draw = {SEED + 1};
    static struct alar_range range[1 << RANKS];
    double scratch[2 * RANKS];
    unsigned valid = 0;

    for (int round = 0; round < DRAWN(4000); round++) {
        enum alar_dtype dtype = floats[round % 4];
        struct alar_adder adder = {dtype, dtype, (enum alar_model)draw_below(&draw, 5), false};
        uint32_t n = 2 + draw_below(&draw, round % 50 ? 5 : RANKS - 1);
        uint64_t bits[RANKS];
        struct alar_bound bound;
        struct alar_hull hull;
        adder.wide = draw_below(&draw, 4) ? dtype : floats[2 + draw_below(&draw, 2)];
        draw_values(&draw, (enum draw_family)draw_below(&draw, DRAW_FAMILY_COUNT), dtype, bits, n);
        alar_bound_evaluate(&bound, adder, bits, n, n - 1, scratch);
        alar_hull_build(&hull, adder, bits, n, range);
        struct alar_range all = range[(1u << n) - 1];
        uint64_t low = alar_adder_store(adder, alar_fp_from_double(adder.wide, all.low));
        uint64_t high = alar_adder_store(adder, alar_fp_from_double(adder.wide, all.high));

        valid += bound.is_valid;
        cr_assert(!bound.is_valid || bound.can_overflow ||
                  (alar_fp_is_finite(dtype, low) && alar_fp_is_finite(dtype, high)));
        if (bound.is_valid && alar_fp_is_finite(dtype, low) && alar_fp_is_finite(dtype, high)) {
            cr_assert(alar_bound_admits(&bound, dtype, bits, n, low), "seed %d round %d", SEED + 1,
                      round);
            cr_assert(alar_bound_admits(&bound, dtype, bits, n, high), "seed %d round %d", SEED + 1,
                      round);
            cr_assert(alar_bound_is_multiple(dtype, low, bound.granularity) ||
                      adder.model == ALAR_FLUSH);
        }
        if (bound.is_order_free) {
            cr_assert(alar_fp_ulps(dtype, low, high) == 0, "seed %d round %d", SEED + 1, round);
            cr_assert(alar_fp_ulps(dtype, low, bound.only) == 0);
        }
    }
    cr_assert(valid > DRAWN(2000), "%u", valid);
}

/* The same of products; what is order-free has one value. spec: N-30 */
Test(bound, contains_the_hull_of_products)
{
    struct draw draw = {SEED + 7};
    static struct alar_range range[1 << RANKS];
    double scratch[2 * RANKS];
    unsigned valid = 0, only = 0;

    for (int round = 0; round < DRAWN(8000); round++) {
        enum alar_dtype dtype = floats[round % 4];
        struct alar_adder adder = {dtype, dtype, (enum alar_model)draw_below(&draw, 5), true};
        uint32_t n = 2 + draw_below(&draw, round % 50 ? 5 : RANKS - 1);
        uint64_t bits[RANKS], low, high;
        struct alar_bound bound;
        struct alar_hull hull;
        adder.wide = draw_below(&draw, 4) ? dtype : floats[2 + draw_below(&draw, 2)];
        draw_values(&draw, (enum draw_family)draw_below(&draw, DRAW_FAMILY_COUNT), dtype, bits, n);
        alar_bound_evaluate(&bound, adder, bits, n, n - 1, scratch);
        alar_hull_build(&hull, adder, bits, n, range);
        if (!alar_hull_ends(&hull, &low, &high)) {
            continue;
        }

        bool is_finite = alar_fp_is_finite(dtype, low) && alar_fp_is_finite(dtype, high);
        if (bound.is_valid && is_finite && low <= high) {
            valid++;
            cr_assert(alar_bound_admits(&bound, dtype, bits, n, low), "seed %d round %d", SEED + 7,
                      round);
            cr_assert(alar_bound_admits(&bound, dtype, bits, n, high), "seed %d round %d", SEED + 7,
                      round);
        }
        cr_assert(!bound.is_valid || bound.can_overflow || is_finite, "round %d", round);
        if (bound.is_order_free) {
            only++;
            cr_assert(alar_fp_ulps(dtype, low, high) == 0, "seed %d round %d", SEED + 7, round);
            cr_assert(alar_fp_ulps(dtype, low, bound.only) == 0);
        }
    }
    cr_assert(valid > DRAWN(2000) && only > DRAWN(100), "%u %u", valid, only);
}

/* One factor of 0 among others that round leaves one value, a zero of the sign that all signs give;
   and one factor alone is its own product, however many digits it has. spec: N-30 */
Test(bound, a_zero_or_a_single_factor_leaves_one_value)
{
    double scratch[2 * RANKS];

    for (int round = 0; round < 4 * 5 * 4; round++) {
        enum alar_dtype dtype = floats[round % 4];
        struct alar_adder adder = {dtype, dtype, ALAR_NEAREST, true};
        uint32_t n = 1 + (uint32_t)round / 4 % 5;
        bool is_negative = round / 20 % 2 != 0;
        bool has_zero = round / 40 % 2 != 0;
        uint64_t bits[RANKS];
        struct alar_bound bound;

        for (uint32_t i = 0; i < n; i++) {
            bits[i] = alar_fp_from_double(dtype, 2.0) - 1; /* all digits of its significand */
        }
        bits[n / 2] = has_zero ? 0 : bits[n / 2];
        bits[0] = is_negative ? alar_fp_negate(dtype, bits[0]) : bits[0];
        alar_bound_evaluate(&bound, adder, bits, n, n - 1, scratch);

        cr_assert(bound.is_valid, "round %d", round);
        cr_assert_eq(bound.is_order_free, has_zero || n == 1, "round %d", round);
        if (bound.is_order_free) {
            cr_assert_eq(bound.only,
                         has_zero ? (is_negative ? alar_fp_negate(dtype, 0) : 0) : bits[0]);
        }
        if (!has_zero) {
            cr_assert_geq(bound.most, fabs(alar_fp_to_double(dtype, bits[0])));
            cr_assert_leq(bound.least, pow(fabs(alar_fp_to_double(dtype, bits[n - 1])), n));
        }
    }
}

/* A value just outside the radius is refused: the bound can say no. spec: N-14 */
Test(bound, refuses_what_is_outside)
{
    struct draw draw = {SEED + 2};
    const struct alar_adder adder = {ALAR_F32, ALAR_F32, ALAR_NEAREST, false};
    static uint64_t bits[1000];
    static double scratch[2000];

    for (uint32_t n = 2; n <= 1000; n = n * 3 / 2 + 1) {
        struct alar_bound bound;
        draw_values(&draw, DRAW_LOSS, ALAR_F32, bits, n);
        alar_bound_evaluate(&bound, adder, bits, n, n - 1, scratch);
        uint64_t sum = alar_exact_sum(ALAR_F32, bits, n);
        double edge = alar_fp_to_double(ALAR_F32, sum) + bound.radius;
        uint64_t outside = alar_fp_from_double(ALAR_F32, edge) + 2;

        cr_assert(bound.is_valid);
        cr_assert(bound.sharp < bound.classic || n == 2);
        cr_assert(alar_bound_admits(&bound, ALAR_F32, bits, n, sum));
        cr_assert_not(alar_bound_admits(&bound, ALAR_F32, bits, n, outside));
        alar_bound_evaluate(&bound, adder, bits, n, 1, scratch);
        cr_assert(n == 2 || bound.radius < bound.sharp);
    }
}

/* Token counts below 2^24 are order-free in f32, above they are not. spec: N-15 */
Test(bound, certificate_knows_where_rounding_starts)
{
    const struct alar_adder adder = {ALAR_F32, ALAR_F32, ALAR_NEAREST, false};
    uint64_t bits[8];
    double scratch[16];
    struct alar_bound bound;

    for (int i = 0; i < 8; i++) {
        bits[i] = alar_fp_from_double(ALAR_F32, 0x1p21 - (i == 0));
    }
    alar_bound_evaluate(&bound, adder, bits, 8, 7, scratch);
    cr_assert(bound.is_order_free);
    cr_assert_eq(bound.only, alar_fp_from_double(ALAR_F32, 0x1p24 - 1));
    cr_assert_eq(bound.granularity, 0);
    bits[0] = alar_fp_from_double(ALAR_F32, 0x1p21 + 1);
    alar_bound_evaluate(&bound, adder, bits, 8, 7, scratch);
    cr_assert_not(bound.is_order_free);
    bits[0] = alar_fp_from_double(ALAR_F32, 0x1p21);
    alar_bound_evaluate(&bound, adder, bits, 8, 7, scratch);
    cr_assert(bound.is_order_free);
    cr_assert_eq(bound.granularity, 21);
}

/* Zeros, one value, and what is not finite. spec: N-15 */
Test(bound, edges)
{
    const struct alar_adder adder = {ALAR_F64, ALAR_F64, ALAR_NEAREST, false};
    const uint64_t minus = alar_dtype_sign(ALAR_F64);
    const uint64_t zeros[] = {minus, minus, minus};
    const uint64_t huge[] = {alar_fp_largest(ALAR_F64, false), alar_fp_largest(ALAR_F64, false)};
    const uint64_t bad[] = {0, alar_fp_nan(ALAR_F64)};
    double scratch[6];
    struct alar_bound bound;

    alar_bound_evaluate(&bound, adder, zeros, 3, 2, scratch);
    cr_assert(bound.is_valid && bound.is_order_free);
    cr_assert_eq(bound.only, minus);
    cr_assert_eq(bound.granularity, INT32_MAX);
    cr_assert(alar_bound_admits(&bound, ALAR_F64, zeros, 3, 0));
    cr_assert_not(alar_bound_admits(&bound, ALAR_F64, zeros, 3, 1));
    alar_bound_evaluate(&bound, adder, huge, 2, 1, scratch);
    cr_assert_not(bound.is_valid);
    alar_bound_evaluate(&bound, adder, huge, 1, 0, scratch);
    cr_assert(bound.is_order_free);
    cr_assert_eq(bound.only, huge[0]);
    alar_bound_evaluate(&bound, adder, bad, 2, 1, scratch);
    cr_assert_not(bound.is_valid || bound.is_order_free);
    cr_assert(alar_bound_is_multiple(ALAR_F64, 0, 100));
    cr_assert_not(alar_bound_is_multiple(ALAR_F64, alar_fp_bits(1.5), 0));
    cr_assert(alar_bound_is_multiple(ALAR_F64, alar_fp_bits(1.5), -1));
}

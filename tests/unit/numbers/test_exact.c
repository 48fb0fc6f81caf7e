/* Exact sums and means against MPFR, bit for bit, and against the rules of IEEE 754. */
#include "numbers/exact_wire.h"
#include "tests/lib/draw.h"
#include "tests/lib/means.h"

#include <criterion/criterion.h>
#include <math.h>
#include <mpfr.h>
#include <string.h>

enum {
    SEED = 20604,
    TERMS = 48,
    VECTORS = DRAWN(100000)
};

static const enum alar_dtype floats[] = {ALAR_F16, ALAR_BF16, ALAR_F32, ALAR_F64};

struct reference {
    mpfr_t term[TERMS];
    mpfr_ptr pointer[TERMS];
    mpfr_t total; /* wide enough to be exact */
    mpfr_t result;
};

static void reference_init(struct reference *reference, enum alar_dtype dtype)
{
    for (int i = 0; i < TERMS; i++) {
        mpfr_init2(reference->term[i], 53);
        reference->pointer[i] = reference->term[i];
    }
    mpfr_init2(reference->total, 2400);
    mpfr_init2(reference->result, alar_dtype_precision(dtype));
}

static void reference_clear(struct reference *reference)
{
    for (int i = 0; i < TERMS; i++) {
        mpfr_clear(reference->term[i]);
    }
    mpfr_clear(reference->total);
    mpfr_clear(reference->result);
    mpfr_free_cache();
}

/* mpfr_sum, or the exact sum divided by something else than 1, in the exponent range of the dtype:
   MPFR has no subnormals unless it is told. */
static uint64_t reference_run(struct reference *reference, enum alar_dtype dtype,
                              const uint64_t *bits, uint32_t n, uint64_t divisor)
{
    mpfr_exp_t emin = mpfr_get_emin();
    mpfr_exp_t emax = mpfr_get_emax();
    int ternary;

    for (uint32_t i = 0; i < n; i++) {
        mpfr_set_d(reference->term[i], alar_fp_to_double(dtype, bits[i]), MPFR_RNDN);
    }
    (void)mpfr_sum(reference->total, reference->pointer, n, MPFR_RNDN);
    double largest = alar_fp_to_double(dtype, alar_fp_largest(dtype, false));
    mpfr_set_emin(alar_dtype_lowest(dtype) + 1);
    mpfr_set_emax(ilogb(largest) + 1);
    ternary = divisor > 1 ? mpfr_div_ui(reference->result, reference->total, divisor, MPFR_RNDN)
                          : mpfr_sum(reference->result, reference->pointer, n, MPFR_RNDN);
    ternary = mpfr_check_range(reference->result, ternary, MPFR_RNDN);
    (void)mpfr_subnormalize(reference->result, ternary, MPFR_RNDN);
    double value = mpfr_get_d(reference->result, MPFR_RNDN);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    return alar_fp_from_double(dtype, value);
}

static void draw_hostile(struct draw *draw, int round, enum alar_dtype dtype, uint64_t *bits,
                         uint32_t n)
{
    draw_values(draw, (enum draw_family)(round % DRAW_FAMILY_COUNT), dtype, bits, n);
    for (uint32_t i = 0; round % 7 == 0 && i < n; i++) {
        uint64_t other;
        draw_values(draw, (enum draw_family)draw_below(draw, DRAW_FAMILY_COUNT), dtype, &other, 1);
        bits[i] = draw_below(draw, 2) ? other : bits[i];
    }
    for (uint32_t i = 0; round % 11 == 0 && i + 1 < n; i += 2) {
        bits[i + 1] = alar_fp_negate(dtype, bits[i]);
    }
    for (uint32_t i = 0; round % 13 == 0 && i < n; i++) {
        bits[i] = alar_dtype_sign(dtype) * (draw_below(draw, 6) > 0);
    }
    const uint64_t special[] = {alar_fp_nan(dtype), alar_fp_inf(dtype, false),
                                alar_fp_inf(dtype, true)};
    for (int i = 0; round % 17 == 0 && i < 2; i++) {
        bits[draw_below(draw, n)] = special[draw_below(draw, 3)];
    }
}

/* Below 2^32 the quotient is found digit by digit, above bit by bit: both sides, and the edge. */
static uint64_t draw_divisor(struct draw *draw)
{
    uint64_t edge = (UINT64_C(1) << 32) - 2 + draw_below(draw, 5);

    return draw_below(draw, 4) ? 1 + (draw_bits(draw) >> (1 + draw_below(draw, 62))) : edge;
}

static uint64_t quotient_of(enum alar_dtype dtype, const uint64_t *bits, uint32_t n,
                            uint64_t divisor)
{
    struct alar_exact exact;

    alar_exact_init(&exact);
    for (uint32_t i = 0; i < n; i++) {
        alar_exact_add(&exact, dtype, bits[i]);
    }
    return alar_exact_round(&exact, divisor, dtype, ALAR_NEAREST);
}

/* 100,000 vectors of each dtype; sum, mean, other quotients. spec: N-11, N-12 */
static void assert_as_mpfr(enum alar_dtype dtype)
{
    struct draw draw = {SEED + (uint64_t)dtype};
    struct reference reference;

    reference_init(&reference, dtype);
    for (int round = 0; round < VECTORS; round++) {
        uint64_t bits[TERMS];
        uint32_t n = 1 + draw_below(&draw, round % 10 ? 12 : TERMS);
        draw_hostile(&draw, round, dtype, bits, n);
        uint64_t sum = reference_run(&reference, dtype, bits, n, 1);
        uint64_t ours = alar_exact_sum(dtype, bits, n);

        cr_assert(ours == sum, "%s seed %d round %d: %llx, mpfr %llx", alar_dtype_name(dtype),
                  SEED + (int)dtype, round, (unsigned long long)ours, (unsigned long long)sum);
        if (round % 4 == 0) {
            uint64_t mean = reference_run(&reference, dtype, bits, n, n);
            ours = exact_mean(dtype, bits, n);
            cr_assert(ours == mean, "%s seed %d round %d: %llx, mpfr %llx", alar_dtype_name(dtype),
                      SEED + (int)dtype, round, (unsigned long long)ours, (unsigned long long)mean);
            uint64_t divisor = draw_divisor(&draw);
            mean = reference_run(&reference, dtype, bits, n, divisor);
            ours = quotient_of(dtype, bits, n, divisor);
            cr_assert(ours == mean, "%s seed %d round %d, by %llu: %llx, mpfr %llx",
                      alar_dtype_name(dtype), SEED + (int)dtype, round, (unsigned long long)divisor,
                      (unsigned long long)ours, (unsigned long long)mean);
        }
    }
    reference_clear(&reference);
}

Test(exact, f16_is_mpfr_bit_for_bit)
{
    assert_as_mpfr(ALAR_F16);
}

Test(exact, bf16_is_mpfr_bit_for_bit)
{
    assert_as_mpfr(ALAR_BF16);
}

Test(exact, f32_is_mpfr_bit_for_bit)
{
    assert_as_mpfr(ALAR_F32);
}

Test(exact, f64_is_mpfr_bit_for_bit)
{
    assert_as_mpfr(ALAR_F64);
}

/* Where floats are added in double the sum is that of the digits. */
Test(exact, sums_in_double_agree)
{
    struct draw draw = {SEED + 10};

    for (int round = 0; round < VECTORS; round++) {
        uint64_t bits[TERMS];
        uint32_t n = 1 + draw_below(&draw, TERMS);
        struct alar_exact exact;

        draw_hostile(&draw, round, ALAR_F32, bits, n);
        alar_exact_init(&exact);
        for (uint32_t i = 0; i < n; i++) {
            alar_exact_add(&exact, ALAR_F32, bits[i]);
        }
        uint64_t expected = alar_exact_round(&exact, 1, ALAR_F32, ALAR_NEAREST);
        cr_assert(alar_fp_is_same(ALAR_F32, expected, alar_exact_sum(ALAR_F32, bits, n)),
                  "seed %d round %d", SEED + 10, round);
    }
}

/* A sum that double would round, and so break the tie the wrong way, takes the long way: the width
   of the window is exact. */
Test(exact, the_window_of_double_is_not_stretched)
{
    const double value[] = {1, 0x1p-24, 0x1.000002p-31, -0x1p-31};
    uint64_t bits[4];

    for (int i = 0; i < 4; i++) {
        bits[i] = alar_fp_from_double(ALAR_F32, value[i]);
    }
    cr_assert_eq(alar_exact_sum(ALAR_F32, bits, 4), 0x3f800001u);
    cr_assert_eq(alar_exact_sum(ALAR_F32, bits, 2), 0x3f800000u);
}

/* A sum of small things is the same in any order and any grouping, also when merged. spec: N-11 */
Test(exact, merging_is_adding)
{
    struct draw draw = {SEED + 11};

    for (int round = 0; round < DRAWN(5000); round++) {
        enum alar_dtype dtype = floats[round % 4];
        uint64_t bits[TERMS];
        uint32_t order[TERMS];
        struct alar_exact whole;
        struct alar_exact part[3];
        draw_hostile(&draw, round, dtype, bits, TERMS);
        draw_order(&draw, order, TERMS);
        alar_exact_init(&whole);
        for (int i = 0; i < 3; i++) {
            alar_exact_init(&part[i]);
        }
        for (uint32_t i = 0; i < TERMS; i++) {
            alar_exact_add(&whole, dtype, bits[i]);
            alar_exact_add(&part[draw_below(&draw, 3)], dtype, bits[order[i]]);
        }
        alar_exact_merge(&part[0], &part[1]);
        alar_exact_merge(&part[0], &part[2]);

        uint64_t divisor = 1 + (draw_bits(&draw) >> (1 + draw_below(&draw, 62)));
        cr_assert_eq(alar_exact_round(&part[0], divisor, dtype, ALAR_NEAREST),
                     alar_exact_round(&whole, divisor, dtype, ALAR_NEAREST));
    }
}

/* Two billion additions of the largest value do not overflow a digit: carries come in time. */
Test(exact, carries_come_in_time)
{
    struct alar_exact sum;
    struct alar_exact twice;
    const uint64_t value = alar_fp_bits(-0x1.fffffffffffffp31);

    alar_exact_init(&sum);
    alar_exact_add(&sum, ALAR_F64, value);
    for (int i = 0; i < 40; i++) {
        twice = sum;
        alar_exact_merge(&sum, &twice);
    }
    cr_assert_eq(sum.terms, UINT64_C(1) << 40);
    cr_assert_eq(alar_exact_round(&sum, 1, ALAR_F64, ALAR_NEAREST),
                 alar_fp_bits(-0x1.fffffffffffffp71));
    /* Just short of the limit by merging, then over it by adding. */
    struct alar_exact total;
    alar_exact_init(&total);
    alar_exact_init(&twice);
    alar_exact_add(&twice, ALAR_F64, value);
    for (int i = 0; i < 30; i++) {
        struct alar_exact once = twice;
        alar_exact_merge(&total, &once);
        alar_exact_merge(&twice, &once);
    }
    for (int i = 0; i < 3; i++) {
        alar_exact_add(&total, ALAR_F64, alar_fp_bits(0));
        cr_assert_eq(alar_exact_round(&total, (UINT64_C(1) << 30) - 1, ALAR_F64, ALAR_NEAREST),
                     value);
    }
    for (uint64_t i = 0; i < 4; i++) {
        alar_exact_subtract(&sum, ALAR_F64, alar_fp_bits(-0x1.fffffffffffffp69));
    }
    cr_assert_eq(alar_exact_round(&sum, 1, ALAR_F64, ALAR_NEAREST), 0);
}

/* Means divide the exact sum: 1 + 2^-24 over one is no double rounding away, and a mean below the
   smallest value keeps its sign. spec: N-12 */
Test(exact, means_round_once)
{
    const uint64_t third[] = {0x3f800000, 0x33800000, 0x01000000};
    const uint64_t tiny[] = {0x80000001, 0, 0};

    cr_assert_eq(alar_exact_sum(ALAR_F32, third, 2), 0x3f800000u);
    cr_assert_eq(alar_exact_sum(ALAR_F32, third, 3), 0x3f800001u);
    cr_assert_eq(exact_mean(ALAR_F32, tiny, 3), 0x80000000u);
    cr_assert_eq(exact_mean(ALAR_F32, tiny, 1), 0x80000001u);
    const uint64_t half[] = {3, 0};
    cr_assert_eq(exact_mean(ALAR_F32, half, 2), 2u);
    struct alar_exact empty;
    alar_exact_init(&empty);
    cr_assert_eq(alar_exact_round(&empty, 1, ALAR_F32, ALAR_NEAREST), 0u);
}

static void elements_reduce(int64_t *total, const int64_t *element, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        total[i] += element[i];
    }
}

/* Encoded on each rank, summed as integers in a drawn order, decoded: the correctly rounded sum, in
   f32 and in f64. spec: N-13 */
Test(exact, elements_carry_the_exact_sum)
{
    struct draw draw = {SEED + 12};

    for (int round = 0; round < DRAWN(8000); round++) {
        enum alar_dtype dtype = floats[round % 4];
        enum alar_dtype wire = dtype == ALAR_F64 || round % 3 == 0 ? ALAR_F64 : ALAR_F32;
        uint64_t bits[TERMS];
        uint32_t order[TERMS];
        int64_t total[ALAR_EXACT_WIRE_F64] = {0};
        struct alar_exact whole;
        struct alar_exact decoded;
        draw_hostile(&draw, round, dtype, bits, TERMS);
        draw_order(&draw, order, TERMS);
        alar_exact_init(&whole);
        for (uint32_t i = 0; i < TERMS; i += 2) {
            struct alar_exact rank;
            int64_t element[ALAR_EXACT_WIRE_F64];
            alar_exact_init(&rank);
            alar_exact_add(&rank, dtype, bits[order[i]]);
            alar_exact_add(&rank, dtype, bits[order[i + 1]]);
            alar_exact_merge(&whole, &rank);
            cr_assert_eq(alar_exact_wire_encode(&rank, wire, element), ALAR_OK);
            elements_reduce(total, element, alar_exact_wire_count(wire));
        }
        cr_assert_eq(alar_exact_wire_decode(total, wire, &decoded), ALAR_OK);

        for (int i = 2; i < 4; i++) {
            cr_assert_eq(alar_exact_round(&decoded, 1, floats[i], ALAR_NEAREST),
                         alar_exact_round(&whole, 1, floats[i], ALAR_NEAREST), "seed %d round %d",
                         SEED + 12, round);
        }
        cr_assert_eq(decoded.terms, (uint64_t)TERMS);
        cr_assert_eq(alar_exact_round(&decoded, 1, dtype, ALAR_NEAREST),
                     alar_exact_sum(dtype, bits, TERMS));
    }
}

/* 2^20 ranks at the edge of every element still fit: the elements of the largest sum, 2^20 times.
 */
Test(exact, elements_hold_a_million_ranks)
{
    struct alar_exact rank;
    struct alar_exact total;
    int64_t element[ALAR_EXACT_WIRE_F32];

    alar_exact_init(&rank);
    for (int i = 0; i < 1000; i++) {
        alar_exact_add(&rank, ALAR_F32, 0xff7fffff);
        alar_exact_add(&rank, ALAR_F32, 0x80000001);
    }
    cr_assert_eq(alar_exact_wire_encode(&rank, ALAR_F32, element), ALAR_OK);
    for (uint32_t i = 0; i < ALAR_EXACT_WIRE_F32; i++) {
        element[i] *= ALAR_EXACT_WIRE_RANKS_MAX;
    }
    cr_assert_eq(alar_exact_wire_decode(element, ALAR_F32, &total), ALAR_OK);
    cr_assert_eq(total.terms, 2000 * (uint64_t)ALAR_EXACT_WIRE_RANKS_MAX);
    cr_assert_eq(alar_exact_round(&total, total.terms / 2, ALAR_F32, ALAR_NEAREST), 0xff7fffffu);
    cr_assert_eq(alar_exact_round(&total, 1, ALAR_F64, ALAR_NEAREST),
                 alar_fp_bits(-1000 * 0x1p20 * 0x1.fffffep127));
}

/* What does not fit is refused and nothing is written; what no sum can be is refused too. */
Test(exact, elements_refuse_what_does_not_fit)
{
    struct alar_exact rank;
    struct alar_exact decoded;
    int64_t element[ALAR_EXACT_WIRE_F64] = {7};

    alar_exact_init(&rank);
    alar_exact_add(&rank, ALAR_F64, 1);
    cr_assert_eq(alar_exact_wire_encode(&rank, ALAR_F32, element), ALAR_E_RANGE);
    alar_exact_init(&rank);
    alar_exact_add(&rank, ALAR_F64, alar_fp_largest(ALAR_F64, true));
    cr_assert_eq(alar_exact_wire_encode(&rank, ALAR_F32, element), ALAR_E_RANGE);
    cr_assert_eq(element[0], 7);
    cr_assert_eq(alar_exact_wire_encode(&rank, ALAR_F64, element), ALAR_OK);
    element[ALAR_EXACT_WIRE_NANS] = -1;
    cr_assert_eq(alar_exact_wire_decode(element, ALAR_F64, &decoded), ALAR_E_RANGE);
    element[ALAR_EXACT_WIRE_NANS] = 0;
    element[ALAR_EXACT_WIRE_DIGITS + 3] = INT64_C(1) << 60;
    cr_assert_eq(alar_exact_wire_decode(element, ALAR_F64, &decoded), ALAR_E_RANGE);
    element[ALAR_EXACT_WIRE_DIGITS + 3] = INT64_MIN;
    cr_assert_eq(alar_exact_wire_decode(element, ALAR_F64, &decoded), ALAR_E_RANGE);
}

/* Formats and the exact adder, against independent definitions of rounding and the machine's own.
 */
#include "sys/decimal.h"
#include "tests/lib/draw.h"

#include <criterion/criterion.h>
#include <fenv.h>
#include <math.h>
#include <string.h>

enum {
    SEED = 20601
};

static const enum alar_dtype floats[] = {ALAR_F16, ALAR_BF16, ALAR_F32, ALAR_F64};

static float as_float(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float value;

    memcpy(&value, &low, sizeof value);
    return value;
}

static uint64_t of_float(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Every 16-bit pattern survives the way to a double and back: nothing is lost by looking. */
Test(fp, sixteen_bit_values_go_to_double_and_back)
{
    for (uint64_t bits = 0; bits < 65536; bits++) {
        for (int i = 0; i < 2; i++) {
            uint64_t back = alar_fp_from_double(floats[i], alar_fp_to_double(floats[i], bits));
            cr_assert(alar_fp_is_same(floats[i], back, bits), "%s %llx -> %llx",
                      alar_dtype_name(floats[i]), (unsigned long long)bits,
                      (unsigned long long)back);
        }
    }
}

/* A 16-bit value has the value its format says, computed here by another formula. */
Test(fp, half_values_follow_the_format)
{
    for (uint64_t bits = 0; bits < 0x7c00; bits++) {
        int biased = (int)(bits >> 10);
        double fraction = (double)(bits & 1023) / 1024;
        double value = biased ? ldexp(1 + fraction, biased - 15) : ldexp(fraction, -14);

        cr_assert_eq(alar_fp_bits(alar_fp_to_double(ALAR_F16, bits)), alar_fp_bits(value));
    }
}

/* Ranks walk through all finite values in order; neighbours are one ulp apart. spec: N-01 */
Test(fp, ranks_are_the_order_of_values)
{
    int64_t top = alar_fp_rank(ALAR_BF16, alar_fp_inf(ALAR_BF16, false));

    for (int64_t rank = -1 - top; rank < top; rank++) {
        uint64_t low = alar_fp_unrank(ALAR_BF16, rank);
        uint64_t high = alar_fp_unrank(ALAR_BF16, rank + 1);

        cr_assert_eq(alar_fp_rank(ALAR_BF16, low), rank);
        cr_assert(alar_fp_to_double(ALAR_BF16, low) <= alar_fp_to_double(ALAR_BF16, high));
        cr_assert_eq(alar_fp_ulps(ALAR_BF16, low, high), rank == -1 ? 0u : 1u);
    }
    cr_assert_eq(alar_fp_ulps(ALAR_F32, 1, alar_dtype_sign(ALAR_F32) | 1), 2u);
    cr_assert_eq(alar_fp_ulps(ALAR_F32, 1, alar_fp_nan(ALAR_F32)), UINT64_MAX);
    cr_assert_eq(alar_fp_ulps(ALAR_I32, 0xffffffff, 0), 1u);
}

/* Predicates split the patterns of a format without overlap; the sign stands apart. */
Test(fp, predicates_partition_the_patterns)
{
    unsigned nans = 0;

    for (uint64_t bits = 0; bits < 65536; bits++) {
        double value = alar_fp_to_double(ALAR_F16, bits);

        nans += alar_fp_is_nan(ALAR_F16, bits);
        cr_assert_eq(alar_fp_is_nan(ALAR_F16, bits), isnan(value) != 0);
        cr_assert_eq(alar_fp_is_inf(ALAR_F16, bits), isinf(value) != 0);
        cr_assert_eq(alar_fp_is_finite(ALAR_F16, bits), isfinite(value) != 0);
        cr_assert_eq(alar_fp_is_zero(ALAR_F16, bits), fpclassify(value) == FP_ZERO);
        cr_assert_eq(alar_fp_is_subnormal(ALAR_F16, bits),
                     fpclassify(value) != FP_ZERO && fabs(value) < 0x1p-14);
        cr_assert_eq(alar_fp_is_negative(ALAR_F16, bits), bits >> 15);
    }
    cr_assert_eq(nans, 2u * 1023u);
}

/* What rounding means, by distance to the neighbours, for an exact sum known as a double. */
static void assert_rounded(enum alar_dtype dtype, enum alar_model model, double exact, uint64_t got)
{
    double value = alar_fp_to_double(dtype, got);
    double up = alar_fp_to_double(dtype, alar_fp_unrank(dtype, alar_fp_rank(dtype, got) + 1));
    double down = alar_fp_to_double(dtype, alar_fp_unrank(dtype, alar_fp_rank(dtype, got) - 1));
    double away = fabs(value - exact);
    double other = value < exact ? fabs(up - exact) : fabs(exact - down);

    if (model == ALAR_TRUNCATE) {
        double beyond = alar_fp_is_negative(dtype, got) ? down : up;
        cr_assert(fabs(value) <= fabs(exact) && (away < fabs(beyond - value) || isinf(beyond)));
    } else if (isgreater(fabs(exact - value), 0)) {
        cr_assert(away <= other, "%a to %a", exact, value);
        bool is_tie = !isless(away, other);
        cr_assert(!is_tie || (model == ALAR_HALF_UP ? fabs(value) > fabs(exact) : !(got & 1)));
    }
}

/* f16 sums are exact in double, so each model can be held against the definition. spec: N-02 */
Test(fp, half_sums_are_rounded_by_definition)
{
    struct draw draw = {SEED};

    for (int i = 0; i < DRAWN(300000); i++) {
        uint64_t pair[2];
        draw_values(&draw, (enum draw_family)(i % DRAW_FAMILY_COUNT), ALAR_F16, pair, 2);
        double exact = alar_fp_to_double(ALAR_F16, pair[0]) + alar_fp_to_double(ALAR_F16, pair[1]);

        for (int model = ALAR_NEAREST; model <= ALAR_TRUNCATE; model++) {
            uint64_t got = alar_fp_add(ALAR_F16, (enum alar_model)model, pair[0], pair[1]);
            if (alar_fp_is_inf(ALAR_F16, got)) {
                cr_assert(model != ALAR_TRUNCATE && fabs(exact) >= 65520);
            } else {
                assert_rounded(ALAR_F16, (enum alar_model)model, exact, got);
            }
        }
    }
}

/* The integer adder truncates as the machine does under its own rounding mode. spec: N-02 */
Test(fp, truncation_agrees_with_the_machine)
{
    struct draw draw = {SEED + 1};

    for (int i = 0; i < DRAWN(300000); i++) {
        enum draw_family family = (enum draw_family)(i % DRAW_FAMILY_COUNT);
        uint64_t a[2];
        uint64_t b[2];
        draw_values(&draw, family, ALAR_F32, a, 2);
        draw_values(&draw, family, ALAR_F64, b, 2);
        fesetround(FE_TOWARDZERO);
        volatile float single = as_float(a[0]);
        volatile double wide = alar_fp_double(b[0]);
        single += as_float(a[1]);
        wide += alar_fp_double(b[1]);
        fesetround(FE_TONEAREST);

        cr_assert_eq(alar_fp_add(ALAR_F32, ALAR_TRUNCATE, a[0], a[1]), of_float(single));
        cr_assert_eq(alar_fp_add(ALAR_F64, ALAR_TRUNCATE, b[0], b[1]), alar_fp_bits(wide));
    }
}

/* The integer path to nearest, reached through the flushing model, agrees with the machine
   wherever nothing is subnormal. */
Test(fp, nearest_agrees_with_the_machine)
{
    struct draw draw = {SEED + 2};

    for (int i = 0; i < DRAWN(300000); i++) {
        enum alar_dtype dtype = i % 2 ? ALAR_F32 : ALAR_F64;
        uint64_t a[2];
        draw_values(&draw, (enum draw_family)(i % DRAW_FAMILY_COUNT), dtype, a, 2);
        uint64_t nearest = alar_fp_add(dtype, ALAR_NEAREST, a[0], a[1]);
        uint64_t flushed = alar_fp_add(dtype, ALAR_FLUSH, a[0], a[1]);

        if (!alar_fp_is_subnormal(dtype, a[0]) && !alar_fp_is_subnormal(dtype, a[1])) {
            bool is_kept = !alar_fp_is_subnormal(dtype, nearest);
            cr_assert_eq(flushed, is_kept ? nearest : nearest & alar_dtype_sign(dtype));
        }
    }
}

/* One rounding, not two: f32 narrowed through the machine, and a value that double rounding would
   get wrong. */
Test(fp, conversion_rounds_once)
{
    struct draw draw = {SEED + 3};

    for (int i = 0; i < DRAWN(300000); i++) {
        uint64_t bits;
        draw_values(&draw, i % 2 ? DRAW_ANY : DRAW_WIDE, ALAR_F64, &bits, 1);
        cr_assert_eq(alar_fp_from_double(ALAR_F32, alar_fp_double(bits)),
                     of_float((float)alar_fp_double(bits)));
    }
    cr_assert_eq(alar_fp_from_double(ALAR_F16, 1 + 0x1p-11 + 0x1p-40), 0x3c01u);
    cr_assert_eq(alar_fp_from_double(ALAR_F16, 1 + 0x1p-11), 0x3c00u);
}

/* Specials follow IEEE; saturation follows its own table. spec: N-03, N-04 */
Test(fp, specials_have_rules)
{
    for (int i = 0; i < 4; i++) {
        enum alar_dtype t = floats[i];
        uint64_t inf = alar_fp_inf(t, false);
        uint64_t big = alar_fp_largest(t, false);
        uint64_t minus = alar_dtype_sign(t);

        for (int m = ALAR_NEAREST; m <= ALAR_FLUSH; m++) {
            enum alar_model model = (enum alar_model)m;
            uint64_t top = model == ALAR_TRUNCATE ? big : inf;
            cr_assert_eq(alar_fp_add(t, model, inf, alar_fp_negate(t, inf)), alar_fp_nan(t));
            cr_assert_eq(alar_fp_add(t, model, alar_fp_nan(t) | 1, 0), alar_fp_nan(t));
            cr_assert_eq(alar_fp_add(t, model, inf, alar_fp_negate(t, big)), inf);
            cr_assert_eq(alar_fp_add(t, model, big, big), top);
            cr_assert_eq(alar_fp_add(t, model, minus, minus), minus);
            cr_assert_eq(alar_fp_add(t, model, minus, 0), 0u);
            cr_assert_eq(alar_fp_add(t, model, big, alar_fp_negate(t, big)), 0u);
        }
        cr_assert_eq(alar_fp_add(t, ALAR_SATURATE, inf, alar_fp_negate(t, inf)), 0u);
        cr_assert_eq(alar_fp_add(t, ALAR_SATURATE, alar_fp_nan(t), 5), 5u);
        cr_assert_eq(alar_fp_add(t, ALAR_SATURATE, big, big), big);
        cr_assert_eq(alar_fp_add(t, ALAR_FLUSH, 1, 0), 0u);
        cr_assert_eq(alar_fp_add(t, ALAR_FLUSH, 1 | minus, minus), minus);
        cr_assert_eq(alar_fp_add(t, ALAR_NEAREST, 1, 1), 2u);
    }
}

/* Integers wrap at their own width, or clamp when told to. spec: N-04 */
Test(fp, integers_add_modulo_their_width)
{
    cr_assert_eq(alar_fp_add(ALAR_I32, ALAR_NEAREST, 0x7fffffff, 1), 0x80000000u);
    cr_assert_eq(alar_fp_add(ALAR_I32, ALAR_SATURATE, 0x7fffffff, 1), 0x7fffffffu);
    cr_assert_eq(alar_fp_add(ALAR_I32, ALAR_SATURATE, 0x80000000, 0xffffffff), 0x80000000u);
    cr_assert_eq(alar_fp_add(ALAR_I32, ALAR_SATURATE, 0x80000000, 0x7fffffff), 0xffffffffu);
    cr_assert_eq(alar_fp_add(ALAR_I64, ALAR_NEAREST, UINT64_MAX, 1), 0u);
    cr_assert_eq(alar_fp_add(ALAR_U8, ALAR_NEAREST, 200, 100), 44u);
    cr_assert_eq(alar_fp_add(ALAR_U8, ALAR_SATURATE, 200, 100), 255u);
    cr_assert_eq(alar_fp_divide(ALAR_I32, 0xfffffff9 /* -7 */, 2), 0xfffffffdu);
    cr_assert_eq(alar_int_value(ALAR_U8, 255), 255);
}

/* Division and multiplication round once, in every float dtype: q is right when the remainders at
   the two midpoints around it have opposite signs (all products are exact in long double). */
Test(fp, quotients_are_correctly_rounded)
{
    struct draw draw = {SEED + 4};

    for (int i = 0; i < DRAWN(100000); i++) {
        enum alar_dtype dtype = floats[i % 3];
        uint32_t n = 1 + draw_below(&draw, 1000);
        uint64_t a;
        draw_values(&draw, (enum draw_family)(i % DRAW_FAMILY_COUNT), dtype, &a, 1);
        a &= ~alar_dtype_sign(dtype);
        uint64_t q = alar_fp_divide(dtype, a, n);
        long double value = alar_fp_to_double(dtype, a);
        long double middle = alar_fp_to_double(dtype, q);
        long double above = (middle + (long double)alar_fp_to_double(dtype, q + 1)) / 2;

        cr_assert(n * above >= value, "seed %d draw %d", SEED + 4, i);
        if (q > 0) {
            long double below = (middle + (long double)alar_fp_to_double(dtype, q - 1)) / 2;
            cr_assert(n * below <= value, "seed %d draw %d", SEED + 4, i);
        }
    }
    cr_assert_eq(alar_fp_multiply(ALAR_F16, ALAR_NEAREST, 0x3c01, 0x3c01), 0x3c02u);
    cr_assert_eq(alar_fp_multiply(ALAR_F32, ALAR_NEAREST, of_float(3), of_float(0.5f)),
                 of_float(1.5f));
}

/* A dtype is found under its own name and its aliases, and nothing else is a dtype. */
Test(fp, dtypes_have_names)
{
    enum alar_dtype dtype = ALAR_U8;

    for (int i = 0; i < ALAR_DTYPE_COUNT; i++) {
        cr_assert_eq(alar_dtype_find(alar_dtype_name((enum alar_dtype)i), &dtype), ALAR_OK);
        cr_assert_eq((int)dtype, i);
    }
    cr_assert_eq(alar_dtype_find("float32", &dtype), ALAR_OK);
    cr_assert_eq(dtype, ALAR_F32);
    cr_assert_eq(alar_dtype_find("float", &dtype), ALAR_OK);
    cr_assert_eq(dtype, ALAR_F32);
    dtype = ALAR_U8;
    const char *const strangers[] = {"", " ", "f", "32", "float3", "f32 ", "loat32"};
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        cr_assert_eq(alar_dtype_find(strangers[i], &dtype), ALAR_E_INPUT);
        cr_assert_eq(dtype, ALAR_U8);
    }
    cr_assert_str_eq(alar_dtype_name(ALAR_DTYPE_COUNT), "?");
    cr_assert_str_eq(alar_model_name(ALAR_SATURATE), "saturate");
    cr_assert_str_eq(alar_model_name(ALAR_MODEL_COUNT), "?");
}

/* Decimal text becomes the nearest value of its dtype in one rounding. spec: N-05 */
Test(fp, decimals_are_parsed_with_one_rounding)
{
    struct {
        enum alar_dtype dtype;
        const char *text;
        uint64_t bits;
    } const table[] = {
        {ALAR_F16, "1.00048828125", 0x3c00},
        {ALAR_F16, "1.0004882812500000000000000000000000001", 0x3c01},
        {ALAR_F32, "1.000000059604644775390625", 0x3f800000},
        {ALAR_F32, "1.00000005960464477539062500000000000001", 0x3f800001},
        {ALAR_F32, "-1.00000005960464477539062500000000000001", 0xbf800001},
        {ALAR_BF16, "3.3962e38", 0x7f80},
        {ALAR_BF16, "3.39e38", 0x7f7f},
        {ALAR_F32, "1e400", 0x7f800000},
        {ALAR_F32, "-1e-400", 0x80000000},
        {ALAR_F32, "7.006492321624085e-46", 0},
        {ALAR_F32, "7.0064923216240862e-46", 1},
        {ALAR_F32, "-0", 0x80000000},
        {ALAR_F64, "0.1", 0x3fb999999999999a},
        {ALAR_F32, "inf", 0x7f800000},
        {ALAR_F16, "nan", 0x7e00},
        {ALAR_I32, "-1", 0xffffffff},
        {ALAR_U8, "255", 255},
        {ALAR_I64, "-9223372036854775808", UINT64_C(1) << 63},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        uint64_t bits = 0x1234;
        cr_assert_eq(alar_decimal_parse(table[i].dtype, table[i].text, &bits), ALAR_OK);
        cr_assert_eq(bits, table[i].bits, "%s as %s is %llx", table[i].text,
                     alar_dtype_name(table[i].dtype), (unsigned long long)bits);
    }
}

/* What is no number is refused, and the output is left alone. */
Test(fp, decimals_refuse_what_is_no_number)
{
    const char *const bad[] = {"", " 1", "1 ", "1x", "x", "--1", "1e", "."};
    uint64_t bits = 77;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_assert_eq(alar_decimal_parse(ALAR_F32, bad[i], &bits), ALAR_E_INPUT, "'%s'", bad[i]);
        cr_assert_eq(alar_decimal_parse(ALAR_F64, bad[i], &bits), ALAR_E_INPUT, "'%s'", bad[i]);
        cr_assert_eq(alar_decimal_parse(ALAR_I32, bad[i], &bits), ALAR_E_INPUT, "'%s'", bad[i]);
    }
    cr_assert_eq(alar_decimal_parse(ALAR_I32, "2147483648", &bits), ALAR_E_RANGE);
    cr_assert_eq(alar_decimal_parse(ALAR_U8, "-1", &bits), ALAR_E_RANGE);
    cr_assert_eq(alar_decimal_parse(ALAR_I64, "9223372036854775808", &bits), ALAR_E_RANGE);
    cr_assert_eq(bits, 77u);
}

/* Printed text reads back as the same bits, and is short where it can be. */
Test(fp, decimals_print_and_read_back)
{
    struct draw draw = {SEED + 5};
    char text[ALAR_DECIMAL_MAX];

    for (int i = 0; i < 4000; i++) {
        enum alar_dtype dtype = floats[i % 4];
        uint64_t bits;
        uint64_t back;
        draw_values(&draw, DRAW_ANY, dtype, &bits, 1);
        alar_decimal_print(dtype, bits, text);
        cr_assert_eq(alar_decimal_parse(dtype, text, &back), ALAR_OK);
        cr_assert_eq(back, bits);
    }
    alar_decimal_print(ALAR_F32, of_float(0.1f), text);
    cr_assert_str_eq(text, "0.1");
    alar_decimal_print(ALAR_F32, 0xff800000, text);
    cr_assert_str_eq(text, "-inf");
    alar_decimal_print(ALAR_F64, alar_fp_nan(ALAR_F64), text);
    cr_assert_str_eq(text, "nan");
    alar_decimal_print(ALAR_I32, 0xffffffff, text);
    cr_assert_str_eq(text, "-1");
}

static void __attribute__((noinline)) round_two(double *to, const double *from)
{
    to[0] = (double)(float)from[0];
    to[1] = (double)(float)from[1];
}

/* Two roundings side by side are kept: sums and weights are rounded like that, and gcc 12 drops
   both from -O2 on when it may pack them. spec: N-02 */
Test(fp, the_compiler_keeps_two_roundings)
{
    const double from[] = {0.1, 0.7};
    double to[2];

    round_two(to, from);

    cr_assert_eq(alar_fp_bits(to[0]), UINT64_C(0x3fb99999a0000000));
    cr_assert_eq(alar_fp_bits(to[1]), UINT64_C(0x3fe6666660000000));
}

/* Multiplication by every model, and integers of every width. */
#include "tests/lib/draw.h"

#include <criterion/criterion.h>

enum {
    SEED = 20606
};

static const enum alar_dtype floats[] = {ALAR_F16, ALAR_BF16, ALAR_F32, ALAR_F64};

/* Every model's product of two values is the exact one, rounded once: of f16 and bf16 it is exact
   in double, of f32 too, and of f64 the machine's own is to nearest. spec: N-02, N-30 */
Test(fp, products_are_rounded_once)
{
    struct draw draw = {SEED};

    for (int i = 0; i < 100000; i++) {
        enum alar_dtype dtype = floats[i % 4];
        enum alar_model model = (enum alar_model)(i / 4 % ALAR_MODEL_COUNT);
        uint64_t pair[2];
        draw_values(&draw, (enum draw_family)(i % DRAW_FAMILY_COUNT), dtype, pair, 2);
        if (model == ALAR_FLUSH &&
            (alar_fp_is_subnormal(dtype, pair[0]) || alar_fp_is_subnormal(dtype, pair[1]))) {
            continue;
        }
        double exact = alar_fp_to_double(dtype, pair[0]) * alar_fp_to_double(dtype, pair[1]);
        uint64_t product = alar_fp_multiply(dtype, model, pair[0], pair[1]);
        uint64_t expected = alar_fp_convert(ALAR_F64, dtype, model, alar_fp_bits(exact));
        bool is_comparable = dtype != ALAR_F64 || model == ALAR_NEAREST;

        cr_assert(!is_comparable || product == expected, "seed %d draw %d", SEED, i);
        cr_assert(alar_fp_ulps(dtype, product, expected) <= 1, "seed %d draw %d", SEED, i);
        cr_assert_eq(product, alar_fp_multiply(dtype, model, pair[1], pair[0]));
    }
    cr_assert_eq(alar_fp_multiply(ALAR_I8, ALAR_NEAREST, 0x80, 0xff), 0x80u);
    cr_assert_eq(alar_fp_multiply(ALAR_I8, ALAR_SATURATE, 0x80, 0xff), 0x7fu);
    cr_assert_eq(alar_fp_multiply(ALAR_I8, ALAR_SATURATE, 0x80, 0x02), 0x80u);
    cr_assert_eq(alar_fp_multiply(ALAR_U64, ALAR_SATURATE, UINT64_MAX, 2), UINT64_MAX);
    cr_assert_eq(alar_fp_multiply(ALAR_I64, ALAR_NEAREST, UINT64_C(1) << 63, 3), UINT64_C(1) << 63);
}

/* The line of values of an integer dtype is in order, and reading and writing agree. spec: N-04 */
Test(fp, integers_of_every_width_are_in_order)
{
    const enum alar_dtype integers[] = {ALAR_I8, ALAR_I16, ALAR_I32, ALAR_I64,
                                        ALAR_U8, ALAR_U16, ALAR_U32, ALAR_U64};

    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        enum alar_dtype dtype = integers[i];
        uint64_t sign = alar_dtype_sign(dtype);
        uint64_t least = sign, most = alar_dtype_mask(dtype) ^ sign;

        cr_assert(sign == 0 || alar_fp_is_negative(dtype, least));
        cr_assert(alar_fp_rank(dtype, least) < alar_fp_rank(dtype, 0) || sign == 0);
        cr_assert(alar_fp_rank(dtype, 0) < alar_fp_rank(dtype, 1));
        cr_assert(alar_fp_rank(dtype, 1) < alar_fp_rank(dtype, most));
        cr_assert(alar_fp_to_double(dtype, most) > 0);
        cr_assert_eq(alar_fp_unrank(dtype, alar_fp_rank(dtype, most)), most);
        cr_assert_eq(alar_fp_unrank(dtype, alar_fp_rank(dtype, least)), least);
        cr_assert_eq(alar_fp_add(dtype, ALAR_NEAREST, most, 1), least);
        cr_assert_eq(alar_fp_add(dtype, ALAR_SATURATE, most, 1), most);
    }
    cr_assert_eq(alar_fp_divide(ALAR_U64, UINT64_MAX, 3), UINT64_MAX / 3);
    cr_assert_eq(alar_fp_divide(ALAR_I8, 0xf9, 2), 0xfdu); /* -7 / 2 is -3 */
}

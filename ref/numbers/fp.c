/* The exact adder, and the few operations an average needs. */
#include "numbers/fp.h"

#include "base/check.h"

#include <float.h>
#include <string.h>

_Static_assert(FLT_EVAL_METHOD == 0, "a float sum is rounded to float, nothing wider is kept");
_Static_assert(DBL_MANT_DIG == 53 && FLT_MANT_DIG == 24, "IEEE 754 binary32 and binary64");

const char *alar_model_name(enum alar_model model)
{
    static const char *const names[] = {ALAR_ADDER_TERMS(ALAR_TERM_NAME)};

    return (unsigned)model < ALAR_MODEL_COUNT ? names[model] : "?";
}

uint64_t alar_fp_bits(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

double alar_fp_double(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static float fp_float(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float value;

    memcpy(&value, &low, sizeof value);
    return value;
}

static uint64_t fp_float_bits(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

struct alar_fp_shape alar_fp_shape(enum alar_dtype dtype)
{
    return (struct alar_fp_shape){alar_dtype_precision(dtype) - 1, alar_dtype_lowest(dtype),
                                  alar_dtype_sign(dtype), alar_fp_inf(dtype, false)};
}

struct alar_fp_parts alar_fp_unpack(enum alar_dtype dtype, uint64_t bits)
{
    struct alar_fp_shape shape = alar_fp_shape(dtype);

    PRE((bits & (shape.sign - 1)) < shape.infinity);
    return alar_fp_take_apart(&shape, bits);
}

static int bit_length(uint64_t value)
{
    int length = 0;

    for (int step = 32; step > 0; step /= 2) {
        if (value >> step) {
            value >>= step;
            length += step;
        }
    }
    return length + (value != 0);
}

/* Drops `shift` >= 1 low bits of a significand, rounding by the model. */
static uint64_t round_shift(uint64_t significand, int shift, enum alar_model model)
{
    uint64_t kept = shift < 64 ? significand >> shift : 0;
    uint64_t half = shift <= 64 ? UINT64_C(1) << (shift - 1) : 0;
    uint64_t rest = shift < 64 ? significand - (kept << shift) : significand;

    if (model == ALAR_TRUNCATE || shift > 64 || rest < half) {
        return kept;
    }
    return rest > half || model == ALAR_HALF_UP ? kept + 1 : kept + (kept & 1);
}

uint64_t alar_fp_assemble(enum alar_dtype dtype, enum alar_model model, struct alar_fp_parts parts)
{
    int precision = alar_dtype_precision(dtype);
    int lowest = alar_dtype_lowest(dtype);
    int exponent = parts.exponent + bit_length(parts.significand) - precision;
    uint64_t hidden = UINT64_C(1) << (precision - 1);
    uint64_t sign = parts.negative ? alar_dtype_sign(dtype) : 0;
    bool is_clamped = model == ALAR_TRUNCATE || model == ALAR_SATURATE;

    if (parts.significand == 0) {
        return sign;
    }
    exponent = exponent < lowest ? lowest : exponent;
    int shift = exponent - parts.exponent;
    uint64_t kept =
        shift <= 0 ? parts.significand << -shift : round_shift(parts.significand, shift, model);
    if (kept == 2 * hidden) {
        kept = hidden;
        exponent++;
    }
    if (kept < hidden) {
        return model == ALAR_FLUSH ? sign : sign | kept;
    }
    uint64_t biased = (uint64_t)(exponent - lowest + 1);
    uint64_t infinity = alar_fp_inf(dtype, false);
    if (biased >= infinity >> (precision - 1)) {
        return sign | (is_clamped ? infinity - 1 : infinity);
    }
    return sign | biased << (precision - 1) | (kept - hidden);
}

/* What a model makes of an operand or a value before it is used. */
static uint64_t model_sanitize(enum alar_dtype dtype, enum alar_model model, uint64_t bits)
{
    if (model == ALAR_SATURATE && alar_fp_is_nan(dtype, bits)) {
        return 0;
    }
    if (model == ALAR_SATURATE && alar_fp_is_inf(dtype, bits)) {
        return alar_fp_largest(dtype, alar_fp_is_negative(dtype, bits));
    }
    if (model == ALAR_FLUSH && alar_fp_is_subnormal(dtype, bits)) {
        return bits & alar_dtype_sign(dtype);
    }
    return bits;
}

uint64_t alar_fp_convert(enum alar_dtype from, enum alar_dtype to, enum alar_model model,
                         uint64_t bits)
{
    bits = model_sanitize(from, model, bits);
    if (alar_fp_is_nan(from, bits)) {
        return alar_fp_nan(to);
    }
    if (alar_fp_is_inf(from, bits)) {
        return alar_fp_inf(to, alar_fp_is_negative(from, bits));
    }
    return alar_fp_assemble(to, model, alar_fp_unpack(from, bits));
}

double alar_fp_to_double(enum alar_dtype dtype, uint64_t bits)
{
    if (!alar_dtype_is_float(dtype)) {
        return dtype == ALAR_U64 ? (double)bits : (double)alar_int_value(dtype, bits);
    }
    if (dtype == ALAR_F32) {
        return (double)fp_float(bits);
    }
    return dtype == ALAR_F64 ? alar_fp_double(bits)
                             : alar_fp_double(alar_fp_convert(dtype, ALAR_F64, ALAR_NEAREST, bits));
}

uint64_t alar_fp_from_double(enum alar_dtype dtype, double value)
{
    if (alar_dtype_is_float(dtype)) {
        return alar_fp_convert(ALAR_F64, dtype, ALAR_NEAREST, alar_fp_bits(value));
    }
    if (dtype == ALAR_U64 && value >= 0x1p63) {
        PRE(value < 0x1p64);
        return (uint64_t)value;
    }
    PRE(value > -0x1p63 && value < 0x1p63);
    return (uint64_t)(int64_t)value & alar_dtype_mask(dtype);
}

static uint64_t int_add(enum alar_dtype dtype, enum alar_model model, uint64_t a, uint64_t b)
{
    uint64_t sum = (a + b) & alar_dtype_mask(dtype);
    uint64_t sign = alar_dtype_sign(dtype);

    if (model != ALAR_SATURATE) {
        return sum;
    }
    if (sign == 0) {
        return sum < a ? alar_dtype_mask(dtype) : sum;
    }
    bool is_overflow = (~(a ^ b) & (a ^ sum) & sign) != 0;

    return !is_overflow ? sum : (a & sign) ? sign : sign - 1;
}

/* Moves a significand down, keeping the lowest bit as a witness of what fell off. */
static uint64_t shift_sticky(uint64_t significand, int shift)
{
    if (shift >= 63) {
        return significand != 0;
    }
    uint64_t kept = significand >> shift;

    return kept | (kept << shift != significand);
}

/* The exact sum of two finite values, as parts whose lowest bit is sticky. Eight guard bits: after
   a subtraction that cancels more than one bit, nothing had fallen off. */
static struct alar_fp_parts parts_add(struct alar_fp_parts a, struct alar_fp_parts b)
{
    if (a.exponent < b.exponent) {
        struct alar_fp_parts swap = a;
        a = b;
        b = swap;
    }
    uint64_t high = a.significand << 8;
    uint64_t low = shift_sticky(b.significand << 8, a.exponent - b.exponent);
    struct alar_fp_parts sum = {a.negative, a.exponent - 8, high + low};

    if (a.negative != b.negative) {
        sum.negative = high == low ? false : (high > low) == a.negative;
        sum.significand = high > low ? high - low : low - high;
    }
    return sum;
}

uint64_t alar_fp_add(enum alar_dtype dtype, enum alar_model model, uint64_t a, uint64_t b)
{
    if (!alar_dtype_is_float(dtype)) {
        return int_add(dtype, model, a, b);
    }
    a = model_sanitize(dtype, model, a);
    b = model_sanitize(dtype, model, b);
    if (!alar_fp_is_finite(dtype, a) || !alar_fp_is_finite(dtype, b)) {
        bool is_nan = alar_fp_is_nan(dtype, a) || alar_fp_is_nan(dtype, b) ||
                      (alar_fp_is_inf(dtype, a) && alar_fp_is_inf(dtype, b) && a != b);
        return is_nan ? alar_fp_nan(dtype) : alar_fp_is_inf(dtype, a) ? a : b;
    }
    if (model == ALAR_NEAREST && dtype == ALAR_F32) {
        return fp_float_bits(fp_float(a) + fp_float(b));
    }
    if (model == ALAR_NEAREST && dtype == ALAR_F64) {
        return alar_fp_bits(alar_fp_double(a) + alar_fp_double(b));
    }
    return alar_fp_assemble(dtype, model,
                            parts_add(alar_fp_unpack(dtype, a), alar_fp_unpack(dtype, b)));
}

uint64_t alar_fp_divide(enum alar_dtype dtype, uint64_t a, uint32_t n)
{
    PRE(n >= 1);
    if (!alar_dtype_is_float(dtype)) {
        return dtype == ALAR_U64
                   ? a / n
                   : (uint64_t)(alar_int_value(dtype, a) / (int64_t)n) & alar_dtype_mask(dtype);
    }
    PRE(n <= UINT32_C(1) << 24);
    if (dtype == ALAR_F32) {
        return alar_fp_is_nan(dtype, a) ? alar_fp_nan(dtype)
                                        : fp_float_bits(fp_float(a) / (float)n);
    }
    /* f16 and bf16 quotients have no near ties within 2^-53, so the second rounding is harmless. */
    return alar_fp_from_double(dtype, alar_fp_to_double(dtype, a) / (double)n);
}

/* The product of two significands as parts: the upper 64 bits, the lowest of them sticky. */
static struct alar_fp_parts parts_multiply(struct alar_fp_parts a, struct alar_fp_parts b)
{
    uint64_t low_a = (uint32_t)a.significand;
    uint64_t low_b = (uint32_t)b.significand;
    uint64_t high_a = a.significand >> 32;
    uint64_t high_b = b.significand >> 32;
    uint64_t cross = (low_a * low_b >> 32) + (uint32_t)(high_a * low_b) + low_a * high_b;
    uint64_t high = high_a * high_b + (high_a * low_b >> 32) + (cross >> 32);
    uint64_t low = a.significand * b.significand;
    int shift = bit_length(high);
    uint64_t kept = shift == 0 ? low : high << (64 - shift) | low >> shift;
    bool is_cut = shift > 0 && low << (64 - shift) != 0;

    return (struct alar_fp_parts){a.negative != b.negative, a.exponent + b.exponent + shift,
                                  kept | is_cut};
}

/* Modulo 2^w, or clamped: a product of up to 128 bits fits when dividing it gives the factor back.
 */
static uint64_t int_multiply(enum alar_dtype dtype, enum alar_model model, uint64_t a, uint64_t b)
{
    uint64_t mask = alar_dtype_mask(dtype);
    uint64_t sign = alar_dtype_sign(dtype);
    bool is_negative = ((a ^ b) & sign) != 0;
    uint64_t left = a & sign ? (0 - a) & mask : a;
    uint64_t right = b & sign ? (0 - b) & mask : b;
    uint64_t most = sign == 0 ? mask : sign - 1 + is_negative;

    if (model == ALAR_SATURATE && right != 0 && left > most / right) {
        return is_negative ? sign : most;
    }
    return a * b & mask;
}

uint64_t alar_fp_multiply(enum alar_dtype dtype, enum alar_model model, uint64_t a, uint64_t b)
{
    if (!alar_dtype_is_float(dtype)) {
        return int_multiply(dtype, model, a, b);
    }
    a = model_sanitize(dtype, model, a);
    b = model_sanitize(dtype, model, b);
    uint64_t sign = (a ^ b) & alar_dtype_sign(dtype);
    if (!alar_fp_is_finite(dtype, a) || !alar_fp_is_finite(dtype, b)) {
        bool is_nan = alar_fp_is_nan(dtype, a) || alar_fp_is_nan(dtype, b) ||
                      alar_fp_is_zero(dtype, a) || alar_fp_is_zero(dtype, b);
        return is_nan ? alar_fp_nan(dtype) : alar_fp_inf(dtype, sign != 0);
    }
    if (model == ALAR_NEAREST && dtype == ALAR_F32) {
        return fp_float_bits(fp_float(a) * fp_float(b));
    }
    if (model == ALAR_NEAREST && dtype == ALAR_F64) {
        return alar_fp_bits(alar_fp_double(a) * alar_fp_double(b));
    }
    return alar_fp_assemble(dtype, model,
                            parts_multiply(alar_fp_unpack(dtype, a), alar_fp_unpack(dtype, b)));
}

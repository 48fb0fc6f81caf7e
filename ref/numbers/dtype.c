/* The table of formats, predicates, and the line of all values. */
#include "api/dtype.h"

#include "base/check.h"

#include <string.h>

struct fp_format {
    const char *name;
    const char *aliases; /* each between spaces */
    uint8_t bytes;
    uint8_t precision; /* significand bits with the hidden one; 0 for integers */
    int16_t lowest;    /* exponent of the smallest positive value */
};

static const struct fp_format formats[ALAR_DTYPE_COUNT] = {
    [ALAR_F16] = {"f16", " fp16 float16 half ", 2, 11, -24},
    [ALAR_BF16] = {"bf16", " bfloat16 ", 2, 8, -133},
    [ALAR_F32] = {"f32", " fp32 float32 float ", 4, 24, -149},
    [ALAR_F64] = {"f64", " fp64 float64 double ", 8, 53, -1074},
    [ALAR_I32] = {"i32", " int32 int ", 4, 0, 0},
    [ALAR_I64] = {"i64", " int64 long ", 8, 0, 0},
    [ALAR_U8] = {"u8", " uint8 byte ", 1, 0, 0},
    [ALAR_I8] = {"i8", " int8 ", 1, 0, 0},
    [ALAR_I16] = {"i16", " int16 short ", 2, 0, 0},
    [ALAR_U16] = {"u16", " uint16 ", 2, 0, 0},
    [ALAR_U32] = {"u32", " uint32 ", 4, 0, 0},
    [ALAR_U64] = {"u64", " uint64 ", 8, 0, 0},
};

size_t alar_dtype_bytes(enum alar_dtype dtype)
{
    return formats[dtype].bytes;
}

bool alar_dtype_is_float(enum alar_dtype dtype)
{
    return formats[dtype].precision != 0;
}

int alar_dtype_precision(enum alar_dtype dtype)
{
    PRE(alar_dtype_is_float(dtype));
    return formats[dtype].precision;
}

int alar_dtype_lowest(enum alar_dtype dtype)
{
    PRE(alar_dtype_is_float(dtype));
    return formats[dtype].lowest;
}

const char *alar_dtype_name(enum alar_dtype dtype)
{
    return (unsigned)dtype < ALAR_DTYPE_COUNT ? formats[dtype].name : "?";
}

/* Is word one of the space-separated words of the list? */
static bool format_has_alias(const char *list, const char *word)
{
    size_t length = strlen(word);
    const char *found = length > 0 && !strchr(word, ' ') ? strstr(list, word) : NULL;

    while (found && !(found[-1] == ' ' && found[length] == ' ')) {
        found = strstr(found + 1, word);
    }
    return found != NULL;
}

enum alar_status alar_dtype_find(const char *name, enum alar_dtype *dtype)
{
    for (int i = 0; i < ALAR_DTYPE_COUNT; i++) {
        if (strcmp(name, formats[i].name) == 0 || format_has_alias(formats[i].aliases, name)) {
            *dtype = (enum alar_dtype)i;
            return ALAR_OK;
        }
    }
    return ALAR_E_INPUT;
}

uint64_t alar_dtype_mask(enum alar_dtype dtype)
{
    return UINT64_MAX >> (64 - 8 * formats[dtype].bytes);
}

uint64_t alar_dtype_sign(enum alar_dtype dtype)
{
    bool is_unsigned = dtype == ALAR_U8 || (dtype >= ALAR_U16 && dtype <= ALAR_U64);

    return is_unsigned ? 0 : UINT64_C(1) << (8 * formats[dtype].bytes - 1);
}

/* The bits without the sign; infinity is the largest pattern that is not a NaN. */
static uint64_t fp_magnitude(enum alar_dtype dtype, uint64_t bits)
{
    return bits & (alar_dtype_mask(dtype) ^ alar_dtype_sign(dtype));
}

uint64_t alar_fp_inf(enum alar_dtype dtype, bool is_negative)
{
    uint64_t sign = alar_dtype_sign(dtype);
    uint64_t fraction = (UINT64_C(1) << (alar_dtype_precision(dtype) - 1)) - 1;

    return ((sign - 1) & ~fraction) | (is_negative ? sign : 0);
}

uint64_t alar_fp_nan(enum alar_dtype dtype)
{
    return alar_fp_inf(dtype, false) | UINT64_C(1) << (alar_dtype_precision(dtype) - 2);
}

uint64_t alar_fp_largest(enum alar_dtype dtype, bool is_negative)
{
    return alar_fp_inf(dtype, is_negative) - 1;
}

uint64_t alar_fp_negate(enum alar_dtype dtype, uint64_t bits)
{
    return alar_dtype_is_float(dtype) ? bits ^ alar_dtype_sign(dtype)
                                      : (0 - bits) & alar_dtype_mask(dtype);
}

bool alar_fp_is_nan(enum alar_dtype dtype, uint64_t bits)
{
    return alar_dtype_is_float(dtype) && fp_magnitude(dtype, bits) > alar_fp_inf(dtype, false);
}

bool alar_fp_is_inf(enum alar_dtype dtype, uint64_t bits)
{
    return alar_dtype_is_float(dtype) && fp_magnitude(dtype, bits) == alar_fp_inf(dtype, false);
}

bool alar_fp_is_finite(enum alar_dtype dtype, uint64_t bits)
{
    return !alar_dtype_is_float(dtype) || fp_magnitude(dtype, bits) < alar_fp_inf(dtype, false);
}

bool alar_fp_is_subnormal(enum alar_dtype dtype, uint64_t bits)
{
    return alar_dtype_is_float(dtype) && fp_magnitude(dtype, bits) != 0 &&
           fp_magnitude(dtype, bits) >> (formats[dtype].precision - 1) == 0;
}

bool alar_fp_is_zero(enum alar_dtype dtype, uint64_t bits)
{
    return (alar_dtype_is_float(dtype) ? fp_magnitude(dtype, bits) : bits) == 0;
}

bool alar_fp_is_negative(enum alar_dtype dtype, uint64_t bits)
{
    return (bits & alar_dtype_sign(dtype)) != 0;
}

bool alar_fp_is_same(enum alar_dtype dtype, uint64_t a, uint64_t b)
{
    return a == b || (alar_fp_is_nan(dtype, a) && alar_fp_is_nan(dtype, b));
}

int64_t alar_int_value(enum alar_dtype dtype, uint64_t bits)
{
    uint64_t sign = alar_dtype_sign(dtype);

    return (int64_t)((bits ^ sign) - sign);
}

int64_t alar_fp_rank(enum alar_dtype dtype, uint64_t bits)
{
    if (!alar_dtype_is_float(dtype)) {
        return alar_int_value(dtype, dtype == ALAR_U64 ? bits ^ UINT64_C(1) << 63 : bits);
    }
    int64_t magnitude = (int64_t)fp_magnitude(dtype, bits);

    return alar_fp_is_negative(dtype, bits) ? -1 - magnitude : magnitude;
}

uint64_t alar_fp_unrank(enum alar_dtype dtype, int64_t rank)
{
    if (!alar_dtype_is_float(dtype)) {
        uint64_t bits = (uint64_t)rank & alar_dtype_mask(dtype);

        return dtype == ALAR_U64 ? bits ^ UINT64_C(1) << 63 : bits;
    }
    return rank < 0 ? (uint64_t)(-1 - rank) | alar_dtype_sign(dtype) : (uint64_t)rank;
}

uint64_t alar_fp_ulps(enum alar_dtype dtype, uint64_t a, uint64_t b)
{
    if (alar_fp_is_nan(dtype, a) || alar_fp_is_nan(dtype, b)) {
        return UINT64_MAX;
    }
    int64_t low = alar_fp_rank(dtype, a);
    int64_t high = alar_fp_rank(dtype, b);

    if (low > high) {
        int64_t swap = low;
        low = high;
        high = swap;
    }
    uint64_t distance = (uint64_t)high - (uint64_t)low;
    bool is_across_zero = alar_dtype_is_float(dtype) && low < 0 && high >= 0;

    return is_across_zero ? distance - 1 : distance;
}

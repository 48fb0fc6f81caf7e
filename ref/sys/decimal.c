/* Decimal text to bits: strtod rounds down and up, and the odd one of the two neighbours carries
   all that a second rounding needs to know. */
#include "sys/decimal.h"

#include "base/check.h"
#include "numbers/fp.h"
#include "sys/plain_numbers.h"

#include <ctype.h>
#include <errno.h>
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WHOLE_MAX = 1000000000 /* below it whole numbers are written without an exponent */
};

/* strtod under a rounding direction; the whole text must be used. */
static bool decimal_directed(const char *text, int direction, double *value)
{
    int before = fegetround();
    char *end;

    fesetround(direction);
    *value = alar_plain_read(text, &end);
    fesetround(before);
    return end != text && *end == '\0';
}

/* The double nearest to the text, or, when none is equal to it, the odd neighbour. */
static bool decimal_odd(const char *text, double *value)
{
    double low;
    double high;

    if (!decimal_directed(text, FE_DOWNWARD, &low) || !decimal_directed(text, FE_UPWARD, &high)) {
        return false;
    }
    *value = alar_fp_bits(low) & 1 ? low : high;
    return true;
}

static enum alar_status decimal_integer(enum alar_dtype dtype, const char *text, uint64_t *bits)
{
    char *end;

    errno = 0;
    long long value = 0;
    uint64_t low;
    if (dtype == ALAR_U64) {
        low = strtoull(text, &end, 10);
        errno = strchr(text, '-') && low != 0 ? ERANGE : errno;
    } else {
        value = strtoll(text, &end, 10);
        low = (uint64_t)value & alar_dtype_mask(dtype);
    }
    if (end == text || *end != '\0') {
        return ALAR_E_INPUT;
    }
    if (errno == ERANGE || (dtype != ALAR_U64 && alar_int_value(dtype, low) != value)) {
        return ALAR_E_RANGE;
    }
    *bits = low;
    return ALAR_OK;
}

enum alar_status alar_decimal_parse(enum alar_dtype dtype, const char *text, uint64_t *bits)
{
    double value;

    if (*text == '\0' || isspace((unsigned char)*text)) {
        return ALAR_E_INPUT;
    }
    if (!alar_dtype_is_float(dtype)) {
        return decimal_integer(dtype, text, bits);
    }
    bool is_number = dtype == ALAR_F64 ? decimal_directed(text, FE_TONEAREST, &value)
                                       : decimal_odd(text, &value);
    if (!is_number) {
        return ALAR_E_INPUT;
    }
    *bits = alar_fp_from_double(dtype, value);
    return ALAR_OK;
}

void alar_decimal_print(enum alar_dtype dtype, uint64_t bits, char text[ALAR_DECIMAL_MAX])
{
    uint64_t back = ~bits;

    if (!alar_dtype_is_float(dtype)) {
        (void)(dtype == ALAR_U64
                   ? snprintf(text, ALAR_DECIMAL_MAX, "%llu", (unsigned long long)bits)
                   : snprintf(text, ALAR_DECIMAL_MAX, "%lld",
                              (long long)alar_int_value(dtype, bits)));
        return;
    }
    if (!alar_fp_is_finite(dtype, bits)) {
        bool is_negative = alar_fp_is_negative(dtype, bits);
        (void)snprintf(text, ALAR_DECIMAL_MAX, "%s",
                       alar_fp_is_nan(dtype, bits) ? "nan"
                       : is_negative               ? "-inf"
                                                   : "inf");
        return;
    }
    double value = alar_fp_to_double(dtype, bits);
    if (fabs(value) < WHOLE_MAX && floor(value) == value) {
        (void)alar_plain_print(text, ALAR_DECIMAL_MAX, "%.0f", value);
        return;
    }
    for (int digits = 1; digits <= 17 && back != bits; digits++) {
        (void)alar_plain_print(text, ALAR_DECIMAL_MAX, "%.*g", digits, value);
        enum alar_status status = alar_decimal_parse(dtype, text, &back);
        INV("what we print can be read", status == ALAR_OK);
    }
    POST(back == bits);
}

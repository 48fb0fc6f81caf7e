/* Elements are a slice of the carried digits of a superaccumulator, with the sign of the whole. */
#include "numbers/exact_wire.h"

#include "base/check.h"

/* The first digit of the slice: 32 * 31 - 1152 = -160, and 32 * 2 - 1152 = -1088. */
static int elements_first(enum alar_dtype dtype)
{
    return dtype == ALAR_F64 ? 2 : 31;
}

uint32_t alar_exact_wire_count(enum alar_dtype dtype)
{
    PRE(alar_dtype_is_float(dtype));
    return dtype == ALAR_F64 ? ALAR_EXACT_WIRE_F64 : ALAR_EXACT_WIRE_F32;
}

enum alar_status alar_exact_wire_encode(const struct alar_exact *exact, enum alar_dtype dtype,
                                        int64_t *element)
{
    struct alar_exact_magnitude magnitude;
    int first = elements_first(dtype);
    int digits = (int)alar_exact_wire_count(dtype) - ALAR_EXACT_WIRE_DIGITS;

    alar_exact_magnitude(exact, &magnitude);
    if (magnitude.top >= first + digits || exact->terms >> 42 != 0) {
        return ALAR_E_RANGE;
    }
    for (int i = 0; i < first; i++) {
        if (magnitude.digit[i] != 0) {
            return ALAR_E_RANGE;
        }
    }
    element[ALAR_EXACT_WIRE_TERMS] = (int64_t)exact->terms;
    element[ALAR_EXACT_WIRE_MINUS_ZEROS] = (int64_t)exact->minus_zeros;
    element[ALAR_EXACT_WIRE_NANS] = (int64_t)exact->nans;
    element[ALAR_EXACT_WIRE_PLUS_INFS] = (int64_t)exact->infinities[0];
    element[ALAR_EXACT_WIRE_MINUS_INFS] = (int64_t)exact->infinities[1];
    for (int i = 0; i < digits; i++) {
        int64_t digit = magnitude.digit[first + i];
        element[ALAR_EXACT_WIRE_DIGITS + i] = magnitude.is_negative ? -digit : digit;
    }
    return ALAR_OK;
}

/* Could this element be a sum over the ranks that are allowed? */
static bool element_is_possible(enum alar_exact_wire_element index, int64_t value)
{
    int64_t largest = ALAR_EXACT_WIRE_RANKS_MAX << (index < ALAR_EXACT_WIRE_DIGITS ? 42 : 32);

    return value <= largest && value >= (index < ALAR_EXACT_WIRE_DIGITS ? 0 : -largest);
}

enum alar_status alar_exact_wire_decode(const int64_t *element, enum alar_dtype dtype,
                                        struct alar_exact *exact)
{
    int first = elements_first(dtype);
    uint32_t count = alar_exact_wire_count(dtype);

    for (uint32_t i = 0; i < count; i++) {
        if (!element_is_possible((enum alar_exact_wire_element)(
                                     i < ALAR_EXACT_WIRE_DIGITS ? i : ALAR_EXACT_WIRE_DIGITS),
                                 element[i])) {
            return ALAR_E_RANGE;
        }
    }
    alar_exact_init(exact);
    exact->terms = (uint64_t)element[ALAR_EXACT_WIRE_TERMS];
    exact->minus_zeros = (uint64_t)element[ALAR_EXACT_WIRE_MINUS_ZEROS];
    exact->nans = (uint64_t)element[ALAR_EXACT_WIRE_NANS];
    exact->infinities[0] = (uint64_t)element[ALAR_EXACT_WIRE_PLUS_INFS];
    exact->infinities[1] = (uint64_t)element[ALAR_EXACT_WIRE_MINUS_INFS];
    for (uint32_t i = ALAR_EXACT_WIRE_DIGITS; i < count; i++) {
        exact->digit[first + (int)i - ALAR_EXACT_WIRE_DIGITS] = element[i];
    }
    exact->pending = (uint32_t)ALAR_EXACT_WIRE_RANKS_MAX;
    return ALAR_OK;
}

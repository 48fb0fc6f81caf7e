/* Exact sums on the wire: a superaccumulator as int64 elements that any library can reduce with
   integer SUM. Integer addition has no order, so all ranks get the same bits on any back end, and
   the sum is decoded to the correctly rounded value.

   Layout of the elements: first five counts, then digits of 32 bits from the lowest up, each with
   the sign of the whole. One rank's elements are below 2^32, so 2^20 ranks stay below 2^53: no
   element can overflow.
 */
#ifndef ALAR_EXACT_WIRE_H
#define ALAR_EXACT_WIRE_H

#include "numbers/exact.h"

enum alar_exact_wire_element {
    ALAR_EXACT_WIRE_TERMS,
    ALAR_EXACT_WIRE_MINUS_ZEROS,
    ALAR_EXACT_WIRE_NANS,
    ALAR_EXACT_WIRE_PLUS_INFS,
    ALAR_EXACT_WIRE_MINUS_INFS,
    ALAR_EXACT_WIRE_DIGITS
};

/* Digits for sums of f32, f16 and bf16 (2^-160 up to 2^160), and for f64 (2^-1088 up to 2^1088). */
#define ALAR_EXACT_WIRE_F32 (ALAR_EXACT_WIRE_DIGITS + 10)
#define ALAR_EXACT_WIRE_F64 (ALAR_EXACT_WIRE_DIGITS + 68)

/* The most ranks that may be summed. */
#define ALAR_EXACT_WIRE_RANKS_MAX (INT64_C(1) << 20)

/* How many elements values of a float dtype need. */
uint32_t alar_exact_wire_count(enum alar_dtype dtype);

/* Writes alar_exact_wire_count(dtype) elements for a sum of values of that dtype, or of one that
   fits. Errors: ALAR_E_RANGE when the sum has bits outside the elements, or more than 2^42 terms;
   elements are then untouched. spec: N-13 */
ALAR_MUST_USE enum alar_status alar_exact_wire_encode(const struct alar_exact *exact,
                                                      enum alar_dtype dtype, int64_t *element);

/* Reads elements that were summed over at most ALAR_EXACT_WIRE_RANKS_MAX ranks.
   Errors: ALAR_E_RANGE when a element is larger than that many ranks can make it, or a count is
   negative: what was reduced is not a sum of contributions. spec: N-13 */
ALAR_MUST_USE enum alar_status alar_exact_wire_decode(const int64_t *element, enum alar_dtype dtype,
                                                      struct alar_exact *exact);

#endif

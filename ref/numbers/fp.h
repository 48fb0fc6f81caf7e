/* Arithmetic on bit patterns: one exact adder, every rounding named.

   No build may fuse operations or pack roundings (ROUNDING in the Makefile). Nothing here depends
   on the rounding mode except the native fast paths, which assume round to nearest, ties to even,
   and no flushing, as C does at start-up. */
#ifndef ALAR_FP_H
#define ALAR_FP_H

#include "api/dtype.h"
#include "api/terms.h"

/* How an adder rounds. All are monotone. A wide adder is one of these in a wider dtype, followed by
   one rounding at the end: see struct alar_adder in tree.h. spec: N-02 */
enum alar_model {
    ALAR_ADDER_TERMS(ALAR_TERM_ENUM) ALAR_MODEL_COUNT
};

/* Value = (negative ? -1 : 1) * significand * 2^exponent. */
struct alar_fp_parts {
    bool negative;
    int exponent;
    uint64_t significand;
};

/* What of a float dtype is needed to take many values apart, asked for once. */
struct alar_fp_shape {
    int fraction_bits;
    int lowest;        /* exponent of the smallest value */
    uint64_t sign;     /* its bit */
    uint64_t infinity; /* above it, but for the sign, are the NaN */
};

/* "nearest", "half-up", "truncate", "flush", "saturate". */
const char *alar_model_name(enum alar_model model);

/* A value as a double: exact, except that I64 rounds to nearest beyond 2^53. */
double alar_fp_to_double(enum alar_dtype dtype, uint64_t bits);

/* The nearest value, ties to even; integers truncate toward zero and wrap. One rounding only. */
uint64_t alar_fp_from_double(enum alar_dtype dtype, double value);

/* Bits of a double or float as they are in memory, and back. */
uint64_t alar_fp_bits(double value);
double alar_fp_double(uint64_t bits);

struct alar_fp_shape alar_fp_shape(enum alar_dtype dtype);

/* Takes a finite float apart; significand 0 for zeros. */
struct alar_fp_parts alar_fp_unpack(enum alar_dtype dtype, uint64_t bits);

/* The same for those who ask often. */
static inline struct alar_fp_parts alar_fp_take_apart(const struct alar_fp_shape *shape,
                                                      uint64_t bits)
{
    uint64_t magnitude = bits & (shape->sign - 1);
    uint64_t hidden = UINT64_C(1) << shape->fraction_bits;
    int biased = (int)(magnitude >> shape->fraction_bits);
    bool is_normal = biased > 0;

    return (struct alar_fp_parts){(bits & shape->sign) != 0, shape->lowest + biased - is_normal,
                                  is_normal ? (magnitude & (hidden - 1)) | hidden : magnitude};
}

/* Puts a float together with one rounding. When the exact value was wider than 64 bits, the lowest
   bit of the significand stands for all that was cut off ("round to odd"); then the significand
   must have at least two bits more than the precision. */
uint64_t alar_fp_assemble(enum alar_dtype dtype, enum alar_model model, struct alar_fp_parts parts);

/* From one float dtype to another, one rounding. NaN stays NaN, except under ALAR_SATURATE. */
uint64_t alar_fp_convert(enum alar_dtype from, enum alar_dtype to, enum alar_model model,
                         uint64_t bits);

/* a + b in the dtype: exactly computed, then rounded once by the model. Integers wrap modulo 2^w,
   or clamp under ALAR_SATURATE. spec: N-02, N-04 */
uint64_t alar_fp_add(enum alar_dtype dtype, enum alar_model model, uint64_t a, uint64_t b);

/* a / n, to nearest; n >= 1, and at most 2^24 for floats. Integers divide toward zero. */
uint64_t alar_fp_divide(enum alar_dtype dtype, uint64_t a, uint32_t n);

/* a * b in the dtype: exactly computed, then rounded once by the model. Integers wrap modulo 2^w,
   or clamp under ALAR_SATURATE. A zero, as every product, has the sign of both. spec: N-02, N-30 */
uint64_t alar_fp_multiply(enum alar_dtype dtype, enum alar_model model, uint64_t a, uint64_t b);

#endif

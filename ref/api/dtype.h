/* The number formats, and what can be said of a value without arithmetic.

   A value is `bits`, the low end of a uint64_t, in a dtype; two values are the same when their bits
   are the same. */
#ifndef ALAR_DTYPE_H
#define ALAR_DTYPE_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum alar_dtype {
    ALAR_F16,
    ALAR_BF16,
    ALAR_F32,
    ALAR_F64,
    ALAR_I32,
    ALAR_I64,
    ALAR_U8,
    ALAR_I8,
    ALAR_I16,
    ALAR_U16,
    ALAR_U32,
    ALAR_U64,
    ALAR_DTYPE_COUNT
};

/* What is fixed about a dtype: its size; float or integer. */
ALAR_API size_t alar_dtype_bytes(enum alar_dtype dtype);
ALAR_API bool alar_dtype_is_float(enum alar_dtype dtype);

/* Significand bits, the hidden one included: 11, 8, 24, 53. Float dtypes only. */
ALAR_API int alar_dtype_precision(enum alar_dtype dtype);

/* Exponent of the smallest positive value: -24, -133, -149, -1074. Float dtypes only. */
ALAR_API int alar_dtype_lowest(enum alar_dtype dtype);

/* "f32"; "?" for a number that is no dtype. Static storage. */
ALAR_API const char *alar_dtype_name(enum alar_dtype dtype);

/* Finds a dtype by name; the names of C, Python and torch are known too ("float", "float32").
   Errors: ALAR_E_INPUT when no dtype has the name. */
ALAR_API ALAR_MUST_USE enum alar_status alar_dtype_find(const char *name, enum alar_dtype *dtype);

/* All bits of a dtype; its sign bit, 0 for those without one. */
ALAR_API uint64_t alar_dtype_mask(enum alar_dtype dtype);
ALAR_API uint64_t alar_dtype_sign(enum alar_dtype dtype);

/* Predicates on bits; all false for integers, except is_negative and is_zero. spec: N-01 */
ALAR_API bool alar_fp_is_nan(enum alar_dtype dtype, uint64_t bits);
ALAR_API bool alar_fp_is_inf(enum alar_dtype dtype, uint64_t bits);
ALAR_API bool alar_fp_is_finite(enum alar_dtype dtype, uint64_t bits);
ALAR_API bool alar_fp_is_subnormal(enum alar_dtype dtype, uint64_t bits);
ALAR_API bool alar_fp_is_zero(enum alar_dtype dtype, uint64_t bits); /* either zero */
ALAR_API bool alar_fp_is_negative(enum alar_dtype dtype,
                                  uint64_t bits); /* the sign bit, also of -0 and NaN */

/* Same bits, or both NaN: the payload of a NaN is nobody's promise. spec: N-03 */
ALAR_API bool alar_fp_is_same(enum alar_dtype dtype, uint64_t a, uint64_t b);

/* The quiet NaN this library makes; an infinity; the largest finite value; minus a value. */
ALAR_API uint64_t alar_fp_nan(enum alar_dtype dtype);
ALAR_API uint64_t alar_fp_inf(enum alar_dtype dtype, bool is_negative);
ALAR_API uint64_t alar_fp_largest(enum alar_dtype dtype, bool is_negative);
ALAR_API uint64_t alar_fp_negate(enum alar_dtype dtype, uint64_t bits);

/* Where a value stands on the line of all values of its dtype: neighbours differ by one, -0 is
   0 - 1 and +0 is 0; U64 begins at INT64_MIN. Not for NaN. */
ALAR_API int64_t alar_fp_rank(enum alar_dtype dtype, uint64_t bits);
ALAR_API uint64_t alar_fp_unrank(enum alar_dtype dtype, int64_t rank);

/* How many values lie between a and b, plus one; both zeros count as one value; UINT64_MAX when
   either is NaN. */
ALAR_API uint64_t alar_fp_ulps(enum alar_dtype dtype, uint64_t a, uint64_t b);

/* The bits of an integer dtype as a number; those of U64 modulo 2^64. */
ALAR_API int64_t alar_int_value(enum alar_dtype dtype, uint64_t bits);

#ifdef __cplusplus
}
#endif

#endif

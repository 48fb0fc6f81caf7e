/* Exact sums: every finite value of every float dtype is a multiple of 2^-1074, so a wide enough
   fixed-point number holds any sum of them without rounding. The answer is rounded once, at the
   end.

   Assumptions: at most 2^60 terms and 2^63 - 1 as divisor; plain C, no rounding mode, no SIMD. */
#ifndef ALAR_EXACT_H
#define ALAR_EXACT_H

#include "numbers/fp.h"

/* Digit i weighs 2^(32 i + ALAR_EXACT_BASE): 78 bits below the smallest value, for means, and 127
   above the largest, for sums. */
#define ALAR_EXACT_BASE (-1152)
#define ALAR_EXACT_DIGITS 72

/* A sum so far. A zeroed one is the empty sum. */
struct alar_exact {
    int64_t digit[ALAR_EXACT_DIGITS]; /* redundant, signed: carries are put off */
    uint32_t pending;                 /* additions since the last carry */
    uint64_t terms;
    uint64_t minus_zeros; /* how many of them were -0 */
    uint64_t nans;
    uint64_t infinities[2]; /* positive, negative */
};

/* A sum's finite part as sign and digits; top is the highest digit that is not 0, -1 for zero;
   bottom the lowest, if there is one. */
struct alar_exact_magnitude {
    bool is_negative;
    int top, bottom;
    uint32_t digit[ALAR_EXACT_DIGITS];
};

void alar_exact_init(struct alar_exact *exact);

/* Takes one value of a float dtype in. spec: N-11 */
void alar_exact_add(struct alar_exact *exact, enum alar_dtype dtype, uint64_t bits);

/* Takes in those of `count` floats (below 2^36) as they lie in memory whose mask is not 0; much
   faster than one by one. spec: N-11 */
void alar_exact_add_floats(struct alar_exact *exact, const float *value, const uint8_t *mask,
                           size_t count);

/* Takes another sum in, as if all its terms had been added. */
void alar_exact_merge(struct alar_exact *exact, const struct alar_exact *other);

/* Takes the negative of a finite value in, without counting it as a term: for differences. */
void alar_exact_subtract(struct alar_exact *exact, enum alar_dtype dtype, uint64_t bits);

void alar_exact_magnitude(const struct alar_exact *exact, struct alar_exact_magnitude *magnitude);

/* The sum divided by divisor (1 .. 2^63 - 1), rounded once: the exact quotient, never the rounded
   sum, is what is rounded. NaN when a term was NaN or both infinities were; -0 only when every
   term was -0; the empty sum is +0. spec: N-11, N-12 */
uint64_t alar_exact_round(const struct alar_exact *exact, uint64_t divisor, enum alar_dtype dtype,
                          enum alar_model model);

/* The two neighbours in the dtype of the exact finite quotient, toward zero and away from it; both
   are the quotient itself when the dtype has it. Otherwise both as alar_exact_round. */
void alar_exact_neighbours(const struct alar_exact *exact, uint64_t divisor, enum alar_dtype dtype,
                           uint64_t *inner, uint64_t *outer);

/* The correctly rounded sum of n >= 1 values; adds F32 in double, and all in 64-bit integers, when
   the exponents of the values say that these suffice, which is exact as well. spec: N-11 */
uint64_t alar_exact_sum(enum alar_dtype dtype, const uint64_t *bits, uint32_t n);

#endif

/* What can be said about a sum in any order without enumerating orders: a proven radius around the
   exact sum, the granularity of all sums, and the certificate that no order can matter.

   All radii are upward-safe: rounded so that they are never smaller than the bound they stand for.
 */
#ifndef ALAR_BOUND_H
#define ALAR_BOUND_H

#include "numbers/tree.h"

/* More ranks than this would need more care with the slack of the radii. */
#define ALAR_BOUND_RANKS_MAX (UINT32_C(1) << 20)

struct alar_bound {
    /* The radii hold for every finite value: finite input, exact in wide. A sum that overflowed on
       its way is not finite, for no addition brings it back, unless the adder clamps. */
    bool is_valid;
    bool can_overflow;  /* in some order, as far as the bound knows: then Inf and NaN are open */
    bool is_product;    /* around the exact product, which is not a sum of `bits` */
    bool is_negative;   /* the sign of every product */
    bool is_order_free; /* no partial sum can round: `only` is the one legal value */
    uint64_t only;      /* in adder.dtype; when is_order_free */
    int granularity;  /* every reachable sum is a multiple of 2^this; INT32_MAX when all are zero */
    double magnitude; /* sum of |x|, upward-safe */
    double classic;   /* (n - 1) u A, any order */
    double sharp;     /* u times the sum of ufp(Z_k), any order; infinite for other models */
    double by_height; /* ((1 + u)^h - 1) A with the declared height */
    double radius;    /* the smallest of the three, with what flushing and narrowing add */
    double least, most; /* of a product: its magnitude lies within */
};

/* Both any-order bounds for additions that round to nearest with this precision, over values that
   are exact in double. sorted: scratch, n entries.
   With |x| in descending order, P_k the sum of the first k, Q_k the larger of the sums of the k
   largest positive and the k largest negative ones, and Z_k = Q_k + (k - 2) u P_k:
   |y - s| <= u * sum of ufp(Z_k) for k = 2 .. n. spec: N-14 */
double alar_bound_sharp(const double *value, uint32_t n, int precision, double *sorted);
double alar_bound_classic(double magnitude, uint32_t n, int precision);

/* The value from above: covers the rounding of at most 4 n operations, and makes a zero that
   underflowed positive. */
double alar_bound_up(double value, uint32_t n);

/* (1 + unit)^height - 1, from above. */
double alar_bound_growth(uint32_t height, double unit);

/* The same around a product of finite factors. Proof: rules N-30 of spec/semantics.md. */
void alar_bound_product(struct alar_bound *bound, struct alar_adder adder, const uint64_t *bits,
                        uint32_t n);

/* Evaluates everything for n contributions, 1 <= n <= ALAR_BOUND_RANKS_MAX. height: of the tree
   when its owner declares it, else n - 1. scratch: 2n entries. Float dtypes. spec: N-14, N-15 */
void alar_bound_evaluate(struct alar_bound *bound, struct alar_adder adder, const uint64_t *bits,
                         uint32_t n, uint32_t height, double *scratch);

/* The same without the sharp bound, which sorts: everything else is as told, the radius at least as
   wide. What is proven from it is proven. */
void alar_bound_estimate(struct alar_bound *bound, struct alar_adder adder, const uint64_t *bits,
                         uint32_t n, uint32_t height, double *scratch);

/* Is a finite value within the radius of the exact sum, or product? "No" is final: no order gives
   it. PRE: bound->is_valid. spec: N-14 */
bool alar_bound_admits(const struct alar_bound *bound, enum alar_dtype dtype, const uint64_t *bits,
                       uint32_t n, uint64_t value);

/* Is the finite value a multiple of 2^granularity? If not, it was not made by adding these. */
bool alar_bound_is_multiple(enum alar_dtype dtype, uint64_t value, int granularity);

/* Exponent of the lowest set bit over all values; INT32_MAX when all are zero. */
int alar_bound_granularity(enum alar_dtype dtype, const uint64_t *bits, uint32_t n);

#endif

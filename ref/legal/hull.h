/* The exact smallest and largest sum that any tree over any permutation can give.

   Rounding is monotone, so the extremes of a set of ranks come from the extremes of its two parts:
   two numbers per subset, 3^n / 2 splits in all. Values are doubles that are exact in adder.wide.
   The hull is the tightest bound there is; whether a value inside it is reachable is for
   reachable.h.
 */
#ifndef ALAR_HULL_H
#define ALAR_HULL_H

#include "numbers/tree.h"

/* 2^20 subsets are 17 MB of scratch and seconds of work: the hull stops being cheap at 16. */
#define ALAR_HULL_RANKS_MAX 20

/* What the sums of one subset can be, or the magnitudes of its products: their sign is that of all
   factors, and magnitudes are monotone in each factor. When no number is reachable (NaN only),
   low > high. */
struct alar_range {
    double low;  /* the smallest reachable sum, -0 and +0 alike; -Inf when it is reachable */
    double high; /* the largest; +Inf when it is reachable */
    bool can_be_nan;
};

struct alar_hull {
    struct alar_adder adder;
    uint32_t n;
    const uint64_t *bits;     /* the contributions; borrowed, must stay */
    struct alar_range *range; /* by subset, bit i for rank i; caller's memory, 2^n entries */
};

/* Adds as the adder does; a and b are exact in adder.wide. NaN comes out as one NaN. */
double alar_hull_sum(struct alar_adder adder, double a, double b);

/* Fills range for all subsets of n contributions, 1 <= n <= ALAR_HULL_RANKS_MAX. Float dtypes.
   spec: N-07 */
void alar_hull_build(struct alar_hull *hull, struct alar_adder adder, const uint64_t *bits,
                     uint32_t n, struct alar_range *range);

/* Is one of the values from rank `first` to rank `last` on the line of adder.dtype between the
   extremes of the subset (not 0)? "No" is final: no order gives any. spec: N-07, N-08, N-30 */
bool alar_hull_meets(const struct alar_hull *hull, uint32_t subset, int64_t first, int64_t last);

/* The extremes of all contributions in adder.dtype; false when there are none. */
bool alar_hull_ends(const struct alar_hull *hull, uint64_t *low, uint64_t *high);

/* The same for one value, or NaN. "Yes" is final at the extremes. */
bool alar_hull_contains(const struct alar_hull *hull, uint32_t subset, uint64_t value);

/* A tree that gives the smallest or largest sum of all contributions. tree: capacity >= 2n - 1;
   stack: scratch, n entries. False when the extreme is not finite: the way down is then not unique
   enough to be walked. */
bool alar_hull_witness(const struct alar_hull *hull, bool is_high, struct alar_tree *tree,
                       uint64_t *stack);

/* May a sum, or product, of these contributions be a zero of this sign? Not whether it may be zero
   at all. A sum is -0 when all contributions are, as loaded, or when a negative one was flushed.
   spec: N-08, N-30 */
bool alar_zero_is_legal(struct alar_adder adder, const uint64_t *bits, uint32_t n, uint32_t subset,
                        bool is_negative);

#endif

/* The order of addition of a black box, found from outside by masks.

   One contribution is M, one is -M, all others are a unit, and M is so large that units added to it
   vanish. What comes out is the number of units that were added only after M and -M had met: so n
   minus that is the number of leaves below the lowest node that has both. Enough of these numbers
   give the whole tree, up to swapping the two operands of an addition, which changes no bit of a
   finite sum. Measuring every pair takes n(n - 1) / 2 sums; measuring what does not follow from the
   rest takes between n - 1 (a fold) and as many. Tree up to here: B. Xie et al., USENIX ATC 2025.

   A tree here may have nodes of more than two operands (an adder that rounds once for several): in
   the postfix program, -(k - 1) stands for the sum of the k values on top, so that -1 is
   ALAR_TREE_ADD, and a program with no other sum is an ordinary tree. */
#ifndef ALAR_ORDER_H
#define ALAR_ORDER_H

#include "base/scratch.h"
#include "numbers/tree.h"

/* The three contributions of a probe; NaN-free. `ranks_most`: more of them could not be counted. */
struct alar_order_masks {
    uint64_t large, minus_large, unit;
    uint32_t ranks_most;
};

/* Float dtypes only. */
struct alar_order_masks alar_order_masks(enum alar_dtype dtype);

/* Leaves below the node where M and -M met, 2 to n, from the sum that came out (`is_average`: from
   the average); ALAR_ORDER_ODD when the value is no count of units. */
uint16_t alar_order_leaves(enum alar_dtype dtype, uint32_t n, bool is_average, uint64_t bits);

enum {
    ALAR_ORDER_UNKNOWN = 0,
    ALAR_ORDER_ODD = UINT16_MAX,
    ALAR_ORDER_RANKS_MOST = 1024
};

/* What is known of one order over n ranks: of one rank's result, of one element. */
struct alar_order {
    uint32_t n;
    uint16_t *leaves; /* caller's memory, n * n entries, symmetric */
    uint32_t rows;    /* complete ones at the front, from which all was inferred */
};

/* Forgets everything. n from 1 to ALAR_ORDER_RANKS_MOST. */
void alar_order_clear(struct alar_order *order);

/* Notes what a probe of the pair said. i != j. */
void alar_order_note(struct alar_order *order, uint32_t i, uint32_t j, uint16_t leaves);

/* Fills in what follows from rows that are complete: where i meets j and k at different nodes, j
   and k meet at the higher one. */
void alar_order_infer(struct alar_order *order);

/* The first pair that is not known after inference, i < j, as i * n + j; n * n when all are. */
uint32_t alar_order_next(const struct alar_order *order);

/* Bytes of scratch that the functions below need. */
size_t alar_order_scratch(uint32_t n);

/* Builds the tree from a complete order; capacity >= 2n - 1.
   Errors: ALAR_E_INPUT when no tree has these numbers: the order changed between the probes, or
   nothing was swallowed (see alar_order_is_wide). The tree is then unspecified. */
ALAR_MUST_USE enum alar_status alar_order_decode(const struct alar_order *order,
                                                 struct alar_tree *tree,
                                                 struct alar_scratch scratch);

/* Did every unit survive, n >= 3: an accumulator that no M of the dtype swallows in? */
bool alar_order_is_wide(const struct alar_order *order);

/* The order that a tree over n ranks has: what the probes of it would say. */
void alar_order_of(const struct alar_tree *tree, struct alar_order *order,
                   struct alar_scratch scratch);

/* The first name whose tree is this one but for swapped operands.
   Errors: ALAR_E_INPUT when there is none. */
ALAR_MUST_USE enum alar_status alar_order_name(const struct alar_order *order,
                                               struct alar_tree_name *name,
                                               struct alar_scratch scratch);

/* Writes "(((0+1)+2)+(3+4))", with "(0+1+2)" for a node of three.
   Errors: ALAR_E_RANGE when size is too small. */
ALAR_MUST_USE enum alar_status alar_order_print(const struct alar_tree *tree, char *text,
                                                size_t size, struct alar_scratch scratch);

/* The pair, i < j, and a third rank below their lowest common node, for measuring the accumulator's
   width; false when n < 3. */
bool alar_order_triple(const struct alar_order *order, uint32_t triple[3]);

/* Significand bits probed: M is 1.5 * 2^bits and the third rank's contribution 1. What comes out is
   1 when the accumulator keeps a bit that far down, and 0 when it has just `bits` of them. */
struct alar_order_masks alar_order_width_masks(enum alar_dtype dtype, int bits);

#endif

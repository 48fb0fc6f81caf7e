/* The exact set of sums that some family of trees can give, and a witness tree for each.

   A subset is a set of ranks; its values are all sums of a value of one part and a value of the
   other, over all its splits. "No" is only ever said from the complete set: when memory or work
   runs out the build fails, and nothing is claimed. Values are doubles exact in adder.wide; zeros
   are kept without their sign, which alar_zero_is_legal decides. spec: N-09 */
#ifndef ALAR_REACHABLE_H
#define ALAR_REACHABLE_H

#include "base/scratch.h"
#include "legal/hull.h"
#include "legal/partition.h"

/* Subsets of one partition: 2^16 subsets. */
#define ALAR_REACHABLE_RANKS_MAX 16

/* The values of one set of ranks. */
struct alar_reachable_subset {
    double low; /* least and greatest value when all are finite */
    double high;
    uint32_t first; /* index into value */
    uint32_t count;
    bool is_finite;
};

struct alar_reachable {
    struct alar_adder adder;
    const uint64_t *bits; /* borrowed; must stay */
    uint32_t n;
    uint64_t work; /* additions left */
    struct alar_partition *partition;
    uint32_t partitions; /* the last one is the root */
    struct alar_reachable_subset *subset;
    uint32_t *member; /* ranks, grouped by partition */
    double *value;
    uint32_t values; /* in use */
    uint32_t value_limit;
    uint64_t *slot; /* hash of the subset being filled: stamp and position */
    uint32_t slots; /* power of two */
};

/* Any tree over any permutation; n <= ALAR_REACHABLE_RANKS_MAX. `work` bounds the additions.
   Errors: ALAR_E_RANGE when n, the scratch or the work does not suffice: then nothing is known. */
ALAR_MUST_USE enum alar_status alar_reachable_any(struct alar_reachable *reachable,
                                                  struct alar_adder adder, const uint64_t *bits,
                                                  uint32_t n, uint64_t work,
                                                  struct alar_scratch scratch);

/* Any tree that keeps the ranks in order (folds, recursive doubling, binomial from 0).
   Errors: as above. */
ALAR_MUST_USE enum alar_status alar_reachable_ordered(struct alar_reachable *reachable,
                                                      struct alar_adder adder, const uint64_t *bits,
                                                      uint32_t n, uint64_t work,
                                                      struct alar_scratch scratch);

/* Any order inside each node, then any order among nodes. node[i] < nodes is where rank i runs;
   every node has a rank.
   Errors: as above, also when a node, or their number, exceeds ALAR_REACHABLE_RANKS_MAX. */
ALAR_MUST_USE enum alar_status alar_reachable_nodes(struct alar_reachable *reachable,
                                                    struct alar_adder adder, const uint64_t *bits,
                                                    uint32_t n, const uint32_t *node,
                                                    uint32_t nodes, uint64_t work,
                                                    struct alar_scratch scratch);

/* Is the value, in adder.dtype, the result of a tree of the family? Final either way. spec: N-09 */
bool alar_reachable_has(const struct alar_reachable *reachable, uint64_t value);

/* Is some value from rank `first` to rank `last` on the line of adder.dtype such a result? Then it
   is in *value. Final either way. */
bool alar_reachable_meets(const struct alar_reachable *reachable, int64_t first, int64_t last,
                          uint64_t *value);

/* A tree that gives the value, which alar_reachable_has. tree: capacity >= 2n - 1; stack: scratch,
   3n entries. The tree is evaluated once more. spec: N-10 */
void alar_reachable_witness(const struct alar_reachable *reachable, uint64_t value,
                            struct alar_tree *tree, uint64_t *stack);

#endif

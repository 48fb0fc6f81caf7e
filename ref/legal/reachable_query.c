/* Questions to a complete reachable set: membership, and a witness found by walking back down. */
#include "base/check.h"
#include "legal/reachable.h"

#include <math.h>

/* A value as the family's result: brought to wide, then to the result's dtype. */
static uint64_t reachable_store(const struct alar_reachable *reachable, double value)
{
    struct alar_adder adder = reachable->adder;
    uint64_t wide = alar_fp_convert(ALAR_F64, adder.wide, ALAR_NEAREST, alar_fp_bits(value));

    return alar_adder_store(adder, wide);
}

/* Position in value of the first that becomes a result from rank `first` to rank `last`, or a NaN
   when `is_nan`; UINT32_MAX when none does. */
static uint32_t subset_find(const struct alar_reachable *reachable,
                            const struct alar_reachable_subset *subset, bool is_nan, int64_t first,
                            int64_t last)
{
    enum alar_dtype dtype = reachable->adder.dtype;

    for (uint32_t i = subset->first; i < subset->first + subset->count; i++) {
        uint64_t stored = reachable_store(reachable, reachable->value[i]);

        if (is_nan || alar_fp_is_nan(dtype, stored)) {
            if (is_nan && alar_fp_is_nan(dtype, stored)) {
                return i;
            }
            continue;
        }
        int64_t rank = alar_fp_rank(dtype, stored);
        if (rank >= first && rank <= last) {
            return i;
        }
    }
    return UINT32_MAX;
}

static uint32_t subset_find_value(const struct alar_reachable *reachable,
                                  const struct alar_reachable_subset *subset, uint64_t value)
{
    bool is_nan = alar_fp_is_nan(reachable->adder.dtype, value);
    int64_t rank = is_nan ? 0 : alar_fp_rank(reachable->adder.dtype, value);

    return subset_find(reachable, subset, is_nan, rank, rank);
}

static uint32_t reachable_root(const struct alar_reachable *reachable)
{
    return alar_partition_whole(&reachable->partition[reachable->partitions - 1]);
}

bool alar_reachable_has(const struct alar_reachable *reachable, uint64_t value)
{
    const struct alar_reachable_subset *root = &reachable->subset[reachable_root(reachable)];

    return subset_find_value(reachable, root, value) != UINT32_MAX;
}

bool alar_reachable_meets(const struct alar_reachable *reachable, int64_t first, int64_t last,
                          uint64_t *value)
{
    const struct alar_reachable_subset *root = &reachable->subset[reachable_root(reachable)];
    uint32_t at = subset_find(reachable, root, false, first, last);

    if (at != UINT32_MAX) {
        *value = reachable_store(reachable, reachable->value[at]);
    }
    return at != UINT32_MAX;
}

/* A value still to be explained: a subset of a partition, and where in value it stands. */
struct goal {
    uint64_t partition;
    uint64_t subset;
    uint64_t at;
};

/* Finds parts of the goal's subset whose values give its value. */
static void goal_split(const struct alar_reachable *reachable, struct goal goal, struct goal *left,
                       struct goal *right)
{
    const struct alar_partition *partition = &reachable->partition[goal.partition];
    uint64_t wanted = alar_fp_bits(reachable->value[goal.at]);
    uint32_t a;
    uint32_t b;

    for (uint32_t step = 0;
         alar_partition_split(partition, (uint32_t)goal.subset, &step, &a, &b);) {
        const struct alar_reachable_subset *x = &reachable->subset[a];
        const struct alar_reachable_subset *y = &reachable->subset[b];
        for (uint32_t i = x->first; i < x->first + x->count; i++) {
            for (uint32_t j = y->first; j < y->first + y->count; j++) {
                double sum =
                    alar_hull_sum(reachable->adder, reachable->value[i], reachable->value[j]);
                if (alar_fp_bits(sum) == wanted) {
                    *left = (struct goal){goal.partition, a, i};
                    *right = (struct goal){goal.partition, b, j};
                    return;
                }
            }
        }
    }
    INV("every value of a subset came from a split", false);
}

/* Writes the tree backwards: a sum, then its right part, then its left one. */
static void reachable_trace(const struct alar_reachable *reachable, struct goal root,
                            struct alar_tree *tree, struct goal *open)
{
    uint32_t depth = 0;

    tree->count = 0;
    open[depth++] = root;
    while (depth > 0) {
        struct goal goal = open[--depth];
        const struct alar_partition *partition = &reachable->partition[goal.partition];
        uint32_t leaf = alar_partition_leaf(partition, (uint32_t)goal.subset);

        if (leaf != UINT32_MAX && partition->is_over_partitions) {
            open[depth++] =
                (struct goal){leaf, alar_partition_whole(&reachable->partition[leaf]), goal.at};
        } else if (leaf != UINT32_MAX) {
            tree->node[tree->count++] = (int32_t)reachable->member[partition->first_member + leaf];
        } else {
            tree->node[tree->count++] = ALAR_TREE_ADD;
            goal_split(reachable, goal, &open[depth], &open[depth + 1]);
            depth += 2;
        }
    }
}

void alar_reachable_witness(const struct alar_reachable *reachable, uint64_t value,
                            struct alar_tree *tree, uint64_t *stack)
{
    uint32_t root = reachable_root(reachable);
    struct goal goal = {reachable->partitions - 1, root,
                        subset_find_value(reachable, &reachable->subset[root], value)};

    PRE(tree->capacity >= 2 * reachable->n - 1);
    PRE(alar_reachable_has(reachable, value));
    _Static_assert(sizeof(struct goal) == 3 * sizeof *stack, "n goals fit the promised scratch");
    reachable_trace(reachable, goal, tree, (struct goal *)(void *)stack);
    for (uint32_t i = 0, j = tree->count - 1; i < j; i++, j--) {
        int32_t swap = tree->node[i];
        tree->node[i] = tree->node[j];
        tree->node[j] = swap;
    }
    uint64_t result = alar_tree_evaluate(tree, reachable->adder, reachable->bits, stack);

    POST(alar_fp_is_same(reachable->adder.dtype, result, value));
}

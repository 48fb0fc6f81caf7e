/* Questions to a complete reachable set: membership, and a witness found by walking back down. */
#include "base/check.h"
#include "legal/reachable.h"

#include <math.h>

/* A value as the family's result: brought to wide, then to the result's dtype. */
static uint64_t reach_store(const struct alar_reach *reach, double value)
{
    struct alar_adder adder = reach->adder;
    uint64_t wide = alar_fp_convert(ALAR_F64, adder.wide, ALAR_NEAREST, alar_fp_bits(value));

    return alar_adder_store(adder, wide);
}

/* Same value; zeros by value only, their sign is decided elsewhere. */
static bool reach_is_match(const struct alar_reach *reach, double value, uint64_t wanted)
{
    enum alar_dtype dtype = reach->adder.dtype;
    uint64_t stored = reach_store(reach, value);

    return alar_fp_is_same(dtype, stored, wanted) ||
           (alar_fp_is_zero(dtype, stored) && alar_fp_is_zero(dtype, wanted));
}

/* Position in value of one that becomes the wanted result; UINT32_MAX when none does. */
static uint32_t cell_find(const struct alar_reach *reach, const struct alar_reach_cell *cell,
                          uint64_t wanted)
{
    for (uint32_t i = cell->first; i < cell->first + cell->count; i++) {
        if (reach_is_match(reach, reach->value[i], wanted)) {
            return i;
        }
    }
    return UINT32_MAX;
}

static uint32_t reach_root(const struct alar_reach *reach)
{
    return alar_block_whole(&reach->block[reach->blocks - 1]);
}

static bool reach_has(const struct alar_reach *reach, uint32_t cell, uint32_t subset,
                      uint64_t value)
{
    enum alar_dtype dtype = reach->adder.dtype;

    return cell_find(reach, &reach->cell[cell], value) != UINT32_MAX &&
           (!alar_fp_is_zero(dtype, value) ||
            alar_zero_is_legal(reach->adder, reach->bits, reach->n, subset,
                               alar_fp_is_negative(dtype, value)));
}

bool alar_reach_has(const struct alar_reach *reach, uint64_t value)
{
    return reach_has(reach, reach_root(reach), UINT32_MAX, value);
}

bool alar_reach_has_subset(const struct alar_reach *reach, uint32_t subset, uint64_t value)
{
    const struct alar_block *root = &reach->block[reach->blocks - 1];

    PRE(!root->is_ordered && !root->is_over_blocks);
    PRE(subset >= 1 && subset >> root->leaves == 0);
    return reach_has(reach, root->first_cell + subset, subset, value);
}

uint32_t alar_reach_count(const struct alar_reach *reach)
{
    return reach->cell[reach_root(reach)].count;
}

/* A value still to be explained: a cell of a block, and where in value it stands. */
struct goal {
    uint64_t block;
    uint64_t cell;
    uint64_t at;
};

/* Finds parts of the goal's cell whose values add up to its value. */
static void goal_split(const struct alar_reach *reach, struct goal goal, struct goal *left,
                       struct goal *right)
{
    const struct alar_block *block = &reach->block[goal.block];
    uint64_t wanted = alar_fp_bits(reach->value[goal.at]);
    uint32_t a;
    uint32_t b;

    for (uint32_t step = 0; alar_block_split(block, (uint32_t)goal.cell, &step, &a, &b);) {
        const struct alar_reach_cell *x = &reach->cell[a];
        const struct alar_reach_cell *y = &reach->cell[b];
        for (uint32_t i = x->first; i < x->first + x->count; i++) {
            for (uint32_t j = y->first; j < y->first + y->count; j++) {
                double sum = alar_hull_sum(reach->adder, reach->value[i], reach->value[j]) + 0.0;
                if (alar_fp_bits(sum) == wanted) {
                    *left = (struct goal){goal.block, a, i};
                    *right = (struct goal){goal.block, b, j};
                    return;
                }
            }
        }
    }
    INV("every value of a cell came from a split", false);
}

/* Writes the tree backwards: a sum, then its right part, then its left one. */
static void reach_trace(const struct alar_reach *reach, struct goal root, struct alar_tree *tree,
                        struct goal *open)
{
    uint32_t depth = 0;

    tree->count = 0;
    open[depth++] = root;
    while (depth > 0) {
        struct goal goal = open[--depth];
        const struct alar_block *block = &reach->block[goal.block];
        uint32_t leaf = alar_block_leaf(block, (uint32_t)goal.cell);

        if (leaf != UINT32_MAX && block->is_over_blocks) {
            open[depth++] = (struct goal){leaf, alar_block_whole(&reach->block[leaf]), goal.at};
        } else if (leaf != UINT32_MAX) {
            tree->node[tree->count++] = (int32_t)reach->member[block->first_member + leaf];
        } else {
            tree->node[tree->count++] = ALAR_TREE_ADD;
            goal_split(reach, goal, &open[depth], &open[depth + 1]);
            depth += 2;
        }
    }
}

bool alar_reach_witness(const struct alar_reach *reach, uint64_t value, struct alar_tree *tree,
                        uint64_t *stack)
{
    uint32_t root = reach_root(reach);
    struct goal goal = {reach->blocks - 1, root, cell_find(reach, &reach->cell[root], value)};

    PRE(tree->capacity >= 2 * reach->n - 1);
    PRE(alar_reach_has(reach, value));
    _Static_assert(sizeof(struct goal) == 3 * sizeof *stack, "n goals fit the promised scratch");
    reach_trace(reach, goal, tree, (struct goal *)(void *)stack);
    for (uint32_t i = 0, j = tree->count - 1; i < j; i++, j--) {
        int32_t swap = tree->node[i];
        tree->node[i] = tree->node[j];
        tree->node[j] = swap;
    }
    uint64_t result = alar_tree_evaluate(tree, reach->adder, reach->bits, stack);

    POST(reach_is_match(reach, alar_fp_to_double(reach->adder.dtype, result), value));
    return alar_fp_is_same(reach->adder.dtype, result, value);
}

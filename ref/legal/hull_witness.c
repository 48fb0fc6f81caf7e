/* The trees at the ends of a hull, found by walking down the splits that made them. */
#include "base/check.h"
#include "legal/hull.h"

#include <math.h>

static double range_end(struct alar_range range, bool is_high)
{
    return is_high ? range.high : range.low;
}

/* The part on the left of a split whose ends add up to the end of the set. */
static uint32_t hull_split(const struct alar_hull *hull, uint32_t set, bool is_high)
{
    uint32_t rest = set & (set - 1);
    uint32_t first = set ^ rest;
    uint64_t wanted = alar_fp_bits(range_end(hull->range[set], is_high) + 0.0);

    for (uint32_t part = 0; part != rest; part = (part - rest) & rest) {
        double sum = alar_hull_sum(hull->adder, range_end(hull->range[first | part], is_high),
                                   range_end(hull->range[rest ^ part], is_high));
        if (alar_fp_bits(sum + 0.0) == wanted) {
            return first | part;
        }
    }
    INV("the end of a range came from a split", false);
    return 0;
}

bool alar_hull_witness(const struct alar_hull *hull, bool is_high, struct alar_tree *tree,
                       uint64_t *stack)
{
    uint32_t all = (UINT32_C(1) << hull->n) - 1;
    uint32_t depth = 0;

    PRE(tree->capacity >= 2 * hull->n - 1);
    if (!isfinite(range_end(hull->range[all], is_high))) {
        return false;
    }
    tree->count = 2 * hull->n - 1;
    stack[depth++] = all;
    /* Written from the end: a sum, then its right part, then its left one. */
    for (uint32_t at = tree->count; at > 0; at--) {
        uint32_t set = (uint32_t)stack[--depth];
        if ((set & (set - 1)) == 0) {
            int32_t rank = 0;
            while (set >> rank != 1) {
                rank++;
            }
            tree->node[at - 1] = rank;
            continue;
        }
        uint32_t left = hull_split(hull, set, is_high);
        tree->node[at - 1] = ALAR_TREE_ADD;
        stack[depth++] = left;
        stack[depth++] = set ^ left;
    }
    POST(depth == 0);
    return true;
}

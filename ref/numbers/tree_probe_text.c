/* What a tree's probes would say, what it is called, how it is written, and where its accumulator
   can be measured. */
#include "base/check.h"
#include "numbers/prepend.h"
#include "numbers/tree_probe.h"

#include <string.h>

bool alar_order_is_wide(const struct alar_order *order)
{
    for (uint32_t i = 0; i < order->n; i++) {
        for (uint32_t j = i + 1; j < order->n; j++) {
            if (order->leaves[i * order->n + j] != 2) {
                return false;
            }
        }
    }
    return order->n >= 3;
}

enum alar_status alar_order_name(const struct alar_order *order, struct alar_tree_name *name,
                                 struct alar_scratch scratch)
{
    uint32_t n = order->n;
    size_t entries = (size_t)n * n;
    struct alar_order named = {n, alar_scratch_take(&scratch, entries, sizeof(uint16_t)), 0};
    struct alar_tree tree = {alar_scratch_take(&scratch, 2 * (uint64_t)n, sizeof(int32_t)), 0,
                             2 * n - 1};

    PRE(named.leaves != NULL);
    PRE(tree.node != NULL);
    for (uint32_t index = 0; index < alar_tree_names(n, n); index++) {
        struct alar_tree_name candidate = alar_tree_name_at(n, n, index);

        alar_tree_build(&tree, candidate, n);
        alar_order_of(&tree, &named, scratch);
        if (memcmp(named.leaves, order->leaves, entries * sizeof(uint16_t)) == 0) {
            *name = candidate;
            return ALAR_OK;
        }
    }
    return ALAR_E_INPUT;
}

/* Read backwards, the program names a node before what is below it, last operand first; the stack
   counts the operands that each open node still lacks. */
enum alar_status alar_order_print(const struct alar_tree *tree, char *text, size_t size,
                                  struct alar_scratch scratch)
{
    uint32_t *lacking = alar_scratch_take(&scratch, tree->count, sizeof(*lacking));
    struct alar_prepend out = {text, text + size, false};
    uint32_t depth = 0;

    PRE(lacking != NULL);
    alar_prepend_put(&out, '\0');
    for (uint32_t k = tree->count; k > 0; k--) {
        int32_t node = tree->node[k - 1];

        if (node < 0) {
            alar_prepend_put(&out, ')');
            lacking[depth++] = (uint32_t)(1 - node);
            continue;
        }
        alar_prepend_put_number(&out, (uint32_t)node);
        for (; depth > 0 && --lacking[depth - 1] == 0; depth--) {
            alar_prepend_put(&out, '(');
        }
        if (depth > 0) {
            alar_prepend_put(&out, '+');
        }
    }
    if (out.is_full) {
        return ALAR_E_RANGE;
    }
    memmove(text, out.next, (size_t)(text + size - out.next));
    return ALAR_OK;
}

bool alar_order_triple(const struct alar_order *order, uint32_t triple[3])
{
    uint32_t n = order->n;
    uint32_t far = 0;

    for (uint32_t j = 1; j < n; j++) {
        far = far == 0 || order->leaves[j] > order->leaves[far] ? j : far;
    }
    if (n < 3) {
        return false;
    }
    triple[0] = 0;
    triple[1] = far;
    triple[2] = far == 1 ? 2 : 1;
    return true;
}

struct alar_order_masks alar_order_width_masks(enum alar_dtype dtype, int bits)
{
    double large = 1.5;

    for (int k = 0; k < bits; k++) {
        large *= 2;
    }
    struct alar_order_masks masks = {alar_fp_from_double(dtype, large), 0,
                                     alar_fp_from_double(dtype, 1.0), 0};
    masks.minus_large = alar_fp_negate(dtype, masks.large);
    return masks;
}

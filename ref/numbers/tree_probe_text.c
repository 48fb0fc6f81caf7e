/* What a tree's probes would say, what it is called, how it is written, and where its accumulator
   can be measured. */
#include "base/check.h"
#include "numbers/prepend.h"
#include "numbers/tree_probe.h"

#include <string.h>

/* A postfix program under way: the leaves so far, in the order they came, and where among them each
   value on the stack begins. */
struct walk {
    uint32_t *leaf;
    uint32_t *start;
    uint32_t leaves;
    uint32_t depth;
};

/* Leaves of two children of one node meet there, below as many leaves as it has. */
static void node_note(struct alar_order *order, const struct walk *walk, uint32_t children)
{
    uint32_t first = walk->depth - children;
    uint32_t begin = walk->start[first];
    uint16_t size = (uint16_t)(walk->leaves - begin);

    for (uint32_t child = first; child < walk->depth; child++) {
        uint32_t end = child + 1 < walk->depth ? walk->start[child + 1] : walk->leaves;

        for (uint32_t i = walk->start[child]; i < end; i++) {
            for (uint32_t j = end; j < walk->leaves; j++) {
                alar_order_note(order, walk->leaf[i], walk->leaf[j], size);
            }
        }
    }
}

void alar_order_of(const struct alar_tree *tree, struct alar_order *order,
                   struct alar_scratch scratch)
{
    struct walk walk = {
        .leaf = alar_scratch_take(&scratch, order->n, sizeof(*walk.leaf)),
        .start = alar_scratch_take(&scratch, order->n, sizeof(*walk.start)),
    };

    PRE(walk.leaf != NULL);
    PRE(walk.start != NULL);
    alar_order_clear(order);
    for (uint32_t k = 0; k < tree->count; k++) {
        int32_t node = tree->node[k];

        if (node >= 0) {
            walk.start[walk.depth++] = walk.leaves;
            walk.leaf[walk.leaves++] = (uint32_t)node;
        } else {
            uint32_t children = (uint32_t)(1 - node);

            node_note(order, &walk, children);
            walk.depth -= children - 1;
        }
    }
}

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

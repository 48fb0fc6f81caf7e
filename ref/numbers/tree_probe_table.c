/* The table of what probes say of a tree: measured pair by pair, or told by the tree itself. */
#include "base/check.h"
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

void alar_order_clear(struct alar_order *order)
{
    PRE(order->n >= 1);
    PRE(order->n <= ALAR_ORDER_RANKS_MOST);
    memset(order->leaves, 0, (size_t)order->n * order->n * sizeof(*order->leaves));
    order->rows = 0;
    for (uint32_t i = 0; i < order->n; i++) {
        order->leaves[i * order->n + i] = 1;
    }
}

void alar_order_note(struct alar_order *order, uint32_t i, uint32_t j, uint16_t leaves)
{
    PRE(i != j);
    order->leaves[i * order->n + j] = leaves;
    order->leaves[j * order->n + i] = leaves;
}

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

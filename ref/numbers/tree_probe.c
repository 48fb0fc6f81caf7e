/* From probes to numbers of leaves, and from those to a tree. */
#include "numbers/tree_probe.h"

#include "base/check.h"

#include <stdalign.h>
#include <string.h>

/* A node while the tree is built; the first n are the leaves. */
struct node {
    uint32_t child;   /* first, NONE for a leaf */
    uint32_t next;    /* sibling */
    uint32_t cluster; /* of a leaf: the node it is below so far */
};

static const uint32_t NONE = UINT32_MAX;

/* Half a unit in the last place of M exceeds the sum of all units: 1.0 below the largest power of
   two, but for f16, whose range leaves only its smallest value for a unit. */
struct alar_order_masks alar_order_masks(enum alar_dtype dtype)
{
    struct alar_order_masks masks = {0};

    PRE(alar_dtype_is_float(dtype));
    switch (dtype) {
    case ALAR_F16:
        masks = (struct alar_order_masks){0x7800, 0, 0x0001, 2049};
        break;
    case ALAR_BF16:
        masks = (struct alar_order_masks){0x7F00, 0, 0x3F80, 257};
        break;
    case ALAR_F32:
        masks = (struct alar_order_masks){0x7F000000, 0, 0x3F800000, ALAR_ORDER_RANKS_MOST};
        break;
    default:
        masks = (struct alar_order_masks){UINT64_C(0x7FE0000000000000), 0,
                                          UINT64_C(0x3FF0000000000000), ALAR_ORDER_RANKS_MOST};
        break;
    }
    masks.minus_large = alar_fp_negate(dtype, masks.large);
    masks.ranks_most =
        masks.ranks_most < ALAR_ORDER_RANKS_MOST ? masks.ranks_most : ALAR_ORDER_RANKS_MOST;
    return masks;
}

uint16_t alar_order_leaves(enum alar_dtype dtype, uint32_t n, bool is_average, uint64_t bits)
{
    struct alar_order_masks masks = alar_order_masks(dtype);
    double unit = alar_fp_to_double(dtype, masks.unit);

    if (!alar_fp_is_finite(dtype, bits)) {
        return ALAR_ORDER_ODD;
    }
    double units = alar_fp_to_double(dtype, bits) / unit;
    if (is_average) {
        /* Whatever rounding the division did is far below half a unit. */
        units = (double)(int64_t)(units * n + 0.5);
    }
    if (units < 0 || units > n - 2.0 || units != (double)(uint32_t)units) {
        return ALAR_ORDER_ODD;
    }
    return (uint16_t)(n - (uint32_t)units);
}

static bool row_is_complete(const struct alar_order *order, uint32_t i)
{
    for (uint32_t j = 0; j < order->n; j++) {
        if (order->leaves[i * order->n + j] == ALAR_ORDER_UNKNOWN) {
            return false;
        }
    }
    return true;
}

void alar_order_infer(struct alar_order *order)
{
    uint32_t n = order->n;

    for (; order->rows < n && row_is_complete(order, order->rows); order->rows++) {
        const uint16_t *row = &order->leaves[order->rows * n];

        for (uint32_t j = order->rows + 1; j < n; j++) {
            for (uint32_t k = j + 1; k < n; k++) {
                if (order->leaves[j * n + k] == ALAR_ORDER_UNKNOWN && row[j] != row[k]) {
                    alar_order_note(order, j, k, row[j] > row[k] ? row[j] : row[k]);
                }
            }
        }
    }
}

uint32_t alar_order_next(const struct alar_order *order)
{
    uint32_t n = order->n;

    for (uint32_t i = order->rows; i < n; i++) {
        for (uint32_t j = i + 1; j < n; j++) {
            if (order->leaves[i * n + j] == ALAR_ORDER_UNKNOWN) {
                return i * n + j;
            }
        }
    }
    return n * n;
}

size_t alar_order_scratch(uint32_t n)
{
    size_t entries = 2 * (size_t)n;

    return entries * (sizeof(struct node) + 2 * sizeof(int32_t) + 4 * sizeof(uint64_t)) +
           (size_t)n * n * sizeof(uint16_t) + 16 * alignof(max_align_t);
}

/* Puts the clusters of i and j under one node, new unless one of them is already a node of this
   round (`fresh` is the first of these). Returns the number of nodes; 0 when both are, which no
   tree has: their leaves would meet further down. */
static uint32_t clusters_join(struct node *node, uint32_t n, uint32_t count, uint32_t fresh,
                              uint32_t i, uint32_t j)
{
    uint32_t a = node[i].cluster;
    uint32_t b = node[j].cluster;

    if (a >= fresh && b >= fresh) {
        return 0;
    }
    if (b >= fresh) {
        uint32_t swap = a;
        a = b;
        b = swap;
    }
    uint32_t parent = a >= fresh ? a : count;
    if (parent == count) {
        node[parent] = (struct node){a, NONE, NONE};
        count++;
    }
    uint32_t last = node[parent].child;
    while (node[last].next != NONE) {
        last = node[last].next;
    }
    node[last].next = b;
    for (uint32_t leaf = 0; leaf < n; leaf++) {
        if (node[leaf].cluster == a || node[leaf].cluster == b) {
            node[leaf].cluster = parent;
        }
    }
    return count;
}

/* Joins, smallest first, what meets below a node of that many leaves. Returns the number of nodes;
   0 when the numbers are no tree's. */
static uint32_t tree_join(const struct alar_order *order, struct node *node)
{
    uint32_t n = order->n;
    uint32_t count = n;

    for (uint32_t size = 2; size <= n; size++) {
        uint32_t fresh = count;

        for (uint32_t i = 0; i < n; i++) {
            for (uint32_t j = i + 1; j < n; j++) {
                if (order->leaves[i * n + j] == size && node[i].cluster != node[j].cluster) {
                    count = clusters_join(node, n, count, fresh, i, j);
                    if (count == 0) {
                        return 0;
                    }
                }
            }
        }
    }
    return count;
}

/* Writes the nodes below `root` as a postfix program, from its end: a node, then what is below it,
   last child first. `stack` holds nodes still to be written. */
static void postfix_write(const struct node *node, uint32_t n, uint32_t root,
                          struct alar_tree *tree, uint32_t *stack)
{
    uint32_t depth = 0;
    uint32_t end = 2 * n - 1;

    stack[depth++] = root;
    while (depth > 0) {
        uint32_t at = stack[--depth];
        int32_t children = 0;

        for (uint32_t child = node[at].child; child != NONE; child = node[child].next) {
            stack[depth++] = child;
            children++;
        }
        tree->node[--end] = at < n ? (int32_t)at : -(children - 1);
    }
    tree->count = 2 * n - 1 - end;
    memmove(tree->node, tree->node + end, tree->count * sizeof(*tree->node));
}

/* Do the probes of this tree say what the order says? That alone tells a tree from numbers that
   only look like one. */
static bool is_order_of(const struct alar_order *order, const struct alar_tree *tree,
                        struct alar_scratch scratch)
{
    size_t entries = (size_t)order->n * order->n;
    struct alar_order again = {order->n, alar_scratch_take(&scratch, entries, sizeof(uint16_t)), 0};

    PRE(again.leaves != NULL);
    alar_order_of(tree, &again, scratch);
    return memcmp(order->leaves, again.leaves, entries * sizeof(uint16_t)) == 0;
}

enum alar_status alar_order_decode(const struct alar_order *order, struct alar_tree *tree,
                                   struct alar_scratch scratch)
{
    uint32_t n = order->n;
    struct node *node = alar_scratch_take(&scratch, 2 * (uint64_t)n, sizeof(*node));
    uint32_t *stack = alar_scratch_take(&scratch, 2 * (uint64_t)n, sizeof(*stack));

    PRE(node != NULL);
    PRE(stack != NULL);
    PRE(tree->capacity >= 2 * n - 1);
    for (uint32_t i = 0; i < n; i++) {
        node[i] = (struct node){NONE, NONE, i};
    }
    uint32_t count = tree_join(order, node);
    uint32_t root = count - 1;
    if (count == 0) {
        return ALAR_E_INPUT;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (node[i].cluster != root) {
            return ALAR_E_INPUT;
        }
    }
    postfix_write(node, n, root, tree, stack);
    return is_order_of(order, tree, scratch) ? ALAR_OK : ALAR_E_INPUT;
}

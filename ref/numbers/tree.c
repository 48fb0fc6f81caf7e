/* Summation trees: building, evaluating and naming. Text is in tree_text.c. */
#include "numbers/tree.h"

#include "base/check.h"

static void tree_push(struct alar_tree *tree, int32_t node)
{
    PRE(tree->count < tree->capacity);
    tree->node[tree->count++] = node;
}

static void tree_push_adds(struct alar_tree *tree, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        tree_push(tree, ALAR_TREE_ADD);
    }
}

static void tree_push_leaf(struct alar_tree *tree, uint32_t leaf, uint32_t start, uint32_t n)
{
    tree_push(tree, (int32_t)((leaf + start) % n));
}

static uint32_t trailing_ones(uint32_t value)
{
    uint32_t count = 0;

    for (; value & 1; value >>= 1) {
        count++;
    }
    return count;
}

static uint32_t bit_count(uint32_t value)
{
    uint32_t count = 0;

    for (; value; value &= value - 1) {
        count++;
    }
    return count;
}

/* Position of the highest set bit; value >= 1. */
static uint32_t high_bit(uint32_t value)
{
    uint32_t position = 0;

    while (value >>= 1) {
        position++;
    }
    return position;
}

static void tree_build_fold(struct alar_tree *tree, bool is_left, uint32_t start, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        tree_push_leaf(tree, i, start, n);
        if (is_left && i > 0) {
            tree_push(tree, ALAR_TREE_ADD);
        }
    }
    if (!is_left) {
        tree_push_adds(tree, n - 1);
    }
}

/* Ranks fold into a power of two of groups, then groups into pairs, pairs into fours. */
static void tree_build_groups(struct alar_tree *tree, bool is_head, bool is_far, uint32_t start,
                              uint32_t n)
{
    uint32_t levels = high_bit(n);
    uint32_t groups = UINT32_C(1) << levels;
    uint32_t pairs = n - groups;

    for (uint32_t i = 0; i < groups; i++) {
        uint32_t group = 0;
        for (uint32_t bit = 0; bit < levels; bit++) {
            uint32_t from = is_far ? levels - 1 - bit : bit;
            group |= (i >> from & 1) << bit;
        }
        bool is_pair = group < pairs;
        uint32_t first = !is_head ? group : is_pair ? 2 * group : group + pairs;
        tree_push_leaf(tree, first, start, n);
        if (is_pair) {
            tree_push_leaf(tree, is_head ? first + 1 : group + groups, start, n);
            tree_push(tree, ALAR_TREE_ADD);
        }
        tree_push_adds(tree, trailing_ones(i));
    }
}

/* Complete subtrees of sizes 1, 2, 4 in rank order; what is left at the end folds from the right.
 */
static void tree_build_binomial(struct alar_tree *tree, uint32_t start, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        tree_push_leaf(tree, i, start, n);
        tree_push_adds(tree, trailing_ones(i));
    }
    tree_push_adds(tree, bit_count(n) - 1);
}

/* The index-th child of v in a rooted tree, whether or not it is below n. */
static uint64_t tree_child(enum alar_tree_kind kind, uint32_t v, uint32_t index)
{
    uint64_t step = 1;

    if (kind == ALAR_TREE_BINOMIAL_FAR) {
        uint32_t first = v == 0 ? 0 : high_bit(v) + 1;
        return first + index < 32 ? v + (step << (first + index)) : UINT64_MAX;
    }
    if (index >= 2) {
        return UINT64_MAX;
    }
    step <<= high_bit(v + 1);
    return kind == ALAR_TREE_BINARY ? 2 * (uint64_t)v + 1 + index : v + step * (index + 1);
}

/* The parent of v >= 1 in a rooted tree. */
static uint32_t tree_parent(enum alar_tree_kind kind, uint32_t v)
{
    if (kind == ALAR_TREE_BINOMIAL_FAR) {
        return v - (UINT32_C(1) << high_bit(v));
    }
    if (kind == ALAR_TREE_BINARY) {
        return (v - 1) / 2;
    }
    uint32_t width = UINT32_C(1) << (high_bit(v + 1) - 1);

    return v < 3 * width - 1 ? v - width : v - 2 * width;
}

/* A rank adds its children to its own value, in order: a walk that enters every rank once. */
static void tree_build_rooted(struct alar_tree *tree, struct alar_tree_name name, uint32_t n)
{
    uint32_t v = 0;
    uint32_t index = 0;
    uint32_t left = n - 1;

    tree_push_leaf(tree, 0, name.start, n);
    while (left > 0 || v > 0) {
        uint64_t child = tree_child(name.kind, v, index);
        if (child < n) {
            v = (uint32_t)child;
            index = 0;
            left--;
            tree_push_leaf(tree, v, name.start, n);
            continue;
        }
        uint32_t parent = tree_parent(name.kind, v);
        for (index = 0; tree_child(name.kind, parent, index) != v; index++) {
        }
        index++;
        v = parent;
        tree_push(tree, ALAR_TREE_ADD);
    }
}

void alar_tree_build(struct alar_tree *tree, struct alar_tree_name name, uint32_t n)
{
    PRE(n >= 1);
    PRE(name.start < n);
    PRE(tree->capacity >= 2 * n - 1);
    enum alar_tree_kind kind = name.kind;

    tree->count = 0;
    if (kind == ALAR_TREE_LEFT_FOLD || kind == ALAR_TREE_RIGHT_FOLD) {
        tree_build_fold(tree, kind == ALAR_TREE_LEFT_FOLD, name.start, n);
    } else if (kind <= ALAR_TREE_HALVING_TAIL) {
        bool is_head = kind == ALAR_TREE_DOUBLING_HEAD || kind == ALAR_TREE_HALVING_HEAD;
        tree_build_groups(tree, is_head, kind >= ALAR_TREE_HALVING_HEAD, name.start, n);
    } else if (kind == ALAR_TREE_BINOMIAL) {
        tree_build_binomial(tree, name.start, n);
    } else {
        tree_build_rooted(tree, name, n);
    }
    POST(tree->count == 2 * n - 1);
}

uint64_t alar_adder_load(struct alar_adder adder, uint64_t bits)
{
    bool is_plain = !alar_dtype_is_float(adder.dtype) ||
                    (adder.model != ALAR_FLUSH && adder.model != ALAR_SATURATE);

    return is_plain && adder.wide == adder.dtype
               ? bits
               : alar_fp_convert(adder.dtype, adder.wide, adder.model, bits);
}

uint64_t alar_adder_add(struct alar_adder adder, uint64_t a, uint64_t b)
{
    return adder.is_product ? alar_fp_multiply(adder.wide, adder.model, a, b)
                            : alar_fp_add(adder.wide, adder.model, a, b);
}

uint64_t alar_adder_store(struct alar_adder adder, uint64_t bits)
{
    return adder.wide == adder.dtype ? bits
                                     : alar_fp_convert(adder.wide, adder.dtype, adder.model, bits);
}

uint64_t alar_adder_fold(struct alar_adder adder, const uint64_t *bits, uint32_t n)
{
    PRE(n >= 1);
    uint64_t sum = alar_adder_load(adder, bits[0]);

    for (uint32_t i = 1; i < n; i++) {
        sum = alar_adder_add(adder, sum, alar_adder_load(adder, bits[i]));
    }
    return alar_adder_store(adder, sum);
}

uint64_t alar_tree_evaluate(const struct alar_tree *tree, struct alar_adder adder,
                            const uint64_t *bits, uint64_t *stack)
{
    uint32_t depth = 0;

    PRE(tree->count >= 1);
    for (uint32_t i = 0; i < tree->count; i++) {
        int32_t node = tree->node[i];
        if (node == ALAR_TREE_ADD) {
            depth--;
            stack[depth - 1] = alar_adder_add(adder, stack[depth - 1], stack[depth]);
        } else {
            stack[depth++] = alar_adder_load(adder, bits[node]);
        }
    }
    POST(depth == 1);
    return alar_adder_store(adder, stack[0]);
}

uint32_t alar_tree_height(const struct alar_tree *tree, uint64_t *stack)
{
    uint32_t depth = 0;

    PRE(tree->count >= 1);
    for (uint32_t i = 0; i < tree->count; i++) {
        if (tree->node[i] != ALAR_TREE_ADD) {
            stack[depth++] = 0;
            continue;
        }
        depth--;
        uint64_t higher = stack[depth] > stack[depth - 1] ? stack[depth] : stack[depth - 1];
        stack[depth - 1] = higher + 1;
    }
    POST(depth == 1);
    return (uint32_t)stack[0];
}

uint32_t alar_tree_names(uint32_t n, uint32_t starts)
{
    return ALAR_TREE_KIND_COUNT * (starts < n ? starts : n);
}

/* Start 0 of every kind first: the usual suspects come before their rotations. */
struct alar_tree_name alar_tree_name_at(uint32_t n, uint32_t starts, uint32_t index)
{
    struct alar_tree_name name = {(enum alar_tree_kind)(index % ALAR_TREE_KIND_COUNT),
                                  index / ALAR_TREE_KIND_COUNT};

    PRE(index < alar_tree_names(n, starts));
    return name;
}

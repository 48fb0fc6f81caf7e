/* Trees as the tests ask for them: validity, expressions, explanations. */
#include "tests/lib/trees.h"

#include "base/check.h"

#include <string.h>

bool tree_is_valid(const struct alar_tree *tree, uint32_t n, uint64_t *seen)
{
    uint32_t depth = 0;

    for (uint32_t i = 0; i < n; i++) {
        seen[i] = 0;
    }
    for (uint32_t i = 0; i < tree->count; i++) {
        int32_t node = tree->node[i];
        if (node == ALAR_TREE_ADD) {
            if (depth < 2) {
                return false;
            }
            depth--;
            continue;
        }
        if (node < 0 || (uint32_t)node >= n || seen[node]++) {
            return false;
        }
        depth++;
    }
    return depth == 1;
}

uint32_t tree_explain(struct alar_adder adder, const uint64_t *bits, uint32_t n, uint32_t starts,
                      uint64_t value, struct alar_tree *tree, uint64_t *stack,
                      struct alar_tree_name *names, uint32_t limit)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < alar_tree_names(n, starts); i++) {
        struct alar_tree_name name = alar_tree_name_at(n, starts, i);
        alar_tree_build(tree, name, n);
        uint64_t result = alar_tree_evaluate(tree, adder, bits, stack);
        if (!alar_fp_is_same(adder.dtype, result, value)) {
            continue;
        }
        if (found < limit) {
            names[found] = name;
        }
        found++;
    }
    return found;
}

bool order_is_binary(const struct alar_tree *tree)
{
    for (uint32_t k = 0; k < tree->count; k++) {
        if (tree->node[k] < ALAR_TREE_ADD) {
            return false;
        }
    }
    return true;
}

/* Reads digits, at most what fits in 31 bits; NULL when there are none or too many. */
static const char *number_parse(const char *text, uint32_t *number)
{
    uint32_t value = 0;
    const char *at = text;

    for (; *at >= '0' && *at <= '9' && at - text < 9; at++) {
        value = 10 * value + (uint32_t)(*at - '0');
    }
    *number = value;
    return at == text || (*text == '0' && at - text > 1) ? NULL : at;
}

/* What an open parenthesis has seen so far. */
enum {
    SEEN_NOTHING,
    SEEN_LEFT,
    SEEN_PLUS,
    SEEN_RIGHT
};

struct reader {
    struct alar_tree *tree;
    uint64_t *stack; /* one entry per open parenthesis; entry 0 is the text as a whole */
    uint32_t depth;
    uint32_t count; /* nodes written */
};

/* A sum or a leaf is complete: its postfix node is written, and the parenthesis around it told. */
static bool reader_operand(struct reader *reader, int32_t node)
{
    uint64_t *seen = &reader->stack[reader->depth];

    if ((*seen != SEEN_NOTHING && *seen != SEEN_PLUS) || reader->count >= reader->tree->capacity) {
        return false;
    }
    *seen = *seen + 1;
    reader->tree->node[reader->count++] = node;
    return true;
}

static bool reader_symbol(struct reader *reader, char c)
{
    uint64_t *seen = &reader->stack[reader->depth];

    switch (c) {
    case '(':
        if ((*seen != SEEN_NOTHING && *seen != SEEN_PLUS) ||
            reader->depth + 1 >= reader->tree->capacity) {
            return false;
        }
        reader->stack[++reader->depth] = SEEN_NOTHING;
        return true;
    case '+':
        if (reader->depth == 0 || *seen != SEEN_LEFT) {
            return false;
        }
        *seen = SEEN_PLUS;
        return true;
    case ')':
        if (reader->depth == 0 || *seen != SEEN_RIGHT) {
            return false;
        }
        reader->depth--;
        return reader_operand(reader, ALAR_TREE_ADD);
    default:
        return false;
    }
}

enum alar_status tree_parse(struct alar_tree *tree, const char *text, uint64_t *stack)
{
    struct reader reader = {tree, stack, 0, 0};

    PRE(tree->capacity >= 1);
    stack[0] = SEEN_NOTHING;
    for (const char *at = text; *at != '\0';) {
        uint32_t leaf;
        const char *after = number_parse(at, &leaf);
        bool is_good = after ? reader_operand(&reader, (int32_t)leaf) : reader_symbol(&reader, *at);
        if (!is_good) {
            return reader.count >= tree->capacity || reader.depth + 1 >= tree->capacity
                       ? ALAR_E_RANGE
                       : ALAR_E_INPUT;
        }
        at = after ? after : at + 1;
    }
    if (reader.depth != 0 || stack[0] != SEEN_LEFT) {
        return ALAR_E_INPUT;
    }
    tree->count = reader.count;
    return ALAR_OK;
}

/* Trees as expressions and as names, without recursion and without the C library's printing. */
#include "base/check.h"
#include "numbers/prepend.h"
#include "numbers/tree.h"

#include <string.h>

static const char *const kind_names[ALAR_TREE_KIND_COUNT] = {
    [ALAR_TREE_LEFT_FOLD] = "left-fold",
    [ALAR_TREE_RIGHT_FOLD] = "right-fold",
    [ALAR_TREE_DOUBLING_HEAD] = "recursive-doubling",
    [ALAR_TREE_DOUBLING_TAIL] = "recursive-doubling-tail",
    [ALAR_TREE_HALVING_HEAD] = "recursive-halving",
    [ALAR_TREE_HALVING_TAIL] = "recursive-halving-tail",
    [ALAR_TREE_BINOMIAL] = "binomial",
    [ALAR_TREE_BINOMIAL_FAR] = "binomial-far",
    [ALAR_TREE_BINARY] = "binary",
    [ALAR_TREE_BINARY_LEVEL] = "binary-level",
};

void alar_tree_name_print(struct alar_tree_name name, char text[ALAR_TREE_NAME_MAX])
{
    struct alar_prepend out = {text, text + ALAR_TREE_NAME_MAX, false};
    const char *kind = kind_names[name.kind];

    alar_prepend_put(&out, '\0');
    if (name.start > 0) {
        alar_prepend_put_number(&out, name.start);
        alar_prepend_put(&out, '@');
    }
    for (size_t i = strlen(kind); i > 0; i--) {
        alar_prepend_put(&out, kind[i - 1]);
    }
    POST(!out.is_full);
    memmove(text, out.next, (size_t)(text + ALAR_TREE_NAME_MAX - out.next));
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

enum alar_status alar_tree_name_find(const char *text, uint32_t n, struct alar_tree_name *name)
{
    for (int kind = 0; kind < ALAR_TREE_KIND_COUNT; kind++) {
        size_t length = strlen(kind_names[kind]);
        const char *rest = text + length;
        uint32_t start = 0;

        if (strncmp(text, kind_names[kind], length) != 0) {
            continue;
        }
        if (*rest == '@') {
            rest = number_parse(rest + 1, &start);
        }
        if (rest && *rest == '\0' && start < n) {
            *name = (struct alar_tree_name){(enum alar_tree_kind)kind, start};
            return ALAR_OK;
        }
    }
    return ALAR_E_INPUT;
}

/* Read backwards, a postfix program names the root first, then its right side, then its left: so
   the expression is written from its end. The stack tells which side of each open sum is done. */
enum alar_status alar_tree_print(const struct alar_tree *tree, uint64_t *stack, char *text,
                                 size_t size)
{
    enum {
        RIGHT,
        LEFT
    };
    struct alar_prepend out = {text, text + size, false};
    uint32_t depth = 0;

    PRE(tree->count >= 1);
    alar_prepend_put(&out, '\0');
    for (uint32_t i = tree->count; i > 0; i--) {
        int32_t node = tree->node[i - 1];
        if (node == ALAR_TREE_ADD) {
            alar_prepend_put(&out, ')');
            stack[depth++] = RIGHT;
            continue;
        }
        alar_prepend_put_number(&out, (uint32_t)node);
        for (; depth > 0 && stack[depth - 1] == LEFT; depth--) {
            alar_prepend_put(&out, '(');
        }
        if (depth > 0) {
            alar_prepend_put(&out, '+');
            stack[depth - 1] = LEFT;
        }
    }
    if (out.is_full) {
        return ALAR_E_RANGE;
    }
    memmove(text, out.next, (size_t)(text + size - out.next));
    return ALAR_OK;
}

/* What tests ask of trees and the product does not: is it one, as an expression, by any name? */
#ifndef TESTS_TREES_H
#define TESTS_TREES_H

#include "numbers/tree_probe.h"

/* Does the postfix program describe one tree over some of the ranks below n, none twice?
   seen: scratch, n entries. */
bool tree_is_valid(const struct alar_tree *tree, uint32_t n, uint64_t *seen);

/* All names whose tree gives exactly this value (NaN matches NaN); returns how many there are and
   keeps the first `limit` of them. tree: capacity >= 2n - 1; stack: scratch, n entries.
   spec: N-06 */
uint32_t tree_explain(struct alar_adder adder, const uint64_t *bits, uint32_t n, uint32_t starts,
                      uint64_t value, struct alar_tree *tree, uint64_t *stack,
                      struct alar_tree_name *names, uint32_t limit);

/* Reads such an expression: all of text, no blanks. stack: scratch, tree->capacity entries.
   Errors: ALAR_E_INPUT when text is no expression; ALAR_E_RANGE when it exceeds the capacity. The
   tree's nodes are then unspecified, its count unchanged. */
ALAR_MUST_USE enum alar_status tree_parse(struct alar_tree *tree, const char *text,
                                          uint64_t *stack);

/* No addition of more than two at once? */
bool order_is_binary(const struct alar_tree *tree);

#endif

/* Summation trees as data: build the ones that libraries use, evaluate, print and read them.

   A tree is a postfix program: a number >= 0 pushes that rank's contribution, ALAR_TREE_ADD
   replaces the two on top by their sum, the lower one as the left operand. n leaves take 2n - 1
   nodes. */
#ifndef ALAR_TREE_H
#define ALAR_TREE_H

#include "numbers/fp.h"

#define ALAR_TREE_ADD (-1)

/* Longest text of alar_tree_name_print, with its end. */
#define ALAR_TREE_NAME_MAX 48

/* How contributions of a dtype are summed, or multiplied: each is brought to `wide`, additions
   happen there by the model, and the root is brought back to dtype. An ordinary adder has wide ==
   dtype. spec: N-02 */
struct alar_adder {
    enum alar_dtype dtype; /* of contributions and result */
    enum alar_dtype wide;  /* of the accumulator; another float only when dtype is a float */
    enum alar_model model;
    bool is_product; /* it multiplies where others add */
};

struct alar_tree {
    int32_t *node;     /* caller's memory, capacity entries */
    uint32_t count;    /* entries in use: 2 * leaves - 1, or 0 */
    uint32_t capacity; /* 2 * n - 1 hold any tree over n ranks */
};

enum alar_tree_kind {
    ALAR_TREE_LEFT_FOLD,     /* ((r + r+1) + r+2) ...: linear, ring chunks, rings that end at r-1 */
    ALAR_TREE_RIGHT_FOLD,    /* r + (r+1 + (r+2 ...)): chains and pipelines toward r */
    ALAR_TREE_DOUBLING_HEAD, /* the first 2(n-p) ranks pairwise, then pairs of pairs (MPICH) */
    ALAR_TREE_DOUBLING_TAIL, /* ranks p.. onto 0.., then pairs of pairs */
    ALAR_TREE_HALVING_HEAD,  /* as DOUBLING_HEAD, but partners p/2 away first */
    ALAR_TREE_HALVING_TAIL,  /* as DOUBLING_TAIL, but partners p/2 away first */
    ALAR_TREE_BINOMIAL,      /* partners 1, 2, 4 away, toward r (libnbc for short messages) */
    ALAR_TREE_BINOMIAL_FAR,  /* children v + 2^k for 2^k > v (Open MPI's bmtree) */
    ALAR_TREE_BINARY,        /* children 2v + 1, 2v + 2 (MPICH's k-ary tree, k = 2) */
    ALAR_TREE_BINARY_LEVEL,  /* children v + d, v + 2d, d the width of v's level (Open MPI) */
    ALAR_TREE_KIND_COUNT
};

/* A named tree over n ranks: every rank number is shifted by `start`, modulo n. */
struct alar_tree_name {
    enum alar_tree_kind kind;
    uint32_t start;
};

/* Builds a named tree over n >= 1 ranks; start < n, capacity >= 2n - 1. */
void alar_tree_build(struct alar_tree *tree, struct alar_tree_name name, uint32_t n);

/* The value of a valid tree on contributions bits[0 .. n-1]. stack: scratch, one entry per leaf.
   spec: N-06 */
uint64_t alar_tree_evaluate(const struct alar_tree *tree, struct alar_adder adder,
                            const uint64_t *bits, uint64_t *stack);

/* Longest way from the root to a leaf, in additions. stack: scratch, one entry per leaf. */
uint32_t alar_tree_height(const struct alar_tree *tree, uint64_t *stack);

/* One addition, one contribution taken in, and the result given out, by an adder. */
uint64_t alar_adder_add(struct alar_adder adder, uint64_t a, uint64_t b);
uint64_t alar_adder_load(struct alar_adder adder, uint64_t bits);
uint64_t alar_adder_store(struct alar_adder adder, uint64_t bits);

/* The left fold over n >= 1 contributions, without a tree. */
uint64_t alar_adder_fold(struct alar_adder adder, const uint64_t *bits, uint32_t n);

/* How many names there are over n ranks when at most `starts` starts are tried for each kind, and
   the index-th of them. */
uint32_t alar_tree_names(uint32_t n, uint32_t starts);
struct alar_tree_name alar_tree_name_at(uint32_t n, uint32_t starts, uint32_t index);

/* "left-fold@3"; the start is left out when it is 0. */
void alar_tree_name_print(struct alar_tree_name name, char text[ALAR_TREE_NAME_MAX]);

/* Errors: ALAR_E_INPUT when the text names no tree, or the start is not below n. */
ALAR_MUST_USE enum alar_status alar_tree_name_find(const char *text, uint32_t n,
                                                   struct alar_tree_name *name);

/* Writes "(((0+1)+2)+(3+4))" with its end. stack: scratch, one entry per leaf.
   Errors: ALAR_E_RANGE when size is too small; text is then unspecified. */
ALAR_MUST_USE enum alar_status alar_tree_print(const struct alar_tree *tree, uint64_t *stack,
                                               char *text, size_t size);

#endif

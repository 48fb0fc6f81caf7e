/* All elements of one result, and the trees that give them all: those that libraries use are cheap
   to try, so the ones that explained every operation so far come first. */
#include "judge/judge_state.h"

#include "base/check.h"

#include <string.h>

/* Bit sets by kind, one bit a start. */
struct trees {
    uint16_t starts[ALAR_TREE_KIND_COUNT];
    uint32_t kinds; /* that give every element, from some start */
};

/* Starts that exist in a group of n. */
static uint16_t trees_starts(uint32_t n)
{
    return (uint16_t)(n < JUDGE_STARTS ? (1u << n) - 1 : 0xffff);
}

/* Does a named tree give this element's value? */
static bool trees_explain(const struct judge_element *asked, struct alar_tree_name name)
{
    struct alar_scratch room = asked->scratch;
    uint32_t n = asked->reduce.n;
    struct alar_tree tree = {alar_scratch_take(&room, 2 * (uint64_t)n, sizeof *tree.node), 0,
                             2 * n};
    uint64_t *stack = alar_scratch_take(&room, n, sizeof *stack);

    PRE(tree.node && stack);
    alar_tree_build(&tree, name, n);
    if (asked->reduce.height > 0 && alar_tree_height(&tree, stack) > asked->reduce.height) {
        return false;
    }
    return alar_fp_is_same(
        asked->reduce.adder.dtype, asked->value,
        alar_tree_evaluate(&tree, asked->reduce.adder, asked->reduce.bits, stack));
}

/* Leaves of the trees those that give this element. */
static bool trees_narrow(struct trees *trees, const struct judge_element *asked)
{
    bool is_left = false;

    for (unsigned kind = 0; kind < ALAR_TREE_KIND_COUNT; kind++) {
        for (uint32_t start = 0; trees->starts[kind] >> start; start++) {
            struct alar_tree_name name = {(enum alar_tree_kind)kind, start};

            if ((trees->starts[kind] >> start & 1) && !trees_explain(asked, name)) {
                trees->starts[kind] &= (uint16_t) ~(1u << start);
            }
        }
        is_left = is_left || trees->starts[kind];
    }
    return is_left;
}

/* What is the only legal value says nothing about trees: all of them give it. */
static enum alar_proof trees_proof(const struct judge_element *asked)
{
    struct alar_scratch room = asked->scratch;
    const struct alar_reduce *reduce = &asked->reduce;
    double *doubles = alar_scratch_take(&room, 2 * (uint64_t)reduce->n, sizeof *doubles);
    struct alar_bound bound;

    PRE(doubles != NULL);
    alar_bound_estimate(&bound, reduce->adder, reduce->bits, reduce->n, reduce->n - 1, doubles);
    return bound.is_order_free || reduce->n <= 2 ? ALAR_PROOF_ONLY : ALAR_PROOF_NAMED;
}

/* Does one of the trees that explained everything so far explain this, too? */
static bool trees_survive(struct alar_judge *judge, const struct judge_op *op, const uint64_t *out)
{
    struct trees trees;
    uint64_t only = 0;

    for (unsigned kind = 0; kind < ALAR_TREE_KIND_COUNT; kind++) {
        trees.starts[kind] = (uint16_t)(~judge->is_refuted[kind] & trees_starts(op->members));
    }
    for (uint32_t e = 0; e < op->elements; e++) {
        struct judge_element asked = judge_ask(judge, op, e, out);

        if (!trees_narrow(&trees, &asked)) {
            return false;
        }
        only += trees_proof(&asked) == ALAR_PROOF_ONLY;
    }
    for (unsigned kind = 0; kind < ALAR_TREE_KIND_COUNT; kind++) {
        judge->is_refuted[kind] = (uint16_t)~trees.starts[kind];
    }
    judge->verdict.provenance.named++;
    judge->verdict.provenance.element[ALAR_PROOF_ONLY] += only;
    judge->verdict.provenance.element[ALAR_PROOF_NAMED] += op->elements - only;
    return true;
}

/* The trees that the proofs found for one element. */
static void trees_take(struct trees *trees, const struct judge_element *asked)
{
    const struct alar_origin *origin = &asked->origin;
    uint32_t kinds = 0;

    if (asked->is_widened) {
        *trees = (struct trees){{0}, 0}; /* these trees add in another dtype */
    }
    if (origin->proof == ALAR_PROOF_ONLY) {
        return;
    }
    for (unsigned kind = 0; kind < ALAR_TREE_KIND_COUNT; kind++) {
        trees->starts[kind] &= origin->starts[kind];
        kinds |= (origin->starts[kind] ? 1u : 0u) << kind;
    }
    trees->kinds &= kinds;
}

/* Keeps the trees that give every operation, this one included. */
static void trees_keep(struct alar_judge *judge, const struct trees *trees)
{
    bool is_named = false;

    for (unsigned kind = 0; kind < ALAR_TREE_KIND_COUNT; kind++) {
        is_named = is_named || trees->starts[kind];
        judge->is_refuted[kind] |= (uint16_t)~trees->starts[kind];
    }
    judge->verdict.provenance.named += is_named;
    judge->verdict.provenance.chunked += !is_named && trees->kinds;
}

static void result_certify(const struct alar_judge *judge, const struct judge_op *op, uint32_t e,
                           const struct judge_element *asked)
{
    struct alar_scratch scratch = asked->scratch;

    bool is_provable = asked->has_origin && !asked->reduce.is_rounded_once &&
                       asked->reduce.red != ALAR_PRODUCT &&
                       !alar_red_is_discrete(asked->reduce.red);

    if (!judge->setup.certify || !is_provable) {
        return;
    }
    /* The witness is still in use. */
    (void)alar_scratch_take(&scratch, 2 * (uint64_t)op->members, sizeof(int32_t));
    struct alar_legal_view view = {.group = judge_group_at(judge, op->group)->name,
                                   .number = op->number,
                                   .element = e,
                                   .value = asked->value,
                                   .reduce = &asked->reduce,
                                   .origin = &asked->origin,
                                   .scratch = scratch};
    judge->setup.certify(judge->setup.context, &view);
}

enum judge_legality judge_result(struct alar_judge *judge, const struct judge_op *op,
                                 const uint64_t *out, struct judge_limits *limits)
{
    bool is_sum = op->red == ALAR_SUM && alar_dtype_is_float(op->dtype);
    struct trees trees = {.kinds = UINT32_MAX};

    if (is_sum && !judge->setup.certify && trees_survive(judge, op, out)) {
        return JUDGE_LEGAL;
    }
    for (unsigned kind = 0; kind < ALAR_TREE_KIND_COUNT; kind++) {
        trees.starts[kind] = trees_starts(op->members);
    }
    for (uint32_t e = 0; e < op->elements; e++) {
        struct judge_element asked = judge_ask(judge, op, e, out);
        enum judge_legality legality = judge_answer(judge, &asked);

        if (legality != JUDGE_LEGAL) {
            limits->element = e;
            judge_limits(&asked, limits);
            return legality;
        }
        judge->verdict.provenance.element[asked.origin.proof]++;
        result_certify(judge, op, e, &asked);
        trees_take(&trees, &asked);
    }
    if (is_sum) {
        trees_keep(judge, &trees);
    }
    return JUDGE_LEGAL;
}

bool judge_is_promised_tree(const struct alar_judge *judge, const struct judge_op *op,
                            const uint64_t *out, uint32_t *element)
{
    struct alar_tree_name name;

    if (alar_tree_name_find(judge->contract.tree, op->members, &name) != ALAR_OK) {
        return true; /* a start beyond this group: the promise does not speak of it */
    }
    for (uint32_t e = 0; e < op->elements; e++) {
        struct judge_element asked = judge_ask(judge, op, e, out);
        struct alar_reduce all[JUDGE_ARITHMETICS];
        uint32_t count = judge_arithmetics(judge, &asked.reduce, all);
        bool is_explained = false;

        for (uint32_t k = 0; k < count && !is_explained; k++) {
            asked.reduce = all[k];
            is_explained = trees_explain(&asked, name);
        }
        if (!is_explained) {
            *element = e;
            return false;
        }
    }
    return true;
}

void judge_provenance(struct alar_judge *judge)
{
    struct alar_provenance *provenance = &judge->verdict.provenance;

    for (uint32_t start = 0; provenance->named && start < JUDGE_STARTS; start++) {
        for (unsigned kind = 0; kind < ALAR_TREE_KIND_COUNT && start < judge->setup.world; kind++) {
            if (judge->is_refuted[kind] >> start & 1) {
                continue;
            }
            if (provenance->names < ALAR_NAMES_MAX) {
                provenance->name[provenance->names] =
                    (struct alar_tree_name){(enum alar_tree_kind)kind, start};
            }
            provenance->names++;
        }
    }
}

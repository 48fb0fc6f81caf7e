/* Is a value a legal sum of the contributions, and which orders of additions give it? No tolerance
   anywhere: first the trees that libraries use, by name, then any order (judge_order.c). */
#include "judge_state.h"

#include "check.h"
#include "hull.h"

#include <string.h>

enum {
    SUM_STARTS = 16
};

static size_t sum_range_bytes(uint32_t world)
{
    uint32_t ranks = world < JUDGE_HULL_RANKS ? world : JUDGE_HULL_RANKS;

    return ((size_t)1 << ranks) * sizeof(struct alar_range);
}

size_t judge_scratch_bytes(uint32_t world)
{
    return sum_range_bytes(world) +
           world * (2 * sizeof(uint64_t) + 2 * sizeof(double) + 2 * sizeof(int32_t));
}

struct judge_room judge_room(const struct alar_judge *judge)
{
    unsigned char *base = alar_arena_at(judge->arena, judge->scratch);
    size_t world = judge->setup.world;
    struct judge_room room;

    room.range = (struct alar_range *)(void *)base;
    room.column = (uint64_t *)(void *)(base + sum_range_bytes(judge->setup.world));
    room.stack = room.column + world;
    room.sorted = (double *)(void *)(room.stack + world);
    room.node = (int32_t *)(void *)(room.sorted + 2 * world);
    return room;
}

struct alar_adder judge_adder(const struct alar_judge *judge, enum alar_dtype dtype)
{
    int32_t width = judge->contract.width;

    return (struct alar_adder){dtype, width < 0 ? dtype : (enum alar_dtype)width,
                               (enum alar_model)judge->contract.adder};
}

const uint64_t *judge_column(const struct alar_judge *judge, const struct judge_op *op,
                             uint32_t element)
{
    uint64_t *column = judge_room(judge).column;
    const uint64_t *in = alar_arena_at(judge->arena, op->in);

    for (uint32_t m = 0; m < op->members; m++) {
        column[m] = in[(size_t)m * op->lanes + element];
    }
    return column;
}

/* The value of a named tree over a column. */
static uint64_t sum_tree(const struct alar_judge *judge, struct alar_adder adder,
                         const uint64_t *column, uint32_t n, struct alar_tree_name name)
{
    struct judge_room room = judge_room(judge);
    struct alar_tree tree = {room.node, 0, 2 * n};

    alar_tree_build(&tree, name, n);
    return alar_tree_evaluate(&tree, adder, column, room.stack);
}

/* Does this tree give the value of this element? */
static bool sum_explains(const struct alar_judge *judge, const struct judge_op *op,
                         uint32_t element, const uint64_t *out, struct alar_tree_name name)
{
    const uint64_t *column = judge_column(judge, op, element);
    uint64_t value = sum_tree(judge, judge_adder(judge, op->dtype), column, op->members, name);

    return alar_fp_is_same(op->dtype, value, out[element]);
}

static bool sum_explains_all(const struct alar_judge *judge, const struct judge_op *op,
                             const uint64_t *out, struct alar_tree_name name)
{
    for (uint32_t e = 0; e < op->lanes; e++) {
        if (!sum_explains(judge, op, e, out, name)) {
            return false;
        }
    }
    return true;
}

static uint32_t sum_starts(const struct judge_op *op)
{
    return op->members < SUM_STARTS ? op->members : SUM_STARTS;
}

/* Keeps the trees that go on explaining everything. Returns whether one of them explains this. */
static bool sum_survivors(struct alar_judge *judge, const struct judge_op *op, const uint64_t *out)
{
    uint16_t left[ALAR_TREE_KIND_COUNT];
    bool is_explained = false;

    for (unsigned kind = 0; kind < ALAR_TREE_KIND_COUNT; kind++) {
        left[kind] = (uint16_t)~judge->is_refuted[kind];
        for (uint32_t start = 0; start < sum_starts(op); start++) {
            struct alar_tree_name name = {(enum alar_tree_kind)kind, start};

            if (left[kind] >> start & 1) {
                if (sum_explains_all(judge, op, out, name)) {
                    is_explained = true;
                } else {
                    left[kind] &= (uint16_t) ~(1u << start);
                }
            }
        }
    }
    for (unsigned kind = 0; is_explained && kind < ALAR_TREE_KIND_COUNT; kind++) {
        judge->is_refuted[kind] = (uint16_t)~left[kind];
    }
    return is_explained;
}

/* No tree explains all operations so far: does one explain this one at least? */
static bool sum_named(struct alar_judge *judge, const struct judge_op *op, const uint64_t *out)
{
    for (uint32_t start = 0; start < sum_starts(op); start++) {
        for (unsigned kind = 0; kind < ALAR_TREE_KIND_COUNT; kind++) {
            struct alar_tree_name name = {(enum alar_tree_kind)kind, start};

            if (sum_explains_all(judge, op, out, name)) {
                memset(judge->is_refuted, 0xff, sizeof judge->is_refuted);
                return true;
            }
        }
    }
    return false;
}

/* The kinds of which, for every element, some start gives the value: a ring cuts vectors into
   chunks, each with a start of its own. */
static uint32_t sum_kinds(const struct alar_judge *judge, const struct judge_op *op,
                          const uint64_t *out)
{
    uint32_t kinds = 0;

    for (unsigned kind = 0; kind < ALAR_TREE_KIND_COUNT; kind++) {
        uint32_t explained = 0;

        for (uint32_t e = 0; e == explained && e < op->lanes; e++) {
            for (uint32_t start = 0; e == explained && start < sum_starts(op); start++) {
                struct alar_tree_name name = {(enum alar_tree_kind)kind, start};

                explained += sum_explains(judge, op, e, out, name);
            }
        }
        kinds |= (explained == op->lanes ? 1u : 0u) << kind;
    }
    return kinds;
}

/* All elements of one result against any order of additions. */
static enum judge_legality sum_in_any_order(const struct alar_judge *judge,
                                            const struct judge_op *op, struct alar_adder adder,
                                            const uint64_t *out, struct judge_limits *limits)
{
    for (uint32_t e = 0; e < op->lanes; e++) {
        enum judge_legality legality =
            judge_any_order(judge, adder, judge_column(judge, op, e), op->members, out[e], limits);

        if (legality != JUDGE_LEGAL) {
            limits->element = e;
            return legality;
        }
    }
    return JUDGE_LEGAL;
}

/* Libraries may add 16-bit floats in fp32 and round once at the end; without a promise that is as
   legal as rounding each time. spec: O-36 */
bool judge_may_be_wide(const struct alar_judge *judge, enum alar_dtype dtype)
{
    return (dtype == ALAR_F16 || dtype == ALAR_BF16) &&
           !judge->is_contract_given[ALAR_FIELD_ADDER] &&
           !judge->is_contract_given[ALAR_FIELD_WIDTH];
}

/* All elements of one result. */
enum judge_legality judge_sum(struct alar_judge *judge, const struct judge_op *op,
                              const uint64_t *out, struct judge_limits *limits)
{
    struct alar_adder adder = judge_adder(judge, op->dtype);
    struct judge_limits unused;

    if (sum_survivors(judge, op, out) || sum_named(judge, op, out)) {
        judge->verdict.provenance.named++;
        return JUDGE_LEGAL;
    }
    uint32_t kinds = sum_kinds(judge, op, out);
    if (kinds) {
        judge->kinds &= kinds;
        judge->verdict.provenance.chunked++;
        memset(judge->is_refuted, 0xff, sizeof judge->is_refuted);
        return JUDGE_LEGAL;
    }
    enum judge_legality legality = sum_in_any_order(judge, op, adder, out, limits);
    if (legality == JUDGE_ILLEGAL && judge_may_be_wide(judge, op->dtype)) {
        adder.wide = ALAR_F32;
        legality = sum_in_any_order(judge, op, adder, out, &unused) == JUDGE_LEGAL ? JUDGE_LEGAL
                                                                                   : legality;
    }
    if (legality == JUDGE_LEGAL) {
        memset(judge->is_refuted, 0xff, sizeof judge->is_refuted);
        judge->kinds = 0;
        judge_inside(judge, op);
    }
    return legality;
}

bool judge_is_promised_tree(const struct alar_judge *judge, const struct judge_op *op,
                            const uint64_t *out, uint32_t *element)
{
    struct alar_tree_name name;

    if (alar_tree_name_find(judge->contract.tree, op->members, &name) != ALAR_OK) {
        return true; /* a start beyond this group: the promise does not speak of it */
    }
    for (uint32_t e = 0; e < op->lanes; e++) {
        if (!sum_explains(judge, op, e, out, name)) {
            *element = e;
            return false;
        }
    }
    return true;
}

void judge_provenance(struct alar_judge *judge)
{
    struct alar_provenance *provenance = &judge->verdict.provenance;

    provenance->kinds = provenance->chunked ? judge->kinds : 0;
    for (uint32_t start = 0; provenance->named && start < SUM_STARTS; start++) {
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

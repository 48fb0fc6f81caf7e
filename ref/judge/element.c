/* One element of one result: is its value legal, and where does it come from? No tolerance
   anywhere: the proofs of provenance.h decide, once for each arithmetic that is allowed. */
#include "judge/judge_state.h"

#include "base/check.h"
#include "legal/hull.h"

enum {
    SCRATCH_BYTES = 4 << 20,          /* for hulls of 16 ranks, and sets */
    SCRATCH_RANK_BYTES = 192,         /* for what takes room by rank */
    SPARE_BYTES = 256 << 10,          /* what the values after the first ones get: 12 ranks */
    WORK_THOROUGH = 10 * 1000 * 1000, /* about 100 ms */
    WORK_SPARE = 100 * 1000
};

size_t alar_judge_scratch_bytes(uint32_t world)
{
    return SCRATCH_BYTES + (size_t)world * SCRATCH_RANK_BYTES;
}

/* Integers wrap, or saturate when that was promised: other models are about floats. */
static struct alar_adder reduce_adder(const struct alar_judge *judge, enum alar_dtype dtype)
{
    int32_t width = judge->contract.width;
    enum alar_model model = (enum alar_model)judge->contract.adder;

    if (!alar_dtype_is_float(dtype)) {
        return (struct alar_adder){dtype, dtype,
                                   model == ALAR_SATURATE ? ALAR_SATURATE : ALAR_NEAREST, false};
    }
    return (struct alar_adder){dtype, width < 0 ? dtype : (enum alar_dtype)width, model, false};
}

/* A promised height of the whole world's tree says nothing about a group smaller than it. */
struct judge_element judge_ask(const struct alar_judge *judge, const struct judge_op *op,
                               uint32_t element, const uint64_t *out)
{
    struct judge_element asked = {.value = out ? out[element] : 0, .scratch = judge->setup.scratch};
    const struct alar_contract *contract = &judge->contract;
    const uint64_t *in = alar_arena_at(judge->arena, op->in);
    uint64_t *column = alar_scratch_take(&asked.scratch, op->members, sizeof *column);

    uint64_t *beside = NULL;
    bool is_place = (op->red == ALAR_MAXLOC || op->red == ALAR_MINLOC) && element % 2 == 1;

    PRE(column != NULL);
    for (uint32_t m = 0; m < op->members; m++) {
        column[m] = in[(size_t)m * op->elements + element];
    }
    if (is_place) {
        beside = alar_scratch_take(&asked.scratch, op->members, sizeof *beside);
        PRE(beside != NULL);
        for (uint32_t m = 0; m < op->members; m++) {
            beside[m] = in[(size_t)m * op->elements + element - 1];
        }
    }
    asked.reduce = (struct alar_reduce){.red = op->red,
                                        .avg = contract->avg,
                                        .nan = contract->nan,
                                        .adder = reduce_adder(judge, op->dtype),
                                        .height = contract->height,
                                        .bits = column,
                                        .beside = beside,
                                        .extreme = beside && out ? out[element - 1] : 0,
                                        .n = op->members};
    asked.reduce.adder.is_product = op->red == ALAR_PRODUCT;
    if (contract->height >= op->members) {
        asked.reduce.height = 0;
    }
    return asked;
}

/* Every arithmetic that the contract allows, the plainest first. Libraries may add 16-bit floats in
   fp32 and round once at the end; without a promise that is as legal as rounding each time. A wider
   average may be divided in the dtype, or in the wider one. spec: O-36, N-31 */
uint32_t judge_arithmetics(const struct alar_judge *judge, const struct alar_reduce *reduce,
                           struct alar_reduce *all)
{
    enum alar_dtype dtype = reduce->adder.dtype;
    bool is_rounding =
        reduce->red == ALAR_SUM || reduce->red == ALAR_PRODUCT || reduce->red == ALAR_AVG;
    bool may_be_wide = (dtype == ALAR_F16 || dtype == ALAR_BF16) && is_rounding &&
                       !judge->is_contract_given[ALAR_FIELD_ADDER] &&
                       !judge->is_contract_given[ALAR_FIELD_WIDTH];
    uint32_t count = 0;

    for (int wide = 0; wide <= (int)may_be_wide; wide++) {
        all[count] = *reduce;
        all[count].adder.wide = wide ? ALAR_F32 : reduce->adder.wide;
        count++;
        if (reduce->red == ALAR_AVG && all[count - 1].adder.wide != dtype) {
            all[count] = all[count - 1];
            all[count++].is_rounded_once = true;
        }
    }
    return count;
}

/* A NaN went in where none may get lost, and another number came out. spec: O-32 */
static bool reduce_hides_nan(const struct judge_element *asked)
{
    const struct alar_reduce *reduce = &asked->reduce;
    enum alar_dtype dtype = reduce->adder.dtype;
    bool is_extreme = reduce->red == ALAR_MAX || reduce->red == ALAR_MIN;
    uint32_t nans = 0;

    for (uint32_t m = 0; m < reduce->n; m++) {
        nans += alar_fp_is_nan(dtype, reduce->bits[m]);
    }
    bool is_kept = is_extreme ? reduce->nan == ALAR_NAN_PROPAGATE || nans == reduce->n
                              : reduce->adder.model != ALAR_SATURATE;

    return nans > 0 && is_kept && !alar_red_is_discrete(reduce->red) &&
           !alar_fp_is_nan(dtype, asked->value);
}

/* The answer to one arithmetic. The first values that no named tree explains are searched for as
   long as it takes; a history of many of them gets through with the hull. */
static enum judge_legality reduce_search(struct alar_judge *judge, struct judge_element *asked)
{
    bool is_thorough = judge->searched < JUDGE_THOROUGH;
    struct alar_scratch room = asked->scratch;
    int32_t *nodes = alar_scratch_take(&room, 2 * (uint64_t)asked->reduce.n, sizeof *nodes);
    size_t spare = SPARE_BYTES + (size_t)asked->reduce.n * SCRATCH_RANK_BYTES;
    struct alar_budget budget = {room, is_thorough ? WORK_THOROUGH : WORK_SPARE, JUDGE_STARTS};

    PRE(nodes != NULL);
    if (!is_thorough && budget.scratch.bytes > spare) {
        budget.scratch.bytes = spare;
    }
    if (alar_provenance_judge(&asked->reduce, asked->value, budget, nodes, &asked->origin) !=
        ALAR_OK) {
        return JUDGE_UNDECIDED;
    }
    judge->searched += asked->origin.proof > ALAR_PROOF_NAMED;
    asked->has_origin = true;
    return alar_proof_is_legal(asked->origin.proof)      ? JUDGE_LEGAL
           : asked->origin.proof == ALAR_PROOF_UNDECIDED ? JUDGE_UNDECIDED
                                                         : JUDGE_ILLEGAL;
}

/* Nothing allows the value: what is allowed reaches from the least of all to the greatest. */
static void reduce_widen(struct judge_element *asked, const struct judge_element *other)
{
    enum alar_dtype dtype = asked->reduce.adder.dtype;
    struct alar_origin *mine = &asked->origin;
    const struct alar_origin *its = &other->origin;

    mine->has_range = mine->has_range && its->has_range && asked->has_origin && other->has_origin;
    if (!mine->has_range) {
        return;
    }
    if (alar_fp_rank(dtype, its->low) < alar_fp_rank(dtype, mine->low)) {
        mine->low = its->low;
    }
    if (alar_fp_rank(dtype, its->high) > alar_fp_rank(dtype, mine->high)) {
        mine->high = its->high;
    }
}

enum judge_legality judge_answer(struct alar_judge *judge, struct judge_element *asked)
{
    struct alar_reduce all[JUDGE_ARITHMETICS];
    uint32_t count = judge_arithmetics(judge, &asked->reduce, all);
    enum judge_legality legality = JUDGE_ILLEGAL;
    enum alar_dtype promised = asked->reduce.adder.wide;
    struct judge_element trial = *asked;

    for (uint32_t k = 0; k < count && legality != JUDGE_LEGAL; k++) {
        trial.reduce = all[k];
        trial.is_widened = all[k].is_rounded_once || all[k].adder.wide != promised;
        enum judge_legality found = reduce_search(judge, &trial);

        if (k == 0 || found == JUDGE_LEGAL) {
            *asked = trial;
        } else if (found == JUDGE_ILLEGAL) {
            reduce_widen(asked, &trial);
        }
        legality = found < legality ? found : legality;
    }
    return legality == JUDGE_ILLEGAL && reduce_hides_nan(asked) ? JUDGE_NAN_IS_LOST : legality;
}

/* What would have been legal, where it is known exactly. The search may have refused before it
   knew. */
void judge_limits(const struct judge_element *asked, struct judge_limits *limits)
{
    const struct alar_reduce *reduce = &asked->reduce;
    struct alar_adder adder = reduce->adder;
    struct alar_scratch scratch = asked->scratch;
    struct alar_hull hull;
    bool is_hull = reduce->red == ALAR_SUM || reduce->red == ALAR_PRODUCT;

    limits->is_known = asked->has_origin && asked->origin.has_range;
    limits->lowest = asked->origin.low;
    limits->highest = asked->origin.high;
    if (limits->is_known || !alar_dtype_is_float(adder.dtype) || !is_hull ||
        reduce->n > JUDGE_HULL_RANKS) {
        return;
    }
    struct alar_range *range = alar_scratch_take(&scratch, UINT64_C(1) << reduce->n, sizeof *range);
    alar_hull_build(&hull, adder, reduce->bits, reduce->n, range);
    limits->is_known = alar_hull_ends(&hull, &limits->lowest, &limits->highest);
}

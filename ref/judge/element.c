/* One element of one result: is its value legal, and where does it come from? No tolerance
   anywhere: the ladder of provenance.h decides, but for products and for averages kept in a wider
   dtype. */
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
                                   model == ALAR_SATURATE ? ALAR_SATURATE : ALAR_NEAREST};
    }
    return (struct alar_adder){dtype, width < 0 ? dtype : (enum alar_dtype)width, model};
}

/* A promised height of the whole world's tree says nothing about a group smaller than it. */
struct judge_element judge_ask(const struct alar_judge *judge, const struct judge_op *op,
                               uint32_t element, uint64_t value)
{
    struct judge_element asked = {.value = value, .scratch = judge->setup.scratch};
    const struct alar_contract *contract = &judge->contract;
    const uint64_t *in = alar_arena_at(judge->arena, op->in);
    uint64_t *column = alar_scratch_take(&asked.scratch, op->members, sizeof *column);

    PRE(column != NULL);
    for (uint32_t m = 0; m < op->members; m++) {
        column[m] = in[(size_t)m * op->elements + element];
    }
    asked.reduce = (struct alar_reduce){.red = op->red,
                                        .avg = contract->avg,
                                        .nan = contract->nan,
                                        .adder = reduce_adder(judge, op->dtype),
                                        .height = contract->height,
                                        .bits = column,
                                        .n = op->members};
    if (contract->height >= op->members) {
        asked.reduce.height = 0;
    }
    return asked;
}

/* Libraries may add 16-bit floats in fp32 and round once at the end; without a promise that is as
   legal as rounding each time. spec: O-36 */
static bool reduce_may_be_wide(const struct alar_judge *judge, const struct alar_reduce *reduce)
{
    enum alar_dtype dtype = reduce->adder.dtype;

    return (dtype == ALAR_F16 || dtype == ALAR_BF16) && reduce->red != ALAR_RED_MAX &&
           reduce->red != ALAR_RED_MIN && !judge->is_contract_given[ALAR_FIELD_ADDER] &&
           !judge->is_contract_given[ALAR_FIELD_WIDTH];
}

/* Products: the two folds are tried, and two ranks have one order only; otherwise undecided. */
static enum judge_legality reduce_product(struct judge_element *asked)
{
    enum alar_dtype dtype = asked->reduce.adder.dtype;
    const uint64_t *column = asked->reduce.bits;
    uint32_t n = asked->reduce.n;
    uint64_t left = column[0], right = column[n - 1];
    bool is_only = n <= 2 || !alar_dtype_is_float(dtype);

    for (uint32_t m = 1; m < n; m++) {
        if (alar_dtype_is_float(dtype)) {
            left = alar_fp_multiply(dtype, left, column[m]);
            right = alar_fp_multiply(dtype, right, column[n - 1 - m]);
        } else {
            left = right = left * column[m] & alar_dtype_mask(dtype);
        }
    }
    asked->origin.proof = is_only ? ALAR_PROOF_ONLY : ALAR_PROOF_NAMED;
    if (alar_fp_is_same(dtype, left, asked->value) || alar_fp_is_same(dtype, right, asked->value)) {
        return JUDGE_LEGAL;
    }
    return is_only || alar_fp_is_nan(dtype, left) ? JUDGE_ILLEGAL : JUDGE_UNDECIDED;
}

/* An average whose sum is kept in fp32, divided there and rounded to the 16-bit dtype once:
   everything between the ends of the hull counts. */
static enum judge_legality reduce_wide_average(struct judge_element *asked)
{
    enum alar_dtype dtype = asked->reduce.adder.dtype;
    struct alar_adder adder = {ALAR_F32, ALAR_F32, ALAR_NEAREST};
    struct alar_scratch scratch = asked->scratch;
    uint32_t n = asked->reduce.n;
    uint64_t *column = alar_scratch_take(&scratch, n, sizeof *column);
    struct alar_hull hull;
    double end[2], at = alar_fp_to_double(dtype, asked->value);

    if (n > JUDGE_HULL_RANKS || !alar_fp_is_finite(dtype, asked->value)) {
        return JUDGE_UNDECIDED;
    }
    for (uint32_t m = 0; m < n; m++) {
        column[m] = alar_fp_convert(dtype, ALAR_F32, ALAR_NEAREST, asked->reduce.bits[m]);
    }
    struct alar_range *range = alar_scratch_take(&scratch, UINT64_C(1) << n, sizeof *range);
    alar_hull_build(&hull, adder, column, n, range);
    struct alar_range whole = range[(UINT32_C(1) << n) - 1];
    for (unsigned side = 0; side < 2; side++) {
        uint64_t sum = alar_fp_from_double(ALAR_F32, side ? whole.high : whole.low);
        uint64_t mean = alar_fp_divide(ALAR_F32, sum, n);

        end[side] = alar_fp_to_double(dtype, alar_fp_convert(ALAR_F32, dtype, ALAR_NEAREST, mean));
    }
    asked->origin.proof = ALAR_PROOF_HULL;
    asked->has_origin = false;
    return whole.low <= whole.high && at >= end[0] && at <= end[1] ? JUDGE_LEGAL : JUDGE_ILLEGAL;
}

/* A NaN went in where none may get lost, and another number came out. spec: O-32 */
static bool reduce_hides_nan(const struct judge_element *asked)
{
    const struct alar_reduce *reduce = &asked->reduce;
    enum alar_dtype dtype = reduce->adder.dtype;
    bool is_extreme = reduce->red == ALAR_RED_MAX || reduce->red == ALAR_RED_MIN;
    uint32_t nans = 0;

    for (uint32_t m = 0; m < reduce->n; m++) {
        nans += alar_fp_is_nan(dtype, reduce->bits[m]);
    }
    bool is_kept = is_extreme ? reduce->nan == ALAR_NAN_PROPAGATE || nans == reduce->n
                              : reduce->adder.model != ALAR_SATURATE;

    return nans > 0 && is_kept && reduce->red != ALAR_RED_PRODUCT &&
           !alar_fp_is_nan(dtype, asked->value);
}

/* The ladder's answer. The first values that no named tree explains are searched for as long as it
   takes; a history of many of them gets through with the hull. */
static enum judge_legality reduce_climb(struct alar_judge *judge, struct judge_element *asked)
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

enum judge_legality judge_answer(struct alar_judge *judge, struct judge_element *asked)
{
    struct judge_element wide = *asked;
    enum judge_legality legality =
        asked->reduce.red == ALAR_RED_PRODUCT ? reduce_product(asked) : reduce_climb(judge, asked);

    if (legality == JUDGE_ILLEGAL && reduce_may_be_wide(judge, &asked->reduce)) {
        wide.reduce.adder.wide = ALAR_F32;
        wide.is_widened = true;
        enum judge_legality other = asked->reduce.red == ALAR_RED_SUM ? reduce_climb(judge, &wide)
                                                                      : reduce_wide_average(&wide);
        if (other == JUDGE_LEGAL) {
            *asked = wide;
        }
        legality = other;
    }
    return legality == JUDGE_ILLEGAL && reduce_hides_nan(asked) ? JUDGE_NAN_IS_LOST : legality;
}

/* What would have been legal, where it is known exactly. The ladder may have refused before it
 * knew.
 */
void judge_limits(const struct judge_element *asked, struct judge_limits *limits)
{
    const struct alar_reduce *reduce = &asked->reduce;
    struct alar_adder adder = reduce->adder;
    struct alar_scratch scratch = asked->scratch;
    struct alar_hull hull;

    limits->is_known = asked->has_origin && asked->origin.has_range;
    limits->lowest = asked->origin.low;
    limits->highest = asked->origin.high;
    if (limits->is_known || !alar_dtype_is_float(adder.dtype) || reduce->red != ALAR_RED_SUM ||
        reduce->n > JUDGE_HULL_RANKS) {
        return;
    }
    struct alar_range *range = alar_scratch_take(&scratch, UINT64_C(1) << reduce->n, sizeof *range);
    alar_hull_build(&hull, adder, reduce->bits, reduce->n, range);
    struct alar_range whole = range[(UINT32_C(1) << reduce->n) - 1];
    limits->is_known = whole.low <= whole.high;
    if (limits->is_known) {
        limits->lowest = alar_adder_store(adder, alar_fp_from_double(adder.wide, whole.low));
        limits->highest = alar_adder_store(adder, alar_fp_from_double(adder.wide, whole.high));
    }
}

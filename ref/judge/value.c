/* Values: bits in, bits out, and what they say about each other. */
#include "judge/judge_state.h"

#include "base/check.h"
#include "numbers/fp.h"

#include <string.h>

enum {
    VALUE_ROWS = JUDGE_CLASSES + 1 /* the last one is where a new result is read into */
};

/* Values of the record's list as bits of the dtype.
   Errors: ALAR_E_INPUT, complained about. spec: O-04 */
enum alar_status judge_bits(struct alar_judge *judge, enum alar_field field, enum alar_dtype dtype,
                            uint64_t *bits, uint32_t count)
{
    const struct alar_value *value = judge->event->list[field];

    for (uint32_t k = 0; k < count; k++) {
        uint32_t digits = (uint32_t)(2 * alar_dtype_bytes(dtype));

        if (value[k].text) {
            if (judge->setup.decimal(dtype, value[k].text, &bits[k]) != ALAR_OK) {
                return judge_complain(judge, field, "values that the dtype can hold",
                                      "one it can't");
            }
        } else if (value[k].digits != digits) {
            return judge_complain_numbers(judge, field, "hex digits", digits, "digits",
                                          value[k].digits);
        } else {
            bits[k] = value[k].bits;
        }
    }
    return ALAR_OK;
}

static bool value_is_same(enum alar_dtype dtype, const uint64_t *a, const uint64_t *b,
                          uint32_t count, uint32_t *element)
{
    for (uint32_t k = 0; k < count; k++) {
        if (!alar_fp_is_same(dtype, a[k], b[k])) {
            *element = k;
            return false;
        }
    }
    return true;
}

static uint64_t *value_row(const struct alar_judge *judge, const struct judge_op *op, uint32_t row)
{
    return (uint64_t *)alar_arena_at(judge->arena, op->out) + (size_t)row * op->out_elements;
}

/* Reads one rank's part of a result that no rank needs to hold whole: the parts of all ranks are
   one result. spec: H-50 */
static enum alar_status value_take_part(struct alar_judge *judge, struct judge_op *op,
                                        struct judge_entry *entry, uint32_t count)
{
    uint64_t at = (uint64_t)judge->event->number[ALAR_FIELD_AT];

    if (!op->in || (op->out && !op->is_in_parts)) {
        op->is_partial = true; /* nothing to hold it against, or others got all of it */
        return ALAR_OK;
    }
    if (!op->out) {
        op->is_in_parts = true;
        op->classes = 1;
        op->out_elements = op->elements;
        op->out = alar_arena_take(judge->arena, VALUE_ROWS * op->elements * sizeof(uint64_t));
    }
    if (at > op->elements || count > op->elements - at) {
        return judge_complain_numbers(judge, ALAR_FIELD_OUT, "values from `at` up to",
                                      (int64_t)op->elements, "values", count);
    }
    ALAR_TRY(judge_bits(judge, ALAR_FIELD_OUT, op->dtype, value_row(judge, op, 0) + at, count));
    op->in_parts += count;
    entry->class = 0;
    entry->has_out = true;
    op->outs++;
    return ALAR_OK;
}

/* Reads the result of one rank; equal results of several ranks are kept once. */
enum alar_status judge_take_out(struct alar_judge *judge, struct judge_op *op,
                                struct judge_entry *entry)
{
    const struct alar_event *event = judge->event;
    uint32_t count = (uint32_t)alar_event_number(event, ALAR_FIELD_OUT, 0);
    uint32_t class = 0, element;

    if (!event->has[ALAR_FIELD_OUT] || entry->has_out) {
        return ALAR_OK;
    }
    if ((uint64_t)count > entry->n) {
        return judge_complain_numbers(judge, ALAR_FIELD_OUT, "at most n values", (int64_t)entry->n,
                                      "values", count);
    }
    if (event->has[ALAR_FIELD_AT]) {
        return value_take_part(judge, op, entry, count);
    }
    if (!op->out) {
        op->out_elements = count;
        op->out = alar_arena_take(judge->arena, VALUE_ROWS * count * sizeof(uint64_t));
    }
    if (count != op->out_elements || op->is_in_parts) {
        op->is_partial = true;
        return ALAR_OK;
    }
    uint64_t *mine = value_row(judge, op, JUDGE_CLASSES);
    ALAR_TRY(judge_bits(judge, ALAR_FIELD_OUT, op->dtype, mine, count));
    while (class < op->classes &&
           !value_is_same(op->dtype, value_row(judge, op, class), mine, count, &element)) {
        class ++;
    }
    if (class == op->classes && class < JUDGE_CLASSES) {
        memcpy(value_row(judge, op, class), mine, count * sizeof *mine);
        op->classes++;
    }
    entry->class = (uint8_t)(class < JUDGE_CLASSES ? class : JUDGE_CLASSES - 1);
    entry->has_out = true;
    op->outs++;
    return ALAR_OK;
}

void judge_give_out(struct alar_judge *judge, const struct judge_op *op)
{
    if (op->out) {
        alar_arena_give(judge->arena, op->out, VALUE_ROWS * op->out_elements * sizeof(uint64_t));
    }
}

/* Contributions first, then results of the ranks concerned. */
static void value_show(struct alar_judge *judge, struct alar_evidence *evidence,
                       const struct judge_op *op, uint32_t class)
{
    for (uint32_t m = 0; evidence && m < op->members && m < ALAR_SCENES_MAX - 2; m++) {
        judge_show_issue(judge, evidence, op, judge_entry_at(judge, op, m));
    }
    for (uint32_t m = 0, shown = 0; evidence && m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);

        if (entry->has_out && entry->class == class) {
            alar_list_add(&evidence->ranks, entry->rank);
            if (shown++ == 0) {
                judge_show_done(judge, evidence, op, entry);
            }
        }
    }
}

static struct alar_evidence *value_illegal(struct alar_judge *judge, struct judge_op *op,
                                           uint32_t class, enum alar_anomaly anomaly,
                                           const struct judge_limits *limits)
{
    struct alar_evidence *evidence = judge_found(judge, anomaly, op, ALAR_RANK_ALL);

    if (evidence) {
        evidence->element = limits->element;
        evidence->has_found = true;
        evidence->found = value_row(judge, op, class)[limits->element];
        evidence->has_range = limits->is_known;
        evidence->lowest = limits->lowest;
        evidence->highest = limits->highest;
        value_show(judge, evidence, op, class);
    }
    return evidence;
}

/* The cause of an illegal value, when one was seen: a write that no record pins down, or a lost
 * rank. */
static enum alar_anomaly value_cause(const struct alar_judge *judge, const struct judge_op *op,
                                     enum judge_legality legality)
{
    bool is_lost = false, is_suspect = false;

    for (uint32_t m = 0; m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);
        uint32_t rank = judge_member_rank(judge, judge_group_at(judge, op->group), m);

        is_suspect = is_suspect || entry->is_suspect;
        is_lost = is_lost || entry->is_aborted || judge_rank_at(judge, rank)->is_exited;
    }
    if (is_suspect) {
        return ALAR_ANOMALY_IN_FLIGHT_WRITE;
    }
    if (is_lost) {
        return ALAR_ANOMALY_ABORT_AS_SUCCESS;
    }
    return legality == JUDGE_NAN_IS_LOST ? ALAR_ANOMALY_NAN_LOST : ALAR_ANOMALY_ILLEGAL_VALUE;
}

/* Each class of results against what was contributed. Returns how many are legal; -1: undecided. */
static int value_classes(struct alar_judge *judge, struct judge_op *op)
{
    int legal = 0;
    bool is_undecided = false;

    for (uint32_t class = 0; class < op->classes; class ++) {
        struct judge_limits limits = {0};
        const uint64_t *out = value_row(judge, op, class);
        enum judge_legality legality = judge_result(judge, op, out, &limits);

        legal += legality == JUDGE_LEGAL;
        is_undecided = is_undecided || legality == JUDGE_UNDECIDED;
        if (legality == JUDGE_ILLEGAL || legality == JUDGE_NAN_IS_LOST) {
            judge_diagnose(
                judge, op, out,
                value_illegal(judge, op, class, value_cause(judge, op, legality), &limits));
        }
    }
    if (is_undecided) {
        judge_unknown(judge, ALAR_UNKNOWN_UNDECIDED, judge_entry_at(judge, op, 0)->done,
                      judge_entry_at(judge, op, 0)->rank);
    }
    return is_undecided ? -1 : legal;
}

static void value_disagree(struct alar_judge *judge, struct judge_op *op, int legal)
{
    struct alar_evidence *evidence =
        judge_found(judge, ALAR_ANOMALY_RANKS_DISAGREE, op, ALAR_RANK_ALL);
    uint32_t element = 0;

    if (!evidence) {
        return;
    }
    value_is_same(op->dtype, value_row(judge, op, 0), value_row(judge, op, 1), op->out_elements,
                  &element);
    evidence->element = element;
    evidence->amount[0] = op->classes;
    evidence->amount[1] = legal < 0 ? 0 : (uint64_t)legal;
    for (uint32_t m = 0; m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);

        if (entry->has_out) {
            alar_list_add(entry->class ? &evidence->ranks : &evidence->joined, entry->rank);
            judge_show_done(judge, evidence, op, entry);
        }
    }
}

static void value_promises(struct alar_judge *judge, struct judge_op *op)
{
    const uint64_t *out = value_row(judge, op, 0);
    struct judge_limits limits = {0};

    if (judge->contract.tree[0] && (op->red == ALAR_RED_SUM || op->red == ALAR_RED_PRODUCT) &&
        alar_dtype_is_float(op->dtype) &&
        !judge_is_promised_tree(judge, op, out, &limits.element)) {
        (void)value_illegal(judge, op, 0, ALAR_ANOMALY_NOT_THE_TREE, &limits);
    }
    if (!op->twin || op->twin_elements != op->out_elements) {
        return;
    }
    if (value_is_same(op->dtype, out, alar_arena_at(judge->arena, op->twin), op->out_elements,
                      &limits.element)) {
        judge->verdict.twins_same++;
    } else if (judge->contract.is_fixed) {
        (void)value_illegal(judge, op, 0, ALAR_ANOMALY_TWIN_DIFFERS, &limits);
    } else {
        judge->verdict.twins_legal++;
    }
}

/* A version counter rose before a wait that found the operation complete, and the value is legal:
   the write came after completion, or before it and had no effect. Nobody can tell. */
static void value_suspects(struct alar_judge *judge, const struct judge_op *op)
{
    for (uint32_t m = 0; m < op->members && !op->is_found; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);

        if (entry->is_suspect) {
            judge_unknown(judge, ALAR_UNKNOWN_UNDECIDED, entry->wait, entry->rank);
        }
    }
}

static uint32_t value_done(const struct alar_judge *judge, const struct judge_op *op)
{
    uint32_t done = 0;

    for (uint32_t m = 0; m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);

        done += entry->is_done && !entry->is_failed && !entry->is_timed_out;
    }
    return done;
}

void judge_value(struct alar_judge *judge, struct judge_op *op)
{
    const struct judge_entry *first = judge_entry_at(judge, op, 0);
    bool is_whole = !op->is_partial && op->ins == op->members && op->elements == op->out_elements &&
                    (!op->is_in_parts || op->in_parts == op->elements);
    int legal = -1;

    if (op->outs > 0 && is_whole) {
        legal = value_classes(judge, op);
    }
    if (op->classes > 1) {
        value_disagree(judge, op, legal);
    }
    if (!is_whole || op->outs < value_done(judge, op)) {
        judge_unknown(judge, ALAR_UNKNOWN_NO_VALUE, first->is_issued ? first->issue : first->done,
                      first->rank);
    } else if (op->outs > 0) {
        judge->verdict.judged += legal >= 0 || op->is_found;
        judge->verdict.prefixes += op->elements < op->n;
        if (legal > 0 && op->classes == 1) {
            value_promises(judge, op);
            judge_power(judge, op);
        }
        value_suspects(judge, op);
    }
}

/* What the recorded results of one operation say about each other, and about what was contributed.
 */
#include "judge/judge_state.h"

#include "base/check.h"

#include <string.h>

/* A rank was lost that others depended on: torn down, or gone before it had its value. */
static bool value_is_lost(const struct alar_judge *judge, const struct judge_entry *entry)
{
    bool has_value =
        entry->life == JUDGE_SEEN || entry->life == JUDGE_DONE || entry->life == JUDGE_KNOWN;

    return judge_did(entry, JUDGE_ACT_ABORT)
               ? entry->life == JUDGE_ABORTED
               : !has_value && judge_rank_at(judge, entry->rank)->is_exited;
}

/* The cause of an illegal value, when one was seen: a write that no record pins down, or a lost
 * rank. Only the former has culprits of its own. */
static enum alar_anomaly value_cause(struct alar_judge *judge, struct judge_op *op,
                                     enum judge_legality legality)
{
    bool is_lost = false, is_suspect = false;

    for (uint32_t m = 0; m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);

        is_suspect = is_suspect || entry->is_suspect;
        is_lost = is_lost || value_is_lost(judge, entry);
    }
    if (is_suspect) {
        return ALAR_ANOMALY_IN_FLIGHT_WRITE;
    }
    if (is_lost) {
        return ALAR_ANOMALY_ABORT_AS_SUCCESS;
    }
    return legality == JUDGE_NAN_IS_LOST ? ALAR_ANOMALY_NAN_LOST : ALAR_ANOMALY_ILLEGAL_VALUE;
}

/* A value that no order gives, and a counter of the program's writes that rose: that rank did it.
   spec: O-13 */
static void value_written(struct alar_judge *judge, struct judge_op *op)
{
    for (uint32_t m = 0; m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);

        if (entry->is_suspect) {
            struct alar_evidence *evidence =
                judge_found(judge, ALAR_ANOMALY_IN_FLIGHT_WRITE, op, entry->rank);

            judge_show_issue(judge, evidence, op, entry);
            judge_show_wait(judge, evidence, entry);
            judge_show_done(judge, evidence, op, entry);
        }
    }
}

static void value_illegal(struct alar_judge *judge, struct judge_op *op, uint32_t class,
                          const struct judge_limits *limits)
{
    enum alar_anomaly anomaly = value_cause(judge, op, judge_value_legality(judge, op, class));

    if (anomaly == ALAR_ANOMALY_IN_FLIGHT_WRITE) {
        value_written(judge, op);
        return;
    }
    judge_diagnose(judge, op, judge_value_row(judge, op, class),
                   judge_value_found(judge, op, class, anomaly, limits));
    judge_value_blame(judge, op, anomaly, class);
}

/* Each class of results against what was contributed. spec: O-73 */
static struct judge_tally value_classes(struct alar_judge *judge, struct judge_op *op)
{
    struct judge_tally tally = {0};

    for (uint32_t class = 0; class < op->classes; class ++) {
        struct judge_limits limits = {0};
        uint64_t *out = judge_value_row(judge, op, class);
        enum judge_legality legality = judge_result(judge, op, out, &limits);

        out[op->out_elements] = legality;
        if (judge_value_holders(judge, op, class) == 0) {
            continue; /* a twin's alone */
        }
        tally.first = tally.held++ ? tally.first : class;
        tally.legal += legality == JUDGE_LEGAL;
        tally.illegal += judge_value_is_illegal(judge, op, class);
        if (judge_value_is_illegal(judge, op, class)) {
            value_illegal(judge, op, class, &limits);
        } else if (legality == JUDGE_UNDECIDED) {
            const struct judge_entry *entry = judge_entry_at(judge, op, 0);

            judge_unknown(judge, ALAR_UNKNOWN_UNDECIDED, entry->done.place, entry->rank);
        }
    }
    return tally;
}

/* Results without contributions to judge them by. */
static struct judge_tally value_count(const struct alar_judge *judge, const struct judge_op *op)
{
    struct judge_tally tally = {0};

    for (uint32_t class = 0; class < op->classes; class ++) {
        if (judge_value_holders(judge, op, class)) {
            tally.first = tally.held++ ? tally.first : class;
        }
    }
    return tally;
}

/* The class that more ranks hold than any other; op->classes when there is none such. */
static uint32_t value_majority(const struct alar_judge *judge, const struct judge_op *op)
{
    uint32_t most = 0, best = op->classes;

    for (uint32_t class = 0; class < op->classes; class ++) {
        uint32_t holders = judge_value_holders(judge, op, class);

        best = holders > most ? class : holders == most ? op->classes : best;
        most = holders > most ? holders : most;
    }
    return best;
}

/* Who is wrong? Holders of an illegal result, where another is not; else those who differ from most
   of the others; else all, for it can't be told. spec: O-72 */
static bool value_is_odd(const struct alar_judge *judge, const struct judge_op *op, uint32_t class,
                         const struct judge_tally *tally, uint32_t majority)
{
    bool by_law = tally->illegal > 0 && tally->illegal < tally->held;

    return by_law ? judge_value_is_illegal(judge, op, class)
                  : majority == op->classes || class != majority;
}

static void value_disagree(struct alar_judge *judge, struct judge_op *op,
                           const struct judge_tally *tally, enum alar_anomaly anomaly)
{
    struct alar_evidence *evidence = judge_found(judge, anomaly, op, ALAR_RANK_ALL);
    uint32_t majority = value_majority(judge, op);
    uint32_t element = 0, next = tally->first + 1;

    if (!evidence) {
        return;
    }
    while (next < op->classes && judge_value_holders(judge, op, next) == 0) {
        next++;
    }
    if (next < op->classes) {
        (void)judge_values_are_same(op, judge_value_row(judge, op, tally->first),
                                    judge_value_row(judge, op, next), op->out_elements, &element);
    }
    evidence->element = element;
    evidence->amount[0] = tally->held;
    evidence->amount[1] = tally->legal;
    evidence->is_open =
        majority == op->classes && !(tally->illegal > 0 && tally->illegal < tally->held);
    for (uint32_t m = 0; m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);
        bool is_odd = anomaly == ALAR_ANOMALY_VALUE_CHANGED
                          ? entry->other != 0
                          : value_is_odd(judge, op, entry->class, tally, majority);

        if (entry->has_out) {
            alar_list_add(is_odd ? &evidence->ranks : &evidence->joined, entry->rank);
            judge_show_done(judge, evidence, op, entry);
        }
    }
    evidence->is_open = evidence->is_open && anomaly == ALAR_ANOMALY_RANKS_DISAGREE;
}

/* Results that differ: from rank to rank, or on one rank. */
static void value_differ(struct alar_judge *judge, struct judge_op *op,
                         const struct judge_tally *tally)
{
    bool is_among_ranks = false;
    uint32_t first = UINT32_MAX;

    for (uint32_t m = 0; m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);

        if (entry->has_out) {
            first = first == UINT32_MAX ? entry->class : first;
            is_among_ranks = is_among_ranks || entry->class != first;
        }
    }
    if (is_among_ranks) {
        value_disagree(judge, op, tally, ALAR_ANOMALY_RANKS_DISAGREE);
    }
    if (op->is_changed) {
        value_disagree(judge, op, tally, ALAR_ANOMALY_VALUE_CHANGED);
    }
}

/* A fixed order gives the same bits for the same contributions, in one run as well. A blocking call
   may have another order than one that is waited for: its twin has a record of its own. spec: O-80
 */
static void value_again(struct alar_judge *judge, struct judge_op *op, uint32_t class)
{
    const struct judge_op *before =
        judge->contract.is_fixed ? judge_neighbour(judge, op, false) : NULL;
    struct judge_limits limits = {0};
    size_t bytes = (size_t)op->members * op->elements * sizeof(uint64_t);

    if (before && before->is_sync == op->is_sync && before->n == op->n &&
        before->members == op->members && before->classes == 1 &&
        before->out_elements == op->out_elements &&
        memcmp(alar_arena_at(judge->arena, before->in), alar_arena_at(judge->arena, op->in),
               bytes) == 0 &&
        !judge_values_are_same(op, judge_value_row(judge, op, class),
                               judge_value_row(judge, before, 0), op->out_elements,
                               &limits.element)) {
        (void)judge_value_found(judge, op, class, ALAR_ANOMALY_RERUN_DIFFERS, &limits);
        judge_value_blame(judge, op, ALAR_ANOMALY_RERUN_DIFFERS, class);
    }
}

static void value_promises(struct alar_judge *judge, struct judge_op *op, uint32_t class)
{
    const uint64_t *out = judge_value_row(judge, op, class);
    struct judge_limits limits = {0};

    if (judge->contract.tree[0] && (op->red == ALAR_SUM || op->red == ALAR_PRODUCT) &&
        alar_dtype_is_float(op->dtype) &&
        !judge_is_promised_tree(judge, op, out, &limits.element)) {
        (void)judge_value_found(judge, op, class, ALAR_ANOMALY_NOT_THE_TREE, &limits);
        judge_value_blame(judge, op, ALAR_ANOMALY_NOT_THE_TREE, class);
    }
}

/* A version counter rose before a wait that found the operation complete, and the value is legal:
   the write came after completion, or before it and had no effect. Nobody can tell. */
static void value_suspects(struct alar_judge *judge, const struct judge_op *op)
{
    for (uint32_t m = 0; m < op->members && !op->is_found; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);

        if (entry->is_suspect) {
            judge_unknown(judge, ALAR_UNKNOWN_UNDECIDED, entry->wait.place, entry->rank);
        }
    }
}

/* Ranks that were told of success: each has a value, recorded or not. */
static uint32_t value_done(const struct alar_judge *judge, const struct judge_op *op)
{
    uint32_t done = 0;

    for (uint32_t m = 0; m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);

        done += entry->life == JUDGE_ORDERED || entry->life == JUDGE_DONE ||
                entry->life == JUDGE_KNOWN ||
                (entry->life == JUDGE_SEEN && !judge_is_leaked(entry));
    }
    return done;
}

/* Whoever looks at the operation later finds its one result in the first row. */
static void value_keep(struct alar_judge *judge, struct judge_op *op,
                       const struct judge_tally *tally)
{
    if (tally->held == 1) {
        memmove(judge_value_row(judge, op, 0), judge_value_row(judge, op, tally->first),
                op->out_elements * sizeof(uint64_t));
    }
    op->classes = tally->held;
}

void judge_value(struct alar_judge *judge, struct judge_op *op)
{
    const struct judge_entry *first = judge_entry_at(judge, op, 0);
    bool is_whole = !op->is_partial && op->ins == op->members && op->elements == op->out_elements &&
                    (!op->is_in_parts || op->in_parts == op->elements);
    bool is_judged = is_whole && op->classes > 0;
    bool is_called = op->collective % 8 != 0 && op->is_refused && op->ins + op->outs == 0;

    if (op->n == 0 && !is_called) {
        judge->verdict.empty++; /* it has a life, and no value */
        return;
    }
    struct judge_tally tally = is_judged ? value_classes(judge, op) : value_count(judge, op);

    judge_value_doubts(judge, op, is_judged, &tally);
    if (tally.held > 1) {
        value_differ(judge, op, &tally);
    }
    if (is_judged && op->has_twin) {
        judge_value_twins(judge, op, &tally);
    }
    judge->verdict.payloads += op->has_payloads && tally.held == 1;
    if (is_called) {
        judge->verdict.called++; /* the calls were compared, and nobody logs what they move */
    } else if (!is_whole || op->outs < value_done(judge, op)) {
        judge_unknown(judge, ALAR_UNKNOWN_NO_VALUE,
                      first->issue.place.line ? first->issue.place : first->done.place,
                      first->rank);
    } else if (op->outs > 0) {
        judge->verdict.judged += tally.legal + tally.illegal == tally.held || op->is_found;
        judge->verdict.prefixes += op->elements < op->n;
        if (tally.held == 1 && tally.legal == 1) {
            value_promises(judge, op, tally.first);
            value_again(judge, op, tally.first);
            judge_power(judge, op);
        }
        value_suspects(judge, op);
    }
    value_keep(judge, op, &tally);
}

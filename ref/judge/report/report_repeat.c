/* All ranks log alike: a report that says what the last good one said is good without being
   computed again. This keeps judging n reports of n contributions each from costing n^2. */
#include "judge/report/report.h"

#include "numbers/fp.h"

#include <string.h>

/* Everything a verdict may say, added up: did a report add anything to it? */
uint64_t report_said(const struct alar_judge *judge)
{
    uint64_t said = 0;

    for (unsigned a = 0; a < ALAR_ANOMALY_COUNT; a++) {
        said += judge->verdict.found[a];
    }
    for (unsigned u = 0; u < ALAR_UNKNOWN_COUNT; u++) {
        said += judge->verdict.unknown[u];
    }
    return said;
}

/* Does the report stand for the operations `first` .. `first` + parts - 1 of one group? Reports of
   nothing are never good. */
static bool report_is_row(const struct judge_report *report, const struct judge_part *part)
{
    for (uint32_t k = 1; k < report->parts; k++) {
        if (part[k].group != part[0].group || part[k].number != part[0].number + k) {
            return false;
        }
    }
    return true;
}

/* Another rank's report that says the same of the same operations as the last good one. All ranks
   log alike, so this is what keeps judging n reports from costing n^2. */
bool report_is_again(const struct alar_judge *judge, const struct judge_report *report)
{
    const struct judge_report *good = &judge->log.good;
    const struct judge_part *part = alar_arena_at(judge->arena, report->part);

    return !report->is_early && good->parts > 0 && good->parts == report->parts &&
           good->metric == report->metric && good->first_step == report->first_step &&
           good->step == report->step && good->tokens == report->tokens &&
           good->nonfinite == report->nonfinite && good->empty == report->empty &&
           good->normalization == report->normalization && good->over == report->over &&
           good->kind == report->kind && good->holder == report->holder &&
           good->dtype == report->dtype &&
           good->is_empty == report->is_empty && /* is_special follows from the value */
           alar_fp_bits(good->low) == alar_fp_bits(report->low) &&
           alar_fp_bits(good->high) == alar_fp_bits(report->high) &&
           judge->log.good_part.group == part[0].group &&
           judge->log.good_part.number == part[0].number && report_is_row(report, part);
}

void report_keep_good(struct alar_judge *judge, const struct judge_report *report, bool added)
{
    const struct judge_part *part = alar_arena_at(judge->arena, report->part);

    judge->log.good.parts = 0;
    if (!added && report_is_row(report, part)) {
        judge->log.good = *report;
        judge->log.good_part = part[0];
    }
}

/* ---- what was reduced once more ---------------------------------------------------------------
 */

enum {
    AGAIN_BACK = 8 /* settled operations looked at */
};

static bool again_is_alike(const struct judge_op *before, const struct judge_op *op)
{
    return before->key_hash == op->key_hash && before->red == op->red &&
           before->dtype == op->dtype && before->elements == op->elements &&
           before->out_elements == op->elements && before->classes == 1;
}

/* The operation before it, when it is kept or held, and of the same kind. */
static const struct judge_op *again_before(const struct alar_judge *judge,
                                           const struct judge_op *op)
{
    uint64_t at = judge->log.newest, held = judge_group_at(judge, op->group)->held;

    if (held && judge_op_at(judge, held)->number + 1 == op->number) {
        return again_is_alike(judge_op_at(judge, held), op) ? judge_op_at(judge, held) : NULL;
    }
    for (unsigned k = 0; at && k < AGAIN_BACK; k++, at = judge_op_at(judge, at)->older) {
        const struct judge_op *before = judge_op_at(judge, at);

        if (before->group == op->group && before->number + 1 == op->number) {
            return again_is_alike(before, op) ? before : NULL;
        }
    }
    return NULL;
}

/* Did all ranks contribute what the operation before had given? spec: O-112 */
void judge_report_again(struct alar_judge *judge, struct judge_op *op)
{
    const struct judge_op *before = again_before(judge, op);
    size_t bytes = op->elements * sizeof(uint64_t);
    bool is_nothing = true;

    if (before == NULL || op->red != ALAR_SUM || op->members < 2 || op->ins < op->members ||
        op->is_partial) {
        return;
    }
    const uint64_t *out = alar_arena_at(judge->arena, before->out);
    const uint64_t *in = alar_arena_at(judge->arena, op->in);

    for (uint32_t e = 0; e < op->elements; e++) {
        is_nothing = is_nothing && (out[e] << 1) == 0;
    }
    for (uint32_t m = 0; m < op->members; m++) {
        if (is_nothing || memcmp(in + (size_t)m * op->elements, out, bytes) != 0) {
            return;
        }
    }
    const struct judge_entry *first = judge_entry_at(judge, op, 0);

    judge_show_issue(judge, judge_found(judge, ALAR_ANOMALY_REDUCED_AGAIN, op, ALAR_RANK_ALL), op,
                     first);
}

/* ---- labels -------------------------------------------------------------------------------------
 */

static bool label_is_same(const struct judge_entry *a, const struct judge_entry *b)
{
    return (a->step < 0 || b->step < 0 || a->step == b->step) &&
           (a->mb < 0 || b->mb < 0 || a->mb == b->mb);
}

/* How many members label it as this one does. */
static uint32_t label_count(const struct alar_judge *judge, const struct judge_op *op,
                            const struct judge_entry *entry)
{
    uint32_t count = 0;

    for (uint32_t m = 0; m < op->members; m++) {
        count += label_is_same(entry, judge_entry_at(judge, op, m));
    }
    return count;
}

/* Ranks that label one all-reduce with different steps or microbatches: the fewer are named, all
   when they are as many. spec: O-111 */
void judge_report_labels(struct alar_judge *judge, struct judge_op *op)
{
    const struct judge_entry *first = judge_entry_at(judge, op, 0);
    uint32_t most = 0, least = UINT32_MAX, differ = 0;

    for (uint32_t m = 0; m < op->members; m++) {
        differ += !label_is_same(first, judge_entry_at(judge, op, m));
    }
    for (uint32_t m = 0; differ > 0 && m < op->members; m++) {
        uint32_t count = label_count(judge, op, judge_entry_at(judge, op, m));

        most = count > most ? count : most;
        least = count < least ? count : least;
    }
    for (uint32_t m = 0; differ > 0 && m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);

        if (least == most || label_count(judge, op, entry) < most) {
            struct alar_evidence *evidence =
                judge_found(judge, ALAR_ANOMALY_MISMATCH_LABEL, op, entry->rank);

            judge_show_issue(judge, evidence, op, entry);
        }
    }
}

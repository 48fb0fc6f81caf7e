/* The end of an operation: all its ranks are through with it. */
#include "judge/report/report.h"

#include "base/check.h"

#include <string.h>

bool judge_is_echo(const struct alar_judge *judge, const struct judge_op *op)
{
    return op->number >= judge_group_at(judge, op->group)->mismatch;
}

static bool settle_shares_clock(const struct alar_judge *judge, const struct judge_entry *a,
                                const struct judge_entry *b)
{
    uint64_t clock = judge_rank_at(judge, a->rank)->clock;

    return clock && a->has_t && b->has_t && clock == judge_rank_at(judge, b->rank)->clock;
}

/* The entry that was issued last, on a clock shared with all others; NULL without such a clock. All
   ranks have issued what is settled. */
static const struct judge_entry *settle_last(const struct alar_judge *judge,
                                             const struct judge_op *op)
{
    const struct judge_entry *last = judge_entry_at(judge, op, 0);

    for (uint32_t m = 1; m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);

        if (!settle_shares_clock(judge, last, entry)) {
            return NULL;
        }
        last = entry->t_issue > last->t_issue ? entry : last;
    }
    return op->members > 1 ? last : NULL;
}

static void settle_premature(struct alar_judge *judge, struct judge_op *op,
                             const struct judge_entry *entry, const struct judge_entry *last)
{
    struct alar_evidence *evidence = judge_found(judge, ALAR_ANOMALY_PREMATURE, op, entry->rank);

    judge_show_issue(judge, evidence, op, entry);
    judge_show_done(judge, evidence, op, entry);
    judge_show_issue(judge, evidence, op, last);
    if (evidence) {
        alar_list_add(&evidence->missing, last->rank);
    }
    op->is_tainted = true;
}

/* Completion before the last contribution, or while a peer still fetched this rank's input. */
static void settle_clock(struct alar_judge *judge, struct judge_op *op)
{
    const struct judge_entry *last = settle_last(judge, op);

    for (uint32_t m = 0; m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);
        bool is_over = entry->is_done || entry->is_seen_complete;

        /* Of no element there is nothing to wait for. */
        if (last && op->n > 0 && is_over && entry->t_done < last->t_issue && !entry->is_timed_out &&
            !entry->is_failed && !judge->contract.is_stream) {
            settle_premature(judge, op, entry, last);
        }
        if (entry->has_fetch && is_over && entry->has_t && entry->t_done < entry->t_fetch) {
            struct alar_evidence *evidence =
                judge_found(judge, ALAR_ANOMALY_PREMATURE, op, entry->rank);

            judge_show_issue(judge, evidence, op, entry);
            judge_show_done(judge, evidence, op, entry);
            if (evidence) {
                alar_list_add(&evidence->missing, entry->fetch_rank);
                evidence->amount[0] = 1; /* a fetch, not an issue, came too late */
                evidence->witness[evidence->witness_count++] =
                    (struct alar_witness_event){.record = ALAR_RECORD_READ,
                                                .place = entry->fetch,
                                                .rank = entry->fetch_rank,
                                                .is_backend = true};
            }
            op->is_tainted = true;
        }
    }
}

/* All ranks had issued it well before any of them waited, and still it was pending everywhere. */
static void settle_overlap(struct alar_judge *judge, struct judge_op *op)
{
    const struct judge_entry *last = settle_last(judge, op);
    int64_t first_wait = INT64_MAX, last_wait = INT64_MIN, last_done = INT64_MIN;

    for (uint32_t m = 0; last && m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);

        if (!entry->is_waited || !entry->was_pending_at_wait || !entry->is_done) {
            return;
        }
        first_wait = entry->t_wait < first_wait ? entry->t_wait : first_wait;
        last_wait = entry->t_wait > last_wait ? entry->t_wait : last_wait;
        last_done = entry->t_done > last_done ? entry->t_done : last_done;
    }
    if (last && first_wait - last->t_issue > last_done - last_wait) {
        struct alar_evidence *evidence =
            judge_found(judge, ALAR_ANOMALY_NO_OVERLAP, op, ALAR_RANK_ALL);

        judge_show_issue(judge, evidence, op, last);
        judge_show_wait(judge, evidence, last);
        judge_show_done(judge, evidence, op, last);
    }
}

/* Tells whoever recomputes log lines, or compares runs. */
static void settle_tell(const struct alar_judge *judge, const struct judge_op *op)
{
    const struct judge_group *group = judge_group_at(judge, op->group);
    struct alar_op_view view = {0};

    if (!judge->setup.settled || op->ins < op->members || op->is_partial) {
        return;
    }
    view.group = group->name;
    view.number = op->number;
    view.red = op->red;
    view.dtype = op->dtype;
    view.key = (struct alar_text){op->key, strlen(op->key)};
    view.step = op->step;
    view.mb = op->mb;
    view.pairs = op->pairs;
    view.members = op->members;
    view.elements = op->elements;
    view.rank = alar_arena_at(judge->arena, group->rank);
    view.in = alar_arena_at(judge->arena, op->in);
    view.out = op->classes == 1 && op->out_elements == op->elements
                   ? alar_arena_at(judge->arena, op->out)
                   : NULL;
    view.is_good = !op->is_found;
    view.place = judge_entry_at(judge, op, 0)->issue;
    judge->setup.settled(judge->setup.context, &view);
}

void judge_settle(struct alar_judge *judge, struct judge_op *op)
{
    if (judge_is_echo(judge, op)) {
        return;
    }
    judge_report_labels(judge, op);
    judge_report_again(judge, op);
    settle_clock(judge, op);
    settle_overlap(judge, op);
    if (op->is_tainted) {
        judge->verdict.judged++;
    } else {
        judge_value(judge, op);
    }
    if (!op->is_found) {
        judge_good(judge, op);
    }
    settle_tell(judge, op);
}

/* Under `once` every element is taken, as far as the mask can tell, before the operation is over.
 */
static bool settle_is_used(const struct alar_judge *judge, const struct judge_entry *entry)
{
    uint64_t all = entry->n < 64 ? (UINT64_C(1) << entry->n) - 1 : UINT64_MAX;

    return !judge->contract.is_once || (entry->read_mask & all) == all;
}

void judge_entry_over(struct alar_judge *judge, struct judge_op *op, struct judge_entry *entry)
{
    if (entry->is_finished || !entry->is_done || entry->is_failed || entry->is_timed_out ||
        entry->is_aborted || alar_handle_is_owned(&entry->handle) ||
        !settle_is_used(judge, entry)) {
        return;
    }
    entry->is_finished = true;
    if (++op->finished == op->members) {
        judge_settle(judge, op);
        judge_op_forget(judge, entry->op);
    }
}

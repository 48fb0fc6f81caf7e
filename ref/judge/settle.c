/* The end of an operation: all its ranks are through with it, and with the operations of its
   window. Whatever takes two ranks is asked here, from what each of them recorded. spec: O-70, O-71
 */
#include "judge/report/report.h"

#include "base/check.h"

#include <string.h>

bool judge_is_echo(const struct alar_judge *judge, const struct judge_op *op)
{
    return op->number >= judge_group_at(judge, op->group)->mismatch;
}

/* The leader of a rank's clock, where the times of this operation are kept; NULL: it has no clock.
 */
static struct judge_rank *settle_leader(const struct alar_judge *judge,
                                        const struct judge_entry *entry)
{
    const struct judge_rank *rank = judge_rank_at(judge, entry->rank);

    return rank->clock ? judge_rank_at(judge, rank->leader) : NULL;
}

/* Who issued it last, on each clock. All ranks have issued what is settled. */
static void settle_times(struct alar_judge *judge, const struct judge_op *op)
{
    judge->settling++;
    for (uint32_t m = 0; m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);
        struct judge_rank *leader = settle_leader(judge, entry);

        if (leader && entry->issue.has_t &&
            (leader->settling != judge->settling ||
             entry->issue.t > judge_entry_at(judge, op, leader->latest)->issue.t)) {
            leader->settling = judge->settling;
            leader->latest = m;
        }
    }
}

/* The entry that was issued last of those whose clock this one shares; NULL: there is none. */
static const struct judge_entry *settle_last(const struct alar_judge *judge,
                                             const struct judge_op *op,
                                             const struct judge_entry *entry)
{
    const struct judge_rank *leader = settle_leader(judge, entry);

    return leader && leader->settling == judge->settling ? judge_entry_at(judge, op, leader->latest)
                                                         : NULL;
}

/* Names those that had not issued it at that time, on one clock with the entry. */
static void settle_missing(const struct alar_judge *judge, const struct judge_op *op,
                           const struct judge_entry *entry, int64_t t,
                           struct alar_evidence *evidence)
{
    for (uint32_t m = 0; evidence && m < op->members; m++) {
        const struct judge_entry *other = judge_entry_at(judge, op, m);

        if (judge_needs(op, entry, other->rank) && other->issue.has_t && other->issue.t > t &&
            settle_leader(judge, other) == settle_leader(judge, entry)) {
            alar_list_add(&evidence->missing, other->rank);
        }
    }
}

static void settle_premature(struct alar_judge *judge, struct judge_op *op,
                             const struct judge_entry *entry, const struct judge_entry *last)
{
    struct alar_evidence *evidence = judge_found(judge, ALAR_ANOMALY_PREMATURE, op, entry->rank);

    judge_show_issue(judge, evidence, op, entry);
    judge_show_told(judge, evidence, op, entry);
    judge_show_issue(judge, evidence, op, last);
    settle_missing(judge, op, entry, entry->told.t, judge_kept(judge, ALAR_ANOMALY_PREMATURE, op));
    op->is_tainted = true;
}

static void settle_fetched(struct alar_judge *judge, struct judge_op *op,
                           const struct judge_entry *entry)
{
    struct alar_evidence *evidence = judge_found(judge, ALAR_ANOMALY_PREMATURE, op, entry->rank);

    judge_show_issue(judge, evidence, op, entry);
    judge_show_told(judge, evidence, op, entry);
    if (evidence) {
        alar_list_add(&evidence->missing, entry->fetch_rank);
        evidence->amount[0] = 1; /* a fetch, not an issue, came too late */
        evidence->witness[evidence->witness_count++] =
            (struct alar_witness_event){.record = ALAR_RECORD_READ,
                                        .place = entry->fetch.place,
                                        .rank = entry->fetch_rank,
                                        .is_backend = true};
    }
    op->is_tainted = true;
}

/* Of the contributions that this rank needs the last one on its clock: of a broadcast the root's
   alone. spec: H-52 */
static const struct judge_entry *settle_last_needed(const struct alar_judge *judge,
                                                    const struct judge_op *op,
                                                    const struct judge_entry *entry)
{
    const struct judge_entry *last = settle_last(judge, op, entry);

    for (uint32_t m = 0; last && op->collective % 8 == JUDGE_BROADCAST && m < op->members; m++) {
        const struct judge_entry *other = judge_entry_at(judge, op, m);

        if (judge_needs(op, entry, other->rank) && other->issue.has_t &&
            settle_leader(judge, other) == settle_leader(judge, entry)) {
            return other;
        }
    }
    return last && judge_needs(op, entry, last->rank) ? last : NULL;
}

/* Completion before the last contribution, or while a peer still fetched this rank's input:
   whatever said complete first counts, and a wait that orders a stream says nothing. spec: O-16 */
static void settle_clock(struct alar_judge *judge, struct judge_op *op)
{
    for (uint32_t m = 0; m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);
        const struct judge_entry *last = settle_last_needed(judge, op, entry);
        uint64_t clock = judge_rank_at(judge, entry->rank)->clock;
        bool is_told = entry->told.place.line && entry->told.has_t &&
                       !judge_did(entry, JUDGE_ACT_EXPIRE) && !judge_did(entry, JUDGE_ACT_FAIL);

        /* Of no element there is nothing to wait for. */
        if (last && op->n > 0 && is_told && entry->told.t < last->issue.t) {
            settle_premature(judge, op, entry, last);
        }
        if (is_told && clock && entry->fetch.place.line && entry->told.t < entry->fetch.t &&
            clock == judge_rank_at(judge, entry->fetch_rank)->clock) {
            settle_fetched(judge, op, entry);
        }
    }
}

/* A deadline was declared, and success was told after it: the promise is broken all the same.
   spec: O-76 */
static void settle_late(struct alar_judge *judge, struct judge_op *op)
{
    for (uint32_t m = 0; m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);
        const struct judge_entry *last = settle_last(judge, op, entry);
        bool is_late = entry->deadline != INT64_MAX && entry->told.place.line &&
                       entry->told.has_t && entry->told.t > entry->deadline &&
                       !judge_did(entry, JUDGE_ACT_EXPIRE) && !judge_did(entry, JUDGE_ACT_FAIL);

        if (!is_late) {
            continue;
        }
        struct alar_evidence *evidence = judge_found(judge, ALAR_ANOMALY_TIMEOUT, op, entry->rank);
        judge_show_issue(judge, evidence, op, entry);
        judge_show_wait(judge, evidence, entry);
        judge_show_told(judge, evidence, op, entry);
        struct alar_evidence *kept = judge_kept(judge, ALAR_ANOMALY_TIMEOUT, op);
        judge_evidence_late(kept, entry);
        if (kept) {
            kept->is_success = true;
        }
        if (kept && last && last->issue.t > entry->deadline) {
            settle_missing(judge, op, entry, entry->deadline, kept); /* at that time */
            judge_show_issue(judge, kept, op, last);
        }
    }
}

/* All ranks had issued it well before any of them waited, and still it was pending everywhere. */
static void settle_overlap(struct alar_judge *judge, struct judge_op *op)
{
    const struct judge_entry *first = judge_entry_at(judge, op, 0);
    const struct judge_entry *last = op->members > 1 ? settle_last(judge, op, first) : NULL;
    int64_t first_wait = INT64_MAX, last_wait = INT64_MIN, last_done = INT64_MIN;

    for (uint32_t m = 0; last && m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);

        if (settle_last(judge, op, entry) != last || !entry->issue.has_t ||
            !entry->was_pending_at_wait || !entry->wait.has_t || !entry->done.has_t ||
            !(judge_did(entry, JUDGE_ACT_RETURN) || judge_did(entry, JUDGE_ACT_ORDER))) {
            return;
        }
        first_wait = entry->wait.t < first_wait ? entry->wait.t : first_wait;
        last_wait = entry->wait.t > last_wait ? entry->wait.t : last_wait;
        last_done = entry->done.t > last_done ? entry->done.t : last_done;
    }
    if (last && judge_time(first_wait, -last->issue.t) > judge_time(last_done, -last_wait)) {
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
    view.place = judge_entry_at(judge, op, 0)->issue.place;
    judge->setup.settled(judge->setup.context, &view);
}

void judge_settle(struct alar_judge *judge, struct judge_op *op)
{
    if (judge_is_echo(judge, op)) {
        return;
    }
    judge_report_labels(judge, op);
    judge_report_again(judge, op);
    settle_times(judge, op);
    settle_clock(judge, op);
    settle_late(judge, op);
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

/* Ranks are told apart by what they issued: a record is of the window of its operation as long as
   its rank has issued no more than so many later ones in that group. That is the same in any order
   of lines, and bounds what is kept. spec: O-08, O-71 */
uint64_t judge_window(const struct alar_judge *judge)
{
    uint64_t fewer = (uint64_t)JUDGE_WINDOW * JUDGE_WINDOW_RANKS / judge->setup.world;

    return fewer > JUDGE_WINDOW ? JUDGE_WINDOW : fewer < 2 ? 2 : fewer;
}

static void window_leave(struct alar_judge *judge, uint64_t made)
{
    struct judge_op *op = judge_op_at(judge, made);

    if (op->finished == op->members && op->passed == op->members) {
        if (op->is_mixed) {
            judge_mismatch(judge, op);
        }
        judge_settle(judge, op);
        judge_op_forget(judge, made);
    }
}

/* A rank has issued operation `number` of the group: it leaves the window of an older one. */
void judge_window_pass(struct alar_judge *judge, uint64_t group, uint64_t number)
{
    uint64_t window = judge_window(judge);
    uint64_t made = number >= window ? judge_op_find(judge, group, number - window) : 0;

    if (made) {
        judge_op_at(judge, made)->passed++;
        window_leave(judge, made);
    }
}

/* Under `once` every element is taken, as far as the mask can tell, before the operation is over.
 */
static bool settle_is_used(const struct alar_judge *judge, const struct judge_entry *entry)
{
    uint64_t all = entry->n < 64 ? (UINT64_C(1) << entry->n) - 1 : UINT64_MAX;

    return !judge->contract.is_once || (entry->read_mask & all) == all;
}

/* Is the rank through with it: a wait returned, and the value is there for the host? */
void judge_entry_over(struct alar_judge *judge, struct judge_op *op, struct judge_entry *entry)
{
    bool is_over = entry->life == JUDGE_KNOWN || entry->life == JUDGE_DONE;

    if (entry->is_finished || !is_over || !settle_is_used(judge, entry)) {
        return;
    }
    entry->is_finished = true;
    if (++op->finished == op->members) {
        op->faults = judge->verdict.fault_count;
        window_leave(judge, entry->op);
    }
}

/* An end that was taken back: it is asked for when the history is over. */
void judge_entry_unfinish(struct judge_op *op, struct judge_entry *entry)
{
    op->finished -= entry->is_finished;
    entry->is_finished = false;
}

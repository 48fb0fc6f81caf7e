/* The end of an operation: all its ranks are through with it, or the history is over and it is asked
   why not. One cause is named for each operation; echoes are not. */
#include "judge_state.h"

#include "check.h"

#include <string.h>

static bool settle_is_echo(const struct alar_judge *judge, const struct judge_op *op)
{
    return op->number >= judge_group_at(judge, op->group)->mismatch;
}

static bool settle_shares_clock(const struct alar_judge *judge, const struct judge_entry *a,
                                const struct judge_entry *b)
{
    uint64_t clock = judge_rank_at(judge, a->rank)->clock;

    return clock && a->has_t && b->has_t && clock == judge_rank_at(judge, b->rank)->clock;
}

/* The entry that was issued last, on a clock shared with all others; NULL without such a clock. */
static const struct judge_entry *settle_last(const struct alar_judge *judge,
                                             const struct judge_op *op)
{
    const struct judge_entry *last = judge_entry_at(judge, op, 0);

    for (uint32_t m = 1; m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);

        if (!entry->is_issued || !settle_shares_clock(judge, last, entry)) {
            return NULL;
        }
        last = entry->t_issue > last->t_issue ? entry : last;
    }
    return op->members > 1 && last->is_issued && judge_rank_at(judge, last->rank)->clock ? last
                                                                                        : NULL;
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

        if (last && is_over && entry->t_done < last->t_issue && !entry->is_timed_out &&
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
                evidence->scene[evidence->scene_count++] =
                    (struct alar_scene){.record = ALAR_RECORD_READ,
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

static void settle_op(struct alar_judge *judge, struct judge_op *op)
{
    if (settle_is_echo(judge, op)) {
        return;
    }
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
}

void judge_entry_over(struct alar_judge *judge, struct judge_op *op, struct judge_entry *entry)
{
    if (entry->is_finished || !entry->is_done || entry->is_failed || entry->is_timed_out ||
        entry->is_aborted || alar_handle_is_owned(&entry->handle) ||
        (judge->contract.is_once && !entry->is_read)) {
        return;
    }
    entry->is_finished = true;
    if (++op->finished == op->members) {
        settle_op(judge, op);
        judge_op_forget(judge, entry->op);
    }
}

/* What the ranks of a leftover operation did. */
struct leftover {
    uint32_t missing, missing_over, missing_exited; /* never issued; of these: ended, ended badly */
    uint32_t done, timed_out, failed, aborted, exited, waiting, expired, dropped;
    const struct judge_entry *first; /* of those that issued */
};

static bool leftover_is_expired(const struct alar_judge *judge, const struct judge_entry *entry,
                                int64_t now)
{
    const struct judge_rank *rank = judge_rank_at(judge, entry->rank);
    int64_t latest = rank->t + rank->t0;

    if (rank->clock == 1 && latest < now) {
        latest = now;
    }
    return entry->deadline != INT64_MAX && latest >= entry->deadline;
}

static void leftover_missing(const struct alar_judge *judge, struct leftover *left, uint32_t number)
{
    const struct judge_rank *rank = judge_rank_at(judge, number);

    left->missing++;
    left->missing_over += rank->is_over;
    left->missing_exited += rank->is_exited;
}

static struct leftover leftover_read(const struct alar_judge *judge, const struct judge_op *op,
                                     int64_t now)
{
    const struct judge_group *group = judge_group_at(judge, op->group);
    struct leftover left = {0};

    for (uint32_t m = 0; m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);
        const struct judge_rank *rank = judge_rank_at(judge, judge_member_rank(judge, group, m));

        if (!entry->is_issued) {
            leftover_missing(judge, &left, judge_member_rank(judge, group, m));
            continue;
        }
        bool is_owned = alar_handle_is_owned(&entry->handle);
        left.first = left.first ? left.first : entry;
        left.exited += rank->is_exited || rank->is_aborted;
        left.timed_out += entry->is_timed_out;
        left.failed += entry->is_failed && !entry->is_timed_out;
        left.aborted += entry->is_aborted;
        left.done += entry->is_done && !entry->is_failed && !entry->is_timed_out;
        left.dropped += entry->is_dropped;
        if (is_owned && !entry->is_done && !entry->is_timed_out) {
            left.waiting += entry->is_waited || entry->is_tested || entry->is_sync;
            left.expired += leftover_is_expired(judge, entry, now);
        }
    }
    return left;
}

/* A finding about all ranks of an operation: who joined, who did not, and up to four of them shown. */
static struct alar_evidence *leftover_found(struct alar_judge *judge, enum alar_anomaly anomaly,
                                            struct judge_op *op)
{
    const struct judge_group *group = judge_group_at(judge, op->group);
    struct alar_evidence *evidence = judge_found(judge, anomaly, op, ALAR_RANK_ALL);
    uint32_t shown = 0;

    for (uint32_t m = 0; evidence && m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);

        alar_list_add(entry->is_issued ? &evidence->joined : &evidence->missing,
                      judge_member_rank(judge, group, m));
        if (entry->is_issued && shown++ < 4) {
            judge_show_issue(judge, evidence, op, entry);
            judge_show_wait(judge, evidence, entry);
            judge_show_done(judge, evidence, op, entry);
        }
    }
    return evidence;
}

static void leftover_timeout(struct alar_judge *judge, struct judge_op *op)
{
    struct alar_evidence *evidence = leftover_found(judge, ALAR_ANOMALY_TIMEOUT, op);

    for (uint32_t m = 0; evidence && m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);

        if (entry->is_timed_out) {
            alar_list_add(&evidence->ranks, entry->rank);
        }
    }
}

/* Stalled ranks: who never came, or who came and never called the library again. spec: O-22 */
static void leftover_stall(struct alar_judge *judge, struct judge_op *op)
{
    const struct judge_group *group = judge_group_at(judge, op->group);
    struct alar_evidence *evidence = leftover_found(judge, ALAR_ANOMALY_STALL, op);

    for (uint32_t m = 0; evidence && m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);
        bool calls = entry->is_waited || entry->is_tested || entry->is_sync || entry->is_done;

        if (!entry->is_issued || !calls) {
            alar_list_add(&evidence->ranks, judge_member_rank(judge, group, m));
        }
    }
    if (evidence) {
        evidence->amount[0] = evidence->missing.count == 0; /* all started; some do not progress */
    }
}

static void leftover_failed(struct alar_judge *judge, struct judge_op *op,
                            const struct leftover *left)
{
    const struct judge_group *group = judge_group_at(judge, op->group);
    bool is_lost = left->exited + left->missing_exited + left->aborted > 0;
    struct alar_evidence *evidence =
        leftover_found(judge, is_lost ? ALAR_ANOMALY_FAILED_RANK : ALAR_ANOMALY_FAILED, op);

    if (!evidence) {
        return;
    }
    memcpy(evidence->name[0], op->error, sizeof evidence->name[0]);
    for (uint32_t m = 0; m < op->members; m++) {
        const struct judge_rank *rank = judge_rank_at(judge, judge_member_rank(judge, group, m));

        if (is_lost ? rank->is_exited : judge_entry_at(judge, op, m)->is_failed) {
            alar_list_add(&evidence->ranks, judge_member_rank(judge, group, m));
        }
    }
}

/* A value came out although somebody's contribution never went in. spec: O-16 */
static void leftover_premature(struct alar_judge *judge, struct judge_op *op)
{
    struct alar_evidence *evidence = leftover_found(judge, ALAR_ANOMALY_PREMATURE, op);

    for (uint32_t m = 0; evidence && m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);

        if (entry->is_issued && entry->is_done) {
            alar_list_add(&evidence->ranks, entry->rank);
        }
    }
    op->is_tainted = true;
}

static void leftover_leaks(struct alar_judge *judge, struct judge_op *op)
{
    for (uint32_t m = 0; m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);
        bool is_idle = entry->is_issued && !entry->is_done && !entry->is_waited &&
                       !entry->is_sync && !entry->is_failed && !entry->is_timed_out &&
                       !entry->is_dropped && !entry->is_aborted;
        bool is_regular = judge_rank_at(judge, entry->rank)->is_over &&
                          !judge_rank_at(judge, entry->rank)->is_exited;

        if (is_idle && is_regular && !entry->is_seen_complete) {
            judge_show_issue(judge, judge_found(judge, ALAR_ANOMALY_LEAK, op, entry->rank), op,
                             entry);
        }
        if (judge->contract.is_once && is_regular && entry->is_done && !entry->is_read &&
            !entry->is_failed && !entry->is_timed_out) {
            struct alar_evidence *evidence =
                judge_found(judge, ALAR_ANOMALY_UNUSED, op, entry->rank);

            judge_show_issue(judge, evidence, op, entry);
            judge_show_done(judge, evidence, op, entry);
        }
    }
}

static void leftover_pending(struct alar_judge *judge, const struct leftover *left)
{
    judge_unknown(judge, ALAR_UNKNOWN_PENDING, left->first->issue, left->first->rank);
}

/* Somebody never issued it. */
static void leftover_unjoined(struct alar_judge *judge, struct judge_op *op,
                              const struct leftover *left)
{
    if (left->timed_out) {
        leftover_timeout(judge, op);
    } else if (left->done && left->missing_over == left->missing) {
        leftover_premature(judge, op);
    } else if (left->failed) {
        leftover_failed(judge, op, left);
    } else if (left->expired) {
        leftover_stall(judge, op);
    } else if (left->missing_over == left->missing && left->missing_exited == 0) {
        struct alar_evidence *evidence = leftover_found(judge, ALAR_ANOMALY_MISMATCH_COUNT, op);

        if (evidence) {
            evidence->ranks = evidence->missing;
        }
        judge_group_at(judge, op->group)->mismatch = op->number;
    } else {
        leftover_pending(judge, left);
    }
}

static void leftover_joined(struct alar_judge *judge, struct judge_op *op,
                            const struct leftover *left)
{
    if (left->timed_out) {
        leftover_timeout(judge, op);
    } else if (left->failed) {
        leftover_failed(judge, op, left);
    } else if (left->expired) {
        leftover_stall(judge, op);
    } else {
        leftover_leaks(judge, op);
        if (left->waiting && !op->is_found) {
            leftover_pending(judge, left);
        }
    }
    if (left->done) {
        settle_op(judge, op);
    }
}

/* The latest time on the clock that all ranks share. */
static int64_t leftover_now(const struct alar_judge *judge)
{
    int64_t now = INT64_MIN;

    for (uint32_t r = 0; r < judge->setup.world; r++) {
        const struct judge_rank *rank = judge_rank_at(judge, r);

        if (rank->has_t && rank->clock == 1 && rank->t > now) {
            now = rank->t;
        }
    }
    return now;
}

/* Operations of one group stand in the order of their numbers, except where rank files ran ahead of
   each other: the first unjoined one is the cause, whatever was seen first. */
void judge_leftovers(struct alar_judge *judge)
{
    int64_t now = leftover_now(judge);

    for (uint64_t next = judge->oldest; next;) {
        uint64_t made = next;
        struct judge_op *op = judge_op_at(judge, made);
        struct leftover left = leftover_read(judge, op, now);

        next = op->newer;
        if (!settle_is_echo(judge, op) && left.first) {
            if (left.missing) {
                leftover_unjoined(judge, op, &left);
            } else {
                leftover_joined(judge, op, &left);
            }
        }
        judge_op_forget(judge, made);
    }
}

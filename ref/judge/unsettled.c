/* What is left when the history is over: for each operation it is asked why it is not settled. One
   cause is named; echoes are not. */
#include "judge/judge_state.h"

#include "base/check.h"

#include <string.h>

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

/* When the last rank was told, if those that were have one clock. */
static void leftover_told(const struct alar_judge *judge, const struct judge_op *op,
                          struct alar_evidence *evidence)
{
    bool is_one = true;

    for (uint32_t m = 0; m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);
        uint64_t clock = judge_rank_at(judge, entry->rank)->clock;

        if (entry->is_timed_out || entry->is_failed) {
            is_one = is_one && entry->has_t && (!evidence->clock || evidence->clock == clock);
            evidence->told =
                !evidence->clock || entry->t_done > evidence->told ? entry->t_done : evidence->told;
            evidence->clock = clock;
        }
    }
    evidence->clock = is_one ? evidence->clock : 0;
}

/* A finding about all ranks of an operation: who joined, who did not, and up to four of them shown.
 */
static struct alar_evidence *leftover_found(struct alar_judge *judge, enum alar_anomaly anomaly,
                                            struct judge_op *op)
{
    const struct judge_group *group = judge_group_at(judge, op->group);
    struct alar_evidence *evidence = judge_found(judge, anomaly, op, ALAR_RANK_ALL);
    uint32_t shown = 0;

    for (uint32_t m = 0; evidence && m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);

        if (entry->is_issued || group->is_declared) {
            alar_list_add(entry->is_issued ? &evidence->joined : &evidence->missing,
                          judge_member_rank(judge, group, m));
        }
        if (entry->is_issued && shown++ < 4) {
            judge_show_issue(judge, evidence, op, entry);
            judge_show_wait(judge, evidence, entry);
            judge_show_done(judge, evidence, op, entry);
        }
    }
    if (evidence) {
        leftover_told(judge, op, evidence);
    }
    return evidence;
}

static void leftover_timeout(struct alar_judge *judge, struct judge_op *op)
{
    struct alar_evidence *evidence = leftover_found(judge, ALAR_ANOMALY_TIMEOUT, op);

    if (evidence && evidence->missing.count == 0) {
        evidence->missing = op->named; /* all joined; these went silent, the back end says */
    }
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

/* All joined, and nobody was told of a failure. */
static void leftover_leaks(struct alar_judge *judge, struct judge_op *op)
{
    for (uint32_t m = 0; m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);
        bool is_idle = !entry->is_done && !entry->is_waited && !entry->is_sync &&
                       !entry->is_dropped && !entry->is_aborted;
        bool is_regular = judge_rank_at(judge, entry->rank)->is_over &&
                          !judge_rank_at(judge, entry->rank)->is_exited &&
                          !judge_rank_at(judge, entry->rank)->is_given_up;

        if (is_idle && is_regular && !entry->is_seen_complete) {
            judge_show_issue(judge, judge_found(judge, ALAR_ANOMALY_LEAK, op, entry->rank), op,
                             entry);
        }
        if (judge->contract.is_once && is_regular && entry->is_done && !entry->is_read) {
            struct alar_evidence *evidence =
                judge_found(judge, ALAR_ANOMALY_UNUSED, op, entry->rank);

            judge_show_issue(judge, evidence, op, entry);
            judge_show_done(judge, evidence, op, entry);
        }
    }
}

static void leftover_pending(struct alar_judge *judge, const struct judge_op *op,
                             const struct leftover *left)
{
    const struct judge_group *group = judge_group_at(judge, op->group);
    struct alar_pending *pending = &judge->verdict.pending;

    if (judge->verdict.unknown[ALAR_UNKNOWN_PENDING] == 0) {
        memcpy(pending->group, group->name, sizeof pending->group);
        pending->number = op->number;
        for (uint32_t m = 0; m < op->members; m++) {
            alar_list_add(judge_entry_at(judge, op, m)->is_issued ? &pending->joined
                                                                  : &pending->missing,
                          judge_member_rank(judge, group, m));
        }
    }
    judge_unknown(judge, ALAR_UNKNOWN_PENDING, left->first->issue, left->first->rank);
}

/* Somebody never issued it. */
static void leftover_unjoined(struct alar_judge *judge, struct judge_op *op,
                              const struct leftover *left)
{
    if (left->timed_out) {
        leftover_timeout(judge, op);
    } else if (!judge_group_at(judge, op->group)->is_declared) {
        judge_unknown(judge, ALAR_UNKNOWN_MEMBERS, left->first->issue, left->first->rank);
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
        leftover_pending(judge, op, left);
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
            leftover_pending(judge, op, left);
        }
    }
    if (left->done) {
        judge_settle(judge, op);
    }
}

/* Did a member end with a code? Then nobody waits for it. */
static bool leftover_is_given_up(const struct alar_judge *judge, const struct judge_op *op)
{
    const struct judge_group *group = judge_group_at(judge, op->group);

    for (uint32_t m = 0; m < op->members; m++) {
        if (judge_rank_at(judge, judge_member_rank(judge, group, m))->is_given_up) {
            return true;
        }
    }
    return false;
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
        uint64_t judged = judge->verdict.judged;

        next = op->newer;
        if (!judge_is_echo(judge, op)) {
            INV("what is no echo was issued", left.first != NULL);
            if (left.missing) {
                leftover_unjoined(judge, op, &left);
            } else {
                leftover_joined(judge, op, &left);
            }
        }
        judge->verdict.given_up +=
            judge->verdict.judged == judged && leftover_is_given_up(judge, op);
        judge_op_forget(judge, made);
    }
}

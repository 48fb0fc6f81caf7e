/* What is left when the history is over: for each operation it is asked why it is not settled. One
   cause is named; echoes are not. */
#include "judge/judge_state.h"

#include "base/check.h"

#include <string.h>

/* What the ranks of a leftover operation did. */
struct leftover {
    uint32_t missing, missing_over;        /* never issued; of these: ended, */
    uint32_t missing_exited, missing_left; /* ended badly; that, or in order with a code */
    uint32_t missing_parted;               /* ended badly because of a failure */
    uint32_t done, premature, returned, timed_out, failed, aborted, exited, gone, waiting, expired;
    uint32_t lost;                   /* of those that timed out: told so because a rank had left */
    const struct judge_entry *first; /* of those that issued */
};

static bool leftover_is_expired(const struct alar_judge *judge, const struct judge_entry *entry,
                                int64_t now)
{
    const struct judge_rank *rank = judge_rank_at(judge, entry->rank);
    int64_t latest = judge_time(rank->t, rank->t0);

    if (rank->clock == JUDGE_TICKS && latest < now) {
        latest = now;
    }
    return entry->deadline != INT64_MAX && latest >= entry->deadline;
}

static bool leftover_has_returned(const struct judge_entry *entry)
{
    return judge_did(entry, JUDGE_ACT_RETURN) || judge_did(entry, JUDGE_ACT_ORDER);
}

static bool leftover_is_told(const struct judge_entry *entry)
{
    return judge_is_done(entry) && (leftover_has_returned(entry) || entry->life == JUDGE_SEEN);
}

/* Was this rank told of an end that somebody's missing contribution belongs to? spec: O-16, H-52 */
static bool leftover_is_premature(const struct alar_judge *judge, const struct judge_op *op,
                                  const struct judge_entry *entry)
{
    const struct judge_group *group = judge_group_at(judge, op->group);

    for (uint32_t m = 0; leftover_is_told(entry) && m < op->members; m++) {
        if (judge_entry_at(judge, op, m)->life == JUDGE_FREE &&
            judge_needs(op, entry, judge_member_rank(judge, group, m))) {
            return true;
        }
    }
    return false;
}

/* Does it call the library for it, by a wait or a query, or has it called? */
static bool leftover_calls(const struct judge_entry *entry)
{
    return entry->is_sync || judge_did(entry, JUDGE_ACT_WAIT) ||
           judge_did(entry, JUDGE_ACT_QUERY_NO) || judge_did(entry, JUDGE_ACT_QUERY_YES);
}

/* Was a rank told of a failure before time t of this one, on one clock? What ends after it may end
   because of it. */
static bool failure_is_before(const struct alar_judge *judge, const struct judge_rank *rank,
                              int64_t t)
{
    return rank->clock && rank->clock == judge->failure_clock && judge->failure_t < t;
}

/* Did the rank end before any failure was told? */
static bool leftover_is_first(const struct alar_judge *judge, const struct judge_rank *rank)
{
    return !failure_is_before(judge, rank, judge_time(rank->t, rank->t0));
}

/* A rank that others depended on left before it was told anything. Its own failure, when it had
   one, comes first: leaving is the echo. spec: O-72 */
static bool leftover_is_gone(const struct alar_judge *judge, const struct judge_entry *entry)
{
    const struct judge_rank *rank = judge_rank_at(judge, entry->rank);
    bool is_told = judge_did(entry, JUDGE_ACT_FAIL) || judge_did(entry, JUDGE_ACT_EXPIRE);

    return judge_did(entry, JUDGE_ACT_ABORT) ||
           (!is_told && ((rank->is_exited && leftover_is_first(judge, rank)) || rank->is_aborted));
}

static void leftover_missing(const struct alar_judge *judge, struct leftover *left, uint32_t number)
{
    const struct judge_rank *rank = judge_rank_at(judge, number);
    bool is_first = leftover_is_first(judge, rank);

    left->missing++;
    left->missing_over += rank->is_over;
    left->missing_exited += rank->is_exited && is_first;
    left->missing_left += (rank->is_exited || rank->is_given_up) && is_first;
    left->missing_parted += rank->is_exited && !is_first;
}

static struct leftover leftover_read(const struct alar_judge *judge, const struct judge_op *op,
                                     int64_t now)
{
    const struct judge_group *group = judge_group_at(judge, op->group);
    struct leftover left = {0};

    for (uint32_t m = 0; m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);

        if (entry->life == JUDGE_FREE) {
            leftover_missing(judge, &left, judge_member_rank(judge, group, m));
            continue;
        }
        bool is_timed_out =
            judge_did(entry, JUDGE_ACT_EXPIRE) &&
            !(entry->done.has_t &&
              failure_is_before(judge, judge_rank_at(judge, entry->rank), entry->done.t));
        left.first = left.first ? left.first : entry;
        left.gone += leftover_is_gone(judge, entry);
        left.exited +=
            leftover_is_gone(judge, entry) && judge_rank_at(judge, entry->rank)->is_exited;
        left.returned += leftover_has_returned(entry);
        left.timed_out += is_timed_out;
        left.lost += is_timed_out && entry->is_told_lost;
        left.failed += judge_did(entry, JUDGE_ACT_FAIL) && !is_timed_out;
        left.aborted += entry->life == JUDGE_ABORTED;
        left.done += leftover_is_told(entry);
        if (entry->life == JUDGE_PENDING) {
            left.waiting += leftover_calls(entry);
            left.expired += leftover_is_expired(judge, entry, now);
        }
    }
    for (uint32_t m = 0; left.missing > 0 && m < op->members; m++) {
        left.premature += leftover_is_premature(judge, op, judge_entry_at(judge, op, m));
    }
    return left;
}

static void leftover_timeout(struct alar_judge *judge, struct judge_op *op)
{
    struct alar_evidence *evidence = judge_leftover_found(judge, ALAR_ANOMALY_TIMEOUT, op);

    if (evidence && evidence->missing.count == 0) {
        evidence->missing = op->named; /* all joined; these went silent, the back end says */
    }
    bool is_open = evidence && evidence->missing.count == 0;
    for (uint32_t m = 0; is_open && m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);
        const struct judge_rank *rank = judge_rank_at(judge, entry->rank);

        if (entry->life == JUDGE_PENDING && rank->has_trace && !rank->is_over) {
            alar_list_add(&evidence->missing, entry->rank); /* ... or their recording says it */
        }
    }
    for (uint32_t m = 0; evidence && m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);

        if (judge_did(entry, JUDGE_ACT_EXPIRE)) {
            alar_list_add(&evidence->ranks, entry->rank);
            judge_evidence_late(evidence, entry);
        }
    }
}

/* Stalled ranks: who never came, or who came and never called the library again. spec: O-22 */
static void leftover_stall(struct alar_judge *judge, struct judge_op *op)
{
    const struct judge_group *group = judge_group_at(judge, op->group);
    struct alar_evidence *evidence = judge_leftover_found(judge, ALAR_ANOMALY_STALL, op);

    for (uint32_t m = 0; evidence && m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);
        bool is_idle =
            entry->life == JUDGE_FREE || (!leftover_calls(entry) && !judge_is_done(entry));

        if (is_idle) {
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
    bool is_exit =
        left->exited + left->missing_left > 0; /* who aborts then does so because of it */
    bool is_lost = is_exit || left->gone + left->aborted > 0;
    struct alar_evidence *evidence =
        judge_leftover_found(judge, is_lost ? ALAR_ANOMALY_FAILED_RANK : ALAR_ANOMALY_FAILED, op);

    if (!evidence) {
        return;
    }
    memcpy(evidence->name[0], op->error, sizeof evidence->name[0]);
    for (uint32_t m = 0; m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);
        uint32_t number = judge_member_rank(judge, group, m);
        const struct judge_rank *rank = judge_rank_at(judge, number);
        bool is_gone =
            entry->life == JUDGE_FREE
                ? (rank->is_exited || rank->is_given_up) && leftover_is_first(judge, rank)
                : leftover_is_gone(judge, entry) && (!is_exit || rank->is_exited);

        if (is_lost ? is_gone : judge_did(entry, JUDGE_ACT_FAIL)) {
            alar_list_add(&evidence->ranks, number);
        }
    }
}

/* A value came out although somebody's contribution never went in. spec: O-16 */
static void leftover_premature(struct alar_judge *judge, struct judge_op *op)
{
    struct alar_evidence *evidence = judge_leftover_found(judge, ALAR_ANOMALY_PREMATURE, op);

    for (uint32_t m = 0; evidence && m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);

        if (leftover_is_premature(judge, op, entry)) {
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
        bool is_regular = judge_rank_at(judge, entry->rank)->is_over &&
                          !judge_rank_at(judge, entry->rank)->is_exited;

        if (judge_is_leaked(entry) && is_regular) {
            judge_show_issue(judge, judge_found(judge, ALAR_ANOMALY_LEAK, op, entry->rank), op,
                             entry);
        }
        if (judge->contract.is_once && is_regular && leftover_has_returned(entry) &&
            entry->read_mask == 0 && judge_is_done(entry)) {
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
            alar_list_add(judge_entry_at(judge, op, m)->life != JUDGE_FREE ? &pending->joined
                                                                           : &pending->missing,
                          judge_member_rank(judge, group, m));
        }
    }
    judge_unknown(judge, ALAR_UNKNOWN_PENDING, left->first->issue.place, left->first->rank);
}

/* All that timed out did so because a rank had left, and a rank that left tells of an error: that
   is the cause, and this its echo. spec: O-72 */
static bool leftover_is_parted(const struct alar_judge *judge, const struct leftover *left)
{
    return left->timed_out == left->lost && judge->has_failure;
}

/* Somebody never issued it. */
static void leftover_unjoined(struct alar_judge *judge, struct judge_op *op,
                              const struct leftover *left)
{
    if (left->timed_out && !leftover_is_parted(judge, left)) {
        leftover_timeout(judge, op);
    } else if (!judge_group_at(judge, op->group)->is_declared) {
        judge_unknown(judge, ALAR_UNKNOWN_MEMBERS, left->first->issue.place, left->first->rank);
    } else if (left->premature && left->missing_over == left->missing) {
        leftover_premature(judge, op);
    } else if (left->failed) {
        leftover_failed(judge, op, left);
    } else if (left->expired) {
        leftover_stall(judge, op);
    } else if (left->missing_over == left->missing && left->missing_exited == 0 &&
               left->missing_parted == 0) {
        struct alar_evidence *evidence =
            judge_leftover_found(judge, ALAR_ANOMALY_MISMATCH_COUNT, op);

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
    if (left->timed_out && !leftover_is_parted(judge, left)) {
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
        if (left->aborted && !op->is_found) {
            judge_unknown(judge, ALAR_UNKNOWN_ABORTED, left->first->issue.place, left->first->rank);
        }
    }
    if (left->done || left->returned) {
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

        if (rank->has_t && rank->clock == JUDGE_TICKS && rank->t > now) {
            now = rank->t;
        }
    }
    return now;
}

/* Operations of one group stand in the order of their numbers: the first that went wrong is the
   cause of what follows. */
void judge_leftovers(struct alar_judge *judge)
{
    int64_t now = leftover_now(judge);

    for (uint64_t next = judge->oldest; next; next = judge_op_at(judge, next)->newer) {
        judge_match(judge, judge_op_at(judge, next));
    }
    judge_strangers(judge);
    for (uint64_t next = judge->oldest; next;) {
        uint64_t made = next;
        struct judge_op *op = judge_op_at(judge, made);
        struct leftover left = leftover_read(judge, op, now);
        uint64_t judged = judge->verdict.judged;

        next = op->newer;
        if (op->is_mixed) {
            judge_mismatch(judge, op);
        }
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

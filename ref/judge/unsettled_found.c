/* A finding about all ranks of an operation that was left: who joined, and how far each of them
 * came. */
#include "judge/judge_state.h"

/* When the last rank was told, if those that were have one clock. */
static void leftover_told(const struct alar_judge *judge, const struct judge_op *op,
                          struct alar_evidence *evidence)
{
    bool is_one = true;

    for (uint32_t m = 0; m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);
        uint64_t clock =
            judge_rank_at(judge, judge_member_rank(judge, judge_group_at(judge, op->group), m))
                ->clock;

        if (judge_did(entry, JUDGE_ACT_EXPIRE) || judge_did(entry, JUDGE_ACT_FAIL)) {
            is_one = is_one && entry->done.has_t && (!evidence->clock || evidence->clock == clock);
            evidence->told =
                !evidence->clock || entry->done.t > evidence->told ? entry->done.t : evidence->told;
            evidence->clock = clock;
        }
    }
    evidence->clock = is_one ? evidence->clock : 0;
}

/* What each rank of a stalled operation did last. spec: O-22 */
static void leftover_standing(const struct judge_entry *entry, struct alar_evidence *evidence)
{
    if (evidence->standing_count < ALAR_SCENES_MAX) {
        struct alar_standing *standing = &evidence->standing[evidence->standing_count++];
        const struct judge_moment *last = &entry->issue;

        last = entry->wait.place.line ? &entry->wait : last;
        last = entry->asked.place.line &&
                       (!last->has_t || !entry->asked.has_t || entry->asked.t >= last->t)
                   ? &entry->asked
                   : last;
        last = entry->done.place.line ? &entry->done : last;
        standing->rank = entry->rank;
        standing->kind = judge_is_done(entry)                 ? ALAR_STANDING_DONE
                         : judge_did(entry, JUDGE_ACT_EXPIRE) ? ALAR_STANDING_TIMED_OUT
                         : judge_did(entry, JUDGE_ACT_FAIL)   ? ALAR_STANDING_FAILED
                         : entry->life == JUDGE_ABORTED       ? ALAR_STANDING_ABORTED
                                                              : ALAR_STANDING_PENDING;
        standing->last = last->record;
        standing->place = last->place;
    }
}

/* A finding about all ranks of an operation: who joined, who did not, and up to four of them shown.
 */
struct alar_evidence *judge_leftover_found(struct alar_judge *judge, enum alar_anomaly anomaly,
                                           struct judge_op *op)
{
    const struct judge_group *group = judge_group_at(judge, op->group);
    struct alar_evidence *evidence = judge_found(judge, anomaly, op, ALAR_RANK_ALL);
    uint32_t shown = 0;

    for (uint32_t m = 0; evidence && m < op->members; m++) {
        const struct judge_entry *entry = judge_entry_at(judge, op, m);

        bool is_issued = entry->life != JUDGE_FREE;

        if (is_issued || group->is_declared) {
            alar_list_add(is_issued ? &evidence->joined : &evidence->missing,
                          judge_member_rank(judge, group, m));
        }
        if (is_issued) {
            leftover_standing(entry, evidence);
        }
        if (is_issued && shown++ < 4) {
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

/* What concerns all that a rank has pending at once: a sync, an abort. */
#include "judge/judge_state.h"

/* What is issued from now on may be on a communicator of another life. spec: O-79 */
void judge_aborted(struct alar_judge *judge)
{
    const struct alar_event *event = judge->event;
    struct judge_rank *rank = judge_rank_at(judge, (uint32_t)event->number[ALAR_FIELD_RANK]);

    rank->is_aborted = true;
    rank->aborted = event->has[ALAR_FIELD_GROUP] && rank->aborted != JUDGE_NEVER
                        ? judge_group_find(judge, event->text[ALAR_FIELD_GROUP])
                        : JUDGE_NEVER;
}

/* All that the rank has issued and that is remembered: a sync completes what is pending of it, an
   abort ends that. */
void judge_everything(struct alar_judge *judge)
{
    const struct alar_event *event = judge->event;
    uint64_t next = judge_rank_at(judge, (uint32_t)event->number[ALAR_FIELD_RANK])->newest;
    bool is_abort = event->record == ALAR_RECORD_ABORT;
    uint64_t group =
        event->has[ALAR_FIELD_GROUP] ? judge_group_find(judge, event->text[ALAR_FIELD_GROUP]) : 0;

    while (next) {
        struct judge_entry *entry = alar_arena_at(judge->arena, next);
        struct judge_subject subject = {judge_op_at(judge, entry->op), entry, false};
        bool is_elsewhere =
            event->has[ALAR_FIELD_STREAM] &&
            (entry->life != JUDGE_ORDERED ||
             !judge_stream_orders(entry, (uint64_t)event->number[ALAR_FIELD_STREAM]));

        next = entry->older;
        if ((event->has[ALAR_FIELD_GROUP] && subject.op->group != group) || is_elsewhere) {
            continue;
        }
        if (!is_abort && entry->is_lent) {
            judge_life_told(judge, entry);
        }
        (void)judge_life_act(judge, subject, is_abort ? JUDGE_ACT_ABORT : JUDGE_ACT_SYNC);
        judge_entry_over(judge, subject.op, entry);
    }
}

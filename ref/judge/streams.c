/* What comes after an operation's end on streams: a wait orders its stream, what is issued there
   afterwards begins after that, and so on. Once such an operation is over the older one is as well.
   spec: O-03, O-74, O-83 */
#include "judge/judge_state.h"

static void stream_add(struct judge_entry *entry, uint64_t stream, uint32_t line)
{
    if (judge_stream_orders(entry, stream)) {
        return;
    }
    if (entry->orders < JUDGE_STREAMS) {
        entry->ordered[entry->orders] = (struct judge_order){stream, line};
    }
    entry->orders++;
}

/* Was the younger one issued on a stream that a wait for the older one had ordered by then? */
static bool stream_is_before(const struct judge_entry *older, const struct judge_entry *younger)
{
    for (uint32_t k = 0; k < older->orders && k < JUDGE_STREAMS; k++) {
        if (older->ordered[k].stream == younger->issued_on &&
            older->ordered[k].line < younger->issue.place.line) {
            return true;
        }
    }
    return older->orders > JUDGE_STREAMS && older->issue.place.line < younger->issue.place.line;
}

/* What the older operations have that end before it begins: its stream, or its end. */
static void stream_reach(struct alar_judge *judge, const struct judge_entry *entry, bool is_end,
                         uint64_t stream)
{
    const struct judge_rank *rank = judge_rank_at(judge, entry->rank);
    uint64_t next = rank->newest;

    for (uint32_t left = rank->pending; left > 0;) {
        struct judge_entry *older = alar_arena_at(judge->arena, next);
        struct judge_subject subject = {judge_op_at(judge, older->op), older, false};
        bool is_reached =
            older != entry && older->life == JUDGE_ORDERED && stream_is_before(older, entry);

        next = older->older;
        left -= older->is_lent;
        if (is_reached && is_end) {
            judge_life_told(judge, older);
            (void)judge_life_act(judge, subject, JUDGE_ACT_SYNC);
            judge_entry_over(judge, subject.op, older);
        } else if (is_reached) {
            stream_add(older, stream, judge->event->place.line);
        }
    }
}

void judge_stream_wait(struct alar_judge *judge, struct judge_entry *entry)
{
    const struct alar_event *event = judge->event;
    uint64_t stream =
        event->has[ALAR_FIELD_STREAM] ? (uint64_t)event->number[ALAR_FIELD_STREAM] : entry->stream;

    stream_add(entry, stream, event->place.line);
    stream_reach(judge, entry, false, stream);
}

void judge_stream_end(struct alar_judge *judge, const struct judge_entry *entry)
{
    bool is_over = entry->life == JUDGE_SEEN || entry->life == JUDGE_KNOWN;

    if (judge->contract.is_stream && is_over) {
        stream_reach(judge, entry, true, JUDGE_NEVER);
    }
}

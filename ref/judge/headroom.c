/* How much room in the arena a record may need, before it is judged. */
#include "judge/report/report.h"

static size_t group_room(uint32_t members)
{
    return alar_arena_block(sizeof(struct judge_group)) +
           alar_arena_block(members * sizeof(uint32_t)) +
           2 * alar_arena_block(members * sizeof(uint64_t));
}

size_t alar_judge_start_room(uint32_t world)
{
    static const struct alar_table none;

    return alar_arena_block(world * sizeof(struct judge_rank)) +
           alar_arena_block(JUDGE_BUCKETS * sizeof(uint64_t)) + group_room(world) +
           alar_table_room(&none, 1);
}

/* A record names one group, one clock and one metric at most, which bounds one other. */
static size_t table_headroom(const struct alar_judge *judge, const struct alar_event *event)
{
    switch ((int)event->record) {
    case ALAR_RECORD_TRACE:
        return alar_table_room(&judge->clocks, 1);
    case ALAR_RECORD_ISSUE:
    case ALAR_RECORD_CALL:
        return alar_table_room(&judge->groups, 1);
    case ALAR_RECORD_DECLARE:
    case ALAR_RECORD_REPORT:
        return alar_table_room(&judge->groups, 1) + alar_table_room(&judge->log.metrics, 1) +
               alar_table_room(&judge->log.bounds, 2);
    default:
        return 0;
    }
}

/* A rank that is none is complained about later. */
static size_t uses_headroom(const struct alar_judge *judge, const struct alar_event *event)
{
    int64_t rank = event->number[ALAR_FIELD_RANK];

    return rank < (int64_t)judge->setup.world &&
                   judge_uses_trees(judge_rank_at(judge, (uint32_t)rank))
               ? judge_uses_growth(judge, judge_rank_at(judge, (uint32_t)rank))
               : 0;
}

size_t alar_judge_headroom(const struct alar_judge *judge, const struct alar_event *event)
{
    uint32_t world = judge->setup.world;
    size_t in = event->has[ALAR_FIELD_IN] ? (size_t)event->number[ALAR_FIELD_IN] : 0;
    size_t out = event->has[ALAR_FIELD_OUT] ? (size_t)event->number[ALAR_FIELD_OUT] : 0;
    size_t bits = event->has[ALAR_FIELD_BITS] ? (size_t)event->number[ALAR_FIELD_BITS] : 0;
    size_t row = (out > bits ? out : bits) + 1, rows = judge->rows_max ? 2 * judge->rows_max : 2;
    size_t room = 0;

    row = row > judge->out_max + 1 ? row : judge->out_max + 1;
    if (out + bits > 0) {
        room += alar_arena_block(rows * row * sizeof(uint64_t));
    }
    if (event->record == ALAR_RECORD_ISSUE) {
        room += group_room(world) + alar_arena_block(sizeof(struct judge_op)) +
                alar_arena_block(world * sizeof(struct judge_entry)) +
                alar_arena_block((world * in + 1) * sizeof(uint64_t)) +
                alar_arena_block(2 * judge->buckets * sizeof(uint64_t)) +
                uses_headroom(judge, event);
    }
    room += table_headroom(judge, event);
    room += judge_report_headroom(judge, event) + judge_call_headroom(judge, event);
    return room + (event->record == ALAR_RECORD_DECLARE ? group_room(world) : 0);
}

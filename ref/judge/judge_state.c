/* From offsets to what they stand for. */
#include "judge/judge_state.h"

#include "base/check.h"

struct judge_rank *judge_rank_at(const struct alar_judge *judge, uint32_t rank)
{
    PRE(rank < judge->setup.world);
    return (struct judge_rank *)alar_arena_at(judge->arena, judge->rank) + rank;
}

struct judge_group *judge_group_at(const struct alar_judge *judge, uint64_t group)
{
    return alar_arena_at(judge->arena, group);
}

struct judge_op *judge_op_at(const struct alar_judge *judge, uint64_t op)
{
    return alar_arena_at(judge->arena, op);
}

struct judge_entry *judge_entry_at(const struct alar_judge *judge, const struct judge_op *op,
                                   uint32_t member)
{
    PRE(member < op->members);
    return (struct judge_entry *)alar_arena_at(judge->arena, op->entry) + member;
}

uint32_t judge_member_rank(const struct alar_judge *judge, const struct judge_group *group,
                           uint32_t member)
{
    PRE(member < group->members);
    return ((const uint32_t *)alar_arena_at(judge->arena, group->rank))[member];
}

bool judge_member_find(const struct alar_judge *judge, const struct judge_group *group,
                       uint32_t rank, uint32_t *member)
{
    const uint32_t *ranks = alar_arena_at(judge->arena, group->rank);
    uint32_t low = 0, high = group->members;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (ranks[middle] < rank) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *member = low;
    return low < group->members && ranks[low] == rank;
}

uint64_t *judge_value_row(const struct alar_judge *judge, const struct judge_op *op, uint32_t row)
{
    return (uint64_t *)alar_arena_at(judge->arena, op->out) + (size_t)row * (op->out_elements + 1);
}

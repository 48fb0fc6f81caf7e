/* From offsets to what they stand for: what is no single step. */
#include "judge/judge_state.h"

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

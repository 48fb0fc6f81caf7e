/* From offsets to what they stand for: some forty times an event, so they are in line. Part of
   judge_state.h. */
#ifndef ALAR_JUDGE_AT_H
#define ALAR_JUDGE_AT_H

static inline struct judge_rank *judge_rank_at(const struct alar_judge *judge, uint32_t rank)
{
    PRE(rank < judge->setup.world);
    return (struct judge_rank *)alar_arena_at(judge->arena, judge->rank) + rank;
}

static inline struct judge_group *judge_group_at(const struct alar_judge *judge, uint64_t group)
{
    return alar_arena_at(judge->arena, group);
}

static inline struct judge_op *judge_op_at(const struct alar_judge *judge, uint64_t op)
{
    return alar_arena_at(judge->arena, op);
}

static inline struct judge_entry *judge_entry_at(const struct alar_judge *judge,
                                                 const struct judge_op *op, uint32_t member)
{
    PRE(member < op->members);
    return (struct judge_entry *)alar_arena_at(judge->arena, op->entry) + member;
}

static inline uint32_t judge_member_rank(const struct alar_judge *judge,
                                         const struct judge_group *group, uint32_t member)
{
    PRE(member < group->members);
    return ((const uint32_t *)alar_arena_at(judge->arena, group->rank))[member];
}

#endif

/* A group whose members were assumed to be all ranks, until a record said who they are: lines of
   different ranks stand in any order, so whoever says it may come late. */
#include "judge/judge_state.h"

#include "base/check.h"

#include <string.h>

/* Moves a part to its new place; the rank's chain of lent storage follows. */
static void narrow_move(struct alar_judge *judge, uint64_t from, uint64_t to)
{
    struct judge_entry *entry = alar_arena_at(judge->arena, from);
    struct judge_entry *moved = alar_arena_at(judge->arena, to);

    if (from == to) {
        return;
    }
    *moved = *entry;
    memset(entry, 0, sizeof *entry);
    if (moved->life == JUDGE_FREE) {
        return;
    }
    judge_uses_move(judge, to);
    if (moved->newer) {
        ((struct judge_entry *)alar_arena_at(judge->arena, moved->newer))->older = to;
    } else {
        judge_rank_at(judge, moved->rank)->newest = to;
    }
    if (moved->older) {
        ((struct judge_entry *)alar_arena_at(judge->arena, moved->older))->newer = to;
    }
}

/* A part of a rank that is no member: it is a stranger from this operation on. */
static void narrow_out(struct alar_judge *judge, struct judge_group *group,
                       const struct judge_op *op, struct judge_entry *entry)
{
    judge_chain_remove(judge, entry);
    judge_group_stranger(group, entry->rank, op->number);
    memset(entry, 0, sizeof *entry);
}

/* Keeps the parts of ranks that are said to be members. `kept` has their old indices. */
static void narrow_op(struct alar_judge *judge, struct judge_op *op, const uint32_t *kept,
                      uint32_t count)
{
    struct judge_group *group = judge_group_at(judge, op->group);
    uint64_t *in = op->in ? alar_arena_at(judge->arena, op->in) : NULL;
    uint32_t issued = 0, ins = 0, outs = 0, finished = 0, to = 0, first = UINT32_MAX;

    for (uint32_t m = 0; m < op->members; m++) {
        struct judge_entry *entry = judge_entry_at(judge, op, m);

        if (to < count && kept[to] == m) {
            if (in && to != m) {
                memcpy(in + (size_t)to * op->elements, in + (size_t)m * op->elements,
                       op->elements * sizeof *in);
            }
            issued += entry->life != JUDGE_FREE;
            ins += entry->has_in;
            outs += entry->has_out;
            finished += entry->is_finished;
            first = first == UINT32_MAX && entry->life != JUDGE_FREE ? to : first;
            narrow_move(judge, op->entry + m * sizeof *entry, op->entry + to * sizeof *entry);
            to++;
        } else if (entry->life != JUDGE_FREE) {
            narrow_out(judge, group, op, entry);
        }
    }
    op->members = count;
    op->first = first == UINT32_MAX ? 0 : first;
    op->issued = issued;
    op->ins = ins;
    op->outs = outs;
    op->finished = finished;
    if (issued == count) {
        judge_match(judge, op);
    }
}

void judge_group_narrow(struct alar_judge *judge, uint64_t at)
{
    struct judge_group *group = judge_group_at(judge, at);
    const struct alar_value *said = judge->event->list[ALAR_FIELD_MEMBERS];
    uint32_t count = (uint32_t)judge->event->number[ALAR_FIELD_MEMBERS], to = 0;
    uint32_t *rank = alar_arena_at(judge->arena, group->rank);
    uint64_t *expected = alar_arena_at(judge->arena, group->expected);
    uint64_t *reached = group->calls ? alar_arena_at(judge->arena, group->reached) : NULL;
    uint64_t *calls = group->calls ? alar_arena_at(judge->arena, group->calls) : NULL;

    if (group->is_declared || count == 0) {
        return;
    }
    INV("an assumed group has all ranks", group->members == judge->setup.world);
    group->is_declared = true;
    group->members_hash = judge_members_hash(judge->event);
    for (uint32_t k = 0; k < count; k++) {
        rank[to++] = (uint32_t)said[k].bits; /* of all ranks, in order: a rank is its own index */
    }
    for (uint64_t o = group->lowest_op; o; o = judge_op_at(judge, o)->higher) {
        narrow_op(judge, judge_op_at(judge, o), rank, count);
    }
    for (uint32_t k = 0; k < count; k++) {
        expected[k] = expected[rank[k]];
        if (reached && calls) {
            reached[k] = reached[rank[k]];
            calls[k] = calls[rank[k]];
        }
    }
    group->members = count;
}

/* The members that a rank gives a group, in one number; 0 when the record gives none. */
uint64_t judge_members_hash(const struct alar_event *event)
{
    uint64_t hash = 0;

    for (int64_t k = 0; event->has[ALAR_FIELD_MEMBERS] && k < event->number[ALAR_FIELD_MEMBERS];
         k++) {
        hash = (hash ^ (event->list[ALAR_FIELD_MEMBERS][k].bits + 1)) * UINT64_C(0x100000001b3);
    }
    return hash;
}

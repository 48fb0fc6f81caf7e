/* Groups, and the table of operations that are not settled yet. */
#include "judge/report/report.h"

#include "base/check.h"

#include <string.h>

uint64_t judge_group_find(const struct alar_judge *judge, struct alar_text name)
{
    uint64_t hash = alar_text_hash(name);

    /* Mostly there is one. */
    return judge_group_at(judge, judge->group)->hash == hash
               ? judge->group
               : alar_table_get(judge->arena, &judge->groups, hash);
}

uint64_t judge_group_make(struct alar_judge *judge, struct alar_text name,
                          const struct alar_value *ranks, uint32_t count)
{
    uint32_t members = ranks ? count : judge->setup.world;
    uint64_t made = alar_arena_take(judge->arena, sizeof(struct judge_group));
    struct judge_group *group = judge_group_at(judge, made);

    group->next = judge->group;
    group->hash = alar_text_hash(name);
    alar_text_keep(name, group->name, sizeof group->name);
    group->members = members;
    group->mismatch = JUDGE_NEVER;
    group->is_world = alar_text_is(name, "world");
    group->is_declared = ranks != NULL || group->is_world;
    group->claim = alar_arena_take(judge->arena, members * sizeof(uint64_t));
    group->rank = alar_arena_take(judge->arena, members * sizeof(uint32_t));
    group->expected = alar_arena_take(judge->arena, members * sizeof(uint64_t));
    uint32_t *rank = alar_arena_at(judge->arena, group->rank);
    uint64_t *expected = alar_arena_at(judge->arena, group->expected);
    for (uint32_t m = 0; m < members; m++) {
        rank[m] = ranks ? (uint32_t)ranks[m].bits : m;
        expected[m] = JUDGE_NEVER;
        group->members_hash = (group->members_hash ^ (rank[m] + 1)) * UINT64_C(0x100000001b3);
    }
    judge->group = made;
    alar_table_put(judge->arena, &judge->groups, group->hash, made);
    return made;
}

static uint64_t *judge_bucket(const struct alar_judge *judge, uint64_t group, uint64_t number)
{
    uint64_t mixed = (number + group * 31) * UINT64_C(0x9e3779b97f4a7c15);

    return (uint64_t *)alar_arena_at(judge->arena, judge->bucket) + (mixed >> 32) % judge->buckets;
}

/* In the table stand unsettled operations and those that are kept for reports. */
static uint64_t op_find(const struct alar_judge *judge, uint64_t group, uint64_t number,
                        bool is_kept)
{
    uint64_t op = *judge_bucket(judge, group, number);

    while (op &&
           (judge_op_at(judge, op)->group != group || judge_op_at(judge, op)->number != number ||
            judge_op_at(judge, op)->is_kept != is_kept)) {
        op = judge_op_at(judge, op)->chain;
    }
    return op;
}

uint64_t judge_op_find(const struct alar_judge *judge, uint64_t group, uint64_t number)
{
    return op_find(judge, group, number, false);
}

uint64_t judge_op_find_kept(const struct alar_judge *judge, uint64_t group, uint64_t number)
{
    return op_find(judge, group, number, true);
}

/* Twice the buckets once there is an operation for each. */
static void judge_buckets_grow(struct alar_judge *judge)
{
    const uint64_t list[] = {judge->oldest, judge->log.oldest};
    uint64_t old = judge->bucket, count = judge->buckets;

    if (judge->live + judge->log.kept < count) {
        return;
    }
    judge->buckets = 2 * count;
    judge->bucket = alar_arena_take(judge->arena, 2 * count * sizeof(uint64_t));
    for (unsigned k = 0; k < sizeof list / sizeof *list; k++) {
        for (uint64_t o = list[k]; o; o = judge_op_at(judge, o)->newer) {
            struct judge_op *op = judge_op_at(judge, o);
            uint64_t *bucket = judge_bucket(judge, op->group, op->number);

            op->chain = *bucket;
            *bucket = o;
        }
    }
    alar_arena_give(judge->arena, old, count * sizeof(uint64_t));
}

/* The next unsettled operation of the group above this number; 0: there is none. The one below it
   is there, but for the first that a rank issues. */
static uint64_t op_above(const struct alar_judge *judge, uint64_t group, uint64_t number)
{
    uint64_t below = number ? judge_op_find(judge, group, number - 1) : 0;
    uint64_t at =
        below ? judge_op_at(judge, below)->higher : judge_group_at(judge, group)->lowest_op;

    while (at && judge_op_at(judge, at)->number <= number) {
        at = judge_op_at(judge, at)->higher;
    }
    return at;
}

/* Those of a group stand in the order of their numbers, whichever rank's lines came first: ranks
   may begin with other numbers. */
static void op_link_group(struct alar_judge *judge, uint64_t made, uint64_t above)
{
    struct judge_op *op = judge_op_at(judge, made);
    struct judge_group *group = judge_group_at(judge, op->group);
    uint64_t below = above ? judge_op_at(judge, above)->lower : group->highest_op;

    op->lower = below;
    op->higher = above;
    *(below ? &judge_op_at(judge, below)->higher : &group->lowest_op) = made;
    *(above ? &judge_op_at(judge, above)->lower : &group->highest_op) = made;
}

static void op_link(struct alar_judge *judge, uint64_t made, uint64_t before)
{
    struct judge_op *op = judge_op_at(judge, made);
    uint64_t after = before ? judge_op_at(judge, before)->newer : judge->oldest;

    op->older = before;
    op->newer = after;
    *(before ? &judge_op_at(judge, before)->newer : &judge->oldest) = made;
    *(after ? &judge_op_at(judge, after)->older : &judge->newest) = made;
}

uint64_t judge_op_make(struct alar_judge *judge, uint64_t group, uint64_t number)
{
    judge_buckets_grow(judge);
    uint32_t members = judge_group_at(judge, group)->members;
    uint64_t made = alar_arena_take(judge->arena, sizeof(struct judge_op));
    struct judge_op *op = judge_op_at(judge, made);
    uint64_t above =
        number < judge_group_at(judge, group)->highest ? op_above(judge, group, number) : 0;
    uint64_t *bucket = judge_bucket(judge, group, number);

    op->group = group;
    op->number = number;
    op->members = op->room = members;
    op->step = op->mb = -1;
    op->entry = alar_arena_take(judge->arena, members * sizeof(struct judge_entry));
    op->chain = *bucket;
    *bucket = made;
    op_link(judge, made, above ? judge_op_at(judge, above)->older : judge->newest);
    op_link_group(judge, made, above);
    if (number > judge_group_at(judge, group)->highest) {
        judge_group_at(judge, group)->highest = number;
    }
    judge->live++;
    judge->verdict.operations++;
    return made;
}

/* Out of the table. */
static void op_drop(struct alar_judge *judge, uint64_t made)
{
    const struct judge_op *op = judge_op_at(judge, made);
    uint64_t *link = judge_bucket(judge, op->group, op->number);

    while (*link != made) {
        link = &judge_op_at(judge, *link)->chain;
    }
    *link = op->chain;
}

void judge_op_unlink(struct alar_judge *judge, uint64_t made, bool is_kept)
{
    struct judge_op *op = judge_op_at(judge, made);
    struct judge_group *group = judge_group_at(judge, op->group);

    *(op->older ? &judge_op_at(judge, op->older)->newer : &judge->oldest) = op->newer;
    *(op->newer ? &judge_op_at(judge, op->newer)->older : &judge->newest) = op->older;
    *(op->lower ? &judge_op_at(judge, op->lower)->higher : &group->lowest_op) = op->higher;
    *(op->higher ? &judge_op_at(judge, op->higher)->lower : &group->highest_op) = op->lower;
    judge->live--;
    op->is_kept = is_kept;
    if (!is_kept) {
        op_drop(judge, made);
    }
}

/* Gives back what is left of an operation once nobody looks at it any more. */
void judge_op_give(struct alar_judge *judge, uint64_t made)
{
    struct judge_op *op = judge_op_at(judge, made);

    if (op->is_kept) {
        op_drop(judge, made);
    }
    if (op->in) {
        alar_arena_give(judge->arena, op->in, op->room * op->elements * sizeof(uint64_t));
    }
    if (op->names) {
        alar_arena_give(judge->arena, op->names, sizeof(struct judge_names));
    }
    judge_give_out(judge, op);
    alar_arena_give(judge->arena, made, sizeof(struct judge_op));
}

void judge_chain_add(struct alar_judge *judge, uint64_t made)
{
    struct judge_entry *entry = alar_arena_at(judge->arena, made);
    struct judge_rank *rank = judge_rank_at(judge, entry->rank);

    entry->older = rank->newest;
    entry->newer = 0;
    if (rank->newest) {
        ((struct judge_entry *)alar_arena_at(judge->arena, rank->newest))->newer = made;
    }
    rank->newest = made;
    rank->pending += entry->is_lent;
    entry->order = ++judge->used;
    if (judge_uses_trees(rank)) {
        judge_uses_add(judge, made);
    }
    rank->remembered++;
}

void judge_chain_remove(struct alar_judge *judge, const struct judge_entry *entry)
{
    struct judge_rank *rank = judge_rank_at(judge, entry->rank);

    if (entry->newer) {
        ((struct judge_entry *)alar_arena_at(judge->arena, entry->newer))->older = entry->older;
    } else {
        rank->newest = entry->older;
    }
    if (entry->older) {
        ((struct judge_entry *)alar_arena_at(judge->arena, entry->older))->newer = entry->newer;
    }
    rank->pending -= entry->is_lent;
    rank->remembered--;
    if (rank->is_indexed) {
        judge_uses_remove(judge, entry);
    }
}

/* Who uses which storage: what operations of a rank that are remembered read or write there. As
   long as a rank has few of them they are looked at one after the other, the latest first; once it
   has had many, they stand in a tree for each name, and only those are looked at that meet. */
#include "judge/judge_state.h"

#include "base/chain.h"
#include "base/extent_tree.h"

#include <stddef.h>

/* As output or as input. */
enum use_kind {
    USE_BUF,
    USE_SEND,
    USE_KINDS
};

/* Marks of a range. */
enum use_mark {
    USE_ALL,
    USE_OPEN,  /* its buffers belong to the back end, and its storage was not lost */
    USE_CLEAN, /* the program has not written there since: see storage_touch */
};

static struct alar_extent *use_at(const struct alar_judge *judge, uint64_t use)
{
    return alar_arena_at(judge->arena, use);
}

static struct judge_entry *entry_at(const struct alar_judge *judge, uint64_t entry)
{
    return alar_arena_at(judge->arena, entry);
}

/* Names are told apart by 64 bits, here as elsewhere. */
static uint64_t use_key(uint32_t rank, uint64_t name, enum use_kind kind)
{
    return (name ^ (2 * (uint64_t)rank + (uint64_t)kind) * UINT64_C(0xd6e8feb86659fd93)) *
           UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t use_root(const struct alar_judge *judge, uint32_t rank, uint64_t name,
                         enum use_kind kind)
{
    return alar_table_get(judge->arena, &judge->uses, use_key(rank, name, kind));
}

size_t judge_uses_growth(const struct alar_judge *judge, const struct judge_rank *rank)
{
    uint64_t more = rank->is_indexed ? 1 : JUDGE_WALKED + 1;

    return USE_KINDS * more * alar_arena_block(sizeof(struct alar_extent)) +
           alar_table_room(&judge->uses, USE_KINDS * more);
}

static uint32_t use_marks(const struct judge_entry *entry)
{
    bool is_lost = judge_did(entry, JUDGE_ACT_UNSTORE) || judge_did(entry, JUDGE_ACT_REUSE);

    return 1u << USE_ALL | (entry->is_lent && !is_lost ? 1u << USE_OPEN : 0) |
           (entry->is_touched ? 0 : 1u << USE_CLEAN);
}

static void use_index(struct alar_judge *judge, uint64_t made)
{
    struct judge_entry *entry = entry_at(judge, made);
    const uint64_t name[USE_KINDS] = {entry->buf, entry->send};

    for (unsigned kind = 0; kind < USE_KINDS; kind++) {
        if (name[kind] == 0) {
            continue;
        }
        uint64_t key = use_key(entry->rank, name[kind], (enum use_kind)kind);
        uint64_t use = alar_arena_take(judge->arena, sizeof(struct alar_extent));

        *use_at(judge, use) = (struct alar_extent){.at = entry->at,
                                                   .n = entry->n,
                                                   .order = entry->order,
                                                   .owner = made,
                                                   .marks = use_marks(entry)};
        entry->use[kind] = use;
        alar_table_put(
            judge->arena, &judge->uses, key,
            alar_extent_add(judge->arena, alar_table_get(judge->arena, &judge->uses, key), use));
    }
}

void judge_uses_add(struct alar_judge *judge, uint64_t made)
{
    struct judge_rank *rank = judge_rank_at(judge, entry_at(judge, made)->rank);
    bool is_new = !rank->is_indexed;

    rank->is_indexed = true;
    for (uint64_t at = made; at; at = is_new ? entry_at(judge, at)->older : 0) {
        use_index(judge, at);
    }
}

void judge_uses_remove(struct alar_judge *judge, const struct judge_entry *entry)
{
    const uint64_t name[USE_KINDS] = {entry->buf, entry->send};

    for (unsigned kind = 0; kind < USE_KINDS; kind++) {
        if (entry->use[kind] == 0) {
            continue;
        }
        uint64_t key = use_key(entry->rank, name[kind], (enum use_kind)kind);
        uint64_t root = alar_extent_remove(
            judge->arena, alar_table_get(judge->arena, &judge->uses, key), entry->use[kind]);

        if (root) {
            alar_table_put(judge->arena, &judge->uses, key, root);
        } else {
            alar_table_drop(judge->arena, &judge->uses, key);
        }
        alar_arena_give(judge->arena, entry->use[kind], sizeof(struct alar_extent));
    }
}

void judge_uses_move(struct alar_judge *judge, uint64_t moved)
{
    const struct judge_entry *entry = alar_arena_at(judge->arena, moved);

    for (unsigned kind = 0; kind < USE_KINDS; kind++) {
        if (entry->use[kind]) {
            use_at(judge, entry->use[kind])->owner = moved;
        }
    }
}

void judge_uses_close(struct alar_judge *judge, const struct judge_entry *entry)
{
    for (unsigned kind = 0; kind < USE_KINDS; kind++) {
        if (entry->use[kind]) {
            alar_extent_mark(judge->arena, entry->use[kind], ~(1u << USE_OPEN));
        }
    }
}

/* Puts an entry on the list that is being made, once. */
static void use_gather(struct alar_judge *judge, uint64_t *list, uint64_t at)
{
    struct judge_entry *entry = entry_at(judge, at);

    if (entry->listed != judge->listing) {
        entry->listed = judge->listing;
        entry->beside = *list;
        *list = at;
    }
}

static bool is_met(const struct judge_entry *entry, const struct judge_storage *storage)
{
    return storage->at >= entry->at ? storage->at - entry->at < entry->n
                                    : entry->at - storage->at < storage->n;
}

static void walk_open(struct alar_judge *judge, uint64_t *list, const struct judge_storage *storage,
                      bool has_inputs)
{
    const struct judge_rank *rank = judge_rank_at(judge, storage->rank);
    uint64_t at = rank->newest;

    for (uint32_t left = rank->pending; left > 0; at = entry_at(judge, at)->older) {
        const struct judge_entry *entry = entry_at(judge, at);
        bool is_named = entry->buf == storage->name || (has_inputs && entry->send == storage->name);

        left -= entry->is_lent;
        if (is_named && (use_marks(entry) >> USE_OPEN & 1) && is_met(entry, storage)) {
            use_gather(judge, list, at);
        }
    }
}

static uint64_t list_of(const struct alar_judge *judge, const struct judge_storage *storage,
                        enum use_kind kind, enum use_mark mark)
{
    return alar_extent_list(judge->arena, use_root(judge, storage->rank, storage->name, kind),
                            (unsigned)mark, storage->at, storage->n);
}

uint64_t judge_uses_open(struct alar_judge *judge, uint64_t list, struct judge_storage storage,
                         bool has_inputs)
{
    bool is_indexed = judge_rank_at(judge, storage.rank)->is_indexed;

    if (judge_rank_at(judge, storage.rank)->pending == 0) {
        return list;
    }
    judge->listing += list == 0;
    if (!is_indexed) {
        walk_open(judge, &list, &storage, has_inputs);
    }
    for (unsigned kind = 0; is_indexed && kind <= (has_inputs ? USE_SEND : USE_BUF); kind++) {
        uint64_t use = list_of(judge, &storage, (enum use_kind)kind, USE_OPEN);

        for (; use; use = use_at(judge, use)->next) {
            use_gather(judge, &list, use_at(judge, use)->owner);
        }
    }
    return list && entry_at(judge, list)->beside
               ? alar_chain_sort(judge->arena, list, offsetof(struct judge_entry, beside),
                                 offsetof(struct judge_entry, order), true)
               : list;
}

struct judge_entry *judge_uses_latest(const struct alar_judge *judge, struct judge_storage storage)
{
    const struct judge_rank *rank = judge_rank_at(judge, storage.rank);
    uint64_t at = rank->newest;

    if (rank->is_indexed) {
        uint64_t use =
            alar_extent_latest(judge->arena, use_root(judge, storage.rank, storage.name, USE_BUF),
                               storage.at, storage.n);

        return use ? entry_at(judge, use_at(judge, use)->owner) : NULL;
    }
    while (at &&
           !(entry_at(judge, at)->buf == storage.name && is_met(entry_at(judge, at), &storage))) {
        at = entry_at(judge, at)->older;
    }
    return at ? entry_at(judge, at) : NULL;
}

void judge_uses_touch(struct alar_judge *judge, struct judge_storage storage)
{
    const struct judge_rank *rank = judge_rank_at(judge, storage.rank);
    uint64_t use = rank->is_indexed ? list_of(judge, &storage, USE_BUF, USE_CLEAN) : 0;

    for (; use; use = use_at(judge, use)->next) {
        entry_at(judge, use_at(judge, use)->owner)->is_touched = true;
        alar_extent_mark(judge->arena, use, ~(1u << USE_CLEAN));
    }
    for (uint64_t at = rank->is_indexed ? 0 : rank->newest; at; at = entry_at(judge, at)->older) {
        struct judge_entry *entry = entry_at(judge, at);

        entry->is_touched =
            entry->is_touched || (entry->buf == storage.name && is_met(entry, &storage));
    }
}

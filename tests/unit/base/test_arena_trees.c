/* What an arena holds besides blocks: tables, sorted chains, and ranges that meet; each against the
   plainest way to the same answer. */
#include "base/chain.h"
#include "base/extent_tree.h"
#include "base/rng.h"
#include "base/table.h"

#include <criterion/criterion.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEYS = 200,
    RANGES = 60,
    ELEMENTS = 40
};

static struct alar_arena arena_of(size_t bytes)
{
    struct alar_arena arena;

    alar_arena_init(&arena, calloc(1, bytes), bytes);
    return arena;
}

/* Groups, metrics and storage are found by it: a key that is lost, or that stays, changes verdicts.
   It grows as often as it says that it may. */
Test(table, holds_what_was_put_and_not_dropped)
{
    struct alar_arena arena = arena_of(1 << 20);
    struct alar_table table = {0};
    struct alar_rng rng = alar_rng_stream(7, 0);
    uint64_t kept[KEYS] = {0};

    for (int turn = 0; turn < 20000; turn++) {
        uint64_t key = alar_rng_below(&rng, KEYS), value = alar_rng_below(&rng, 3);
        size_t room = alar_table_room(&table, 1), used = arena.used;

        if (value) {
            alar_table_put(&arena, &table, key << 32, value);
        } else {
            alar_table_drop(&arena, &table, key << 32);
        }
        kept[key] = value;
        cr_assert_leq(arena.used - used, room);
        key = alar_rng_below(&rng, KEYS);
        cr_assert_eq(alar_table_get(&arena, &table, key << 32), kept[key]);
    }
    uint64_t count = 0;
    for (unsigned key = 0; key < KEYS; key++) {
        cr_assert_eq(alar_table_get(&arena, &table, (uint64_t)key << 32), kept[key]);
        count += kept[key] != 0;
    }
    cr_assert_eq(table.count, count);
    free(arena.base);
}

/* An empty table is asked before anything was put there. */
Test(table, has_nothing_at_first)
{
    struct alar_arena arena = arena_of(1 << 10);
    struct alar_table table = {0};

    alar_table_drop(&arena, &table, 0);

    cr_assert_eq(alar_table_get(&arena, &table, 0), 0);
    cr_assert_eq(table.count, 0);
    free(arena.base);
}

struct link {
    uint64_t next, key, place;
};

/* Findings are told in the order of operations, reports in that of lines: equal keys stay as they
   stood, whichever way they are sorted. */
Test(chain, is_sorted_and_stable)
{
    struct alar_arena arena = arena_of(1 << 16);
    struct alar_rng rng = alar_rng_stream(8, 0);

    for (unsigned turn = 0; turn < 400; turn++) {
        uint64_t count = alar_rng_below(&rng, 70), first = 0;
        bool is_descending = turn % 2 == 1;

        for (uint64_t k = count; k > 0; k--) {
            uint64_t made = alar_arena_take(&arena, sizeof(struct link));

            *(struct link *)alar_arena_at(&arena, made) =
                (struct link){first, alar_rng_below(&rng, 20), k};
            first = made;
        }
        first = alar_chain_sort(&arena, first, offsetof(struct link, next),
                                offsetof(struct link, key), is_descending);
        for (uint64_t at = first; at; count--) {
            struct link *link = alar_arena_at(&arena, at);
            struct link *next = link->next ? alar_arena_at(&arena, link->next) : NULL;

            cr_assert(next == NULL || link->key == next->key ||
                      (link->key > next->key) == is_descending);
            cr_assert(next == NULL || link->key != next->key || link->place < next->place);
            at = link->next;
            alar_arena_give(&arena, (uint64_t)((unsigned char *)link - arena.base), sizeof *link);
        }
        cr_assert_eq(count, 0, "as many as there were");
    }
    free(arena.base);
}

/* A tree and the same ranges in a row, 0 where there is none. */
struct ranges {
    struct alar_arena arena;
    uint64_t root, order;
    uint64_t range[RANGES];
};

static struct alar_extent *range_of(const struct ranges *ranges, unsigned k)
{
    return alar_arena_at(&ranges->arena, ranges->range[k]);
}

static void range_change(struct ranges *ranges, struct alar_rng *rng)
{
    unsigned k = (unsigned)alar_rng_below(rng, RANGES);

    if (ranges->range[k] == 0) {
        ranges->range[k] = alar_arena_take(&ranges->arena, sizeof(struct alar_extent));
        *range_of(ranges, k) = (struct alar_extent){.at = alar_rng_below(rng, ELEMENTS),
                                                    .n = alar_rng_below(rng, 6),
                                                    .order = ++ranges->order,
                                                    .owner = k,
                                                    .marks = 7};
        range_of(ranges, k)->n = alar_rng_below(rng, 20) ? range_of(ranges, k)->n : UINT64_MAX;
        ranges->root = alar_extent_add(&ranges->arena, ranges->root, ranges->range[k]);
    } else if (alar_rng_below(rng, 3) == 0) {
        alar_extent_mark(&ranges->arena, ranges->range[k], ~(2u << alar_rng_below(rng, 2)));
    } else {
        ranges->root = alar_extent_remove(&ranges->arena, ranges->root, ranges->range[k]);
        alar_arena_give(&ranges->arena, ranges->range[k], sizeof(struct alar_extent));
        ranges->range[k] = 0;
    }
}

/* The latest range below `order` that is asked for; 0: none. */
static uint64_t latest_of(const struct ranges *ranges, unsigned mark, uint64_t at, uint64_t n,
                          uint64_t order)
{
    uint64_t found = 0, best = 0;

    for (unsigned k = 0; k < RANGES; k++) {
        const struct alar_extent *range = ranges->range[k] ? range_of(ranges, k) : NULL;

        if (range && range->order < order && range->order > best && (range->marks >> mark & 1) &&
            alar_extent_meets(range, at, n)) {
            best = range->order;
            found = ranges->range[k];
        }
    }
    return found;
}

/* Which pending all-reduces a read or a write hits decides what is found: all of them, the latest
   first, and no other. spec: O-75 */
Test(extent_tree, finds_what_looking_at_all_ranges_finds)
{
    struct ranges ranges = {.arena = arena_of(1 << 20)};
    struct alar_rng rng = alar_rng_stream(9, 0);

    for (int turn = 0; turn < 20000; turn++) {
        uint64_t at = alar_rng_below(&rng, ELEMENTS), n = alar_rng_below(&rng, 8);
        unsigned mark = (unsigned)alar_rng_below(&rng, ALAR_EXTENT_MARKS);

        n = alar_rng_below(&rng, 8) ? n : UINT64_MAX;
        range_change(&ranges, &rng);
        cr_assert_eq(alar_extent_latest(&ranges.arena, ranges.root, at, n),
                     latest_of(&ranges, 0, at, n, UINT64_MAX));
        uint64_t order = UINT64_MAX;
        uint64_t use = alar_extent_list(&ranges.arena, ranges.root, mark, at, n);
        for (; use; use = ((struct alar_extent *)alar_arena_at(&ranges.arena, use))->next) {
            cr_assert_eq(use, latest_of(&ranges, mark, at, n, order));
            order = ((struct alar_extent *)alar_arena_at(&ranges.arena, use))->order;
        }
        cr_assert_eq(latest_of(&ranges, mark, at, n, order), 0, "none is left out");
    }
    free(ranges.arena.base);
}

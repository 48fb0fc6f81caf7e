/* Merge sort from below: one sorted chain for each power of two. */
#include "base/chain.h"

#include <string.h>

/* Where in each block what stands, and what comes first. */
struct chain_sort {
    const struct alar_arena *arena;
    size_t link, key;
    bool is_descending;
};

static uint64_t *word_at(const struct chain_sort *sort, uint64_t block, size_t offset)
{
    return (uint64_t *)(void *)((unsigned char *)alar_arena_at(sort->arena, block) + offset);
}

/* Does `b`, which stands behind `a`, come before it? */
static bool is_wrong_way(const struct chain_sort *sort, uint64_t a, uint64_t b)
{
    uint64_t first = *word_at(sort, a, sort->key), second = *word_at(sort, b, sort->key);

    return sort->is_descending ? second > first : second < first;
}

static uint64_t chain_merge(const struct chain_sort *sort, uint64_t a, uint64_t b)
{
    uint64_t merged = 0, *end = &merged;

    while (a && b) {
        uint64_t *taken = is_wrong_way(sort, a, b) ? &b : &a;

        *end = *taken;
        end = word_at(sort, *taken, sort->link);
        *taken = *end;
    }
    *end = a ? a : b;
    return merged;
}

uint64_t alar_chain_sort(const struct alar_arena *arena, uint64_t first, size_t link, size_t key,
                         bool is_descending)
{
    struct chain_sort sort = {arena, link, key, is_descending};
    uint64_t sorted[64], all = 0;
    unsigned runs = 0;

    if (first == 0 || *word_at(&sort, first, link) == 0) {
        return first;
    }
    while (first) {
        uint64_t run = first;
        unsigned k = 0;

        first = *word_at(&sort, run, link);
        *word_at(&sort, run, link) = 0;
        for (; k < runs && sorted[k]; k++) {
            run = chain_merge(&sort, sorted[k], run);
            sorted[k] = 0;
        }
        sorted[k] = run;
        runs = k == runs ? k + 1 : runs;
    }
    for (unsigned k = 0; k < runs; k++) {
        all = chain_merge(&sort, sorted[k], all);
    }
    return all;
}

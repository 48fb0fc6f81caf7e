/* Power-of-two blocks with one chain of spare ones per size. */
#include "base/arena.h"

#include <string.h>

enum {
    ARENA_SMALLEST = 5 /* 2^5 bytes */
};

static unsigned arena_class(size_t bytes)
{
    return bytes <= (size_t)1 << ARENA_SMALLEST
               ? ARENA_SMALLEST
               : 64 - (unsigned)__builtin_clzll((unsigned long long)bytes - 1);
}

void alar_arena_init(struct alar_arena *arena, void *base, size_t size)
{
    memset(arena, 0, sizeof *arena);
    arena->base = base;
    arena->size = size;
    arena->used = (size_t)1 << ARENA_SMALLEST; /* so that no block begins at 0 */
    PRE(size >= arena->used);
}

void alar_arena_move(struct alar_arena *arena, void *base, size_t size)
{
    PRE(size >= arena->size);
    arena->base = base;
    arena->size = size;
}

size_t alar_arena_block(size_t bytes)
{
    return (size_t)1 << arena_class(bytes);
}

uint64_t alar_arena_take(struct alar_arena *arena, size_t bytes)
{
    unsigned class = arena_class(bytes);
    size_t size = (size_t)1 << class;
    uint64_t block = arena->spare[class];

    if (block) {
        memcpy(&arena->spare[class], arena->base + block, sizeof block);
    } else {
        PRE(alar_arena_room(arena) >= size);
        block = arena->used;
        arena->used += size;
    }
    memset(arena->base + block, 0, bytes);
    return block;
}

void alar_arena_give(struct alar_arena *arena, uint64_t block, size_t bytes)
{
    unsigned class = arena_class(bytes);

    PRE(block != 0 && block < arena->used);
    memcpy(arena->base + block, &arena->spare[class], sizeof block);
    arena->spare[class] = block;
}

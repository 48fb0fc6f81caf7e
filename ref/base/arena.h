/* Blocks out of memory that the caller owns and may move: they are named by offset, never by
   address. A block given back is reused for blocks of its size class (powers of two), so memory
   follows what is live, not what has passed. */
#ifndef ALAR_ARENA_H
#define ALAR_ARENA_H

#include "base/check.h"

#include <stddef.h>
#include <stdint.h>

struct alar_arena {
    unsigned char *base; /* borrowed, aligned for any object */
    size_t size;         /* bytes at base */
    size_t used;         /* bytes ever taken; the rest was never touched */
    uint64_t spare[64];  /* given-back blocks of 2^k bytes, chained through their first word */
};

/* Starts on `size` bytes at `base`, which stay the caller's. */
void alar_arena_init(struct alar_arena *arena, void *base, size_t size);

/* Goes on in larger memory into which the caller copied the old. PRE: size is not smaller. */
void alar_arena_move(struct alar_arena *arena, void *base, size_t size);

/* Bytes that a block of `bytes` bytes occupies at most. */
size_t alar_arena_block(size_t bytes);

/* Bytes never touched so far: blocks whose sizes add up to no more can be taken. */
static inline size_t alar_arena_room(const struct alar_arena *arena)
{
    return arena->size - arena->used;
}

/* A zeroed block. PRE: there is room for it. */
uint64_t alar_arena_take(struct alar_arena *arena, size_t bytes);

/* Gives back a block of that many bytes. */
void alar_arena_give(struct alar_arena *arena, uint64_t block, size_t bytes);

/* Address of a block until the next move. PRE: it is a block. */
static inline void *alar_arena_at(const struct alar_arena *arena, uint64_t block)
{
    PRE(block != 0 && block < arena->used);
    return arena->base + block;
}

#endif

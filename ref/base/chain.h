/* Chains of blocks in an arena, linked through a word of each. */
#ifndef ALAR_CHAIN_H
#define ALAR_CHAIN_H

#include "base/arena.h"

#include <stdbool.h>

/* Sorts a chain, whose links stand `link` bytes into each block, by the number that stands `key`
   bytes into it: in n log n steps, equal ones as they stood. Returns the new first block. */
uint64_t alar_chain_sort(const struct alar_arena *arena, uint64_t first, size_t link, size_t key,
                         bool is_descending);

#endif

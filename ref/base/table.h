/* Numbers by key, in an arena: found, put and dropped in constant time however many there are. The
   caller sees to it that the arena has the room that alar_table_room asks for. */
#ifndef ALAR_TABLE_H
#define ALAR_TABLE_H

#include "base/arena.h"

/* Start with {0}. */
struct alar_table {
    uint64_t slot;  /* struct alar_table_slot[slots]; 0: none yet */
    uint64_t slots; /* a power of two */
    uint64_t count; /* slots that are taken: at most half of them */
};

/* Bytes of the arena that `more` further keys need at most. */
size_t alar_table_growth(const struct alar_table *table, uint64_t more);
static inline size_t alar_table_room(const struct alar_table *table, uint64_t more)
{
    return 2 * (table->count + more) <= table->slots ? 0 : alar_table_growth(table, more);
}

/* The value of a key; 0: it has none. */
uint64_t alar_table_get(const struct alar_arena *arena, const struct alar_table *table,
                        uint64_t key);

/* Gives a key its value, instead of the one it had. PRE: the value is not 0; there is room. */
void alar_table_put(struct alar_arena *arena, struct alar_table *table, uint64_t key,
                    uint64_t value);

/* Takes a key out, if it is there. */
void alar_table_drop(const struct alar_arena *arena, struct alar_table *table, uint64_t key);

#endif

/* Open addressing: a key stands in the first free slot from its own on. */
#include "base/table.h"

#include <string.h>

enum {
    TABLE_SLOTS = 64 /* at first */
};

struct alar_table_slot {
    uint64_t key;
    uint64_t value; /* 0: free */
};

static struct alar_table_slot *table_slots(const struct alar_arena *arena,
                                           const struct alar_table *table)
{
    return alar_arena_at(arena, table->slot);
}

static uint64_t slot_of(const struct alar_table *table, uint64_t key)
{
    uint64_t mixed = key * UINT64_C(0x9e3779b97f4a7c15);

    return (mixed ^ mixed >> 32) & (table->slots - 1);
}

/* The slot of the key, or the free one where it would stand. Half of them are free at least. */
static uint64_t slot_find(const struct alar_table_slot *slot, const struct alar_table *table,
                          uint64_t key)
{
    uint64_t at = slot_of(table, key);

    while (slot[at].value != 0 && slot[at].key != key) {
        at = (at + 1) & (table->slots - 1);
    }
    return at;
}

/* Slots for so many keys. */
static uint64_t slots_for(const struct alar_table *table, uint64_t count)
{
    uint64_t slots = table->slots ? table->slots : TABLE_SLOTS;

    while (slots < 2 * count) {
        slots *= 2;
    }
    return slots;
}

size_t alar_table_growth(const struct alar_table *table, uint64_t more)
{
    uint64_t slots = slots_for(table, table->count + more);

    /* Each doubling takes its own block: together less than twice the last one. */
    return 2 * alar_arena_block(slots * sizeof(struct alar_table_slot));
}

static void table_grow(struct alar_arena *arena, struct alar_table *table)
{
    struct alar_table old = *table;

    table->slots = slots_for(&old, old.count + 1);
    if (table->slots == old.slots) {
        return;
    }
    table->slot = alar_arena_take(arena, table->slots * sizeof(struct alar_table_slot));
    struct alar_table_slot *slot = table_slots(arena, table);
    for (uint64_t k = 0; k < old.slots; k++) {
        const struct alar_table_slot *from = table_slots(arena, &old) + k;

        if (from->value != 0) {
            slot[slot_find(slot, table, from->key)] = *from;
        }
    }
    if (old.slots) {
        alar_arena_give(arena, old.slot, old.slots * sizeof(struct alar_table_slot));
    }
}

uint64_t alar_table_get(const struct alar_arena *arena, const struct alar_table *table,
                        uint64_t key)
{
    if (table->slots == 0) {
        return 0;
    }
    const struct alar_table_slot *slot = table_slots(arena, table);

    return slot[slot_find(slot, table, key)].value;
}

void alar_table_put(struct alar_arena *arena, struct alar_table *table, uint64_t key,
                    uint64_t value)
{
    PRE(value != 0);
    table_grow(arena, table);
    struct alar_table_slot *slot = table_slots(arena, table);
    uint64_t at = slot_find(slot, table, key);

    table->count += slot[at].value == 0;
    slot[at] = (struct alar_table_slot){key, value};
}

/* What stands behind the gap moves into it when its own slot is not between the two. */
void alar_table_drop(const struct alar_arena *arena, struct alar_table *table, uint64_t key)
{
    if (table->slots == 0) {
        return;
    }
    struct alar_table_slot *slot = table_slots(arena, table);
    uint64_t mask = table->slots - 1, gap = slot_find(slot, table, key);

    table->count -= slot[gap].value != 0;
    slot[gap].value = 0;
    for (uint64_t at = (gap + 1) & mask; slot[at].value != 0; at = (at + 1) & mask) {
        uint64_t own = slot_of(table, slot[at].key);

        if (((at - own) & mask) >= ((at - gap) & mask)) {
            slot[gap] = slot[at];
            slot[at].value = 0;
            gap = at;
        }
    }
}

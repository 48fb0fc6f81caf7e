/* Where the program's threads stand: each has a slot that it alone writes. */
#include "record_mpi.h"

#include <stdatomic.h>
#include <string.h>

/* The last slot is shared by all threads beyond the others: their places are not told apart. */
static struct record_slot slots[RECORD_SLOTS];
static atomic_uint slots_used;
static __thread struct record_slot *own __attribute__((tls_model("initial-exec")));

static struct record_slot *slot_take(void)
{
    unsigned k = atomic_fetch_add(&slots_used, 1);

    own = &slots[k < RECORD_SLOTS ? k : RECORD_SLOTS - 1];
    return own;
}

struct record_slot *record_arrive(const char *name, int peer, const void *caller)
{
    struct record_slot *slot = own != NULL ? own : slot_take();

    slot->caller = caller;
    slot->peer = peer;
    slot->op = NULL;
    slot->visits++;
    slot->moves++;
    slot->name = name;
    return slot;
}

/* What an error handler or a callback of the program's called meanwhile is over, too. */
void record_depart(struct record_slot *slot)
{
    slot->name = NULL;
    slot->moves++;
}

void record_linger(struct record_slot *slot)
{
    slot->moves--;
    slot->name = NULL;
}

struct record_slot *record_slot_of(uint32_t k)
{
    unsigned used = atomic_load(&slots_used);

    return k < used && k < RECORD_SLOTS ? &slots[k] : NULL;
}

struct record_slot *record_slot_own(void)
{
    return own;
}

uint64_t record_bits(const void *handle, size_t bytes)
{
    uint64_t bits = 0;

    memcpy(&bits, handle, bytes < sizeof(bits) ? bytes : sizeof(bits));
    return bits;
}

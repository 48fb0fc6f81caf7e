/* The life of one all-reduce: issued with known contributions, asked about until it ends, its value
   copied at that moment and looked at again later, its contribution overwritten. */
#include "conform/conform_rank.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHOWN = 64, /* elements of a result that are kept for the oracle, unless there are more */
    PIECE = 512,
    POISON = 0x5A
};

/* Eight bytes at a time: large contributions are hashed as well. */
static uint64_t hash_bytes(const unsigned char *bytes, size_t count)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < count; i += sizeof(uint64_t)) {
        uint64_t word = 0;

        memcpy(&word, bytes + i, count - i < sizeof(word) ? count - i : sizeof(word));
        hash = (hash ^ word) * UINT64_C(1099511628211);
        hash ^= hash >> 32;
    }
    return hash;
}

static size_t slot_bytes(const struct conform_slot *slot)
{
    return slot->op.elements * alar_dtype_bytes(slot->op.dtype);
}

static unsigned char *slot_send(const struct conform_slot *slot)
{
    return slot->op.is_in_place ? slot->recv.at : slot->send.at;
}

static uint64_t value_at(const struct conform_slot *slot, const unsigned char *bytes, uint64_t e)
{
    uint64_t bits = 0;

    memcpy(&bits, bytes + e * alar_dtype_bytes(slot->op.dtype), alar_dtype_bytes(slot->op.dtype));
    return bits;
}

struct conform_event conform_slot_event(const struct conform_slot *slot,
                                        enum conform_event_kind kind)
{
    return (struct conform_event){.kind = (uint8_t)kind, .op = slot->index};
}

static void slot_contribute(const struct conform_rank *rank, struct conform_slot *slot)
{
    const struct conform_scene *scene = &rank->shared->scene[rank->scene];
    size_t size = alar_dtype_bytes(slot->op.dtype);

    if (slot->op.family == FAMILY_ASYNC) {
        struct conform_named named = conform_named_input(&slot->op, slot->member, slot->members);

        conform_named_fill(&named, 0, slot->op.elements, slot_send(slot));
        return;
    }
    for (uint64_t e = 0; e < slot->op.elements; e++) {
        uint64_t bits = conform_input(scene, &slot->op, slot->member, slot->members, e);

        memcpy(slot_send(slot) + e * size, &bits, size);
    }
}

/* Room for the all-reduce, the contribution filled in, and the receive buffer spoilt. */
static bool slot_fill(struct conform_rank *rank, struct conform_slot *slot)
{
    int32_t members[CONFORM_RANKS_MAX];

    slot->members =
        conform_members(slot->op.group, rank->ranks, rank->rank, members, &slot->member);
    if (!conform_buffer_place(&slot->recv, slot_bytes(slot)) ||
        !conform_buffer_place(&slot->send, slot_bytes(slot))) {
        return false;
    }
    if (slot->kept_bytes < slot_bytes(slot)) {
        free(slot->kept);
        slot->kept_bytes = slot_bytes(slot);
        slot->kept = malloc(slot->kept_bytes);
    }
    memset(slot->recv.at, POISON, slot_bytes(slot));
    slot_contribute(rank, slot);
    slot->send_hash = hash_bytes(slot_send(slot), slot_bytes(slot));
    return slot->kept != NULL || slot_bytes(slot) == 0;
}

/* The slot that was over first: a value is looked at again as late as can be. */
struct conform_slot *conform_slot_take(struct conform_rank *rank)
{
    struct conform_slot *found = NULL;

    for (uint32_t i = 0; i < rank->slots; i++) {
        struct conform_slot *slot = &rank->slot[i];

        if ((slot->stage == SLOT_FREE || slot->stage == SLOT_SPENT) &&
            (found == NULL || slot->since_ns < found->since_ns)) {
            found = slot;
        }
    }
    if (found != NULL && found->stage == SLOT_SPENT) {
        conform_slot_review(rank, found);
    }
    return found;
}

/* Did the back end write beside the buffers, or into what it only reads? */
static void slot_guards(struct conform_rank *rank, struct conform_slot *slot,
                        enum conform_call call)
{
    struct conform_event event = conform_slot_event(slot, EVENT_ANSWER);

    rank->seat->tried[PROMISE_BOUNDS]++;
    if (slot->is_guarded) {
        return;
    }
    event.call = (uint8_t)call;
    event.outside = conform_buffer_harm(&slot->recv) + conform_buffer_harm(&slot->send);
    if (event.outside == 0 && !slot->op.is_in_place && slot->stage == SLOT_LIVE &&
        hash_bytes(slot->send.at, slot_bytes(slot)) != slot->send_hash) {
        event.outside = 1;
    }
    if (event.outside > 0) {
        slot->is_guarded = true;
        conform_record(rank, event, NULL, 0);
    }
}

/* Looks at a value again: nobody may have written to it. */
void conform_slot_review(struct conform_rank *rank, struct conform_slot *slot)
{
    struct conform_event event = conform_slot_event(slot, EVENT_REWRITTEN);

    rank->seat->tried[PROMISE_HANDS_OFF]++;
    slot_guards(rank, slot, CONFORM_NO_CALL);
    if (slot->is_rewritten || memcmp(slot->recv.at, slot->kept, slot_bytes(slot)) == 0) {
        return;
    }
    while (value_at(slot, slot->recv.at, event.at) == value_at(slot, slot->kept, event.at)) {
        event.at++;
    }
    uint64_t bits = value_at(slot, slot->recv.at, event.at);

    slot->is_rewritten = true;
    conform_record(rank, event, &bits, sizeof(bits));
}

/* Only large ones need it: what is expected of whole numbers is one value. */
static uint64_t first_wrong(const struct conform_slot *slot)
{
    const struct conform_named expected = conform_named_expected(&slot->op, slot->members);
    size_t size = alar_dtype_bytes(slot->op.dtype);
    unsigned char right[PIECE * sizeof(uint64_t)];

    for (uint64_t at = 0; at < slot->op.elements; at += PIECE) {
        uint64_t some = slot->op.elements - at < PIECE ? slot->op.elements - at : PIECE;

        conform_named_fill(&expected, at, some, right);
        if (memcmp(right, slot->recv.at + at * size, some * size) != 0) {
            uint64_t e = 0;

            while (e + 1 < some &&
                   value_at(slot, right, e) == value_at(slot, slot->recv.at, at + e)) {
                e++;
            }
            return at + e;
        }
    }
    return UINT64_MAX;
}

/* Copies the value at the moment it was told, and records what the oracle has to see. */
static void slot_value(struct conform_rank *rank, struct conform_slot *slot)
{
    struct conform_event event = conform_slot_event(slot, EVENT_DONE);
    uint64_t bits[SHOWN];
    uint64_t shown = slot->op.elements;

    memcpy(slot->kept, slot->recv.at, slot_bytes(slot));
    if (shown > SHOWN) {
        bool is_exact = slot->op.reduction != ALAR_AVG;
        uint64_t wrong = is_exact ? first_wrong(slot) : UINT64_MAX;

        event.has_gave = wrong != UINT64_MAX;
        event.at = event.has_gave ? (uint32_t)wrong : 0;
        shown = 1;
        rank->seat->tried[PROMISE_LARGE]++;
    }
    for (uint64_t e = 0; e < shown; e++) {
        bits[e] = value_at(slot, slot->kept, event.at + e);
    }
    event.t = conform_now(rank);
    conform_record(rank, event, bits, (uint32_t)(shown * sizeof(bits[0])));
    rank->seat->tried[PROMISE_COMPLETION]++;
}

/* Once it is told, every further question has the same answer. */
static void slot_ask_again(struct conform_rank *rank, struct conform_slot *slot)
{
    struct conform_event event = conform_slot_event(slot, EVENT_ANSWER);
    int done = CONFORM_UNSET;
    int error = CONFORM_UNSET;

    event.told = TOLD_DONE;
    rank->seat->tried[PROMISE_STAYS_DONE]++;
    if (alar_rng_below(&rank->rng, 2) == 0) {
        event.call = CONFORM_TEST;
        conform_enter(rank, CONFORM_TEST, slot->index);
        event.code = rank->backend->test(slot->request, &done, &error);
        conform_leave(rank);
        event.has_done = true;
        event.done = done != 0;
        conform_check_prompt(rank, CONFORM_TEST, slot->index);
    } else {
        event.call = CONFORM_WAIT;
        done = 1;
        error = 0;
        conform_enter(rank, CONFORM_WAIT, slot->index);
        event.code = rank->backend->wait(slot->request, NULL, 0, &error);
        conform_leave(rank);
        event.took = rank->took_ns;
    }
    event.has_code = true;
    error = event.code != 0 && error == CONFORM_UNSET ? 0 : error;
    event.has_gave = error != 0;
    event.gave = error;
    if (event.code != 0 || done != 1 || error != 0) {
        conform_record(rank, event, NULL, 0);
    }
}

static void slot_give_back(struct conform_rank *rank, struct conform_slot *slot)
{
    struct conform_event event = conform_slot_event(slot, EVENT_ANSWER);

    event.call = CONFORM_REQUEST_FREE;
    event.told = TOLD_DONE;
    event.has_code = true;
    rank->seat->tried[PROMISE_FREE_PENDING]++;
    conform_enter(rank, CONFORM_REQUEST_FREE, slot->index);
    event.code = rank->backend->request_free(slot->request);
    conform_leave(rank);
    conform_check_prompt(rank, CONFORM_REQUEST_FREE, slot->index);
    if (event.code != 0) {
        conform_record(rank, event, NULL, 0);
    }
}

/* The operation ended on this rank: with a value, or with an error. */
void conform_slot_over(struct conform_rank *rank, struct conform_slot *slot, int error,
                       enum conform_call call)
{
    rank->seat->tried[PROMISE_NO_ERROR]++;
    rank->seat->tried[PROMISE_COMPLETES]++;
    if (error != 0) {
        struct conform_event event = conform_slot_event(slot, EVENT_FAIL);

        event.code = error;
        event.call = (uint8_t)call;
        conform_record(rank, event, NULL, 0);
        slot->stage = SLOT_LOST;
        rank->live -= slot->op.is_blocking ? 0 : 1;
        conform_stop(rank, "an all-reduce failed");
        return;
    }
    slot_value(rank, slot);
    slot_guards(rank, slot, call);
    if (!slot->op.is_blocking && call == CONFORM_REQUEST_FREE) {
        rank->live--;
    } else if (!slot->op.is_blocking) {
        if (alar_rng_below(&rank->rng, 3) == 0) {
            slot_ask_again(rank, slot);
        }
        slot_give_back(rank, slot);
        rank->live--;
    }
    if (!slot->op.is_in_place) {
        memset(slot->send.at, POISON, slot_bytes(slot));
    }
    slot->stage = SLOT_SPENT;
    conform_slot_review(rank, slot);
}

static void count_manner(struct conform_rank *rank, const struct conform_slot *slot)
{
    uint64_t *tried = rank->seat->tried;

    tried[PROMISE_IN_PLACE] += slot->op.is_in_place;
    tried[PROMISE_EMPTY] += slot->op.elements == 0;
    tried[PROMISE_CAN_BLOCK] += slot->op.is_blocking;
    tried[PROMISE_GROUPS] += slot->op.group != GROUP_WORLD;
    tried[PROMISE_OUTSTANDING]++;
}

enum conform_issue conform_slot_issue(struct conform_rank *rank, struct conform_slot *slot,
                                      uint32_t index)
{
    const struct conform_scene *scene = &rank->shared->scene[rank->scene];
    const struct alar_op op = {.tag = index, .scale = 1.0};

    slot->op = conform_op_get(scene, &rank->caps, rank->ranks, index);
    slot->index = index;
    slot->request = NULL;
    slot->is_rewritten = slot->is_guarded = false;
    if (!slot_fill(rank, slot)) {
        conform_stop(rank, "out of memory");
        return ISSUE_FAILED;
    }
    struct conform_event event = conform_slot_event(slot, EVENT_ISSUE);
    event.t = slot->since_ns = conform_now(rank);
    event.pending = rank->live;
    conform_enter(rank, CONFORM_ALLREDUCE, index);
    int code = rank->backend->allreduce(rank->comm[slot->op.group], slot_send(slot), slot->recv.at,
                                        slot->op.elements, slot->op.dtype, slot->op.reduction, NULL,
                                        &op, slot->op.is_blocking ? NULL : &slot->request);
    conform_leave(rank);
    if (code == -ALAR_E_FULL && rank->caps.outstanding_max > 0 &&
        rank->live >= rank->caps.outstanding_max) {
        slot->stage = SLOT_FREE;
        return ISSUE_FULL;
    }
    conform_record(rank, event, NULL, 0);
    count_manner(rank, slot);
    if (!slot->op.is_blocking) {
        conform_check_prompt(rank, CONFORM_ALLREDUCE, index);
    }
    slot->stage = SLOT_LIVE;
    rank->live += slot->op.is_blocking ? 0 : 1;
    bool is_nameless = code == 0 && !slot->op.is_blocking && slot->request == NULL;
    if (code == -ALAR_E_FULL || code > 0 || is_nameless) {
        event.kind = EVENT_ANSWER;
        event.has_gave = is_nameless;
        event.call = CONFORM_ALLREDUCE;
        event.code = code;
        event.has_code = true;
        conform_record(rank, event, NULL, 0);
    }
    if (is_nameless) { /* nothing can be asked of it */
        slot->stage = SLOT_LOST;
        rank->live--;
        conform_stop(rank, "allreduce gave no request");
    } else if (code != 0 || slot->op.is_blocking) {
        conform_slot_over(rank, slot, code, CONFORM_ALLREDUCE);
    }
    return code == 0 && !is_nameless ? ISSUE_DONE : ISSUE_FAILED;
}

/* Mutants of life and order: when an end is told, in which order things reach the inner back end,
   and what happens to storage. */
#include "mutant_state.h"

#include <stdlib.h>
#include <string.h>

enum {
    PATIENCE = 64 /* polls that a request waits for its partner */
};

static bool is_target(const struct mutant_comm *comm)
{
    return mutant_target(comm) == comm->member;
}

static bool has_shape_of(const struct mutant_request *a, const struct mutant_request *b)
{
    return a->call.count == b->call.count && a->call.dtype == b->call.dtype &&
           a->call.reduction == b->call.reduction;
}

static bool is_same_input(const struct mutant_request *a, const struct mutant_request *b)
{
    return memcmp(a->call.send, b->call.send, a->call.count * alar_dtype_bytes(a->call.dtype)) == 0;
}

/* The one held back goes now, behind or before the one that came. */
static int deferred_issue(struct mutant_comm *comm)
{
    struct mutant_request *held = comm->deferred;

    comm->deferred = NULL;
    return mutant_issue(held, held->call.recv);
}

int mutant_deferred_flush(struct mutant_comm *comm)
{
    return comm->deferred != NULL ? deferred_issue(comm) : 0;
}

static int swap_order_issue(struct mutant_request *request)
{
    struct mutant_comm *comm = request->comm;

    if (comm->deferred != NULL) {
        struct mutant_request *held = comm->deferred;
        bool is_struck = has_shape_of(held, request) && !is_same_input(held, request);
        int error = is_struck ? mutant_issue(request, request->call.recv) : deferred_issue(comm);

        if (error != 0) {
            return error;
        }
        if (is_struck) {
            /* Both ends are told together: else the first one would be told before the peers have
               issued what this rank takes it for, which is another defect. */
            held->partner = request;
            request->partner = held;
            request->mode = MODE_DEFERRED;
            mutant_strike(comm, held->number);
            mutant_strike(comm, request->number);
            return deferred_issue(comm);
        }
    }
    if (mutant_is_due(request) && is_target(comm)) {
        request->mode = MODE_DEFERRED;
        comm->deferred = request;
        return 0;
    }
    return mutant_issue(request, request->call.recv);
}

static int swap_handles_issue(struct mutant_request *request)
{
    struct mutant_comm *comm = request->comm;
    struct mutant_request *half = comm->half_pair;

    if (half != NULL && !half->is_told && has_shape_of(half, request)) {
        request->mode = MODE_SWAP;
        request->partner = half;
        half->partner = request;
        comm->half_pair = NULL;
    } else if (half == NULL && mutant_is_due(request) && is_target(comm)) {
        request->mode = MODE_SWAP;
        comm->half_pair = request;
    }
    return mutant_issue(request, request->call.recv);
}

/* The inner one reduces over the world instead. */
static int wrong_group_issue(struct mutant_request *request)
{
    struct mutant_comm *comm = request->comm;
    struct mutant_comm *world = comm;

    for (struct mutant_comm *next = comm->mutant->comms; next != NULL; next = next->next) {
        world = next->ordinal == 0 ? next : world;
    }
    bool is_struck = world != comm && mutant_is_due(request);
    if (is_struck) {
        mutant_strike(comm, request->number);
        request->comm = world;
    }
    int error = mutant_issue(request, request->call.recv);
    request->comm = comm;
    return error;
}

static int early_issue(struct mutant_request *request)
{
    size_t bytes = request->call.count * alar_dtype_bytes(request->call.dtype);

    if (!mutant_is_due(request)) {
        return mutant_issue(request, request->call.recv);
    }
    request->mode = MODE_EARLY;
    request->gathered = calloc(1, bytes);
    request->place = calloc(1, bytes);
    if (request->gathered == NULL || request->place == NULL) {
        return -ALAR_E_NOMEM;
    }
    /* The caller has its buffers back at once, so the inner one works on others. */
    memcpy(request->place, request->call.send, bytes);
    memcpy(request->call.recv, request->call.send, bytes);
    request->call.send = request->place;
    mutant_strike(request->comm, request->number);
    return mutant_issue(request, request->gathered);
}

int mutant_life_issue(struct mutant_request *request)
{
    struct mutant_comm *comm = request->comm;
    bool is_hit = mutant_is_due(request) && is_target(comm);

    switch ((int)comm->mutant->options.kind) {
    case ALAR_MUTANT_SWAP_ORDER:
        return swap_order_issue(request);
    case ALAR_MUTANT_SWAP_HANDLES:
        return swap_handles_issue(request);
    case ALAR_MUTANT_WRONG_GROUP:
        return wrong_group_issue(request);
    case ALAR_MUTANT_EARLY:
        return early_issue(request);
    case ALAR_MUTANT_NEVER:
        request->mode = is_hit ? MODE_NEVER : MODE_PASS;
        break;
    case ALAR_MUTANT_FAILS_LEGAL:
        request->mode = is_hit ? MODE_FAILS : MODE_PASS;
        break;
    case ALAR_MUTANT_LATE_WRITE:
        request->mode = is_hit ? MODE_SCRIBBLE : MODE_PASS;
        break;
    default:
        break;
    }
    if (request->mode == MODE_NEVER || request->mode == MODE_FAILS) {
        mutant_strike(comm, request->number);
    } else if (request->mode == MODE_SCRIBBLE) {
        comm->is_spent = true;
    }
    return mutant_issue(request, request->call.recv);
}

static void results_swap(struct mutant_request *a, struct mutant_request *b)
{
    size_t bytes = a->call.count * alar_dtype_bytes(a->call.dtype);
    unsigned char *x = a->call.recv;
    unsigned char *y = b->call.recv;
    bool is_struck = memcmp(x, y, bytes) != 0;

    for (size_t i = 0; i < bytes; i++) {
        unsigned char kept = x[i];

        x[i] = y[i];
        y[i] = kept;
    }
    a->is_settled = b->is_settled = true;
    if (is_struck) {
        mutant_strike(a->comm, a->number);
        mutant_strike(a->comm, b->number);
    }
}

static bool swap_ends(struct mutant_request *request)
{
    struct mutant_request *partner = request->partner;

    if (request->is_settled) {
        return request->is_inner_done;
    }
    if (partner == NULL) {
        if (request->polls > PATIENCE && request->is_inner_done) {
            request->comm->half_pair = NULL;
            request->is_settled = true;
        }
        return request->is_settled;
    }
    if (request->is_inner_done && partner->is_inner_done) {
        results_swap(request, partner);
        return true;
    }
    return false;
}

bool mutant_life_ends(struct mutant_request *request, int *error)
{
    switch (request->mode) {
    case MODE_EARLY:
        return true;
    case MODE_NEVER:
        return false;
    case MODE_FAILS:
        *error = request->is_inner_done ? -ALAR_E_BACKEND : 0;
        return request->is_inner_done;
    case MODE_SWAP:
        return swap_ends(request);
    case MODE_DEFERRED:
        if (request->comm->deferred == request && request->polls > PATIENCE) {
            *error = deferred_issue(request->comm);
        }
        return request->is_inner_done && (request->partner == NULL || request->partner->is_told ||
                                          request->partner->is_inner_done);
    default:
        return request->is_inner_done;
    }
}

void mutant_life_free(struct mutant_request *request)
{
    struct alar_mutant *mutant = request->comm->mutant;

    if (request->mode == MODE_SCRIBBLE) {
        mutant->late = request->call.recv;
        mutant->late_at.comm = request->comm;
        mutant->late_at.number = request->number;
    }
}

/* What was told too early is brought to its end; what is to be written late is. */
void mutant_life_tick(struct alar_mutant *mutant)
{
    const struct alar_backend *inner = mutant->options.inner;

    for (struct mutant_request *request = mutant->requests; request != NULL;
         request = request->next) {
        int done = 0;
        int error = 0;

        if (request->is_orphan && !request->is_inner_done &&
            inner->test(request->inner, &done, &error) == 0 && done) {
            request->is_inner_done = true;
            inner->request_free(request->inner);
        }
    }
    if (mutant->late != NULL) {
        mutant->late[0] ^= 1;
        mutant->late = NULL;
        mutant_strike(mutant->late_at.comm, mutant->late_at.number);
    }
}

/* ---- storage -----------------------------------------------------------------------------------
 */

/* A pending all-reduce whose buffer can hold so much. */
static struct mutant_request *memory_pending(const struct alar_mutant *mutant, uint64_t bytes)
{
    for (struct mutant_request *request = mutant->requests; request != NULL;
         request = request->next) {
        if (!request->is_told && !request->is_inner_done && mutant_is_due(request) &&
            is_target(request->comm) &&
            request->call.count * alar_dtype_bytes(request->call.dtype) >= bytes) {
            return request;
        }
    }
    return NULL;
}

int mutant_memory_allocate(void *context, uint64_t bytes, void **memory)
{
    struct alar_mutant *mutant = context;
    struct mutant_request *pending = memory_pending(mutant, bytes);

    if (pending != NULL) {
        mutant_strike(pending->comm, pending->number);
        *memory = pending->call.recv;
        return 0;
    }
    struct mutant_memory *made = calloc(1, sizeof(*made) + bytes);
    if (made == NULL) {
        return -ALAR_E_NOMEM;
    }
    made->bytes = bytes;
    made->next = mutant->memory;
    mutant->memory = made;
    *memory = made->data;
    return 0;
}

/* Kept until the end: an inner back end may still write to it. */
int mutant_memory_free(void *context, void *memory)
{
    (void)context;
    (void)memory;
    return 0;
}

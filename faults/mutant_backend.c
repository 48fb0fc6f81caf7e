/* The wrapping back end of mutants: hands on what it does not break. */
#include "mutant_state.h"

#include "base/rng.h"
#include "sys/clock.h"

#include <stdlib.h>
#include <string.h>

enum {
    GATHER_MOST = 4096, /* elements; larger ones are handed on */
    START_LIMIT = 5,    /* the first all-reduce that may be hit is drawn below this */
    REST_US = 500       /* a wait that has nothing to tell takes this long */
};

const struct alar_mutant_row alar_mutants[ALAR_MUTANT_COUNT] = {
#define MUTANT(token, name, what, span, promise, anomaly, culprit) \
    {name,                                                         \
     what,                                                         \
     ALAR_MUTANT_##span,                                           \
     ALAR_PROMISE_##promise,                                       \
     ALAR_ANOMALY_##anomaly,                                       \
     ALAR_CULPRIT_##culprit},
#include "mutants.def"
};

enum alar_status alar_mutant_find(const char *name, enum alar_mutant_kind *kind)
{
    for (int i = 0; i < ALAR_MUTANT_COUNT; i++) {
        if (strcmp(name, alar_mutants[i].name) == 0) {
            *kind = (enum alar_mutant_kind)i;
            return ALAR_OK;
        }
    }
    return ALAR_E_INPUT;
}

enum alar_status alar_mutant_open(struct alar_mutant **mutant,
                                  const struct alar_mutant_options *options)
{
    struct alar_mutant *made = calloc(1, sizeof(*made));
    struct alar_rng rng = alar_rng_stream(options->seed, (uint64_t)options->kind);

    if (made == NULL) {
        return ALAR_E_NOMEM;
    }
    made->options = *options;
    made->start = 1 + alar_rng_below(&rng, START_LIMIT);
    made->draw = alar_rng_next(&rng);
    *mutant = made;
    return ALAR_OK;
}

void *alar_mutant_context(struct alar_mutant *mutant)
{
    return mutant;
}

const struct alar_strike *alar_mutant_strikes(const struct alar_mutant *mutant, uint32_t *count)
{
    *count = mutant->strikes;
    return mutant->strike;
}

uint32_t mutant_target(const struct mutant_comm *comm)
{
    return (uint32_t)(comm->mutant->draw % comm->members);
}

void mutant_strike(struct mutant_comm *comm, uint64_t number)
{
    struct alar_mutant *mutant = comm->mutant;

    comm->is_spent = alar_mutants[mutant->options.kind].span == ALAR_MUTANT_ONCE;
    if (mutant->strikes < ALAR_STRIKES_MAX) {
        mutant->strike[mutant->strikes] = (struct alar_strike){
            .comm = comm->ordinal,
            .number = number,
            .rank = (uint32_t)comm->rank[mutant_target(comm)],
        };
    }
    mutant->strikes++;
}

bool mutant_is_due(const struct mutant_request *request)
{
    return request->is_due && !request->comm->is_spent;
}

/* ---- all-reduces -------------------------------------------------------------------------------
 */

int mutant_issue(struct mutant_request *request, void *recv)
{
    const struct mutant_call *call = &request->call;

    return request->comm->mutant->options.inner->allreduce(
        request->comm->inner, call->send, recv, call->count, call->dtype, call->reduction,
        call->stream, &call->op, &request->inner);
}

static bool is_of_life(enum alar_mutant_kind kind)
{
    return kind == ALAR_MUTANT_SWAP_HANDLES || kind == ALAR_MUTANT_SWAP_ORDER ||
           kind == ALAR_MUTANT_EARLY || kind == ALAR_MUTANT_NEVER ||
           kind == ALAR_MUTANT_LATE_WRITE || kind == ALAR_MUTANT_HANDED_OUT ||
           kind == ALAR_MUTANT_FAILS_LEGAL || kind == ALAR_MUTANT_WRONG_GROUP;
}

static bool is_tree_promised(const struct alar_mutant *mutant)
{
    return alar_mutants[mutant->options.kind].promise == ALAR_PROMISE_TREE;
}

/* AVG is computed here always, and what has a promised tree; everything once a defect of values may
   show. */
static bool is_gathered(const struct mutant_request *request)
{
    const struct mutant_comm *comm = request->comm;

    return request->call.count > 0 && request->call.count <= GATHER_MOST &&
           comm->members <= ALAR_MUTANT_RANKS_MAX &&
           (request->call.reduction == ALAR_AVG || is_tree_promised(comm->mutant) ||
            (!is_of_life(comm->mutant->options.kind) && request->is_due));
}

static int request_start(struct mutant_request *request)
{
    if (is_gathered(request)) {
        int error = mutant_deferred_flush(request->comm);

        if (error != 0) {
            return error;
        }
        request->mode = MODE_GATHER;
        request->turn = request->comm->gathers++;
        return mutant_gather_issue(request);
    }
    if (is_of_life(request->comm->mutant->options.kind)) {
        return mutant_life_issue(request);
    }
    return mutant_issue(request, request->call.recv);
}

/* Keeps what this rank put in, for the defects that put it in again. */
static int previous_keep(struct mutant_comm *comm, const struct mutant_call *call)
{
    size_t bytes = call->count * alar_dtype_bytes(call->dtype);
    unsigned char *kept = realloc(comm->previous_send, bytes + 1);

    if (kept == NULL) {
        return -ALAR_E_NOMEM;
    }
    memcpy(kept, call->send, bytes);
    comm->previous_send = kept;
    comm->previous = *call;
    return 0;
}

static void request_unlink(struct mutant_request *request)
{
    struct mutant_request **link = &request->comm->mutant->requests;

    while (*link != request) {
        link = &(*link)->next;
    }
    *link = request->next;
    if (request->partner != NULL) {
        request->partner->partner = NULL;
    }
    free(request->gathered);
    free(request->place);
    free(request);
}

static int mutant_allreduce(void *comm_in, const void *send, void *recv, uint64_t count,
                            enum alar_dtype dtype, enum alar_reduction reduction, void *stream,
                            const struct alar_op *op, void **request_out)
{
    struct mutant_comm *comm = comm_in;
    struct alar_mutant *mutant = comm->mutant;

    mutant_life_tick(mutant);
    if (request_out == NULL) {
        return mutant->options.inner->allreduce(comm->inner, send, recv, count, dtype, reduction,
                                                stream, op, NULL);
    }
    struct mutant_request *request = calloc(1, sizeof(*request));
    if (request == NULL) {
        return -ALAR_E_NOMEM;
    }
    request->comm = comm;
    request->number = comm->issued++;
    request->call = (struct mutant_call){send, recv, count, dtype, reduction, stream, *op};
    request->has_previous = comm->previous_send != NULL && comm->previous.count == count &&
                            comm->previous.dtype == dtype && comm->previous.reduction == reduction;
    request->next = mutant->requests;
    mutant->requests = request;
    mutant->issued++;
    request->is_due = mutant->issued > mutant->start && count > 0 && comm->members >= 2 &&
                      comm->members <= ALAR_MUTANT_RANKS_MAX;
    int error = request_start(request);
    error = error != 0 ? error : previous_keep(comm, &request->call);
    if (error != 0) {
        request_unlink(request);
        return error;
    }
    *request_out = request;
    return 0;
}

/* Asks the inner back end, and does the defect once it is done. */
static int request_ask(struct mutant_request *request, int *error)
{
    const struct alar_mutant *mutant = request->comm->mutant;
    bool is_gather = request->mode == MODE_GATHER;
    int done = 0;

    if (request->is_inner_done || request->inner == NULL ||
        (is_gather && request->turn != request->comm->finished)) {
        return 0;
    }
    int failed = mutant->options.inner->test(request->inner, &done, error);
    if (failed == 0 && done && *error == 0) {
        request->is_inner_done = true;
        request->comm->finished += is_gather;
        failed = is_gather ? mutant_gather_finish(request) : 0;
    }
    return failed;
}

static int mutant_test(void *request_in, int *done, int *error)
{
    struct mutant_request *request = request_in;

    *done = 0;
    *error = 0;
    request->polls++;
    mutant_life_tick(request->comm->mutant);
    int failed = request_ask(request, error);
    if (request->partner != NULL) { /* who waits for the one alone never asks about the other */
        int other = 0;

        (void)request_ask(request->partner, &other);
    }
    if (failed == 0 && *error == 0) {
        *done = mutant_life_ends(request, error) ? 1 : 0;
        request->is_told = *done != 0;
    }
    return failed;
}

static int mutant_wait(void *request_in, void *stream, uint64_t timeout_us, int *error)
{
    struct mutant_request *request = request_in;
    const struct alar_mutant *mutant = request->comm->mutant;
    uint64_t rest_us = timeout_us < REST_US ? timeout_us : REST_US;
    int done = 0;

    if (request->inner != NULL && !request->is_inner_done) {
        int inner_error = 0;

        mutant->options.inner->wait(request->inner, stream, timeout_us, &inner_error);
    }
    int failed = mutant_test(request, &done, error);
    if (failed != 0 || done) {
        return failed;
    }
    if (rest_us > 0) {
        alar_clock_sleep(alar_clock_now(NULL) + rest_us);
    }
    return -ALAR_E_TIMEOUT;
}

static int mutant_request_free(void *request_in)
{
    struct mutant_request *request = request_in;
    const struct alar_mutant *mutant = request->comm->mutant;

    if (!request->is_told) {
        return -ALAR_E_ILLEGAL;
    }
    mutant_life_free(request);
    if (!request->is_inner_done) {
        request->is_orphan = true;
        return 0;
    }
    int error = mutant->options.inner->request_free(request->inner);
    if (error == 0) {
        request_unlink(request);
    }
    return error;
}

static int mutant_progress(void *context)
{
    struct alar_mutant *mutant = context;
    const struct alar_backend *inner = mutant->options.inner;

    mutant_life_tick(mutant);
    return inner->progress != NULL ? inner->progress(mutant->options.context) : 0;
}

/* clang-format off */
#define MUTANT_CALLS                                                              \
    .size = sizeof(struct alar_backend), .abi = ALAR_BACKEND_ABI, .name = "mutant", \
    .caps = mutant_caps, .comm_create = mutant_comm_create,                       \
    .comm_free = mutant_comm_free, .allreduce = mutant_allreduce,                 \
    .test = mutant_test, .wait = mutant_wait,                                     \
    .request_free = mutant_request_free, .progress = mutant_progress
/* clang-format on */

static const struct alar_backend plain = {MUTANT_CALLS};

/* The same, with storage of its own. */
static const struct alar_backend with_memory = {
    MUTANT_CALLS,
    .memory_allocate = mutant_memory_allocate,
    .memory_free = mutant_memory_free,
};

const struct alar_backend *alar_mutant_backend(const struct alar_mutant *mutant)
{
    return mutant->options.kind == ALAR_MUTANT_HANDED_OUT ? &with_memory : &plain;
}

void alar_mutant_free(struct alar_mutant *mutant)
{
    if (mutant == NULL) {
        return;
    }
    while (mutant->requests != NULL) {
        request_unlink(mutant->requests);
    }
    while (mutant->comms != NULL) {
        struct mutant_comm *comm = mutant->comms;

        mutant->comms = comm->next;
        free(comm->rank);
        free(comm->previous_send);
        free(comm);
    }
    while (mutant->memory != NULL) {
        struct mutant_memory *memory = mutant->memory;

        mutant->memory = memory->next;
        free(memory);
    }
    free(mutant);
}

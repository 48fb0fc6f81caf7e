/* The faulty back end: a table that stands in front of the real one and breaks what passes through
   it, for one rank. What the real back end reads or writes is never touched: a flipped bit is in a
   copy, which lives until nothing can read it any more. */
#include "point_state.h"
#include "sys/clock.h"

#include <stdlib.h>

/* One communicator. */
struct fault_comm {
    void *inner;
    struct alar_fault_rank *rank;
    bool is_log;
};

/* One pending all-reduce. */
struct fault_request {
    struct fault_request *next;
    struct alar_fault_rank *rank;
    void *inner;
    void *copy;        /* of the contribution, with its bit flipped; NULL: none */
    uint64_t late_us;  /* how much later its end is told */
    uint64_t ready_us; /* when that is; 0: it has not ended */
    bool is_never_told;
    bool owes_test; /* its last test was dropped, and may have had something to tell */
};

static uint64_t rank_now(const struct alar_fault_rank *rank)
{
    return rank->pass.now_us(rank->pass.clock);
}

/* Does this call do nothing? */
static bool call_is_dropped(struct alar_fault_rank *rank)
{
    int64_t value = 0;

    if (rank->drops_left > 0) {
        rank->drops_left--;
        return true;
    }
    if (!fault_fires(rank, ALAR_POINT_PROGRESS_DROP, -1, &value)) {
        return false;
    }
    rank->drops_left = (uint64_t)value - 1;
    alar_fault_settle(rank);
    return true;
}

/* ---- what is passed through ------------------------------------------------------------------ */

static int fault_caps(void *context, struct alar_caps *caps)
{
    struct alar_fault_rank *rank = context;
    int error = rank->inner->caps(rank->context, caps);

    /* A blocking call could be neither late nor without an end. */
    caps->can_block = 0;
    return error;
}

static int fault_comm_create(void *context, const int32_t *ranks, int32_t count, uint64_t epoch,
                             void **comm)
{
    struct alar_fault_rank *rank = context;
    struct fault_comm *made = calloc(1, sizeof(*made));

    if (made == NULL) {
        return -ALAR_E_NOMEM;
    }
    int error = rank->inner->comm_create(rank->context, ranks, count, epoch, &made->inner);
    if (error != 0 || made->inner == NULL) {
        free(made);
        *comm = NULL;
        return error;
    }
    made->rank = rank;
    made->is_log = rank->comms++ == 0;
    *comm = made;
    return 0;
}

static int fault_comm_free(void *comm_in)
{
    struct fault_comm *comm = comm_in;
    int error = comm->rank->inner->comm_free(comm->inner);

    free(comm);
    return error;
}

static int fault_progress(void *context)
{
    struct alar_fault_rank *rank = context;

    return rank->inner->progress == NULL || call_is_dropped(rank)
               ? 0
               : rank->inner->progress(rank->context);
}

/* ---- all-reduces ----------------------------------------------------------------------------- */

static void request_unlink(struct fault_request *request)
{
    struct fault_request **link = &request->rank->requests;

    while (*link != request) {
        link = &(*link)->next;
    }
    *link = request->next;
    free(request->copy);
    free(request);
}

void fault_requests_free(struct alar_fault_rank *rank)
{
    while (rank->requests != NULL) {
        request_unlink(rank->requests);
    }
}

/* A copy of the contribution with one bit flipped; NULL when memory runs out. */
static void *contribution_flipped(const void *send, size_t bytes, uint64_t bit)
{
    unsigned char *copy = malloc(bytes);

    if (copy != NULL && bytes > 0) {
        memcpy(copy, send, bytes);
        bit %= (uint64_t)bytes * 8;
        copy[bit / 8] ^= (unsigned char)(1U << bit % 8);
    }
    return copy;
}

/* What the plan has for this post. */
static int request_plan(struct fault_request *request, const void *send, size_t bytes)
{
    struct alar_fault_rank *rank = request->rank;
    int64_t op = (int64_t)rank->posted++;
    int64_t value = 0;
    bool is_refused = fault_fires(rank, ALAR_POINT_POST_FAIL, op, &value);

    if (!is_refused && fault_fires(rank, ALAR_POINT_CONTRIBUTION_BITFLIP, op, &value)) {
        request->copy = contribution_flipped(send, bytes, (uint64_t)value);
        if (request->copy == NULL) {
            return -ALAR_E_NOMEM;
        }
    }
    if (!is_refused && fault_fires(rank, ALAR_POINT_COMPLETE_LATE, op, &value)) {
        request->late_us = (uint64_t)value;
    }
    request->is_never_told =
        !is_refused && fault_fires(rank, ALAR_POINT_COMPLETE_NEVER, op, &value);
    alar_fault_settle(rank);
    return is_refused ? -ALAR_E_BACKEND : 0;
}

static int fault_allreduce(void *comm_in, const void *send, void *recv, uint64_t count,
                           enum alar_dtype dtype, enum alar_reduction reduction, void *stream,
                           const struct alar_op *op, void **request_out)
{
    struct fault_comm *comm = comm_in;
    struct alar_fault_rank *rank = comm->rank;
    struct fault_request *request = calloc(1, sizeof(*request));

    if (request == NULL) {
        return -ALAR_E_NOMEM;
    }
    request->rank = rank;
    request->next = rank->requests;
    rank->requests = request;
    int error = comm->is_log ? request_plan(request, send, count * alar_dtype_bytes(dtype)) : 0;
    if (error == 0) {
        error = rank->inner->allreduce(comm->inner, request->copy != NULL ? request->copy : send,
                                       recv, count, dtype, reduction, stream, op, &request->inner);
    }
    if (error != 0) {
        request_unlink(request);
        return error;
    }
    *request_out = request;
    return 0;
}

/* The real one has ended: may that be told? */
static bool end_is_told(struct fault_request *request)
{
    if (request->is_never_told) {
        return false;
    }
    if (request->late_us > 0 && request->ready_us == 0) {
        request->ready_us = rank_now(request->rank) + request->late_us;
    }
    return request->late_us == 0 || rank_now(request->rank) >= request->ready_us;
}

static int fault_test(void *request_in, int *done, int *error)
{
    struct fault_request *request = request_in;

    *done = 0;
    *error = 0;
    request->owes_test = call_is_dropped(request->rank);
    if (request->owes_test) {
        return 0;
    }
    int failed = request->rank->inner->test(request->inner, done, error);
    if (failed == 0 && *done && *error == 0 && !end_is_told(request)) {
        *done = 0;
    }
    return failed;
}

/* Only where time is real: a call that does nothing, and one that is not told of an end, take time.
 */
static int fault_wait(void *request_in, void *stream, uint64_t timeout_us, int *error)
{
    struct fault_request *request = request_in;
    uint64_t rest_us = timeout_us < FAULT_POLL_US ? timeout_us : FAULT_POLL_US;

    if (!call_is_dropped(request->rank)) {
        int failed = request->rank->inner->wait(request->inner, stream, timeout_us, error);

        if (failed != 0 || *error != 0 || end_is_told(request)) {
            return failed;
        }
    }
    alar_clock_sleep(alar_clock_now(NULL) + rest_us);
    return -ALAR_E_TIMEOUT;
}

static int fault_request_free(void *request_in)
{
    struct fault_request *request = request_in;
    int error = request->rank->inner->request_free(request->inner);

    if (error == 0) {
        request_unlink(request);
    }
    return error;
}

/* Only what the driver and the program call; a rank's runner calls the real one. */
static const struct alar_backend faulty = {
    .size = sizeof(struct alar_backend),
    .abi = ALAR_BACKEND_ABI,
    .name = "faulty",
    .caps = fault_caps,
    .comm_create = fault_comm_create,
    .comm_free = fault_comm_free,
    .allreduce = fault_allreduce,
    .test = fault_test,
    .wait = fault_wait,
    .request_free = fault_request_free,
    .progress = fault_progress,
};

void alar_fault_wrap(struct alar_fault_rank *rank, const struct alar_backend **backend,
                     void **context)
{
    if (rank == NULL || rank->pass.is_twin) {
        return;
    }
    rank->inner = *backend;
    rank->context = *context;
    rank->comms = rank->posted = rank->drops_left = 0;
    *backend = &faulty;
    *context = rank;
}

uint64_t alar_fault_next(const struct alar_fault_rank *rank, uint64_t next)
{
    if (rank == NULL || rank->pass.is_twin) {
        return next;
    }
    uint64_t now = rank_now(rank);

    if (rank->drops_left > 0) {
        return now + FAULT_POLL_US;
    }
    for (const struct fault_request *request = rank->requests; request != NULL;
         request = request->next) {
        uint64_t ready_us = request->ready_us > now ? request->ready_us : now + FAULT_POLL_US;

        /* What is ready and was not asked for yet is asked for soon, but never at once: an older
           one may be in the way. */
        if ((request->owes_test || request->ready_us > 0) && ready_us < next) {
            next = ready_us;
        }
    }
    return next;
}

/* The table of the shared-memory back end, and what its answers are when they are wrong. */
#include "faults/shm/shm_backend.h"

#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_US = 700000
};

/* What is written one call late comes now. */
static void held_write(struct shm_request *q)
{
    size_t bytes = q->count * alar_dtype_bytes(q->dtype);

    if (q->held != NULL && q->is_told) {
        memcpy(q->recv, q->held, bytes);
        free(q->held);
        q->held = NULL;
    }
}

/* Is it over, as this back end says? */
static bool says_done(struct shm_request *q)
{
    struct shm_rank *rank = q->comm->rank;
    bool is_done = q->is_done;

    held_write(q);
    q->polls++;
    if (shm_is_struck(rank, SHM_NEVER) && q->number == 11) {
        return false;
    }
    if (shm_is_struck(rank, SHM_ALONE_EARLY) && q->number % 7 == 3) {
        is_done = true;
    }
    if (shm_is_struck(rank, SHM_TEST_OTHER) && q->comm->before != NULL) {
        is_done = is_done || q->comm->before->number + 1 == q->number;
    }
    if (shm_is_struck(rank, SHM_TEST_BACK) && q->is_told) {
        return false;
    }
    q->is_told |= is_done;
    return is_done;
}

static int shm_test(void *request, int *done, int *error)
{
    struct shm_request *q = request;
    struct shm_rank *rank = q->comm->rank;

    shm_drive(q->comm);
    *error = 0;
    *done = says_done(q);
    if (shm_strikes_once(rank, SHM_TEST_BLOCKS)) {
        shm_sleep_us(BLOCK_US);
    }
    if (shm_strikes_once(rank, SHM_CRASHES)) {
        abort();
    }
    while (shm_is_struck(rank, SHM_HANGS_TEST) && rank->calls > 200) {
        shm_sleep_us(1000000);
    }
    if (shm_strikes_once(rank, SHM_TEST_ERROR)) {
        *error = -ALAR_E_BACKEND;
        *done = 0;
    }
    if (shm_is_struck(rank, SHM_TEST_TWO) && *done) {
        *done = 2;
    }
    if (shm_is_struck(rank, SHM_TEST_NEVER)) {
        *done = 0;
    }
    return shm_strikes_once(rank, SHM_TEST_POSITIVE) ? 1 : 0;
}

/* What is wrong about a wait before it begins; true when that is its answer. */
static bool wait_breaks(struct shm_request *q, uint64_t *timeout_us, int *error, int *answer)
{
    struct shm_rank *rank = q->comm->rank;

    *answer = 0;
    if (shm_is_struck(rank, SHM_WAIT_SOON)) {
        q->is_told = true;
        return true;
    }
    if (shm_is_struck(rank, SHM_WAIT_ERROR)) {
        *answer = -ALAR_E_BACKEND;
        return true;
    }
    if (shm_is_struck(rank, SHM_WAIT_EARLY) && *timeout_us > 0 && *timeout_us < 1000000000 &&
        !q->is_done) {
        *answer = -ALAR_E_TIMEOUT;
        return true;
    }
    if (shm_is_struck(rank, SHM_WAIT_LOST) && !q->is_done) {
        *answer = -ALAR_E_LOST;
        return true;
    }
    if (shm_is_struck(rank, SHM_WAIT_DONE_LATE) && q->is_told) {
        *answer = -ALAR_E_TIMEOUT;
        return true;
    }
    if (shm_is_struck(rank, SHM_WAIT_FOREVER) ||
        (shm_is_struck(rank, SHM_WAIT_ZERO) && *timeout_us == 0)) {
        *timeout_us = UINT64_MAX;
    }
    *error = shm_is_struck(rank, SHM_WAIT_SETS_ERROR) ? -ALAR_E_BACKEND : 0;
    return false;
}

static int shm_wait(void *request, void *stream, uint64_t timeout_us, int *error)
{
    struct shm_request *q = request;
    uint64_t since = shm_now_us();
    int answer = 0;

    (void)stream;
    *error = 0;
    shm_drive(q->comm);
    if (wait_breaks(q, &timeout_us, error, &answer)) {
        return answer;
    }
    for (uint32_t polls = 0;; polls++) {
        shm_drive(q->comm);
        if (says_done(q)) {
            return shm_is_struck(q->comm->rank, SHM_WAIT_POSITIVE) ? 1 : 0;
        }
        if (shm_now_us() - since >= timeout_us) {
            *error = 0;
            return -ALAR_E_TIMEOUT;
        }
        if (polls > 50) {
            shm_sleep_us(50);
        }
    }
}

static int shm_request_free(void *request)
{
    struct shm_request *q = request;
    struct shm_rank *rank = q->comm->rank;

    if (shm_is(rank, SHM_FREE_PENDING) && !q->is_done) {
        return 0; /* and it goes on */
    }
    if (!q->is_told || (shm_is_struck(rank, SHM_FREE_REFUSED) && q->number % 9 == 4)) {
        return -ALAR_E_ILLEGAL;
    }
    if (!q->is_done) {
        return 0; /* told too early: the ring still needs it */
    }
    if (shm_is_struck(rank, SHM_FREE_WRITES) && q->count > 0) {
        q->recv[0] ^= 1;
    }
    q->comm->before = q->comm->before == q ? NULL : q->comm->before;
    held_write(q);
    free(q);
    return 0;
}

/* What can't be, or what caps says can and is refused all the same. */
static int arguments_check(const struct shm_comm *comm, const void *send, const void *recv,
                           uint64_t count, enum alar_dtype dtype, enum alar_reduction reduction,
                           const struct alar_op *op, bool is_blocking)
{
    struct shm_rank *rank = comm->rank;
    bool is_dtype = dtype == ALAR_F32 || dtype == ALAR_F64 || dtype == ALAR_I32 ||
                    dtype == ALAR_I64 || dtype == ALAR_U8;

    if (!is_dtype || (unsigned)reduction >= ALAR_REDUCTION_COUNT ||
        (op != NULL && op->scale != 1.0) ||
        (shm_is(rank, SHM_CAPS_PLACE) && send == recv && count > 0) ||
        (shm_is(rank, SHM_CAPS_EMPTY) && count == 0) ||
        (shm_is(rank, SHM_CAPS_BLOCK) && is_blocking)) {
        return -ALAR_E_UNSUPPORTED;
    }
    if (shm_is(rank, SHM_CAPS_BOUND) && rank->pending >= 4) {
        return -ALAR_E_FULL;
    }
    return shm_strikes_once(rank, SHM_ISSUE_FAILS) ? -ALAR_E_BACKEND : 0;
}

static struct shm_request *request_make(struct shm_comm *comm, const void *send, void *recv,
                                        uint64_t count, enum alar_dtype dtype)
{
    struct shm_request *q = calloc(1, sizeof(*q));
    uint64_t per_piece = SHM_PIECE / alar_dtype_bytes(dtype);

    if (q == NULL) {
        return NULL;
    }
    q->comm = comm;
    q->send = send;
    q->recv = recv;
    q->count = count;
    q->dtype = dtype;
    q->pieces = count > 0 ? (count + per_piece - 1) / per_piece : 1;
    q->first = comm->next_piece;
    q->number = comm->issued++;
    q->was_deep = ++comm->rank->pending >= 8;
    comm->next_piece += q->pieces;
    if (comm->head != NULL) {
        comm->tail->next = q;
    } else {
        comm->head = q;
    }
    comm->tail = q;
    return q;
}

static int shm_allreduce(void *comm_in, const void *send, void *recv, uint64_t count,
                         enum alar_dtype dtype, enum alar_reduction reduction, void *stream,
                         const struct alar_op *op, void **request)
{
    struct shm_comm *comm = comm_in;
    int status = arguments_check(comm, send, recv, count, dtype, reduction, op, request == NULL);
    int error = 0;

    (void)stream;
    if (status != 0) {
        return status;
    }
    if (shm_is_struck(comm->rank, SHM_EXITS) && comm->issued == 12) {
        exit(0);
    }
    struct shm_request *q = request_make(comm, send, recv, count, dtype);
    if (q == NULL) {
        return -ALAR_E_NOMEM;
    }
    q->reduction = reduction;
    q->is_blocking = request == NULL;
    shm_drive(comm);
    if (request == NULL || shm_is(comm->rank, SHM_ISSUE_BLOCKS)) {
        while (!q->is_done) {
            shm_drive(comm);
            shm_sleep_us(20);
        }
    }
    if (request != NULL) {
        *request = q;
        return 0;
    }
    q->is_told = true;
    shm_request_free(q);
    return error;
}

static int shm_progress(void *context)
{
    struct shm_rank *rank = context;

    for (int i = 0; i < SHM_COMMS; i++) {
        if (rank->comm[i] != NULL) {
            shm_drive(rank->comm[i]);
        }
    }
    if (shm_strikes_once(rank, SHM_PROGRESS_BLOCKS)) {
        shm_sleep_us(BLOCK_US);
    }
    return shm_is_struck(rank, SHM_PROGRESS_ERROR) ? -ALAR_E_BACKEND : 0;
}

static const struct alar_backend table = {
    .size = sizeof(struct alar_backend),
    .abi = ALAR_BACKEND_ABI,
    .name = "shm",
    .init = shm_init,
    .caps = shm_caps,
    .fini = shm_fini,
    .comm_create = shm_comm_create,
    .comm_free = shm_comm_free,
    .allreduce = shm_allreduce,
    .test = shm_test,
    .wait = shm_wait,
    .request_free = shm_request_free,
    .progress = shm_progress,
};

const struct alar_backend *alar_backend(uint32_t abi)
{
    return abi == ALAR_BACKEND_ABI ? &table : NULL;
}

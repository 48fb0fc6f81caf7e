/* The MPI back end: one source, built once per MPI library.

   Non-blocking all-reduces are MPI_Iallreduce, blocking ones are MPI_Allreduce: the library's own
   synchronous path, so that the two can be compared. A blocking call has no deadline and answers no
   roll call. All traffic is on duplicated communicators, and errors on them are returned. Only the
   thread that called init may call the rest. Nothing is allocated after init, except by MPI. */
#include "backend/mpi/mpi_state.h"

#include <limits.h>

/* MPI's names for ours; MPI_DATATYPE_NULL and MPI_OP_NULL for what it has not. */
static MPI_Datatype datatype_of(enum alar_dtype dtype)
{
    switch (dtype) {
    case ALAR_F32:
        return MPI_FLOAT;
    case ALAR_F64:
        return MPI_DOUBLE;
    case ALAR_I32:
        return MPI_INT32_T;
    case ALAR_I64:
        return MPI_INT64_T;
    case ALAR_U8:
        return MPI_UINT8_T;
    default:
        return MPI_DATATYPE_NULL;
    }
}

static MPI_Op op_of(const struct alar_mpi *mpi, enum alar_dtype dtype,
                    enum alar_reduction reduction)
{
    switch (reduction) {
    case ALAR_SUM:
        return MPI_SUM;
    case ALAR_MAX:
        return dtype == ALAR_U8 ? mpi->bytes_max : MPI_MAX;
    case ALAR_MIN:
        return dtype == ALAR_U8 ? mpi->bytes_min : MPI_MIN;
    default:
        return MPI_OP_NULL;
    }
}

static int mpi_caps(void *context, struct alar_caps *caps)
{
    const struct alar_mpi *mpi = context;

    *caps = (struct alar_caps){
        .dtypes = 1U << ALAR_F32 | 1U << ALAR_F64 | 1U << ALAR_I32 | 1U << ALAR_I64 | 1U << ALAR_U8,
        .reductions = 1U << ALAR_SUM | 1U << ALAR_MAX | 1U << ALAR_MIN,
        .wait_kind = ALAR_WAIT_HOST,
        .outstanding_max = mpi->capacity,
        .is_in_place = 1,
        .allows_empty = 1,
        .needs_progress = 1,
        .has_fixed_order = 1,
        .can_block = 1,
    };
    return 0;
}

/* ---- communicators -----------------------------------------------------------------------------
 */

/* Every rank of the world must refuse the same lists, before anything collective starts. */
static int ranks_check(const struct alar_mpi *mpi, const int32_t *ranks, int32_t count)
{
    if (count < 1 || count > mpi->ranks) {
        return -ALAR_E_RANGE;
    }
    for (int32_t i = 0; i < count; i++) {
        if (ranks[i] < 0 || ranks[i] >= mpi->ranks) {
            return -ALAR_E_RANGE;
        }
        for (int32_t j = 0; j < i; j++) {
            if (ranks[j] == ranks[i]) {
                return -ALAR_E_RANGE;
            }
        }
    }
    return 0;
}

/* Until all ranks have come to a collective call that does not block. It can't be taken back: what
   did not end in time stays under way. */
static int all_come(struct alar_mpi *mpi, MPI_Request *request)
{
    struct alar_mpi_backoff backoff = {0};
    int is_over = 0;

    for (;;) {
        int lost = alar_mpi_barrier_poll(&mpi->barrier);

        if (MPI_Test(request, &is_over, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
            return -ALAR_E_BACKEND;
        }
        if (is_over || lost != 0) {
            return is_over ? 0 : lost;
        }
        if (!alar_mpi_backoff_next(&backoff, &mpi->patience, mpi->timeout_us)) {
            return -ALAR_E_TIMEOUT;
        }
    }
}

static int world_duplicate(struct alar_mpi *mpi, struct alar_mpi_comm *comm)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int status =
        alar_mpi_failed(mpi, "MPI_Comm_idup", MPI_Comm_idup(mpi->world, &comm->comm, &request));

    return status == 0 ? all_come(mpi, &request) : status;
}

static int group_create(const struct alar_mpi *mpi, const int32_t *ranks, int32_t count,
                        MPI_Comm *comm)
{
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group some = MPI_GROUP_NULL;
    int code = MPI_Comm_group(mpi->world, &all);

    if (code == MPI_SUCCESS) {
        code = MPI_Group_incl(all, count, ranks, &some);
    }
    if (code == MPI_SUCCESS) {
        code = MPI_Comm_create(mpi->world, some, comm);
        MPI_Group_free(&some);
    }
    if (all != MPI_GROUP_NULL) {
        MPI_Group_free(&all);
    }
    return code;
}

static int mpi_comm_create(void *context, const int32_t *ranks, int32_t count, uint64_t epoch,
                           void **comm_out)
{
    struct alar_mpi *mpi = context;
    struct alar_mpi_comm *comm = NULL;
    int status;

    (void)epoch; /* MPI agrees on the communicators' identities by itself */
    for (int i = 0; i < ALAR_MPI_COMMS_MOST && comm == NULL; i++) {
        comm = mpi->comm[i].comm == MPI_COMM_NULL ? &mpi->comm[i] : NULL;
    }
    if (comm == NULL) {
        return -ALAR_E_FULL;
    }
    if (ranks == NULL) {
        status = world_duplicate(mpi, comm);
    } else {
        MPI_Request request = MPI_REQUEST_NULL;

        status = ranks_check(mpi, ranks, count);
        if (status == 0) { /* MPI_Comm_create blocks: not before all are there */
            status = alar_mpi_failed(mpi, "MPI_Ibarrier", MPI_Ibarrier(mpi->world, &request));
        }
        status = status == 0 ? all_come(mpi, &request) : status;
        if (status == 0) {
            status = alar_mpi_failed(mpi, "MPI_Comm_create",
                                     group_create(mpi, ranks, count, &comm->comm));
        }
    }
    if (status != 0) {
        return status;
    }
    if (comm->comm != MPI_COMM_NULL) {
        MPI_Comm_set_errhandler(comm->comm, MPI_ERRORS_RETURN);
    }
    *comm_out = comm->comm != MPI_COMM_NULL ? comm : NULL;
    return 0;
}

/* Once nothing is pending on it: Open MPI would crash in the operations that are left. */
static int comm_release(struct alar_mpi_comm *comm)
{
    return comm->abandoned_count > 0
               ? 0
               : alar_mpi_failed(comm->mpi, "MPI_Comm_free", MPI_Comm_free(&comm->comm));
}

/* MPI can't cancel a collective: what is pending stays so, with its buffers, until it ends. */
static int mpi_comm_free(void *comm_in)
{
    struct alar_mpi_comm *comm = comm_in;
    struct alar_mpi *mpi = comm->mpi;

    for (uint32_t i = 0; i < mpi->capacity; i++) {
        struct alar_mpi_request *request = &mpi->request[i];

        if (request->comm == comm && request->state == ALAR_MPI_PENDING) {
            request->state = ALAR_MPI_ABANDONED;
            comm->abandoned_count++;
            mpi->abandoned_count++;
        }
    }
    return comm_release(comm);
}

/* ---- all-reduces -------------------------------------------------------------------------------
 */

static struct alar_mpi_request *request_take(struct alar_mpi *mpi)
{
    if (mpi->free_count == 0) {
        return NULL;
    }
    mpi->free_count--;
    return &mpi->request[mpi->free_slot[mpi->free_count]];
}

static void request_give(struct alar_mpi *mpi, struct alar_mpi_request *request)
{
    request->state = ALAR_MPI_FREE;
    mpi->free_slot[mpi->free_count] = (uint32_t)(request - mpi->request);
    mpi->free_count++;
}

/* Moves a request on that has ended; MPI's error is the operation's, not the poll's. */
static void request_poll(struct alar_mpi_request *request)
{
    const struct alar_mpi *mpi = request->comm->mpi;
    int is_over = 0;
    int code = MPI_Test(&request->request, &is_over, MPI_STATUS_IGNORE);

    if (code != MPI_SUCCESS || is_over) {
        request->error = alar_mpi_failed(mpi, "MPI_Test", code);
        request->state = ALAR_MPI_OVER;
    }
}

int alar_mpi_progress(void *context)
{
    struct alar_mpi *mpi = context;

    for (uint32_t i = 0; i < mpi->capacity && mpi->abandoned_count > 0; i++) {
        struct alar_mpi_request *request = &mpi->request[i];

        if (request->state != ALAR_MPI_ABANDONED) {
            continue;
        }
        request_poll(request);
        if (request->state == ALAR_MPI_OVER) {
            request->comm->abandoned_count--;
            mpi->abandoned_count--;
            comm_release(request->comm);
            request_give(mpi, request);
        }
    }
    return alar_mpi_barrier_poll(&mpi->barrier);
}

static int mpi_allreduce(void *comm_in, const void *send, void *recv, uint64_t count,
                         enum alar_dtype dtype, enum alar_reduction reduction, void *stream,
                         const struct alar_op *op, void **request_out)
{
    struct alar_mpi_comm *comm = comm_in;
    struct alar_mpi *mpi = comm->mpi;
    MPI_Datatype type = datatype_of(dtype);
    MPI_Op operation = op_of(mpi, dtype, reduction);
    const void *from = send == recv ? MPI_IN_PLACE : send;

    if (type == MPI_DATATYPE_NULL || operation == MPI_OP_NULL || stream != NULL ||
        (op != NULL && op->scale != 1.0)) {
        return -ALAR_E_UNSUPPORTED;
    }
    if (count > INT_MAX) {
        return -ALAR_E_RANGE;
    }
    if (request_out == NULL) {
        return alar_mpi_failed(mpi, "MPI_Allreduce",
                               MPI_Allreduce(from, recv, (int)count, type, operation, comm->comm));
    }
    struct alar_mpi_request *request = request_take(mpi);
    if (request == NULL) {
        return -ALAR_E_FULL;
    }
    int status = alar_mpi_failed(
        mpi, "MPI_Iallreduce",
        MPI_Iallreduce(from, recv, (int)count, type, operation, comm->comm, &request->request));
    if (status != 0) {
        request_give(mpi, request);
        return status;
    }
    request->state = ALAR_MPI_PENDING;
    request->error = 0;
    request->comm = comm;
    *request_out = request;
    return 0;
}

static int mpi_test(void *request_in, int *done, int *error)
{
    struct alar_mpi_request *request = request_in;

    if (request->state == ALAR_MPI_PENDING) {
        request_poll(request);
    }
    *done = request->state == ALAR_MPI_OVER;
    *error = *done ? request->error : 0;
    return 0;
}

static int mpi_wait(void *request_in, void *stream, uint64_t timeout_us, int *error)
{
    struct alar_mpi_request *request = request_in;
    struct alar_mpi *mpi = request->comm->mpi;
    struct alar_mpi_backoff backoff = {0};

    if (stream != NULL) {
        return -ALAR_E_UNSUPPORTED;
    }
    for (;;) {
        if (request->state == ALAR_MPI_PENDING) {
            request_poll(request);
        }
        if (request->state == ALAR_MPI_OVER) {
            *error = request->error;
            return 0;
        }
        int lost = backoff.is_due ? alar_mpi_barrier_poll(&mpi->barrier) : 0;
        if (lost != 0) {
            return lost;
        }
        if (!alar_mpi_backoff_next(&backoff, &mpi->patience, timeout_us)) {
            return -ALAR_E_TIMEOUT;
        }
    }
}

static int mpi_request_free(void *request_in)
{
    struct alar_mpi_request *request = request_in;

    if (request->state != ALAR_MPI_OVER) {
        return -ALAR_E_ILLEGAL;
    }
    request_give(request->comm->mpi, request);
    return 0;
}

/* ---- the monitored barrier ---------------------------------------------------------------------
 */

static int mpi_note_set(void *context, const struct alar_note *note)
{
    struct alar_mpi *mpi = context;

    mpi->barrier.note = *note;
    return 0;
}

static int mpi_roll_call(void *context, uint64_t grace_us, uint8_t *presence,
                         struct alar_note *note)
{
    struct alar_mpi *mpi = context;

    return alar_mpi_barrier_call(&mpi->barrier, &mpi->patience, grace_us, presence, note);
}

static int mpi_farewell(void *context, uint64_t timeout_us)
{
    struct alar_mpi *mpi = context;

    return alar_mpi_barrier_farewell(&mpi->barrier, &mpi->patience, timeout_us);
}

static void mpi_leave(void *context, int code, const uint8_t *presence, uint64_t grace_us)
{
    struct alar_mpi *mpi = context;

    alar_mpi_barrier_leave(&mpi->barrier, &mpi->patience, code, presence, grace_us);
}

static const struct alar_backend backend = {
    .size = sizeof(struct alar_backend),
    .abi = ALAR_BACKEND_ABI,
    .name = "mpi",
    .init = alar_mpi_init,
    .caps = mpi_caps,
    .fini = alar_mpi_fini,
    .comm_create = mpi_comm_create,
    .comm_free = mpi_comm_free,
    .allreduce = mpi_allreduce,
    .test = mpi_test,
    .wait = mpi_wait,
    .request_free = mpi_request_free,
    .progress = alar_mpi_progress,
    .note_set = mpi_note_set,
    .roll_call = mpi_roll_call,
    .farewell = mpi_farewell,
    .leave = mpi_leave,
};

const struct alar_backend *alar_backend(uint32_t abi)
{
    return abi == ALAR_BACKEND_ABI ? &backend : NULL;
}

/* Where all-reduces are issued. */
#include "record_mpi.h"

int MPI_Allreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    const struct record_call call = {send, recv, (uint64_t)count, type,
                                     op,   comm, true /* sync */, __builtin_return_address(0)};
    struct record_op *record = record_enter(&call);
    int code = PMPI_Allreduce(record_input(record, send), recv, count, type, op, comm);

    record_leave(record, code);
    return code;
}

int MPI_Iallreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request *request)
{
    const struct record_call call = {send, recv, (uint64_t)count,  type,
                                     op,   comm, false /* sync */, __builtin_return_address(0)};
    struct record_op *record = record_enter(&call);
    int code = PMPI_Iallreduce(record_input(record, send), recv, count, type, op, comm, request);

    record_pend(record, code, request);
    return code;
}

/* The issues of those among `requests` that are ours. */
static void starts_record(int count, const MPI_Request *requests, const void *caller)
{
    record_lock();
    for (int k = 0; k < count && recorder.history != NULL; k++) {
        struct record_op *op = record_find(requests[k]);

        if (op != NULL && op->is_persistent && !op->is_active) {
            record_start(op, caller);
        }
    }
    record_unlock();
}

int MPI_Start(MPI_Request *request)
{
    starts_record(1, request, __builtin_return_address(0));
    return PMPI_Start(request);
}

int MPI_Startall(int count, MPI_Request *requests)
{
    starts_record(count, requests, __builtin_return_address(0));
    return PMPI_Startall(count, requests);
}

/* Of a pending all-reduce both are mistakes, which MPI may answer by ending the job: so they are on
   record before. */
static void misuse_record(const char *event, const MPI_Request *request, const void *caller)
{
    record_lock();
    struct record_op *op = recorder.history != NULL ? record_find(*request) : NULL;
    if (op != NULL && op->is_active) {
        (void)record_begin(event, op, caller);
        record_end();
    }
    record_unlock();
}

int MPI_Request_free(MPI_Request *request)
{
    misuse_record("free", request, __builtin_return_address(0));
    record_lock();
    struct record_op *op = record_find(*request);
    record_unlock();
    int code = PMPI_Request_free(request);

    if (code == MPI_SUCCESS && op != NULL) {
        record_lock();
        record_drop(op);
        record_unlock();
    }
    return code;
}

int MPI_Cancel(MPI_Request *request)
{
    misuse_record("cancel", request, __builtin_return_address(0));
    return PMPI_Cancel(request);
}

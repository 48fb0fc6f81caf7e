/* Where all-reduces are issued. */
#include "record_mpi.h"

int MPI_Allreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    const struct record_call call = RECORD_CALL("MPI_Allreduce", true, .count = count, .op = op);
    struct record_slot *slot = record_arrive(call.name, RECORD_NO_PEER, call.caller);
    struct record_op *record = record_enter(&call, &call);
    int code = PMPI_Allreduce(record_input(record, send), recv, count, type, op, comm);

    record_leave(record, &call, code);
    record_depart(slot);
    return code;
}

int MPI_Iallreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request *request)
{
    const struct record_call call = RECORD_CALL("MPI_Iallreduce", false, .count = count, .op = op);
    struct record_slot *slot = record_arrive(call.name, RECORD_NO_PEER, call.caller);
    struct record_op *record = record_enter(&call, request);
    int code = PMPI_Iallreduce(record_input(record, send), recv, count, type, op, comm, request);

    record_pend(record, &call, code, request);
    record_depart(slot);
    return code;
}

/* The issues of those among `requests` that are ours. */
static void starts_record(int count, const MPI_Request *requests, const void *caller)
{
    if (requests == NULL) {
        return;
    }
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
    struct record_slot *slot =
        record_arrive("MPI_Start", RECORD_NO_PEER, __builtin_return_address(0));

    starts_record(1, request, slot->caller);
    int code = PMPI_Start(request);
    record_depart(slot);
    return code;
}

int MPI_Startall(int count, MPI_Request *requests)
{
    struct record_slot *slot =
        record_arrive("MPI_Startall", RECORD_NO_PEER, __builtin_return_address(0));

    starts_record(count, requests, slot->caller);
    int code = PMPI_Startall(count, requests);
    record_depart(slot);
    return code;
}

/* Of a pending all-reduce both are mistakes, which MPI may answer by ending the job: so they are on
   record before. Returns the operation. */
static struct record_op *misuse_record(const char *event, const MPI_Request *request,
                                       const void *caller)
{
    if (request == NULL) {
        return NULL;
    }
    record_lock();
    struct record_op *op = recorder.history != NULL ? record_find(*request) : NULL;
    if (op != NULL && op->is_active && op->made == NULL) {
        (void)record_begin(event, op, caller);
        record_end();
    }
    record_unlock();
    return op;
}

int MPI_Request_free(MPI_Request *request)
{
    struct record_slot *slot =
        record_arrive("MPI_Request_free", RECORD_NO_PEER, __builtin_return_address(0));
    struct record_op *op = misuse_record("free", request, slot->caller);
    int code = PMPI_Request_free(request);

    if (code == MPI_SUCCESS && op != NULL) {
        record_lock();
        record_drop(op);
        record_unlock();
    }
    record_depart(slot);
    return code;
}

int MPI_Cancel(MPI_Request *request)
{
    struct record_slot *slot =
        record_arrive("MPI_Cancel", RECORD_NO_PEER, __builtin_return_address(0));

    (void)misuse_record("cancel", request, slot->caller);
    int code = PMPI_Cancel(request);
    record_depart(slot);
    return code;
}

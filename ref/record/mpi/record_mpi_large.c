/* The large-count twins and the persistent all-reduces of MPI 4. */
#include "record_mpi.h"

/* A persistent request is one more collective call of its communicator. */
static void prepared(struct record_slot *slot, const struct record_call *call, int code,
                     const MPI_Request *request)
{
    record_prepare(call, code, request);
    record_depart(slot);
}

static struct record_slot *prepare(const struct record_call *call)
{
    struct record_slot *slot = record_arrive(call->name, RECORD_NO_PEER, call->caller);

    record_collective(call->name, call->comm, RECORD_NO_PEER, call->caller);
    return slot;
}

#if MPI_VERSION >= 4

int MPI_Allreduce_c(const void *send, void *recv, MPI_Count count, MPI_Datatype type, MPI_Op op,
                    MPI_Comm comm)
{
    const struct record_call call = RECORD_CALL("MPI_Allreduce", true, .count = count, .op = op);
    struct record_slot *slot = record_arrive(call.name, RECORD_NO_PEER, call.caller);
    struct record_op *record = record_enter(&call, &call);
    int code = PMPI_Allreduce_c(record_input(record, send), recv, count, type, op, comm);

    record_leave(record, &call, code);
    record_depart(slot);
    return code;
}

int MPI_Iallreduce_c(const void *send, void *recv, MPI_Count count, MPI_Datatype type, MPI_Op op,
                     MPI_Comm comm, MPI_Request *request)
{
    const struct record_call call = RECORD_CALL("MPI_Iallreduce", false, .count = count, .op = op);
    struct record_slot *slot = record_arrive(call.name, RECORD_NO_PEER, call.caller);
    struct record_op *record = record_enter(&call, request);
    int code = PMPI_Iallreduce_c(record_input(record, send), recv, count, type, op, comm, request);

    record_pend(record, &call, code, request);
    record_depart(slot);
    return code;
}

int MPI_Allreduce_init_c(const void *send, void *recv, MPI_Count count, MPI_Datatype type,
                         MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct record_call call =
        RECORD_CALL("MPI_Allreduce_init", false, .count = count, .op = op);
    struct record_slot *slot = prepare(&call);
    int code = PMPI_Allreduce_init_c(send, recv, count, type, op, comm, info, request);

    prepared(slot, &call, code, request);
    return code;
}

#endif

#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)

int MPI_Allreduce_init(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct record_call call =
        RECORD_CALL("MPI_Allreduce_init", false, .count = count, .op = op);
    struct record_slot *slot = prepare(&call);
    int code = PMPI_Allreduce_init(send, recv, count, type, op, comm, info, request);

    prepared(slot, &call, code, request);
    return code;
}

#elif defined(OPEN_MPI)

#include <mpi-ext.h>

/* Open MPI 4 has the persistent one under a name of its own, and no large-count twins. */
int MPIX_Allreduce_init(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct record_call call =
        RECORD_CALL("MPIX_Allreduce_init", false, .count = count, .op = op);
    struct record_slot *slot = prepare(&call);
    int code = PMPIX_Allreduce_init(send, recv, count, type, op, comm, info, request);

    prepared(slot, &call, code, request);
    return code;
}

#endif

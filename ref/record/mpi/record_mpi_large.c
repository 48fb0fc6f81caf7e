/* The large-count twins and the persistent all-reduces of MPI 4. */
#include "record_mpi.h"

#if MPI_VERSION >= 4

int MPI_Allreduce_c(const void *send, void *recv, MPI_Count count, MPI_Datatype type, MPI_Op op,
                    MPI_Comm comm)
{
    const struct record_call call = {send, recv, (uint64_t)count, type,
                                     op,   comm, true /* sync */, __builtin_return_address(0)};
    struct record_op *record = record_enter(&call);
    int code = PMPI_Allreduce_c(record_input(record, send), recv, count, type, op, comm);

    record_leave(record, code);
    return code;
}

int MPI_Iallreduce_c(const void *send, void *recv, MPI_Count count, MPI_Datatype type, MPI_Op op,
                     MPI_Comm comm, MPI_Request *request)
{
    const struct record_call call = {send, recv, (uint64_t)count,  type,
                                     op,   comm, false /* sync */, __builtin_return_address(0)};
    struct record_op *record = record_enter(&call);
    int code = PMPI_Iallreduce_c(record_input(record, send), recv, count, type, op, comm, request);

    record_pend(record, code, request);
    return code;
}

int MPI_Allreduce_init(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct record_call call = {send, recv, (uint64_t)count, type, op, comm, false, NULL};
    int code = PMPI_Allreduce_init(send, recv, count, type, op, comm, info, request);

    if (code == MPI_SUCCESS) {
        record_prepare(&call, *request);
    }
    return code;
}

int MPI_Allreduce_init_c(const void *send, void *recv, MPI_Count count, MPI_Datatype type,
                         MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct record_call call = {send, recv, (uint64_t)count, type, op, comm, false, NULL};
    int code = PMPI_Allreduce_init_c(send, recv, count, type, op, comm, info, request);

    if (code == MPI_SUCCESS) {
        record_prepare(&call, *request);
    }
    return code;
}

#elif defined(OPEN_MPI)

#include <mpi-ext.h>

/* Open MPI 4 has the persistent one under a name of its own, and no large-count twins. */
int MPIX_Allreduce_init(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct record_call call = {send, recv, (uint64_t)count, type, op, comm, false, NULL};
    int code = PMPIX_Allreduce_init(send, recv, count, type, op, comm, info, request);

    if (code == MPI_SUCCESS) {
        record_prepare(&call, *request);
    }
    return code;
}

#endif

/* Copies of communicators that are made without waiting, sessions, and the end of communicators.
   The other calls that make one are generated, see wrap.awk. */
#include "record_mpi.h"

/* The copy has its number from the call, whenever it is complete. */
static void promised(struct record_slot *slot, struct record_group *group, int code, MPI_Comm *made,
                     const MPI_Request *request)
{
    if (code == MPI_SUCCESS && group != NULL) {
        record_copy(group, made, *request);
    }
    record_depart(slot);
}

static struct record_slot *promise(const char *name, MPI_Comm comm, const void *caller,
                                   struct record_group **group)
{
    struct record_slot *slot = record_arrive(name, RECORD_NO_PEER, caller);

    record_collective(name, comm, RECORD_NO_PEER, caller);
    record_lock();
    *group = recorder.history != NULL ? record_group_promise(comm) : NULL;
    record_unlock();
    return slot;
}

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *made, MPI_Request *request)
{
    struct record_group *group = NULL;
    struct record_slot *slot = promise("MPI_Comm_idup", comm, __builtin_return_address(0), &group);
    int code = PMPI_Comm_idup(comm, made, request);

    promised(slot, group, code, made, request);
    return code;
}

int MPI_Comm_free(MPI_Comm *comm)
{
    struct record_slot *slot =
        record_arrive("MPI_Comm_free", RECORD_NO_PEER, __builtin_return_address(0));
    MPI_Comm freed = comm != NULL ? *comm : MPI_COMM_NULL;
    int code = PMPI_Comm_free(comm);

    if (code == MPI_SUCCESS) {
        record_group_drop(freed);
    }
    record_depart(slot);
    return code;
}

int MPI_Comm_disconnect(MPI_Comm *comm)
{
    struct record_slot *slot =
        record_arrive("MPI_Comm_disconnect", RECORD_NO_PEER, __builtin_return_address(0));
    MPI_Comm freed = comm != NULL ? *comm : MPI_COMM_NULL;
    int code = PMPI_Comm_disconnect(comm);

    if (code == MPI_SUCCESS) {
        record_group_drop(freed);
    }
    record_depart(slot);
    return code;
}

#if MPI_VERSION >= 4

int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *made, MPI_Request *request)
{
    struct record_group *group = NULL;
    struct record_slot *slot =
        promise("MPI_Comm_idup_with_info", comm, __builtin_return_address(0), &group);
    int code = PMPI_Comm_idup_with_info(comm, info, made, request);

    promised(slot, group, code, made, request);
    return code;
}

int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session *session)
{
    record_library_check();
    int code = PMPI_Session_init(info, handler, session);

    if (code == MPI_SUCCESS) {
        record_session_begin(*session);
    }
    return code;
}

int MPI_Session_finalize(MPI_Session *session)
{
    record_session_end();
    return PMPI_Session_finalize(session);
}

#endif

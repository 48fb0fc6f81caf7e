/* The other collectives whose values are recorded. Each is written once for the blocking call and
   the other, and, from MPI 4 on, for their large-count twins. */
#include "record_mpi.h"

/* A blocking function. `peer`: the root, or RECORD_NO_PEER; then the fields of the call. */
#define BLOCKING(function, suffix, parameters, arguments, peer, ...)               \
    int function##suffix parameters                                                \
    {                                                                              \
        const struct record_call call = RECORD_CALL(#function, true, __VA_ARGS__); \
        struct record_slot *slot = record_arrive(call.name, peer, call.caller);    \
        struct record_op *record = record_enter(&call, &call);                     \
        int code = P##function##suffix arguments;                                  \
                                                                                   \
        record_leave(record, &call, code);                                         \
        record_depart(slot);                                                       \
        return code;                                                               \
    }

/* One that gives a request; `arguments` end with it. */
#define PENDING(function, suffix, parameters, arguments, peer, ...)                 \
    int function##suffix parameters                                                 \
    {                                                                               \
        const struct record_call call = RECORD_CALL(#function, false, __VA_ARGS__); \
        struct record_slot *slot = record_arrive(call.name, peer, call.caller);     \
        struct record_op *record = record_enter(&call, request);                    \
        int code = P##function##suffix arguments;                                   \
                                                                                    \
        record_pend(record, &call, code, request);                                  \
        record_depart(slot);                                                        \
        return code;                                                                \
    }

/* All of them, for counts of one kind; `array` is the field for an array of them. */
#define COLLECTIVES(suffix, Count, array)                                                          \
    BLOCKING(MPI_Reduce, suffix,                                                                   \
             (const void *send, void *recv, Count count, MPI_Datatype type, MPI_Op op, int root,   \
              MPI_Comm comm),                                                                      \
             (send, recv, count, type, op, root, comm), root, .kind = RECORD_REDUCE,               \
             .count = count, .op = op, .root = root)                                               \
    PENDING(MPI_Ireduce, suffix,                                                                   \
            (const void *send, void *recv, Count count, MPI_Datatype type, MPI_Op op, int root,    \
             MPI_Comm comm, MPI_Request *request),                                                 \
            (send, recv, count, type, op, root, comm, request), root, .kind = RECORD_REDUCE,       \
            .count = count, .op = op, .root = root)                                                \
    BLOCKING(MPI_Allgather, suffix,                                                                \
             (const void *send, Count send_count, MPI_Datatype send_type, void *recv, Count count, \
              MPI_Datatype type, MPI_Comm comm),                                                   \
             (send, send_count, send_type, recv, count, type, comm), RECORD_NO_PEER,               \
             .kind = RECORD_ALL_GATHER, .count = count, .op = MPI_OP_NULL,                         \
             .send_count = send_count, .send_type = send_type)                                     \
    PENDING(MPI_Iallgather, suffix,                                                                \
            (const void *send, Count send_count, MPI_Datatype send_type, void *recv, Count count,  \
             MPI_Datatype type, MPI_Comm comm, MPI_Request *request),                              \
            (send, send_count, send_type, recv, count, type, comm, request), RECORD_NO_PEER,       \
            .kind = RECORD_ALL_GATHER, .count = count, .op = MPI_OP_NULL,                          \
            .send_count = send_count, .send_type = send_type)                                      \
    BLOCKING(MPI_Reduce_scatter, suffix,                                                           \
             (const void *send, void *recv, const Count counts[], MPI_Datatype type, MPI_Op op,    \
              MPI_Comm comm),                                                                      \
             (send, recv, counts, type, op, comm), RECORD_NO_PEER, .kind = RECORD_REDUCE_SCATTER,  \
             .count = -1, .op = op, .array = counts)                                               \
    PENDING(MPI_Ireduce_scatter, suffix,                                                           \
            (const void *send, void *recv, const Count counts[], MPI_Datatype type, MPI_Op op,     \
             MPI_Comm comm, MPI_Request *request),                                                 \
            (send, recv, counts, type, op, comm, request), RECORD_NO_PEER,                         \
            .kind = RECORD_REDUCE_SCATTER, .count = -1, .op = op, .array = counts)                 \
    BLOCKING(                                                                                      \
        MPI_Reduce_scatter_block, suffix,                                                          \
        (const void *send, void *recv, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),  \
        (send, recv, count, type, op, comm), RECORD_NO_PEER, .kind = RECORD_REDUCE_SCATTER,        \
        .count = count, .op = op)                                                                  \
    PENDING(MPI_Ireduce_scatter_block, suffix,                                                     \
            (const void *send, void *recv, Count count, MPI_Datatype type, MPI_Op op,              \
             MPI_Comm comm, MPI_Request *request),                                                 \
            (send, recv, count, type, op, comm, request), RECORD_NO_PEER,                          \
            .kind = RECORD_REDUCE_SCATTER, .count = count, .op = op)                               \
    BLOCKING(                                                                                      \
        MPI_Scan, suffix,                                                                          \
        (const void *send, void *recv, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),  \
        (send, recv, count, type, op, comm), RECORD_NO_PEER, .kind = RECORD_SCAN, .count = count,  \
        .op = op)                                                                                  \
    PENDING(MPI_Iscan, suffix,                                                                     \
            (const void *send, void *recv, Count count, MPI_Datatype type, MPI_Op op,              \
             MPI_Comm comm, MPI_Request *request),                                                 \
            (send, recv, count, type, op, comm, request), RECORD_NO_PEER, .kind = RECORD_SCAN,     \
            .count = count, .op = op)

COLLECTIVES(, int, counts)
#if MPI_VERSION >= 4
COLLECTIVES(_c, MPI_Count, wide)
#endif

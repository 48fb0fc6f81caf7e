/* The interface between the engine and whatever reduces: one exported symbol, one table.

   A back end is a shared object that exports

       const struct alar_backend *alar_backend(uint32_t abi);

   and returns its table, or NULL when it can't serve that version. Nine functions are mandatory;
   the others may be NULL, which means: host memory only, no streams, no progress of its own, no
   roll call. Every function returns 0, or minus an enum alar_status. Ranks, counts and slots are
   plain numbers; all durations are microseconds. Nothing here keeps a pointer of the caller's
   beyond the call, but for `peers` and the calls in struct alar_boot, until fini, and the two
   buffers of a pending all-reduce, which the back end owns until it is over.

   Who calls what, when. Ranks are processes that a launcher starts: that of the library, or
   `alar conform`, which sets ALAR_RANK, ALAR_RANKS (RANK, WORLD_SIZE, LOCAL_RANK say the same) and
   ALAR_JOB, a number of its own for each world. One thread calls. init comes once, then caps, then
   comm_create by all ranks in one order, at the start and at any time later; all-reduces of a
   communicator are issued in the same order on all its ranks, and may end in any order. Only init,
   comm_create, comm_free, fini, wait, farewell, roll_call and an all-reduce without a request may
   wait for other ranks. Counts go up to 2^31 - 1 elements; alar run needs SUM of i64, alar conform
   needs no dtype in particular. `alar conform --skeleton` prints a back end to start from. */
#ifndef ALAR_BACKEND_H
#define ALAR_BACKEND_H

#include "dtype.h"
#include "status.h"
#include "terms.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ALAR_BACKEND_ABI UINT32_C(1)

/* What a wait means: the host may read, or later work on the stream may. */
enum alar_wait_kind {
    ALAR_WAIT_HOST,
    ALAR_WAIT_STREAM
};

/* How an addition rounds. */
enum alar_adder_kind {
    ALAR_ADDER_NEAREST, /* to nearest, ties to even */
    ALAR_ADDER_HALF_UP,
    ALAR_ADDER_TRUNCATE,
    ALAR_ADDER_FLUSH,    /* to nearest, subnormals are zeros */
    ALAR_ADDER_SATURATE, /* to nearest, clamped to the largest value */
    ALAR_ADDER_COUNT
};

/* What a rank answers when it is asked whether it is there. */
struct alar_note {
    int32_t status; /* enum alar_status: E_NONFINITE of a rank that raised, E_TIMEOUT ... */
    uint32_t step;  /* where it stands; with E_NONFINITE, where the loss was */
    uint32_t microbatch;
    uint32_t posted; /* all-reduces it has issued, modulo 2^32 */
};

enum alar_presence {
    ALAR_SILENT = 0,
    ALAR_HERE = 1
};

/* What the back end is told at its start, and what it answers there. */
struct alar_boot {
    int32_t rank;       /* in: own rank, or -1 when the launcher knows; out: own rank */
    int32_t ranks;      /* in: ranks in all, or -1; out: ranks in all */
    int32_t local_rank; /* out: rank among those of this host, or -1 */
    const char *config; /* "key=value,key=value", or "" */
    void *world;        /* in-process back ends: what the ranks share; otherwise NULL */
    void *peers;        /* first argument of the three calls below */
    void (*log)(void *peers, const char *line);
    int (*allgather)(void *peers, const void *send, void *recv, uint64_t bytes);
    int (*barrier)(void *peers);
    uint64_t timeout_us; /* how long comm_create may wait for the others; 0: for ever */
};

/* What the back end promises; masks have bit 1 << number set for what it can do. */
struct alar_caps {
    uint32_t dtypes;     /* of enum alar_dtype */
    uint32_t reductions; /* of enum alar_reduction */
    enum alar_wait_kind wait_kind;
    uint32_t outstanding_max; /* pending operations it bears, 0 when it has no bound */
    uint32_t tree_height;     /* greatest height of its addition trees, 0 when not declared */
    uint8_t is_in_place;      /* send == recv is allowed */
    uint8_t allows_empty;     /* count 0 is allowed */
    uint8_t needs_progress;   /* pending operations stand still between calls */
    uint8_t
        has_fixed_order; /* same inputs, same tree, each time; blocking calls may have another */
    uint8_t can_block;   /* allreduce with a NULL request returns the value */

    /* How it adds. 0 everywhere says what most do: to nearest, in the dtype, MAX and MIN of NaN and
       the place of the division not promised. The caller zeroes the struct: who leaves these out
       promises nothing. */
    uint8_t adder; /* enum alar_adder_kind */
    uint8_t width; /* 1 + enum alar_dtype of a wider accumulator, rounded at the end; 0: none */
    uint8_t nan;   /* enum alar_nan_policy (terms.h) */
    uint8_t avg;   /* enum alar_avg (terms.h) */
    char tree[31]; /* its tree over n ranks, as `alar order` names it: "left-fold"; "": any */
};

struct alar_op {
    uint64_t tag;        /* unique among the pending operations of the communicator */
    uint64_t timeout_us; /* for libraries that take it at issue; 0 when there is none */
    double scale;        /* factor of each input; 1 for none */
};

struct alar_backend {
    uint32_t size; /* of this struct as the back end was compiled */
    uint32_t abi;  /* ALAR_BACKEND_ABI as the back end was compiled */
    const char *name;

    /* Mandatory. */
    int (*init)(void **context, struct alar_boot *boot);
    int (*caps)(void *context, struct alar_caps *caps);
    int (*fini)(void *context);
    /* All ranks of the world call; those not among `ranks` (NULL: all are) get a NULL *comm. */
    int (*comm_create)(void *context, const int32_t *ranks, int32_t count, uint64_t epoch,
                       void **comm);
    /* All its ranks call. Operations still pending on it are given up: the caller forgets their
       requests, and leaves their buffers alone until fini, for no library can take them back. */
    int (*comm_free)(void *comm);
    /* send == recv: in place. A NULL `request`: blocking. `stream` is NULL on the host. What
       *request is set to is not NULL, also of an all-reduce of no elements. `op->tag` is no hint to
       reorder: calls are matched by their order. */
    int (*allreduce)(void *comm, const void *send, void *recv, uint64_t count,
                     enum alar_dtype dtype, enum alar_reduction reduction, void *stream,
                     const struct alar_op *op, void **request);
    /* Never blocks; may drive progress. Each call sets *done to 0 or 1, and *error of an operation
       that is done, to 0 or minus a status. What is done stays done, to test and to wait, until it
       is freed. */
    int (*test)(void *request, int *done, int *error);
    /* 0: over, and the value is there, unless *error says why not. timeout_us 0 only asks,
       UINT64_MAX waits for ever. -ALAR_E_TIMEOUT when the time passed first, -ALAR_E_LOST when a
       rank has left meanwhile (see `leave`): either way the request stays live. A value that is
       there comes before both. */
    int (*wait)(void *request, void *stream, uint64_t timeout_us, int *error);
    /* Refused with -ALAR_E_ILLEGAL while the operation is pending. */
    int (*request_free)(void *request);

    /* Optional: drives what is pending, and answers roll calls. Never blocks. Returns -ALAR_E_LOST
       once another rank has called `leave`: write a verdict and leave too. */
    int (*progress)(void *context);

    /* Optional: asynchronous errors. After an abort every live request ends with an error. */
    int (*comm_error)(void *comm, int *error, char *text, uint64_t text_bytes);
    int (*comm_abort)(void *comm, int mode);

    /* Optional: several issues as one. */
    int (*group_begin)(void *context);
    int (*group_end)(void *context);

    /* Optional: device memory and streams. */
    int (*memory_allocate)(void *context, uint64_t bytes, void **memory);
    int (*memory_free)(void *context, void *memory);
    int (*memory_copy)(void *context, void *to, const void *from, uint64_t bytes);
    int (*stream_create)(void *context, void **stream);
    int (*stream_sync)(void *stream);
    int (*stream_destroy)(void *stream);
    /* Holds the stream up, so that "too early" is certain and not lucky. */
    int (*stream_stall)(void *context, void *stream, uint64_t duration_us);

    /* Optional, all four or none: the monitored barrier.
       note_set: what progress() and wait() answer for this rank from now on.
       roll_call: asks every rank, answers theirs meanwhile, and returns when all have answered or
           grace_us have passed; presence[r] (enum alar_presence) and note[r] have one element a
           rank. A rank that does not answer in time is silent, which is not the same as dead.
       farewell: the orderly end: returns 0 once every rank has called it, -ALAR_E_TIMEOUT when that
           took longer than timeout_us (calling again goes on), -ALAR_E_LOST when a rank has left;
           answers roll calls meanwhile.
       leave: the end of a run that lost a rank. The caller has written and flushed its verdict.
           Tells every rank; answers roll calls until the end. The lowest rank in `presence` waits
           until all the present have called leave too, or for grace_us, and ends the job with
           `code`; the others do that only when it has not after twice the grace and a little. The
           library is not finalized, for that would hang. Does not return. */
    int (*note_set)(void *context, const struct alar_note *note);
    int (*roll_call)(void *context, uint64_t grace_us, uint8_t *presence, struct alar_note *note);
    int (*farewell)(void *context, uint64_t timeout_us);
    void (*leave)(void *context, int code, const uint8_t *presence, uint64_t grace_us);
};

typedef const struct alar_backend *alar_backend_entry(uint32_t abi);

/* What a plug-in exports. */
ALAR_API const struct alar_backend *alar_backend(uint32_t abi);

#ifdef __cplusplus
}
#endif

#endif

/* Inside the MPI recorder: a library that is preloaded into unmodified programs, stands between
   them and MPI through MPI's own profiling names, and writes a history of their all-reduces.

   Everything below is called with the recorder's lock held, but for what says that it takes it. */
#ifndef ALAR_FAULTS_RECORD_MPI_H
#define ALAR_FAULTS_RECORD_MPI_H

#include "faults/point.h"
#include "history/history_state.h"

#include <mpi.h>
#include <pthread.h>
#include <sys/types.h>

/* What MPI_Get_library_version says of the library this is built for, and the other's short name.
 */
#ifdef OPEN_MPI
#define RECORD_LIBRARY "Open MPI"
#define RECORD_OTHER "mpich"
#else
#define RECORD_LIBRARY "MPICH"
#define RECORD_OTHER "openmpi"
#endif

/* MPI's own names are the only ones to be seen from outside. */
#pragma GCC visibility push(hidden)

enum {
    RECORD_ELEMENTS = 16,               /* elements of a contribution or result that are kept */
    RECORD_BYTES = RECORD_ELEMENTS * 8, /* bytes of them, at most */
    RECORD_SRC_BYTES = 512,             /* of a caller's place */
    RECORD_NAME_BYTES = 48              /* of a group */
};

/* Who takes part: one for each communicator that is in use. */
struct record_group {
    struct record_group *next;
    char name[RECORD_NAME_BYTES];
    uint32_t *member; /* ranks of MPI_COMM_WORLD, ascending */
    uint32_t members;
    uint64_t issued;  /* all-reduces so far */
    bool is_foreign;  /* members outside MPI_COMM_WORLD, or two groups: no value is judged */
    bool is_declared; /* in the history */
};

/* A call of the program's, before anything is done with it. */
struct record_call {
    const void *send; /* MPI_IN_PLACE: the input is in `recv` */
    void *recv;
    uint64_t count;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm comm;
    bool is_sync;
    const void *caller; /* return address */
};

/* An all-reduce that is not over, or a persistent one. */
struct record_op {
    struct record_op *next; /* of the same bucket, or of the free ones */
    uint64_t handle;        /* the request's bits */
    struct record_call call;
    struct record_group *group;
    uint64_t number; /* within the group */
    bool is_persistent;
    bool is_active;   /* issued and not over */
    bool is_complete; /* the program knows; its request still lives */
    bool is_opaque;   /* no value is recorded */
    bool has_polled;  /* a test that found nothing is on record */
    uint64_t polls;   /* tests that found nothing */
    enum alar_dtype dtype;
    uint64_t bytes; /* of the whole contribution */
    uint64_t kept;  /* elements in `in` and `out` */
    uint64_t hash;  /* of the send buffer at issue; 0 when there is none of its own */
    void *flipped;  /* what MPI was given instead of the send buffer; NULL: nothing */
    unsigned char in[RECORD_BYTES];
    unsigned char out[RECORD_BYTES];
};

struct recorder {
    pthread_mutex_t lock;
    struct alar_history
        *history; /* NULL: nothing is recorded, every call passes straight through */
    uint32_t rank, ranks;
    uint64_t t0;   /* nanoseconds */
    uint64_t live; /* operations in the table */
    uint64_t recorded;
    bool is_started; /* MPI_Init was seen */
};

extern struct recorder recorder;

void record_lock(void);
void record_unlock(void);
uint64_t record_now(void); /* nanoseconds since t0 */
void record_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- who: record_mpi_group.c ----------------------------------------------------------------- */

/* Before the first communicator is made, and for the two that MPI makes. */
void record_groups_start(void);

/* The group of a communicator, known or not; NULL when out of memory. */
struct record_group *record_group_of(MPI_Comm comm);

/* ---- what: record_mpi_type.c ----------------------------------------------------------------- */

/* How the values of a call are recorded. Returns NULL, or why they can't be: text for people. */
const char *record_type_find(const struct record_call *call, enum alar_dtype *dtype,
                             const char **reduction);

/* ---- operations: record_mpi_op.c ------------------------------------------------------------- */

/* Takes the lock. The rank may be late; the issue is recorded. NULL when nothing is recorded. */
struct record_op *record_enter(const struct record_call *call);

/* What MPI is to be given as the send buffer: `send`, or a copy that a fault has changed. */
const void *record_input(const struct record_op *op, const void *send);

/* Take the lock. A blocking call, or the issue of another, returned. */
void record_leave(struct record_op *op, int code);
void record_pend(struct record_op *op, int code, const MPI_Request *request);

/* Takes the lock. A persistent operation was made, and is remembered by its request. */
void record_prepare(const struct record_call *call, MPI_Request request);

/* A persistent operation is started. */
void record_start(struct record_op *op, const void *caller);

/* The request the operation got; and the operation of a request, NULL for somebody else's. */
void record_attach(struct record_op *op, MPI_Request request);
struct record_op *record_find(MPI_Request request);

/* The operation is over: values are read, `write` and `done` are recorded. */
void record_settle(struct record_op *op, const void *caller);

/* The program learns that the operation is complete, and keeps its request: values are read. */
void record_reveal(struct record_op *op, const void *caller);

/* MPI returned an error. */
void record_failed(struct record_op *op, int code);

/* Forgets it. */
void record_drop(struct record_op *op);

/* ---- records: record_mpi_write.c ------------------------------------------------------------- */

struct alar_json *record_begin(const char *event, const struct record_op *op, const void *caller);
void record_end(void);
void record_write_trace(int level);
void record_write_issue(struct record_op *op, const char *reduction, const char *refusal);

/* A hash of memory that is never 0. */
uint64_t record_hash(const void *bytes, uint64_t count);

/* ---- faults: record_mpi_fault.c -------------------------------------------------------------- */

/* Reads FIU_ENABLE. Errors: ALAR_E_INPUT, with one line in `error_line`. */
ALAR_MUST_USE enum alar_status record_faults_start(char *error_line);

/* Takes the lock: the rank is late. */
void record_fault_delay(void);

/* Does this call of a test do nothing? */
bool record_fault_drops(void);

/* Gives MPI a copy of the contribution with one bit changed. */
void record_fault_flip(struct record_op *op);

#pragma GCC visibility pop

#endif

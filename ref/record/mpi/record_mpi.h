/* Inside the MPI recorder: a library that is preloaded into unmodified programs, stands between
   them and MPI through MPI's own profiling names, and writes a history of their all-reduces.

   Everything below is called with the recorder's lock held, but for what says that it takes it. */
#ifndef ALAR_RECORD_MPI_H
#define ALAR_RECORD_MPI_H

#include "faults/point.h"
#include "history/history_state.h"

#include <mpi.h>
#include <pthread.h>
#include <sys/types.h>

/* What MPI_Get_library_version says of the library this is built for, and the other's short name.
 */
#ifdef OPEN_MPI
#define RECORD_LIBRARY "Open MPI"
#define RECORD_ALSO "Open MPI"
#define RECORD_OTHER "mpich"
#else
#define RECORD_LIBRARY "MPICH"
#define RECORD_ALSO "Intel(R) MPI" /* has MPICH's handles */
#define RECORD_OTHER "openmpi"
#endif

/* MPI's own names are the only ones to be seen from outside. */
#pragma GCC visibility push(hidden)

enum {
    RECORD_ELEMENTS = 16,            /* elements of a contribution or result that are kept */
    RECORD_PARTS = 64,               /* likewise, where each rank has a part of them */
    RECORD_BYTES = RECORD_PARTS * 8, /* bytes of them, at most */
    RECORD_SRC_BYTES = 512,          /* of a caller's place */
    RECORD_NAME_BYTES = 64,          /* of a group */
    RECORD_GUARD_BYTES = 1024,       /* receive buffers up to here are guarded */
    RECORD_SLOTS = 64,               /* threads that call MPI, and are watched */
    RECORD_NO_PEER = INT32_MIN
};

/* Who takes part in a communicator. Persistent requests have one of their own each. */
struct record_group {
    struct record_group *next; /* of the same bucket */
    uint64_t handle;           /* the communicator's bits */
    char name[RECORD_NAME_BYTES];
    uint32_t *member; /* ranks of the world, ascending */
    uint32_t *order;  /* the same as the communicator numbers them */
    uint32_t members;
    uint32_t self;       /* this rank's number in it */
    uint64_t issued;     /* all-reduces so far */
    uint64_t calls;      /* collective calls so far, all-reduces included */
    uint64_t persistent; /* requests made so far */
    bool is_foreign;     /* members outside the world, or two groups: no value is judged */
    bool is_declared;    /* in the history */
};

/* The collectives whose values are recorded. */
enum record_kind {
    RECORD_ALL_REDUCE,
    RECORD_ALL_GATHER,
    RECORD_REDUCE,
    RECORD_REDUCE_SCATTER,
    RECORD_SCAN
};

/* A call of the program's, before anything is done with it. */
struct record_call {
    const void *send; /* MPI_IN_PLACE: the input is in `recv` */
    void *recv;
    int64_t count; /* of an all-gather and a scattering of blocks: of each rank's block */
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm comm;
    bool is_sync;
    const char *name;   /* of the function */
    const void *caller; /* return address */
    enum record_kind kind;
    int root;              /* of a reduce, as the communicator numbers it */
    const int *counts;     /* of each rank's block, where they differ; NULL: `count` */
    const MPI_Count *wide; /* the same of a large-count twin */
    int64_t send_count;    /* of an all-gather: what `send` holds */
    MPI_Datatype send_type;
};

/* A call in a wrapper whose parameters have the names of those fields; then the fields it has
 * besides. */
#define RECORD_CALL(function, is_blocking, ...)                                       \
    {                                                                                 \
        .send = send, .recv = recv, .type = type, .comm = comm, .name = (function),   \
        .is_sync = (is_blocking), .caller = __builtin_return_address(0), __VA_ARGS__, \
    }

/* What the values of a call are. */
struct record_type {
    enum alar_dtype dtype;
    bool is_known;           /* dtype and elements are; else the history's elements are bytes */
    enum alar_reduction red; /* ALAR_REDUCTION_WORDS: a history has no word for it */
    const char *refusal;     /* why the values can't be recorded: text for people; NULL: they are */
    uint32_t elements;       /* of the history's for one of the call's: 2 for pairs and complex */
    uint32_t bytes;          /* of one of the call's in memory */
    uint32_t pair;           /* bytes of a pair, where its parts are not alike; else 0 */
    uint32_t index;          /* where the int of such a pair stands in it */
    bool is_long;            /* long doubles: recorded as f64 where nothing is lost by that */
};

/* An all-reduce that is not over, or a persistent one; or a communicator in the making. */
struct record_op {
    struct record_op *next; /* of the same bucket, or of the free ones */
    uint64_t handle;        /* the request's bits */
    struct record_call call;
    struct record_group *group;
    uint64_t number;   /* within the group */
    uint64_t position; /* among the group's collective calls */
    MPI_Comm *made;    /* where the communicator's handle will stand; NULL: an all-reduce */
    uint64_t t;        /* of the issue */
    bool is_persistent;
    bool is_active;   /* issued and not over */
    bool is_asked;    /* a call that is under way asks for it */
    bool is_deferred; /* not on record before MPI has accepted it */
    bool is_complete; /* the program knows; its request still lives */
    bool is_opaque;   /* no value is recorded: type.refusal says why */
    bool has_polled;  /* a test that found nothing is on record */
    bool has_result;  /* `out` is what the library gave */
    uint64_t polls;   /* tests that found nothing */
    struct record_type type;
    uint64_t n;         /* elements, as the history has them */
    uint64_t first;     /* of them: where this rank's part begins */
    uint64_t own;       /* how many are in it */
    uint64_t bytes;     /* of the whole contribution */
    uint64_t out_bytes; /* of what this rank gets */
    uint64_t kept;      /* elements in `in`, and in `out` of a whole result */
    uint64_t hash;      /* of the send buffer at issue; 0 when there is none of its own */
    uint64_t guard;     /* of the receive buffer when the library last left it; 0: not kept */
    uint64_t visits;    /* of the thread's slot then: the library had no turn since */
    void *flipped;      /* what MPI was given instead of the send buffer; NULL: nothing */
    unsigned char in[RECORD_BYTES];
    unsigned char out[RECORD_BYTES];
};

/* Where a thread stands: written by the thread, read by the watch. */
struct record_slot {
    const char *volatile name;     /* the MPI function it is in; NULL: none */
    const void *volatile caller;   /* where from */
    volatile int peer;             /* the other rank, or the root; RECORD_NO_PEER */
    struct record_op *volatile op; /* the all-reduce that the call is about; NULL: none */
    volatile uint64_t visits;      /* calls begun */
    volatile uint64_t moves;       /* calls begun and ended, but for tests that found nothing */
};

struct recorder {
    pthread_mutex_t lock;
    struct alar_history
        *history; /* NULL: nothing is recorded, every call passes straight through */
    uint32_t rank, ranks;
    MPI_Group world; /* of all ranks */
    pid_t process;   /* a child has another one */
    uint64_t t0;     /* nanoseconds */
    uint64_t last;   /* nanoseconds since then: of the newest record */
    uint64_t live;   /* operations in the table */
    uint64_t recorded;
    int sessions;     /* that are open */
    bool is_session;  /* MPI was started as one */
    bool has_guards;  /* nobody but this thread's calls moves what is pending */
    bool is_unhashed; /* writes in flight are not looked for */
    bool is_started;  /* MPI_Init was seen */
    bool is_finished; /* MPI_Finalize was seen */
};

extern struct recorder recorder;

void record_lock(void);
void record_unlock(void);
uint64_t record_now(void); /* nanoseconds since t0 */
void record_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* MPI's handles are integers or pointers: their bits. */
#define RECORD_BITS(handle) record_bits(&(handle), sizeof(handle))
uint64_t record_bits(const void *handle, size_t bytes);

/* ---- where: record_mpi_place.c --------------------------------------------------------------- */

/* A thread enters and leaves an MPI function. Both take no lock and no time worth mention. */
struct record_slot *record_arrive(const char *name, int peer, const void *caller);
void record_depart(struct record_slot *slot);

/* A test that found nothing: for who looks from outside the thread has not moved. */
void record_linger(struct record_slot *slot);

/* The k-th thread's slot; NULL behind the last. */
struct record_slot *record_slot_of(uint32_t k);

/* The slot of the thread that asks, NULL when it never called MPI. */
struct record_slot *record_slot_own(void);

/* ---- last words: record_mpi_watch.c ---------------------------------------------------------- */

/* A thread of ours looks every now and then where the program's threads stand, puts that on record
   where one does not move, and at once where `alar record` asks for it. */
void record_watch_start(void);

/* The rank has come to its end: nobody need wait for it. */
void record_watch_end(void);

/* ---- life: record_mpi.c, record_mpi_end.c ---------------------------------------------------- */

/* Is the program's library the one this is built for? Ends the process where it is not. */
void record_library_check(void);

/* Take the lock. A session begins, and the last one ends. */
#if MPI_VERSION >= 4
void record_session_begin(MPI_Session session);
void record_session_end(void);
#endif

/* Ends the recording with an `exit` of that code and text, or regularly. */
void record_exit(int code, enum alar_status status, const char *text);
void record_close(void);

/* From now on what ends the process is on record. */
void record_endings_start(void);

/* ---- file: record_mpi_file.c ----------------------------------------------------------------- */

/* The history's lines go into memory that is the file's: no call of the system's for each, and a
   process that is killed loses nothing. Where that can't be had, they are written as ever. */
void record_file_start(struct alar_line_writer *append);

/* Cuts off what was reserved and not used. Before the file is closed. */
void record_file_end(struct alar_line_writer *append);

/* ---- who: record_mpi_group.c ----------------------------------------------------------------- */

/* Before the first communicator is made. `world` and `self` are MPI_COMM_NULL in a session. */
void record_groups_start(MPI_Comm world, MPI_Comm self);

/* The group of a communicator; NULL for one that was never seen made. */
struct record_group *record_group_of(MPI_Comm comm);

/* A communicator was made: its group gets the next number of its members. Takes the lock; returns
   `code`. */
int record_made(int code, const MPI_Comm *comm);

/* A copy of `comm` is in the making: it has a number already. NULL: `comm` is unknown. */
struct record_group *record_group_promise(MPI_Comm comm);
void record_group_attach(struct record_group *group, MPI_Comm comm);

/* Takes the lock. A communicator is no more. */
void record_group_drop(MPI_Comm comm);

/* A persistent request of `group` is a group of its own: requests may be started in any order. */
struct record_group *record_group_persistent(struct record_group *group);

/* ---- what: record_mpi_type.c ----------------------------------------------------------------- */

/* How the values of a call are recorded. */
void record_type_find(const struct record_call *call, struct record_type *type);

/* The first `count` elements of a buffer, as the history has them. False: it has none for one. */
bool record_type_load(const struct record_type *type, const void *from, uint64_t count,
                      unsigned char *to);

/* ---- which elements: record_mpi_layout.c ----------------------------------------------------- */

/* What the call's buffers are of the operation, by the table of spec/history.md. */
void record_layout_find(struct record_op *op);

/* The input, and the result as far as this rank has it, into `in` and `out`; false: a value has no
   place in a history. */
bool record_layout_read(struct record_op *op);
bool record_layout_result(struct record_op *op);

/* Where the input stands in memory. */
const void *record_layout_input(const struct record_op *op);

/* Does this rank get a part of the result, or none of it? Then which elements. */
bool record_layout_is_part(const struct record_op *op, uint64_t *at, uint64_t *count);

/* Could any library accept the call? What is null or overlaps is not even looked at. */
bool record_is_legal(const struct record_call *call, const struct record_group *group,
                     const void *request);

/* ---- operations: record_mpi_op.c ------------------------------------------------------------- */

/* Takes the lock. The rank may be late; the issue is recorded. NULL when nothing is recorded. */
struct record_op *record_enter(const struct record_call *call, const void *request);

/* What MPI is to be given as the send buffer: `send`, or a copy that a fault has changed. */
const void *record_input(const struct record_op *op, const void *send);

/* Take the lock. A blocking call, or the issue of another, returned. */
void record_leave(struct record_op *op, const struct record_call *call, int code);
void record_pend(struct record_op *op, const struct record_call *call, int code,
                 const MPI_Request *request);

/* Take the lock. A persistent operation is made, and is remembered by its request. */
void record_prepare(const struct record_call *call, int code, const MPI_Request *request);

/* Takes the lock. A copy of a communicator is in the making. */
void record_copy(struct record_group *group, MPI_Comm *made, MPI_Request request);

/* Takes the lock. Any other collective call on `comm` begins. */
void record_collective(const char *name, MPI_Comm comm, int root, const void *caller);

/* A persistent operation is started. */
void record_start(struct record_op *op, const void *caller);

/* The request the operation got; and the operation of a request, NULL for somebody else's. Requests
   that are complete at once may share one handle: the oldest that nobody asks for is found. */
void record_attach(struct record_op *op, MPI_Request request);
struct record_op *record_find(MPI_Request request);

/* The thread leaves the library with the operation pending, and comes back to ask for it: is the
   receive buffer as the library left it? */
void record_guard(struct record_op *op, const struct record_slot *slot);
void record_guard_compare(struct record_op *op, const struct record_slot *slot);

/* The operation is complete: its values are read, a change of the send buffer is recorded. */
void record_settle_values(struct record_op *op);

/* The operation is over: `done` is recorded. */
void record_settle(struct record_op *op, const void *caller);

/* The program learns that the operation is complete, and keeps its request: values are read. */
void record_reveal(struct record_op *op, const void *caller);

/* MPI returned an error. */
void record_failed(struct record_op *op, int code);

/* record_mpi_table.c: a new operation, the newest with this handle (and by `next` older ones, of
   other handles too), and one more under a handle. */
struct record_op *record_take(const struct record_call *call, struct record_group *group);
struct record_op *record_first_of(uint64_t handle);
void record_put(struct record_op *op, uint64_t handle);

/* Forgets it. */
void record_drop(struct record_op *op);

/* ---- records: record_mpi_write.c ------------------------------------------------------------- */

struct alar_json *record_begin(const char *event, const struct record_op *op, const void *caller);
void record_end(void);
void record_write_trace(int level);
void record_write_issue(struct record_op *op);

/* A collective call of which no more is known than who made it. */
void record_write_call(struct record_group *group, const char *name, int root, const void *caller);

/* A call that its library refused, or that it ended the job in. */
void record_write_refuse(const char *name, struct record_group *group, const char *text,
                         bool is_fatal, const void *caller);

/* Where a thread stands, and since when. */
void record_write_stand(const struct record_slot *slot, uint64_t since, const char *reason);

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

/* What the files of the MPI back end share; nobody else includes it. */
#ifndef ALAR_BACKEND_MPI_H
#define ALAR_BACKEND_MPI_H

#include "api/backend.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The plug-in exports one symbol, and these are not it. */
#pragma GCC visibility push(hidden)

/* ---- how to wait: look, then yield, then sleep -------------------------------------------------
 */

struct alar_mpi_patience {
    uint32_t spins;    /* polls before the processor is given away */
    uint32_t sleep_us; /* longest sleep between two polls, at least 1 */
};

/* One wait. Zero it before use. */
struct alar_mpi_backoff {
    uint64_t start_us;
    uint32_t polls;
    bool is_due; /* the clock was read: time for what is worth asking every few polls only */
};

/* Called after each poll that found nothing: rests, and returns true when another poll is due, or
   false when `limit_us` have passed since the clock was first read (UINT64_MAX: never). That is
   every few polls while they only spin, and at each poll after that. Signals don't shorten a rest.
 */
bool alar_mpi_backoff_next(struct alar_mpi_backoff *backoff,
                           const struct alar_mpi_patience *patience, uint64_t limit_us);

/* ---- the barrier: who is here
 * --------------------------------------------------------------------
 */

enum alar_mpi_word {
    ALAR_MPI_ASK,     /* are you there? */
    ALAR_MPI_ANSWER,  /* yes, and this is my note */
    ALAR_MPI_LEAVING, /* I have written my verdict and wait for the end of the job */
    ALAR_MPI_WORD_COUNT
};

struct alar_mpi_message {
    uint32_t word;  /* enum alar_mpi_word */
    uint32_t round; /* the asker's roll call, which the answer repeats */
    struct alar_note note;
};

/* One outgoing message; there is one for each kind of word and each rank. */
struct alar_mpi_letter {
    MPI_Request request;
    struct alar_mpi_message message;
};

struct alar_mpi_peer {
    struct alar_mpi_letter letter[ALAR_MPI_WORD_COUNT];
    uint32_t owed_round; /* an answer that waits until the one before it has gone */
    bool owes_answer;
    bool is_asked;         /* in the roll call under way */
    bool has_answered;     /* in the roll call under way */
    bool has_left;         /* it said LEAVING */
    struct alar_note note; /* of its last answer */
};

struct alar_mpi_barrier {
    MPI_Comm comm; /* its own, so that no all-reduce can take its messages */
    int32_t rank;
    int32_t ranks;
    MPI_Request incoming;
    struct alar_mpi_message message; /* where `incoming` arrives */
    struct alar_note note;           /* what this rank answers */
    uint32_t round;
    uint32_t owed_count;
    uint32_t left_count;
    MPI_Request barrier;        /* of farewell */
    struct alar_mpi_peer *peer; /* one a rank */
};

/* Collective over `world`. Returns an MPI error code; on failure there is nothing to stop. */
int alar_mpi_barrier_start(struct alar_mpi_barrier *barrier, MPI_Comm world, int32_t rank,
                           int32_t ranks, struct alar_mpi_peer *peer);

/* Collective. Messages that nobody took are dropped. */
void alar_mpi_barrier_stop(struct alar_mpi_barrier *barrier);

/* Takes what has arrived and answers what was asked. Never blocks. Returns -ALAR_E_LOST once
   another rank has said that it leaves, and 0 otherwise. */
int alar_mpi_barrier_poll(struct alar_mpi_barrier *barrier);

/* The four functions of the interface, without its `context`. */
int alar_mpi_barrier_call(struct alar_mpi_barrier *barrier,
                          const struct alar_mpi_patience *patience, uint64_t grace_us,
                          uint8_t *presence, struct alar_note *note);
int alar_mpi_barrier_farewell(struct alar_mpi_barrier *barrier,
                              const struct alar_mpi_patience *patience, uint64_t timeout_us);
_Noreturn void alar_mpi_barrier_leave(struct alar_mpi_barrier *barrier,
                                      const struct alar_mpi_patience *patience, int code,
                                      const uint8_t *presence, uint64_t grace_us);

/* ---- the back end's own ------------------------------------------------------------------------
 */

enum {
    ALAR_MPI_COMMS_MOST = 64
};

enum alar_mpi_request_state {
    ALAR_MPI_FREE,
    ALAR_MPI_PENDING,
    ALAR_MPI_OVER,
    ALAR_MPI_ABANDONED, /* given up with its communicator: nobody holds it, but it has not ended */
};

struct alar_mpi_request {
    enum alar_mpi_request_state state;
    int error;
    MPI_Request request;
    struct alar_mpi_comm *comm;
};

struct alar_mpi_comm {
    MPI_Comm comm;            /* MPI_COMM_NULL: unused */
    uint32_t abandoned_count; /* operations given up that have not ended; it goes with the last */
    struct alar_mpi *mpi;
};

/* The `context` of the interface. */
struct alar_mpi {
    struct alar_mpi_barrier barrier;
    struct alar_mpi_patience patience;
    MPI_Comm world;      /* duplicated */
    uint64_t timeout_us; /* of comm_create */
    int32_t rank;
    int32_t ranks;
    bool owns_library; /* the host did not start MPI, so this does, and ends it */
    void *peers;
    void (*log)(void *peers, const char *line);
    MPI_Op bytes_max; /* of bytes without a sign */
    MPI_Op bytes_min;
    uint32_t capacity;
    uint32_t free_count;
    uint32_t abandoned_count;
    uint32_t *free_slot; /* a stack of `capacity` indices */
    struct alar_mpi_request *request;
    struct alar_mpi_comm comm[ALAR_MPI_COMMS_MOST];
};

/* Logs what MPI says of a code, and returns minus the status it amounts to; 0 for MPI_SUCCESS. */
int alar_mpi_failed(const struct alar_mpi *mpi, const char *call, int code);

/* Tells whoever lent the back end its log: "what: detail". */
void alar_mpi_complain(const struct alar_mpi *mpi, const char *what, const char *detail);

/* mpi_bytes.c: which operations compare bytes. The library runs. */
void alar_mpi_bytes_start(struct alar_mpi *mpi);
void alar_mpi_bytes_stop(struct alar_mpi *mpi);

/* init, fini and progress of the interface. */
int alar_mpi_init(void **context, struct alar_boot *boot);
int alar_mpi_fini(void *context);
int alar_mpi_progress(void *context);

#pragma GCC visibility pop

#endif

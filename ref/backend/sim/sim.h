/* The simulated back end: all ranks in one process and one thread, on virtual time.

   One world holds what the ranks share. Each rank calls alar_sim_backend()->init with boot.rank,
   boot.ranks (or -1) and boot.world = the world, and from then on uses its own context. Time is
   virtual and stands still unless alar_sim_now_set moves it; one tick is a microsecond. A run is a
   loop over ranks: set the tick, let the rank that is due call its library, and ask alar_sim_next
   when calling it again can change anything.

   The model. An all-reduce advances in rounds, as recursive doubling does: 2(n - p) ranks are
   folded pairwise first and told the result last, p being the greatest power of two up to n, and
   log2 p rounds lie between. A round's message leaves only when its rank calls the library (test,
   wait, progress) at or after the tick at which the previous message reached it, and then takes
   base + link + jitter + spread. So a rank that does not call holds up those who need its messages,
   and one that never issues holds up everybody. The value is computed once, when all have
   contributed, in the chosen order, and all ranks get the same bits. A rank's receive buffer is
   written in the call in which it completes, never before the last message is there.

   Where it differs from the interface, because one process can't wait for itself:
     allreduce    a NULL request is -ALAR_E_UNSUPPORTED (caps.can_block is 0): post, then await
     wait         returns at once, -ALAR_E_TIMEOUT when the request is not over at this tick
     stream_sync  the same
     roll_call    answers at once: a rank is silent when it is mute, or has exited, at this tick
     farewell     returns at once: 0 when every rank has called it, else -ALAR_E_TIMEOUT: call again
     leave        returns: it can't end the process. A rank that left goes on answering roll calls,
   as one does that waits for the others' word Streams exist when is_stream_ordered is set. What is
   issued on one starts when its stalls are over and the requests it was put behind are; a stall
   begins when it is called. After comm_free the buffers of what was pending are never touched
   again; the rank sends nothing more, and what it sent already stays sent.

   Ranks that disagree on count, dtype or reduction of an operation are never told; what happens is
   an option. Nothing is allocated after the start but when a pool grows: see `outstanding`. */
#ifndef ALAR_BACKEND_SIM_H
#define ALAR_BACKEND_SIM_H

#include "api/backend.h"

#include <stdbool.h>

/* In which order contributions are combined; the lower operand is the left one. */
enum alar_sim_order {
    ALAR_SIM_LEFT_FOLD,          /* ((0 + 1) + 2) + 3 */
    ALAR_SIM_RIGHT_FOLD,         /* 0 + (1 + (2 + 3)): gloo, for two floats */
    ALAR_SIM_RECURSIVE_DOUBLING, /* the first 2(n - p) pairwise, then pairs of pairs: MPICH */
    ALAR_SIM_BINOMIAL,           /* pairs of pairs toward rank 0: Open MPI's non-blocking default */
    ALAR_SIM_RING,               /* n chunks, the first ones longer; chunk c is folded from rank c
                                    upward and around */
    ALAR_SIM_ARRIVAL,            /* a left fold in the order of the ranks' posts */
    ALAR_SIM_ORDER_COUNT
};

/* What MAX and MIN do with NaN. Equal values, both zeros too, give the right operand. */
enum alar_sim_nan {
    ALAR_SIM_NAN_COMPARE,   /* a > b ? a : b, as MPI libraries do: the order decides what is lost */
    ALAR_SIM_NAN_PROPAGATE, /* one NaN makes NaN */
    ALAR_SIM_NAN_DROP       /* NaN only when all are */
};

/* When the send buffer is read, and the first message leaves. */
enum alar_sim_capture {
    ALAR_SIM_AT_ISSUE, /* in allreduce, as MPICH does with short messages */
    ALAR_SIM_LATE      /* in the rank's next call, as Open MPI and gloo do */
};

/* What the receive buffer shows while the operation is pending. */
enum alar_sim_pending {
    ALAR_SIM_SHOWS_OWN,
    ALAR_SIM_UNTOUCHED,
    ALAR_SIM_SHOWS_PARTIAL
};

/* What becomes of an operation on which ranks disagree. */
enum alar_sim_mismatch {
    ALAR_SIM_GARBAGE, /* each rank reads all bytes as its own dtype and applies its own reduction */
    ALAR_SIM_HANG     /* it never completes */
};

struct alar_sim_options {
    int32_t ranks;
    uint64_t seed;
    enum alar_sim_order order;
    enum alar_sim_nan nan;
    enum alar_sim_capture capture;
    enum alar_sim_pending pending;
    enum alar_sim_mismatch mismatch;
    uint32_t latency_us; /* of every message */
    uint32_t link_us;    /* greatest extra of a pair of ranks, drawn once for each direction */
    uint32_t jitter_us;  /* greatest extra of a message, drawn for each */
    uint32_t spread_us;  /* greatest extra of all messages of an operation, drawn once for each: so
                            that operations overtake each other */
    bool skips_rounds;   /* one message instead of rounds: complete when all have contributed */
    bool is_fifo;        /* operations of a communicator complete in issue order on each rank */
    bool has_progress_thread; /* messages leave without calls; alar_sim_now_set drives them */
    bool is_stream_ordered;   /* wait orders a stream and returns; implies has_progress_thread */
    bool is_bounded;          /* a full pool refuses with -ALAR_E_FULL and does not grow */
    uint32_t outstanding;     /* operations a rank may have pending, and a communicator may hold,
                                 before a pool must grow; at least 1 */
    uint32_t payload_bytes;   /* a contribution's size up to which nothing must grow */
};

/* Counts, for tests and tables. */
struct alar_sim_stats {
    uint64_t operations_live; /* not over on all ranks */
    uint64_t requests_live;   /* not freed by their ranks */
    uint64_t messages;        /* sent */
    uint64_t completed;       /* requests that got a value */
    uint64_t grown;           /* times a pool grew */
};

struct alar_sim_world;

/* Recursive doubling, NaN compared, captured at issue, own value while pending, garbage on
   mismatch, messages of 10 + 0..5 us, rounds, any completion order, 64 outstanding, 64 bytes,
   growing. */
struct alar_sim_options alar_sim_options_default(int32_t ranks, uint64_t seed);

/* NULL when out of memory, or when ranks or outstanding is less than 1. The caller frees it, after
   which no context, communicator, request or stream of it may be used. */
struct alar_sim_world *alar_sim_world_create(const struct alar_sim_options *options);
void alar_sim_world_free(struct alar_sim_world *world);

/* The table; static storage. */
const struct alar_backend *alar_sim_backend(void);

/* The virtual clock. Time never goes back: an earlier tick changes nothing. With a progress thread
   everything that happens up to `tick` happens here, in order. */
void alar_sim_now_set(struct alar_sim_world *world, uint64_t tick);
uint64_t alar_sim_now(const struct alar_sim_world *world);

/* The earliest tick, not before now, at which a call of this rank could change anything if no other
   rank calls before; UINT64_MAX when there is none. What other ranks do can make it earlier, so it
   is asked again after their calls. */
uint64_t alar_sim_next(const struct alar_sim_world *world, int32_t rank);

/* From `tick` on the rank's calls do nothing: test says "not done", wait and farewell
   -ALAR_E_TIMEOUT, allreduce, comm_create, note_set and roll_call -ALAR_E_BACKEND. A progress
   thread of its goes on. */
void alar_sim_mute(struct alar_sim_world *world, int32_t rank, uint64_t tick);

/* The rank is gone, from now on and without a word; its progress thread too. */
void alar_sim_exit(struct alar_sim_world *world, int32_t rank);

/* "left-fold", "right-fold", "recursive-doubling", "binomial", "ring", "arrival"; indexed by enum
   alar_sim_order, NULL at the end. */
extern const char *const alar_sim_order_names[];

#endif

/* What the files of the simulator share; nobody else includes it. */
#ifndef ALAR_BACKEND_SIM_STATE_H
#define ALAR_BACKEND_SIM_STATE_H

#include "backend/sim/sim.h"

#include <stddef.h>

#define SIM_NEVER UINT64_MAX

enum sim_stage {
    SIM_FREE,    /* in the pool */
    SIM_QUEUED,  /* issued, contribution not yet taken */
    SIM_PREFOLD, /* waits for the lower neighbour's contribution */
    SIM_ROUND,   /* waits for the partner of `round` */
    SIM_RESULT,  /* waits for the result: folded into its neighbour, or rounds are skipped */
    SIM_HELD,    /* all messages are there, but an earlier operation, or for ever, is in the way */
    SIM_COMPLETE
};

/* One rank's part in one operation. */
struct sim_request {
    struct sim_request
        *next; /* in the rank's list of pending ones, in issue order; or in the pool */
    struct sim_request *previous;
    struct sim_operation *operation; /* NULL once it is complete */
    struct sim_member *member;       /* gone when its communicator was destroyed */
    struct sim_rank *rank;
    struct sim_stream *stream; /* issued on; NULL on the host */
    struct sim_stream *waiter; /* ordered behind it; NULL when none is */
    const void *send;
    void *recv;
    uint64_t sequence;
    uint64_t count;
    uint64_t tick; /* queued: when it may start; paired: when the awaited message arrives; else
                      when the own message left */
    double scale;
    int32_t error;
    uint8_t dtype;
    uint8_t reduction;
    uint8_t stage;
    uint8_t round;
    uint8_t is_paired;
    uint8_t is_abandoned; /* its rank freed the communicator; kept until the operation has gone */
};

/* One all-reduce, on all its ranks. */
struct sim_operation {
    struct sim_operation *next; /* in the pool */
    struct sim_comm *comm;
    uint64_t sequence;
    uint64_t spread; /* extra of all its messages */
    uint64_t count;
    size_t row_bytes;
    size_t rows_capacity;
    unsigned char *rows;           /* contributions, by member; combined in place */
    unsigned char *value;          /* the row that holds the result; NULL until it is computed */
    struct sim_request **requests; /* by member; NULL: not issued, or complete */
    int32_t *arrivals;             /* members in the order of their posts */
    uint32_t issued;
    uint32_t taken;
    uint32_t closed; /* complete or abandoned */
    uint8_t dtype;
    uint8_t reduction;
    uint8_t is_mismatched;
};

/* One rank's view of a communicator; what the caller calls its comm. */
struct sim_member {
    struct sim_comm *comm;
    struct sim_rank *rank;
    int32_t index;
    uint8_t is_freed;
    uint64_t issued;    /* operations */
    uint64_t completed; /* of them */
};

struct sim_comm {
    struct sim_comm *next;
    struct alar_sim_world *world;
    uint64_t number; /* of the comm_create call, the same on all ranks */
    uint64_t epoch;
    int32_t count;     /* members */
    int32_t remainder; /* count - 2^depth */
    int32_t freed;
    uint8_t depth;
    struct sim_member *members;
    struct sim_operation **ring; /* live operations by sequence modulo capacity */
    uint64_t capacity;           /* of the ring, a power of two */
    uint64_t oldest;             /* sequence; those before have gone */
    uint64_t newest;             /* sequence of the next operation nobody has issued */
    struct sim_operation *pool;
};

struct sim_stream {
    struct sim_stream *next;
    struct sim_rank *rank;
    uint64_t busy_until;
    uint32_t waiting; /* requests it is ordered behind that are not over */
};

struct sim_rank {
    struct alar_sim_world *world;
    int32_t number;
    int32_t code; /* of leave */
    uint64_t due; /* earliest tick at which a pending request can advance */
    uint64_t silent_from;
    uint64_t comms; /* comm_create calls made */
    struct sim_request *oldest;
    struct sim_request *newest;
    uint32_t pending;
    struct alar_note note;
    uint8_t has_exited;
    uint8_t has_left;
    uint8_t has_news; /* something was completed, but by no call that could say so */
    uint8_t said_farewell;
    uint8_t heard_farewell;
    uint8_t heard_leave;
};

struct sim_chunk {
    struct sim_chunk *next;
    size_t count;
    struct sim_request requests[];
};

struct alar_sim_world {
    struct alar_sim_options options;
    uint64_t now;
    struct sim_rank *ranks;
    struct sim_comm *comms;
    struct sim_stream *streams;
    struct sim_chunk *chunks;
    struct sim_request *pool;
    unsigned char *scratch; /* contributions of a mismatched operation, read as one rank does */
    size_t scratch_capacity;
    int32_t farewells;
    int32_t leaves;
    struct alar_sim_stats stats;
};

/* How to combine rows of contributions; rows[i] begins at rows + i * row_bytes. */
struct sim_fold {
    enum alar_dtype dtype;
    enum alar_reduction reduction;
    enum alar_sim_order order;
    enum alar_sim_nan nan;
    int32_t ranks;
    uint64_t count; /* elements that take part; count * size <= row_bytes */
    size_t row_bytes;
    unsigned char *rows;
    const int32_t *arrivals;
};

/* Combines in place and returns the row that holds the result. */
unsigned char *sim_fold_run(const struct sim_fold *fold);

/* row[i] = factor * row[i], rounded once in the dtype. */
void sim_scale(enum alar_dtype dtype, unsigned char *row, uint64_t count, double factor);

/* Longest chain of additions in the order over n ranks. */
uint32_t sim_order_height(enum alar_sim_order order, int32_t ranks);

/* Pools: NULL when they are full and may not grow, or when out of memory. */
struct sim_request *sim_request_take(struct alar_sim_world *world);
void sim_request_give(struct alar_sim_world *world, struct sim_request *request);
int sim_requests_grow(struct alar_sim_world *world, size_t count);
struct sim_operation *sim_operation_take(struct sim_comm *comm, uint64_t sequence,
                                         size_t row_bytes);
void sim_operation_give(struct sim_operation *operation);

/* 0 or -ALAR_E_NOMEM. */
int sim_scratch_reserve(struct alar_sim_world *world, size_t bytes);

/* The communicator the rank's next comm_create call names; NULL when out of memory. */
struct sim_comm *sim_comm_create(struct alar_sim_world *world, uint64_t number, uint64_t epoch,
                                 const int32_t *ranks, int32_t count);
void sim_comm_destroy(struct sim_comm *comm);

/* Reads the send buffer into the operation's rows; the receive buffer shows the own value. */
void sim_request_capture(struct sim_request *request);

/* The receive buffer shows the contributions of members first .. last - 1, as long as the operation
   still has them. */
void sim_request_show(struct sim_request *request, int32_t first, int32_t last);

/* Writes the value, computed by the first who asks. */
void sim_request_deliver(struct sim_request *request);

/* The request was linked to its operation: takes the contribution now, or leaves it queued. */
void sim_request_start(struct sim_request *request);

/* Extra of all messages of an operation. */
uint64_t sim_spread_draw(const struct sim_comm *comm, uint64_t sequence);

/* How long a message takes in this round of the operation over the link, numbered by its ends; us.
 */
uint64_t sim_latency_draw(const struct sim_operation *operation, uint64_t link, uint64_t round);

/* A call of the rank's, or its progress thread's turn: advances what is due. */
void sim_rank_advance(struct sim_rank *rank);

/* Ends what the member has pending, without a value. */
void sim_member_abandon(struct sim_member *member);

/* Does a call of the rank's do nothing? */
bool sim_rank_is_silent(const struct sim_rank *rank);

/* Has another rank left? This rank is told, and has heard it from now on. */
bool sim_rank_hears_leave(struct sim_rank *rank);

/* Virtual time up to tick, with progress threads. */
void sim_threads_run(struct alar_sim_world *world, uint64_t tick);

/* Optional functions of the table. */
int sim_stream_create(void *context, void **stream);
int sim_stream_sync(void *stream);
int sim_stream_destroy(void *stream);
int sim_stream_stall(void *context, void *stream, uint64_t duration_us);
int sim_note_set(void *context, const struct alar_note *note);
int sim_roll_call(void *context, uint64_t grace_us, uint8_t *presence, struct alar_note *note);
int sim_farewell(void *context, uint64_t timeout_us);
void sim_leave(void *context, int code, const uint8_t *presence, uint64_t grace_us);

#endif

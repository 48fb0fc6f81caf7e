/* One rank's training loop, as far as its log is concerned: compute, contribute, now and then a
   gradient all-reduce, end the step. A state machine that never blocks, so that one process can run
   one rank in real time or many in virtual time. */
#ifndef ALAR_TRAINING_LOOP_H
#define ALAR_TRAINING_LOOP_H

#include "driver/cp_reduce.h"
#include "driver/driver.h"

/* Where local losses come from. */
struct alar_source {
    void *data;
    /* The local loss of one microbatch of the step at `index` (0 is the first step of the run). */
    enum alar_status (*local)(void *data, uint32_t rank, size_t index, uint32_t microbatch,
                              struct alar_local *local);
    int64_t (*step)(void *data, size_t index); /* the step's own number */
    /* What is posted for the loss of a microbatch: one local loss a metric; NULL: it alone. */
    const struct alar_local *(*metrics)(void *data, uint32_t rank, const struct alar_local *local);
};

enum {
    ALAR_STRAGGLER_NONE = -1,
    ALAR_STRAGGLER_ROTATE = -2
};

/* What a step costs, in microseconds. */
struct alar_pace {
    uint64_t compute_us; /* each microbatch */
    uint64_t poll_us;    /* between two polls while computing; 0: only before each contribution */
    int32_t straggler;   /* the rank that is late, or one of the numbers above */
    uint64_t late_us;    /* by this much, once a step */
    uint64_t grad_bytes; /* of a step's blocking gradient all-reduce; 0: there is none */
    bool is_unlogged;    /* compute only: what a step costs without a log */
};

struct alar_fault_rank;

struct alar_training_loop_options {
    struct alar_driver *driver; /* borrowed */
    struct alar_source source;
    const struct alar_backend *backend; /* borrowed */
    void *context;                      /* of the back end; borrowed */
    uint32_t rank;
    uint32_t ranks;
    uint32_t microbatches;
    size_t steps; /* in all */
    struct alar_pace pace;
    uint64_t deadline_us; /* of the gradient all-reduce; 0: none */
    uint64_t comm_epoch;  /* of the gradients' communicator */
    void *gradient_comm;  /* the loop frees it; NULL: one of all ranks is made */
    struct alar_sharing sharing;
    struct alar_fault_rank *faults; /* borrowed; NULL: none */
};

/* What the runner has to do before it advances the loop again. */
enum alar_turn {
    ALAR_TURN_AT,      /* wait until *wake_us */
    ALAR_TURN_BLOCKED, /* the loop stands still: wait in alar_training_loop_wait, or poll */
    ALAR_TURN_OVER,    /* the driver needs END or is CLOSED */
    ALAR_TURN_GONE,    /* a fault: the rank does nothing more, see alar_fault_departure */
};

struct alar_training_loop;

/* Errors: ALAR_E_NOMEM; ALAR_E_BACKEND when the back end gives no communicator for the gradients.
 */
ALAR_MUST_USE enum alar_status
alar_training_loop_open(struct alar_training_loop **loop,
                        const struct alar_training_loop_options *options);

/* Goes on as far as it can. */
enum alar_turn alar_training_loop_advance(struct alar_training_loop *loop, uint64_t *wake_us);

/* Stands still for at most `slice_us` in the back end's own wait. Needs BLOCKED. */
void alar_training_loop_wait(struct alar_training_loop *loop, uint64_t slice_us);

/* The tick at which the wait that blocks the loop expires; UINT64_MAX: none does. */
uint64_t alar_training_loop_expiry(const struct alar_training_loop *loop);

/* What came of a reduction over the ranks that share a microbatch and is none; NULL: nothing did.
 */
const struct alar_participation_error *
alar_training_loop_participation_error(const struct alar_training_loop *loop);

/* Steps ended so far. */
size_t alar_training_loop_steps(const struct alar_training_loop *loop);

/* Frees it; NULL is fine. */
void alar_training_loop_free(struct alar_training_loop *loop);

#endif

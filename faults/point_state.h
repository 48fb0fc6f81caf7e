/* Inside the failure points: one rank's countdowns, shared by the files that let them fire. */
#ifndef ALAR_FAULTS_POINT_STATE_H
#define ALAR_FAULTS_POINT_STATE_H

#include "plan.h"

enum {
    FAULT_NAME_BYTES = 48,
    FAULT_QUEUE_MAX = 32,
    FAULT_POLL_US = 1000 /* virtual time between two calls that do nothing */
};

/* One that fired and is not in the history yet. */
struct fault_firing {
    enum alar_point point;
    uint64_t hit;
    int64_t value;
    bool has_op;
    uint64_t op; /* number within the log's communicator */
};

/* What became of a local loss, so that the twin can repeat it. */
struct fault_microbatch {
    uint8_t is_changed;
    struct alar_local local;
};

struct fault_request;

struct alar_fault_rank {
    struct alar_fault_rank_options options;
    struct alar_fault_pass pass;
    uint64_t hits[ALAR_POINT_COUNT];
    char name[ALAR_POINT_COUNT][FAULT_NAME_BYTES]; /* "alar/loss/nan/2" */
    uint64_t fired;
    struct fault_firing queue[FAULT_QUEUE_MAX];
    size_t queued;
    bool is_settling;
    struct fault_microbatch *microbatch; /* one a contribution */

    enum alar_departure departure;
    int exit_code;
    bool departs_after; /* mute once this contribution is handed over */

    /* The faulty back end. */
    const struct alar_backend *inner;
    void *context;
    uint64_t comms; /* created through it in this pass */
    uint64_t posted;
    uint64_t drops_left; /* calls that still do nothing */
    struct fault_request *requests;
};

/* Does the point fire at this hit? Counts it, and records it when it does; `op` is the number of
   the all-reduce it strikes, or -1. */
bool fault_fires(struct alar_fault_rank *rank, enum alar_point point, int64_t op, int64_t *value);

/* The countdown alone: does any line of the plan, or libfiu, say so? `name` is the point's full
   name. */
bool fault_matches(const struct alar_faults *faults, const char *name, enum alar_point point,
                   const struct alar_fault_rank_options *where, uint64_t hit, int64_t *value);

/* Allocations that failed since the last call, as firings; returns how many, at most `room`. */
size_t fault_alloc_taken(struct fault_firing *firing, size_t room);

/* Frees what the faulty back end kept. */
void fault_requests_free(struct alar_fault_rank *rank);

/* fiu.c: the commands for every rank, by this rank's name. */
void fault_fiu_enable(const struct alar_faults *faults, uint32_t rank);

/* fiu.c: what libfiu says of a name. */
bool fault_fiu_fails(const char *name, int64_t *value);

#endif

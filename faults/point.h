/* Failure points: the one header of faults/ that the shell of ref/ may include.

   Nothing here has state of its own but the allocations' countdown: what is asked for lives in a
   struct alar_faults (plan.h makes one), and each rank counts its hits in a struct alar_fault_rank.
   NULL stands for "no faults" everywhere, and costs a comparison. A build with FAULTS=0 has the
   empty twins at the end of this file and none of the code. */
#ifndef ALAR_FAULTS_POINT_H
#define ALAR_FAULTS_POINT_H

#include "api/backend.h"
#include "engine/loss.h"
#include "history/history.h"

enum alar_point {
#define POINT(token, ...) ALAR_POINT_##token,
#include "points.def"
#undef POINT
    ALAR_POINT_COUNT
};

/* A row of points.def. */
struct alar_point_row {
    const char *name;
    const char *hit;
    const char *site;
    const char *models;
    const char *value;
    int64_t least;
    int64_t most;
    int64_t example;
};

/* In the order of the enum; in every build. */
extern const struct alar_point_row alar_points[ALAR_POINT_COUNT];

struct alar_faults;     /* what this process was asked to break */
struct alar_fault_rank; /* one rank's points */

struct alar_fault_rank_options {
    const struct alar_faults *faults; /* borrowed; NULL: none */
    uint32_t rank;
    uint32_t ranks;
    size_t microbatches; /* contributions of a pass */
};

/* A pass over the rank's programs begins. */
struct alar_fault_pass {
    bool is_twin; /* only the local losses of the first pass are repeated; nothing else fires */
    uint64_t (*now_us)(void *clock);
    void *clock;
    struct alar_history *history; /* where what fires is recorded; borrowed; NULL: nowhere */
    const char *group;            /* of the log's operations there; borrowed; NULL: "world" */
    uint64_t history_since_us;
    uint64_t history_units_per_us;
};

/* What becomes of a rank that has gone. */
enum alar_departure {
    ALAR_DEPARTURE_NONE,
    ALAR_DEPARTURE_MUTE, /* it never calls its library again */
    ALAR_DEPARTURE_EXIT  /* its process ends without a word */
};

#if ALAR_FAULTS

/* *rank is NULL when nothing was asked for. Errors: ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status alar_fault_rank_open(struct alar_fault_rank **rank,
                                                    const struct alar_fault_rank_options *options);

/* Errors: ALAR_E_INPUT when a fault names a rank beyond `ranks`, with one line in `error_line`. */
ALAR_MUST_USE enum alar_status alar_faults_suit(const struct alar_faults *faults, uint32_t ranks,
                                                char *error_line);

/* Frees it and every buffer that an abandoned operation may still have read: call it after the
   back end's fini. */
void alar_fault_rank_free(struct alar_fault_rank *rank);

void alar_fault_pass_begin(struct alar_fault_rank *rank, const struct alar_fault_pass *pass);

/* Writes what fired while the history was busy. */
void alar_fault_settle(struct alar_fault_rank *rank);

/* Faults that fired so far. */
uint64_t alar_fault_fired(const struct alar_fault_rank *rank);

/* Was a plan asked for? A plan that fires nothing has shown nothing. */
bool alar_faults_is_plan(const struct alar_faults *faults);

/* ---- points, each where it strikes ----------------------------------------------------------- */

/* By how much the compute of the next contribution takes longer. */
uint64_t alar_fault_delay_us(struct alar_fault_rank *rank);

/* Asked before and after each contribution: does the rank depart here? How, and with which exit
   code, alar_fault_departure tells from then on. */
bool alar_fault_departs(struct alar_fault_rank *rank, bool has_contributed);
enum alar_departure alar_fault_departure(const struct alar_fault_rank *rank, int *code);

/* Changes the local loss of contribution `microbatch`, counted from the start of the pass. */
void alar_fault_local(struct alar_fault_rank *rank, size_t microbatch, struct alar_local *local);

/* Puts the faulty back end in place of the real one, for the rank's driver and program. The first
   communicator created through it carries the log. */
void alar_fault_wrap(struct alar_fault_rank *rank, const struct alar_backend **backend,
                     void **context);

/* The simulator's clock: when a call of this rank can change anything, given that its world says
   `next`. */
uint64_t alar_fault_next(const struct alar_fault_rank *rank, uint64_t next);

/* A write of *count bytes to the history: shortens it, or returns true with errno set. */
bool alar_fault_write(struct alar_fault_rank *rank, size_t *count);

/* From now on this process's allocations are counted; NULL: no longer. */
void alar_fault_alloc_arm(const struct alar_faults *faults);

#else

static inline enum alar_status alar_fault_rank_open(struct alar_fault_rank **rank,
                                                    const struct alar_fault_rank_options *options)
{
    (void)options;
    *rank = NULL;
    return ALAR_OK;
}

static inline enum alar_status alar_faults_suit(const struct alar_faults *faults, uint32_t ranks,
                                                char *error_line)
{
    (void)faults;
    (void)ranks;
    (void)error_line;
    return ALAR_OK;
}

static inline void alar_fault_rank_free(struct alar_fault_rank *rank)
{
    (void)rank;
}

static inline void alar_fault_pass_begin(struct alar_fault_rank *rank,
                                         const struct alar_fault_pass *pass)
{
    (void)rank;
    (void)pass;
}

static inline void alar_fault_settle(struct alar_fault_rank *rank)
{
    (void)rank;
}

static inline uint64_t alar_fault_fired(const struct alar_fault_rank *rank)
{
    (void)rank;
    return 0;
}

static inline bool alar_faults_is_plan(const struct alar_faults *faults)
{
    (void)faults;
    return false;
}

static inline uint64_t alar_fault_delay_us(struct alar_fault_rank *rank)
{
    (void)rank;
    return 0;
}

static inline bool alar_fault_departs(struct alar_fault_rank *rank, bool has_contributed)
{
    (void)rank;
    (void)has_contributed;
    return false;
}

static inline enum alar_departure alar_fault_departure(const struct alar_fault_rank *rank,
                                                       int *code)
{
    (void)rank;
    (void)code;
    return ALAR_DEPARTURE_NONE;
}

static inline void alar_fault_local(struct alar_fault_rank *rank, size_t microbatch,
                                    struct alar_local *local)
{
    (void)rank;
    (void)microbatch;
    (void)local;
}

static inline void alar_fault_wrap(struct alar_fault_rank *rank,
                                   const struct alar_backend **backend, void **context)
{
    (void)rank;
    (void)backend;
    (void)context;
}

static inline uint64_t alar_fault_next(const struct alar_fault_rank *rank, uint64_t next)
{
    (void)rank;
    return next;
}

static inline bool alar_fault_write(struct alar_fault_rank *rank, size_t *count)
{
    (void)rank;
    (void)count;
    return false;
}

static inline void alar_fault_alloc_arm(const struct alar_faults *faults)
{
    (void)faults;
}

#endif

#endif

/* Gives a back end all-reduces of known contributions, as many ranks at once as there are, and
   records what it did: posts, polls, waits in any order, reads, and looks again later whether what
   was read is still there. It never blocks: whoever runs the ranks does, in real or virtual time.
 */
#ifndef ALAR_EXERCISE_H
#define ALAR_EXERCISE_H

#include "api/backend.h"
#include "history/history.h"
#include "tests/lib/history_more.h"

enum {
    ALAR_EXERCISE_BYTES_MAX = 1024 /* of one contribution */
};

/* One all-reduce, the same on all ranks. */
struct alar_exercise_op {
    enum alar_dtype dtype;
    enum alar_reduction red;
    uint32_t elements;
    bool is_split; /* on the two halves of the world, each for itself */
    const char *key;
    int64_t step;       /* -1: none */
    int32_t microbatch; /* -1: none */
    uint32_t pairs;
};

/* What is reduced. */
struct alar_exercise_source {
    void *data;
    void (*op)(void *data, uint64_t index, struct alar_exercise_op *op);
    /* The contribution of a rank, `elements` values in the dtype. */
    void (*fill)(void *data, uint64_t index, uint32_t rank, void *send);
};

struct alar_exercise_options {
    const struct alar_backend *backend; /* borrowed; none of its functions blocks here */
    void *context;
    const struct alar_backend *twin; /* for the value of the blocking twin; NULL: none is asked */
    void *twin_context;
    struct alar_exercise_source source;
    uint64_t (*now_us)(
        void *clock); /* read again for each record: an end is never dated too early */
    void *clock;
    uint32_t rank;
    uint32_t ranks;
    uint64_t ops;
    uint16_t window;  /* pending at most, at least 1 */
    bool has_halves;  /* ranks / 2 and more ranks each: communicators for is_split */
    uint64_t seed;    /* of the moments at which this rank acts */
    uint64_t pace_us; /* most time between two of its actions, at least 1 */
    uint64_t stride;  /* it acts at times t with t % stride == phase only; at least 1 */
    uint64_t phase;
    uint64_t deadline_us;         /* of one all-reduce */
    uint64_t epoch;               /* of its communicators: this one and the next few */
    struct alar_history *history; /* borrowed; NULL: none */
    uint64_t history_since_us;
    uint64_t history_units_per_us;
    const struct alar_history_contract *contract;
};

struct alar_exercise;

/* Errors: ALAR_E_NOMEM; ALAR_E_BACKEND when the back end gives no communicator. */
ALAR_MUST_USE enum alar_status alar_exercise_open(struct alar_exercise **exercise,
                                                  const struct alar_exercise_options *options);

/* Acts, at a time not before *wake_us of the call before, which this sets anew. Returns true once
   the rank is through; it must go on being called, as peers may need its calls, until all are. */
bool alar_exercise_advance(struct alar_exercise *exercise, uint64_t *wake_us);

/* All-reduces posted, and those that ended with a value. */
uint64_t alar_exercise_posted(const struct alar_exercise *exercise);
uint64_t alar_exercise_done(const struct alar_exercise *exercise);

/* Ends the record, and gives the communicators back; all ranks call. NULL is fine. The buffers of
   what is still pending live on until alar_exercise_free. */
void alar_exercise_close(struct alar_exercise *exercise);

/* After the back end's fini, or once nothing is pending. */
void alar_exercise_free(struct alar_exercise *exercise);

#endif

/* alar: logging a loss over all ranks without waiting for the slowest one.

   A training loop opens a log, posts its loss after each microbatch, says when a step ends, and
   reads the reports that have become due. The all-reduce behind a report is issued at the post and
   waited for at the end of the step or, when configured so, at the log line only. One log per
   process and rank; not thread-safe. Link with `pkg-config --libs alar`. */
#ifndef ALAR_H
#define ALAR_H

#include "status.h"
#include "terms.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One logged value. */
struct alar_report {
    const char *metric; /* its name, as in the configuration */
    enum alar_metric_kind kind;
    int64_t first_step;     /* of the steps it covers */
    int64_t step;           /* last of them: the step it belongs to */
    int64_t logged_at_step; /* at which it was logged: `step`, unless the line lags */
    uint32_t steps;         /* how many it covers */
    double loss;            /* the value, of a loss in nats per token; meaningless when is_empty */
    uint32_t extreme_rank;  /* min, max: the lowest rank that holds it, or a NaN; otherwise 0 */
    bool is_empty;          /* no token on any rank: neither NaN nor 0 */
    double tokens;      /* of all ranks; 0 under rank-mean and seed-undivided, which carry none */
    uint64_t nonfinite; /* local losses that are not finite */
    uint32_t nan_steps; /* steps whose value is NaN or infinite */
    uint64_t empty;     /* steps without a token; under rank-mean local losses without one */
};

/* As a deadline: wait for ever, and let synchronous schedules use blocking calls. */
#define ALAR_NO_DEADLINE UINT64_MAX

/* Zero it first: a zero means the default named here. */
struct alar_config {
    const char *backend;                   /* "mpi" (default), or a path to a plug-in */
    enum alar_placement placement;         /* per microbatch */
    enum alar_normalization normalization; /* token-weighted */
    enum alar_encoding encoding;           /* pair32 */
    enum alar_over over;                   /* mean of the step values */
    enum alar_check check;                 /* agree */
    uint32_t microbatches;                 /* a step: 1 */
    uint32_t log_interval;                 /* steps a report covers: 1 */
    uint16_t window;                       /* pending handles at most: all of an interval */
    uint64_t deadline_ms;                  /* of one wait: 30000 */
    bool is_sync;                          /* false: asynchronous */
    bool waits_at_log;                     /* false: wait at the end of each step */
    const char *history;                   /* directory to record into; NULL: none */
    const struct alar_metric *metrics;     /* the names outlive the log; NULL: the mean "lm loss" */
    uint32_t metric_count; /* at most 16; no name twice, or empty, or with a comma */
    uint32_t lag; /* with waits_at_log: steps by which a log line is written later than its last
                     one, at most log_interval and 255; so not even its last all-reduce is waited
                     for */
};

struct alar;

/* Opens a log; all ranks call. Starts the back end's library if the program has not.
   Errors: ALAR_E_INPUT for a back end that can't be loaded (one line in `error_line`, 512 bytes,
   which may be NULL); ALAR_E_RANGE, also for a metric without a name or with a repeated one, and
   for minima or maxima over more than 1,024 ranks; ALAR_E_NOMEM; ALAR_E_BACKEND; ALAR_E_IO. */
ALAR_API ALAR_MUST_USE enum alar_status
alar_open(struct alar **log, const struct alar_config *config, char *error_line);

ALAR_API uint32_t alar_rank(const struct alar *log);
ALAR_API uint32_t alar_ranks(const struct alar *log);

/* Posts this rank's loss over the next microbatch of the current step: `loss_sum` in nats over
   `tokens` valid tokens, or 0 over 0. Returns at once unless the window is full. Errors:
   ALAR_E_INPUT when `tokens` is no count; ALAR_E_RANGE past the last microbatch, and for a log of
   several metrics; otherwise the
   status with which the run ended. */
ALAR_API ALAR_MUST_USE enum alar_status alar_post(struct alar *log, double loss_sum, double tokens);

/* What one rank knows of one metric over one microbatch. */
struct alar_sample {
    double sum;    /* of the metric over its tokens; min, max: the value itself */
    double tokens; /* or whatever it is a mean over; 0 when there is nothing of it */
};

/* Posts a log's several metrics in one all-reduce: samples[i] is of metrics[i]. Each metric gets a
   report of its own, in the order of the sorted names; ranks may list them in different orders.

       mean  as the normalization says, and over an interval as `over` says
       sum   of the samples' sums, over all ranks, microbatches and steps that the report covers
       min   the least, or greatest, value of all samples with tokens, and the lowest rank that has
       max   it; NaN when any of them is NaN, then with the lowest that has one; -0 is below +0

   A report is EMPTY when no sample had tokens. Minima and maxima travel in a SUM as one element for
   each rank, because a back end's MAX may lose a NaN or the maximum itself: 2 + n + n/24 floats a
   metric, so they cost what the number of ranks is, at most 1,024. Ranks with different metrics are
   found under `exact` (ALAR_E_SCHEMA); the pair encodings add elements by their place and can't
   know. Errors: as alar_post. spec: L-14, L-15 */
ALAR_API ALAR_MUST_USE enum alar_status alar_post_metrics(struct alar *log,
                                                          const struct alar_sample *samples);

/* One line on why the run ended as it did, when there is more to say than its status: which rank is
   missing, doubled or has other metrics under `exact`. NULL otherwise. Lives as long as the log. */
ALAR_API const char *alar_why(struct alar *log);

/* Ends the step; waits where the configuration says so. Errors: as alar_post; ALAR_E_RANGE when
   microbatches are missing; ALAR_E_FULL while the reports of 16 log lines are unread. */
ALAR_API ALAR_MUST_USE enum alar_status alar_step_end(struct alar *log);

/* Lets pending reductions advance; call it now and then while computing. Never blocks. */
ALAR_API ALAR_MUST_USE enum alar_status alar_poll(struct alar *log);

/* Takes the oldest unread report. Errors: ALAR_E_EMPTY when there is none. */
ALAR_API ALAR_MUST_USE enum alar_status alar_report(struct alar *log, struct alar_report *report);

/* Waits for what is pending, so that the last reports can be read. Nothing may be posted
   afterwards. Errors: the status with which the run ended. */
ALAR_API ALAR_MUST_USE enum alar_status alar_finish(struct alar *log);

/* Finishes if need be, ends the back end and frees the log; all ranks call; NULL is fine. After a
   lost rank it ends the process, with exit code 2, because the library can't be finalized then; so
   it does, with exit code 1, after ALAR_E_MISCOUNT and ALAR_E_SCHEMA. */
ALAR_API ALAR_MUST_USE enum alar_status alar_close(struct alar *log);

#ifdef __cplusplus
}
#endif

#endif

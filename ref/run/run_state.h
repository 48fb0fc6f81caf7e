/* What the files of a run share: its ranks and their state. Private to them, to the tests, and to
   the view that shows a run to people. */
#ifndef ALAR_RUN_STATE_H
#define ALAR_RUN_STATE_H

#include "history/report_json.h"
#include "run/run.h"

#include <stdio.h>

/* The communicators a rank is in, where not all ranks are in one; NULL: in none of the kind. */
struct run_groups {
    const struct alar_backend *backend;
    void *log;
    void *sharing;
    void *gradient;
};

/* The metrics of a run with extremes, and where each is among their sorted names. */
enum run_metric {
    RUN_METRIC_LOSS,
    RUN_METRIC_MAX,
    RUN_METRIC_MIN,
    RUN_METRIC_TOKENS,
    RUN_METRICS
};

/* One rank that this process runs. */
struct run_rank {
    uint32_t rank;
    void *context; /* of the back end */
    struct alar_driver *driver;
    struct alar_training_loop *loop;
    struct alar_history *history;
    struct alar_fault_rank *faults;        /* NULL: none */
    void *wrapped;                         /* by options->wrap; NULL: nothing */
    struct run_groups groups;              /* of the current pass, until driver and loop own them */
    char group[16];                        /* name of the group it logs with */
    char sharing_group[16];                /* and of the one that shares its microbatches */
    struct alar_exact exact;               /* of the newest local loss, under `exact` */
    struct alar_local metric[RUN_METRICS]; /* of the newest microbatch, with extremes */
    struct run *run;
    enum alar_turn turn;
    uint64_t wake_us;
    uint64_t start_us;       /* of the current pass */
    uint64_t elapsed_us;     /* of it, once it is over */
    uint64_t since_us;       /* of the last log line */
    struct alar_report *log; /* of the first pass, in order */
    size_t log_count;
    size_t log_max;
    size_t compared;   /* reports of the twin held against `log` */
    size_t same;       /* of which had the same bits */
    size_t illegal;    /* of which no order of addition gives */
    uint64_t ulps_max; /* greatest distance of the others */
    uint8_t
        *presence; /* of every rank of the world, for a roll call; one for all of this process */
    struct alar_note *note; /* likewise */
};

struct run {
    const struct alar_run_options *options;
    struct alar_config config;          /* complete */
    struct alar_backend table;          /* as loaded */
    const struct alar_backend *backend; /* &table */
    void *context;                      /* of the back end, when it is a real one */
    bool is_simulated;
    struct alar_sim_world *world; /* of the current pass, when simulated */
    struct alar_dataset dataset;
    struct alar_step_range range;
    uint32_t ranks; /* of the world */
    struct alar_topology topology;
    uint32_t reporter; /* the rank whose log is shown: the first of the last stage */
    void *meeting;     /* communicator to meet on, where there is no farewell; NULL: none */
    uint32_t own;      /* rank of this process; on the simulator 0, the first of its ranks */
    struct run_rank *rank;
    uint32_t rank_count;              /* run by this process */
    bool is_started;                  /* the ranks are under way: the deadline of waits holds */
    bool is_leaving;                  /* its library is being ended */
    uint32_t guarded;                 /* how often the guard has expired over what it guards */
    bool is_twin;                     /* the second pass */
    struct alar_report_file log_json; /* open where has_log_json */
    bool has_log_json;
    FILE *stats;               /* of the reporter, when asked for */
    uint64_t history_since_us; /* the tick from which histories count */
    enum alar_status status;   /* how the first pass ended */
    int code;                  /* with which the process leaves */
};

/* run_setup.c: everything a run needs, and its end.
   Errors of run_open: ALAR_E_INPUT, ALAR_E_NOMEM, with one line in `error_line`; ALAR_E_BACKEND. */
ALAR_MUST_USE enum alar_status run_open(struct run *run, char *error_line);
ALAR_MUST_USE enum alar_status run_close(struct run *run, char *error_line);

/* run_together.c: how long ranks wait for each other: --start-deadline-ms, then --deadline-ms;
   UINT64_MAX: for ever. And how long they have to answer: a tenth, but no less than 100 ms. */
uint64_t run_limit_us(const struct run *run);
uint64_t run_grace_us(const struct run *run);

/* Until alar_guard_clear: should a call of the library not return, the process ends by itself with
   2, and says which ranks of this host do not run. */
void run_guard(struct run *run, const char *what);

/* Says that the process ends now, with that code. */
void run_leaving(const struct run *run, int code);

/* The library has ended, under a guard. Who is stopped from now on keeps the launcher waiting, and
   nobody is left to say so: no rank leaves this host while another is stopped, and the lowest
   leaves last. */
void run_see_off(const struct run *run);

/* Some rank did not come to `what`: calls the roll, says who is silent, and leaves with 2. Returns
   only where the back end has no way to leave. */
void run_absent(struct run *run, enum alar_status status, const char *what);

/* Adds up at most 16 elements over all ranks, on a communicator of its own with that epoch; on the
   simulator they are in one place already. Does not return to a rank that lost another one, see
   run_absent. Errors: ALAR_E_BACKEND; ALAR_E_TIMEOUT, ALAR_E_LOST. */
ALAR_MUST_USE enum alar_status run_sum(struct run *run, uint64_t epoch, const char *what,
                                       int64_t *elements, size_t count);

/* run_groups.c: who reduces with whom. Errors: ALAR_E_INPUT when the ranks are not pp x dp x cp,
   with one line in `error_line`; ALAR_E_BACKEND, ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status run_topology_open(struct run *run, char *error_line);
ALAR_MUST_USE enum alar_status run_groups_open(const struct run *run,
                                               const struct alar_backend *backend, void *context,
                                               struct run_groups *groups);
void run_groups_free(struct run_groups *groups);
void run_groups_declare(const struct run *run, struct run_rank *rank);

/* The driver of a rank in its coordinates, and those it shares microbatches with; both take the
   rank's communicators. */
void run_coordinates_driver(const struct run *run, struct run_rank *rank,
                            struct alar_driver_options *driver);
struct alar_sharing run_coordinates_sharing(const struct run *run, const struct run_rank *rank);

/* Which of the recorded ranks a rank takes its losses from. */
uint32_t run_losses_rank(const struct run *run, uint32_t rank);

/* The rank whose log is shown, if this process runs it; otherwise NULL. */
const struct run_rank *run_reporter(const struct run *run);

/* run_metrics.c: makes the configuration log them. Errors: ALAR_E_INPUT, with one line in
   `error_line`, when the ranks can't be told apart, or are too many. */
ALAR_MUST_USE enum alar_status run_metrics_open(struct run *run, char *error_line);

/* What a rank posts for a local loss, which `source->metrics` of its loop is; `run` is a struct
   run. The result lives as long as the loss that it borrows from. */
const struct alar_local *run_metrics_local(void *run, uint32_t rank,
                                           const struct alar_local *local);

/* How many reports a log line has. */
uint32_t run_metrics_count(const struct run *run);

/* run_pass.c: opens drivers and programs of the current pass for every rank, runs them to their
   end, and leaves them open. Errors: ALAR_E_NOMEM, ALAR_E_BACKEND, ALAR_E_RANGE. */
ALAR_MUST_USE enum alar_status run_pass(struct run *run);
void run_pass_free(struct run *run);

/* run_end.c: a rank's loop is over: tears it down, or tells why it can't go on. */
void run_rank_over(struct run_rank *rank);

/* A rank can't go on and says why; on a real back end, does not return where it can leave. */
void run_rank_lost(struct run_rank *rank, enum alar_status status);

/* A fault took the rank away: a process of its own does nothing more until the survivors end the
   job, or ends here; the simulator's rank falls silent. */
void run_rank_gone(const struct run_rank *rank);

/* All ranks of a real back end meet here before a call that would wait for every rank without a
   bound; one that does not come within the deadline ends the run. spec: F-07 */
void run_meet(struct run *run);

/* run_report.c: the driver's on_report; `rank` is a struct run_rank. */
void run_report(void *rank, const struct alar_report *report);

/* run_audit.c: rank 0's `index`-th value differs from its twin's: is each one that some order of
   addition gives? ALAR_OK also when that can't be decided, because a contribution is not finite.
   Errors: ALAR_E_DIFFERS when one of them is not; ALAR_E_NOMEM. spec: L-10 */
ALAR_MUST_USE enum alar_status run_audit(const struct run *run, size_t index,
                                         const struct alar_report *first,
                                         const struct alar_report *twin);

/* Bits of a report's value in the run's encoding. */
uint64_t run_report_bits(const struct run *run, const struct alar_report *report);

#endif

/* `alar run`: ranks that log recorded losses, and their synchronous twin.

   On a real back end this process is one rank of the launcher's; on the simulator it is all of
   them, in virtual time. Either way the run has two passes over the same programs: the one asked
   for, and, unless told not to, its twin: same placement, blocking calls, no compute. Both logs are
   compared bit by bit. */
#ifndef ALAR_RUN_H
#define ALAR_RUN_H

#include "backend/sim/sim.h"
#include "base/topology.h"
#include "driver/config.h"
#include "run/dataset.h"
#include "run/training_loop.h"
#include "sys/error_line.h"

struct run;
struct run_rank;
struct run_totals;

/* Who shows a run to people; no function is NULL. */
struct alar_run_view {
    /* Rank 0 logged a value, `elapsed_ms` a step after the last one. */
    void (*reported)(const struct run *run, const struct alar_report *report, double elapsed_ms);
    /* Rank 0 held a value against its twin: 0 ulps mean the same bits. */
    void (*compared)(const struct run *run, const struct alar_report *first,
                     const struct alar_report *twin, uint64_t ulps);
    /* A rank has ended that many steps of the pass. */
    void (*progress)(const struct run *run, size_t steps);
    /* A rank can't go on: one line without its newline. */
    void (*ending)(const struct run_rank *rank, const char *text);
    /* Rank 0 is done; `twin` is NULL when there was no second pass. */
    void (*summary)(const struct run *run, const struct run_totals *pass,
                    const struct run_totals *twin);
    /* The process is about to end with that code, in the middle of the run. NULL: nobody asks. */
    void (*leaving)(int code);
};

struct alar_faults;

/* Puts something else in the place of a rank's back end, in the first pass. */
struct alar_run_wrap {
    void *data;
    /* Replaces both; *wrapped is given to `free` once the library is done with it. */
    enum alar_status (*open)(void *data, const struct run_rank *rank,
                             const struct alar_backend **backend, void **context, void **wrapped);
    void (*free)(void *wrapped);
};

struct alar_run_options {
    const struct alar_run_view *view; /* borrowed */
    struct alar_config config;        /* complete but for `microbatches`, which the losses decide */
    const char *losses;               /* directory */
    enum alar_input input;
    uint32_t ranks;                /* sim: 0 means as many as the losses have */
    struct alar_topology topology; /* what is 0 is not said, see run_topology_open */
    bool is_replicated;            /* context parallel ranks hold the full loss, not a share */
    const char *steps;             /* "A:B"; NULL: all */
    struct alar_pace pace;
    const struct alar_sim_options *sim; /* delays and manners; borrowed; NULL: the defaults */
    enum alar_sim_order order;          /* sim */
    enum alar_sim_order twin_order;     /* sim */
    uint64_t seed;
    const char *log_json;             /* file; NULL: none */
    const char *stats_json;           /* file for the totals of both passes; NULL: none */
    const struct alar_faults *faults; /* borrowed; NULL: none */
    const struct alar_run_wrap *wrap; /* borrowed; NULL: none */
    bool has_extremes; /* log the least and the greatest loss over ranks, and the tokens, too */
    bool has_twin;
    uint64_t start_deadline_ms; /* until all ranks are under way; 0: none */
    bool is_quiet;              /* no log lines */
};

/* Counts of one pass, over all ranks. */
struct run_totals {
    int64_t posted;
    int64_t ready;
    int64_t waited;
    int64_t failed;
    int64_t timed_out;
    int64_t leaked;
    int64_t blocked_us; /* all ranks' together */
    int64_t fired;      /* faults */
    int64_t elapsed_us; /* of the pass, mean of the ranks */
};

/* Runs it all and returns the exit code. When the input can't be used, `error_line`
   (ALAR_ERROR_LINE_BYTES) says why in one line; otherwise it is empty. */
int alar_run(const struct alar_run_options *options, char *error_line);

#endif

/* Runs of `alar run` inside a test: nothing is printed, rank 0's reports are kept. */
#ifndef TESTS_RUN_RIG_H
#define TESTS_RUN_RIG_H

#include "run/run_state.h"

enum {
    RUN_RIG_REPORTS_MAX = 200
};

/* Rank 0's reports of the last run, in order; set the count to 0 before one. */
extern struct alar_report run_rig_seen[RUN_RIG_REPORTS_MAX];
extern size_t run_rig_count;

/* The original feature on gloo: recorded local sums, a right fold over pairs of floats in the
   simulator, a log line a step, nothing checked, no twin. */
struct alar_run_options run_rig_gloo(const char *losses);

#endif

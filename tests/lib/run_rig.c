/* A view that shows nothing, and the options of the golden runs. */
#include "tests/lib/run_rig.h"

#include <criterion/criterion.h>
#include <criterion/logging.h>

struct alar_report run_rig_seen[RUN_RIG_REPORTS_MAX];
size_t run_rig_count;

static void keep(const struct run *run, const struct alar_report *report, double elapsed_ms)
{
    (void)run;
    (void)elapsed_ms;
    cr_assert_lt(run_rig_count, RUN_RIG_REPORTS_MAX);
    run_rig_seen[run_rig_count++] = *report;
}

static void ignore_compared(const struct run *run, const struct alar_report *first,
                            const struct alar_report *twin, uint64_t ulps)
{
    (void)run;
    (void)first;
    (void)twin;
    (void)ulps;
}

static void ignore_progress(const struct run *run, size_t steps)
{
    (void)run;
    (void)steps;
}

static void ignore_ending(const struct run_rank *rank, const char *text)
{
    cr_log_warn("rank %u: %s", rank->rank, text);
}

static void ignore_summary(const struct run *run, const struct run_totals *pass,
                           const struct run_totals *twin)
{
    (void)run;
    (void)pass;
    (void)twin;
}

static const struct alar_run_view view = {
    .reported = keep,
    .compared = ignore_compared,
    .progress = ignore_progress,
    .ending = ignore_ending,
    .summary = ignore_summary,
};

struct alar_run_options run_rig_gloo(const char *losses)
{
    return (struct alar_run_options){
        .view = &view,
        .losses = losses,
        .input = ALAR_INPUT_SUMS,
        .config = {.backend = "sim",
                   .log_interval = 1,
                   .check = ALAR_CHECK_OFF,
                   .deadline_ms = ALAR_NO_DEADLINE},
        .order = ALAR_SIM_RIGHT_FOLD,
        .twin_order = ALAR_SIM_RIGHT_FOLD,
        .pace = {.straggler = ALAR_STRAGGLER_NONE},
        .seed = 1,
    };
}

/* Runs with faults, seen through the view of a run. */
#include "tests/lib/broken.h"

#include "faults/plan.h"
#include "tests/lib/scratch.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct broken now;

static void on_report(const struct run *run, const struct alar_report *report, double elapsed_ms)
{
    (void)run;
    (void)report;
    (void)elapsed_ms;
}

static void on_progress(const struct run *run, size_t steps)
{
    (void)run;
    (void)steps;
}

static void on_ending(const struct run_rank *rank, const char *text)
{
    if (now.lines < BROKEN_LINES_MAX && rank->run->world != NULL) {
        uint64_t tick = alar_sim_now(rank->run->world);

        now.line_rank[now.lines] = rank->rank;
        now.line_tick[now.lines] = tick;
        now.wait_us[now.lines] = tick - alar_driver_deadline(rank->driver)->since;
        snprintf(now.line[now.lines++], BROKEN_LINE_BYTES, "%s", text);
    }
}

static void on_summary(const struct run *run, const struct run_totals *pass,
                       const struct run_totals *twin)
{
    now.fired = pass->fired;
    now.reports = run->rank[0].log_count;
    now.same = twin != NULL ? run->rank[0].same : 0;
    for (uint32_t i = 0; i < run->rank_count && i < BROKEN_RANKS; i++) {
        const struct run_rank *rank = &run->rank[i];
        const struct alar_finding *finding = alar_driver_findings(rank->driver, &now.findings[i]);

        now.same = rank->same < now.same ? rank->same : now.same;
        now.finding[i] = *finding;
    }
}

static void on_compared(const struct run *run, const struct alar_report *first,
                        const struct alar_report *twin, uint64_t ulps)
{
    (void)run;
    (void)first;
    (void)twin;
    (void)ulps;
}

static const struct alar_run_view view = {
    .reported = on_report,
    .compared = on_compared,
    .progress = on_progress,
    .ending = on_ending,
    .summary = on_summary,
};

struct alar_run_options broken_options(void)
{
    return (struct alar_run_options){
        .view = &view,
        .config =
            {
                .backend = "sim",
                .log_interval = 10,
                .deadline_ms = BROKEN_DEADLINE_US / 1000,
            },
        .losses = "tests/data/gpt-losses/train",
        .pace = {.compute_us = 100, .poll_us = 50, .straggler = ALAR_STRAGGLER_NONE},
        .order = ALAR_SIM_RECURSIVE_DOUBLING,
        .twin_order = ALAR_SIM_RECURSIVE_DOUBLING,
        .seed = 1,
        .has_twin = true,
        .is_quiet = true,
    };
}

struct broken broken_run(struct alar_run_options options, const char *plan, uint64_t seed)
{
    struct alar_faults faults = {0};
    char error_line[ALAR_ERROR_LINE_BYTES] = "";

    if (plan != NULL) {
        const char *path = scratch_write("broken.plan", plan, strlen(plan));

        cr_assert_eq(alar_plan_read(&faults, path, seed, error_line), ALAR_OK, "%s", error_line);
        options.faults = &faults;
    }
    memset(&now, 0, sizeof(now));
    now.code = alar_run(&options, error_line);
    return now;
}

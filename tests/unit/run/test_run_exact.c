/* Whole runs under `exact` on the simulator: one log, bit for bit, whatever the run looks like. */
#include "tests/lib/run_rig.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct alar_report first[RUN_RIG_REPORTS_MAX];
static size_t first_count;

static void check_same(const struct alar_run_options *options, const char *what)
{
    char error_line[ALAR_ERROR_LINE_BYTES] = "";

    run_rig_count = 0;
    cr_assert_eq(alar_run(options, error_line), ALAR_CLASS_GOOD, "%s: %s", what, error_line);
    if (first_count == 0) {
        memcpy(first, run_rig_seen, sizeof(first));
        first_count = run_rig_count;
    }
    cr_assert_eq(run_rig_count, first_count);
    for (size_t i = 0; i < first_count; i++) {
        const struct alar_report *report = &run_rig_seen[i];

        cr_assert_eq(memcmp(&report->loss, &first[i].loss, sizeof(report->loss)), 0,
                     "%s, report %zu: %a, %a", what, i, report->loss, first[i].loss);
        cr_assert_eq(memcmp(&report->tokens, &first[i].tokens, sizeof(report->tokens)), 0);
        cr_assert_eq(report->is_empty, first[i].is_empty);
        cr_assert_eq(report->empty, first[i].empty);
    }
}

static struct alar_run_options options_of(enum alar_normalization normalization)
{
    struct alar_run_options options = run_rig_gloo("tests/data/gpt-losses/train");

    options.input = ALAR_INPUT_TOKENS;
    options.steps = "27:62";
    options.config.encoding = ALAR_EXACT;
    options.config.normalization = normalization;
    options.config.check = ALAR_CHECK_AGREE;
    options.config.log_interval = 3;
    first_count = 0;
    return options;
}

/* Every order of addition, schedule and place to wait, with and without a twin that adds in another
   order: the same bits for every normalization. spec: N-54 */
Test(run_exact, every_order_schedule_and_wait_logs_the_same_bits)
{
    for (int n = 0; n < ALAR_SEED_UNDIVIDED; n++) {
        struct alar_run_options options = options_of((enum alar_normalization)n);

        for (int i = 0; i < 6 * 2 * ALAR_SIM_ORDER_COUNT; i++) {
            char what[96];

            options.order = (enum alar_sim_order)(i % ALAR_SIM_ORDER_COUNT);
            options.twin_order = (enum alar_sim_order)((i + 1) % ALAR_SIM_ORDER_COUNT);
            options.has_twin = i % 5 == 0;
            options.seed = (uint64_t)i;
            options.config.placement = (enum alar_placement)(i / ALAR_SIM_ORDER_COUNT % 3);
            options.config.is_sync = i / ALAR_SIM_ORDER_COUNT / 3 % 2;
            options.config.waits_at_log = i / ALAR_SIM_ORDER_COUNT / 6;
            snprintf(what, sizeof(what), "%s, order %d, %s%s, wait %d", alar_normalization_names[n],
                     (int)options.order, options.config.is_sync ? "sync-" : "async-",
                     alar_placement_names[options.config.placement], options.config.waits_at_log);
            check_same(&options, what);
        }
    }
}

/* A loss that is not finite is found, and found to be the same rank's, as with pairs. spec: L-07 */
Test(run_exact, agree_stops_after_the_step_of_a_nan)
{
    struct alar_run_options options = run_rig_gloo("tests/data/gpt-losses/diverge");
    char error_line[ALAR_ERROR_LINE_BYTES] = "";

    options.input = ALAR_INPUT_TOKENS;
    options.config.encoding = ALAR_EXACT;
    options.config.check = ALAR_CHECK_AGREE;
    run_rig_count = 0;
    cr_assert_eq(alar_run(&options, error_line), ALAR_CLASS_WRONG, "%s", error_line);

    const struct alar_report *last = &run_rig_seen[run_rig_count - 1];
    cr_assert_eq(last->step, 15);
    cr_assert_gt(last->nonfinite, 0);
    cr_assert_eq(last->nan_steps, 1);
}

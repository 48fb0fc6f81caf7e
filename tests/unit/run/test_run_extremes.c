/* Whole runs with extremes on the simulator: each report is what a plain loop over the losses says,
   wherever reductions are placed, waited for and added up. */
#include "numbers/fp.h"
#include "tests/lib/run_rig.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    INTERVAL = 3,
    STEPS = 7,
    LINES = 3,
    FIRST = 12 /* of `diverge`: infinities from its step 15, NaN from step 18 on */
};

/* What a log line says beside the mean. */
struct line {
    double least, greatest;
    uint32_t least_rank, greatest_rank;
    double tokens;
};

static double rounded(enum alar_encoding encoding, double value)
{
    return encoding == ALAR_PAIR32 ? (double)(float)value : value;
}

/* The mean of a rank's tokens in a microbatch, as the encoding has it. */
static double own_mean(enum alar_encoding encoding, const struct alar_local *local)
{
    struct alar_exact_ratio ratio = {.denominator = local->tokens};
    double mean = local->sum / (double)local->tokens;

    if (encoding == ALAR_EXACT) {
        ratio.numerator = *local->exact;
        cr_assert(alar_loss_exact_value(&ratio, &mean));
    }
    return rounded(encoding, mean);
}

static void line_take(struct line *line, double value, uint32_t rank)
{
    if (isnan(value)) {
        line->least_rank = isnan(line->least) && line->least_rank < rank ? line->least_rank : rank;
        line->greatest_rank = line->least_rank;
        line->least = line->greatest = value;
        return;
    }
    if (value < line->least || (value <= line->least && rank < line->least_rank)) {
        line->least = value;
        line->least_rank = rank;
    }
    if (value > line->greatest || (value >= line->greatest && rank < line->greatest_rank)) {
        line->greatest = value;
        line->greatest_rank = rank;
    }
}

static struct line line_of(const struct alar_dataset *dataset, enum alar_encoding encoding,
                           uint32_t ranks, uint64_t first, uint64_t end)
{
    struct line line = {INFINITY, -INFINITY, UINT32_MAX, UINT32_MAX, 0.0};

    for (uint64_t step = first; step < end; step++) {
        for (uint32_t m = 0; m < dataset->microbatches; m++) {
            for (uint32_t r = 0; r < ranks; r++) {
                struct alar_exact exact;
                struct alar_local local;

                alar_dataset_local_exact(dataset, r, step, m, &exact, &local);
                line.tokens += (double)local.tokens;
                if (local.tokens > 0) {
                    line_take(&line, own_mean(encoding, &local), r);
                }
            }
        }
    }
    return line;
}

static void check_value(const struct alar_report *report, double value, const char *what)
{
    bool is_nan = isnan(value) && isnan(report->loss);

    cr_assert(!report->is_empty && (is_nan || alar_fp_bits(report->loss) == alar_fp_bits(value)),
              "%s, step %d, %s: %a, expected %a", what, (int)report->step, report->metric,
              report->loss, value);
}

static void check_run(const struct alar_dataset *dataset, const struct alar_run_options *options,
                      const char *what)
{
    char error_line[ALAR_ERROR_LINE_BYTES] = "";

    run_rig_count = 0;
    cr_assert_eq(alar_run(options, error_line), ALAR_CLASS_GOOD, "%s: %s", what, error_line);
    cr_assert_eq(run_rig_count, LINES * RUN_METRICS, "%s", what);
    for (int i = 0; i < LINES; i++) {
        const struct alar_report *report = &run_rig_seen[i * RUN_METRICS];
        uint64_t first = FIRST + INTERVAL * (uint64_t)i;
        uint64_t end = first + INTERVAL < FIRST + STEPS ? first + INTERVAL : FIRST + STEPS;
        struct line line = line_of(dataset, options->config.encoding, options->ranks, first, end);

        check_value(&report[RUN_METRIC_MIN], line.least, what);
        check_value(&report[RUN_METRIC_MAX], line.greatest, what);
        check_value(&report[RUN_METRIC_TOKENS], line.tokens, what);
        cr_assert_eq(report[RUN_METRIC_MIN].extreme_rank, line.least_rank, "%s", what);
        cr_assert_eq(report[RUN_METRIC_MAX].extreme_rank, line.greatest_rank, "%s", what);
        for (int m = 0; m < RUN_METRICS; m++) {
            static const enum alar_metric_kind kinds[RUN_METRICS] = {
                ALAR_METRIC_MEAN, ALAR_METRIC_MAX, ALAR_METRIC_MIN, ALAR_METRIC_SUM};

            cr_assert_eq(report[m].kind, kinds[m]);
        }
    }
}

/* Every encoding, schedule, normalization, place to wait and order of addition, on one to four
   ranks of a run that diverges. spec: L-14, L-15, N-52 */
Test(run_extremes, reports_are_what_a_plain_loop_says)
{
    const struct alar_dataset_source source = {.directory = "tests/data/gpt-losses/diverge",
                                               .rank = ALAR_EVERY_RANK};
    struct alar_dataset dataset;
    char error_line[ALAR_ERROR_LINE_BYTES] = "";
    char what[96];

    cr_assert_eq(alar_dataset_open(&source, &dataset, error_line), ALAR_OK, "%s", error_line);
    for (int i = 0; i < 3 * 3 * 2 * 2 * 4; i++) {
        struct alar_run_options options = run_rig_gloo(source.directory);

        options.input = ALAR_INPUT_TOKENS;
        options.steps = "12:19";
        options.has_extremes = true;
        options.has_twin = i % 7 == 0;
        options.config.log_interval = INTERVAL;
        options.config.check = i % 5 == 0 ? ALAR_CHECK_OFF : ALAR_CHECK_COUNT;
        options.config.encoding = (enum alar_encoding)(i % 3);
        options.config.placement = (enum alar_placement)(i / 3 % 3);
        options.config.is_sync = i / 9 % 2 != 0;
        options.config.waits_at_log = i / 18 % 2 != 0;
        options.ranks = 1 + (uint32_t)i / 36;
        options.config.normalization = (enum alar_normalization)(i / 2 % ALAR_SEED_UNDIVIDED);
        options.order = (enum alar_sim_order)(i % ALAR_SIM_ORDER_COUNT);
        options.twin_order = (enum alar_sim_order)((i + 1) % ALAR_SIM_ORDER_COUNT);
        snprintf(what, sizeof(what), "case %d: %s, %s, %u ranks", i,
                 alar_encoding_names[options.config.encoding],
                 alar_placement_names[options.config.placement], options.ranks);
        check_run(&dataset, &options, what);
    }
    alar_dataset_close(&dataset);
}

/* Where a microbatch is shared nobody has its loss before the sum over those who share it, and
   elements grow with the ranks: both are refused before anything runs. spec: L-15 */
Test(run_extremes, what_can_not_be_told_apart_is_refused)
{
    struct alar_run_options options = run_rig_gloo("tests/data/gpt-losses/train");
    char error_line[ALAR_ERROR_LINE_BYTES] = "";

    options.input = ALAR_INPUT_TOKENS;
    options.has_extremes = true;
    options.topology.cp = 2;
    cr_assert_eq(alar_run(&options, error_line), ALAR_CLASS_UNUSABLE);
    cr_assert_str_eq(error_line,
                     "--extremes: expected --cp 1, or --scope replicated, found --cp 2");
}

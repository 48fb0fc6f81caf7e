/* What people read of a run: log lines, comparison, progress, the ending, the summary. */
#include "cli/cli.h"
#include "cli/cli_apart.h"
#include "cli/cli_run.h"
#include "run/run_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum {
    PROGRESS_COLUMNS = 40
};

static struct alar_cli_progress progress;

/* Hex of a report's bits, or EMPTY. */
static void format_bits(char *text, size_t bytes, const struct run *run,
                        const struct alar_report *report)
{
    int digits = run->config.encoding == ALAR_PAIR32 ? 8 : 16;

    if (report->is_empty) {
        snprintf(text, bytes, "EMPTY");
    } else {
        snprintf(text, bytes, "%0*" PRIx64, digits, run_report_bits(run, report));
    }
}

/* A line of its own below the loss. */
static void show_beside(const struct alar_report *report, const char *value)
{
    printf("                            | %s: %s", report->metric, value);
    if (report->kind != ALAR_METRIC_SUM && !report->is_empty) {
        printf(", of rank %u", report->extreme_rank);
    }
    puts(" |");
    (void)alar_cli_flush();
}

static void show_report(const struct run *run, const struct alar_report *report, double elapsed_ms)
{
    int64_t last = (int64_t)alar_dataset_step(&run->dataset, run->range.end - 1);
    char loss[32] = "EMPTY";

    if (run->options->is_quiet) {
        return;
    }
    alar_cli_progress_end(&progress);
    if (!report->is_empty) {
        snprintf(loss, sizeof(loss), "%.6E", report->loss);
    }
    if (report->kind == ALAR_METRIC_SUM && !report->is_empty) {
        snprintf(loss, sizeof(loss), "%.0f", report->loss); /* of tokens */
    }
    if (report->kind != ALAR_METRIC_MEAN) {
        show_beside(report, loss);
        return;
    }
    printf(" iteration %8" PRId64 "/%8" PRId64 " | elapsed time per iteration (ms): %.3f |"
           " %s lm loss: %s | tokens: %.0f | nan iterations: %u | empty: %" PRIu64 " |",
           report->step, last, elapsed_ms, alar_normalization_names[run->config.normalization],
           loss, report->tokens, report->nan_steps, report->empty);
    if (report->nonfinite > 0) {
        printf(" non-finite contributions: %" PRIu64 " |", report->nonfinite);
    }
    putchar('\n');
    (void)alar_cli_flush();
}

static void show_compared(const struct run *run, const struct alar_report *first,
                          const struct alar_report *twin, uint64_t ulps)
{
    char ours[32];
    char twins[32];

    if (run->options->is_quiet) {
        return;
    }
    alar_cli_progress_end(&progress);
    format_bits(ours, sizeof(ours), run, first);
    format_bits(twins, sizeof(twins), run, twin);
    printf("   step %6" PRId64 ": ", twin->step);
    if (run->options->has_extremes) {
        printf("%s ", first->metric);
    }
    if (ulps == 0) {
        printf("%s, same bits\n", ours);
    } else {
        printf("%s, synchronous %s, %" PRIu64 " ulp apart\n", ours, twins, ulps);
    }
}

static void show_progress(const struct run *run, size_t steps)
{
    static size_t shown = SIZE_MAX;
    size_t all = (size_t)(run->range.end - run->range.begin);
    size_t filled = steps * PROGRESS_COLUMNS / all;

    if (run_reporter(run) != NULL && steps != shown) {
        shown = steps; /* the clock is not read at every turn */
        alar_cli_progress_say(&progress, "%s [%.*s%*s] %zu/%zu steps",
                              run->is_twin ? "twin" : "run ", (int)filled,
                              "########################################",
                              (int)(PROGRESS_COLUMNS - filled), "", steps, all);
    }
}

static void show_ending(const struct run_rank *rank, const char *text)
{
    char line[2048];
    int length = snprintf(line, sizeof(line), "alar run: rank %u: %s\n", rank->rank, text);

    alar_cli_progress_end(&progress);
    /* One write, so that the lines of several ranks never mix, and none is lost in a buffer. */
    (void)alar_cli_flush();
    if (write(STDERR_FILENO, line, (size_t)length) != length) {
        fputs(line, stderr);
    }
}

static void print_totals(const char *name, const struct run_totals *totals)
{
    printf("   %-13s %" PRId64 " handles posted: %" PRId64 " complete before the wait, %" PRId64
           " waited for, %" PRId64 " failed, %" PRId64 " timed out, %" PRId64 " leaked; %" PRId64
           " collectives; %.3f ms blocked in waits, %.3f ms in all\n",
           name, totals->posted, totals->ready, totals->waited, totals->failed, totals->timed_out,
           totals->leaked, totals->posted, (double)totals->blocked_us / 1000.0,
           (double)totals->elapsed_us / 1000.0);
}

static void print_comparison(const struct run *run)
{
    const struct run_rank *rank = run_reporter(run);

    printf("   comparison    %zu of %zu logged values have the same bits as their synchronous twin",
           rank->same, rank->log_count);
    if (rank->same < rank->log_count) {
        printf("; the others are at most %" PRIu64 " ulp apart, %s", rank->ulps_max,
               rank->illegal == 0 ? "all as some order of addition gives them"
                                  : "and some are ILLEGAL: no order of addition gives them");
    }
    putchar('\n');
}

static void json_totals(FILE *file, const char *name, const struct run_totals *totals)
{
    fprintf(file,
            "\"%s\":{\"posted\":%" PRId64 ",\"ready\":%" PRId64 ",\"waited\":%" PRId64
            ",\"failed\":%" PRId64 ",\"timed_out\":%" PRId64 ",\"leaked\":%" PRId64
            ",\"blocked_us\":%" PRId64 ",\"elapsed_us\":%" PRId64 "}",
            name, totals->posted, totals->ready, totals->waited, totals->failed, totals->timed_out,
            totals->leaked, totals->blocked_us, totals->elapsed_us);
}

/* The totals as one JSON object, for benchmarks. */
static void write_stats(const struct run *run, const struct run_totals *pass,
                        const struct run_totals *twin)
{
    FILE *file = run->stats;

    fprintf(file, "{\"ranks\":%u,\"steps\":%" PRIu64 ",", run->ranks,
            run->range.end - run->range.begin);
    json_totals(file, "pass", pass);
    if (twin != NULL) {
        fputc(',', file);
        json_totals(file, "twin", twin);
    }
    fputs("}\n", file);
}

static void show_summary(const struct run *run, const struct run_totals *pass,
                         const struct run_totals *twin)
{
    const struct alar_config *config = &run->config;
    uint64_t found = 0;
    const struct alar_finding *finding = alar_driver_findings(run_reporter(run)->driver, &found);

    alar_cli_progress_end(&progress);
    printf("summary: %u ranks on %s, %s, %s over %s, %s, waited at the %s; sums over ranks\n",
           run->ranks, run->backend->name,
           alar_schedule_names[config->placement + 3U * config->is_sync],
           alar_normalization_names[config->normalization], alar_over_names[config->over],
           alar_encoding_names[config->encoding], config->waits_at_log ? "log line" : "step");
    if (!alar_topology_is_flat(&run->topology)) {
        printf("   topology      pp %u x dp %u x cp %u; rank %u of the last stage reports; a loss "
               "is %s "
               "over cp\n",
               run->topology.pp, run->topology.dp, run->topology.cp, run->reporter,
               run->options->is_replicated ? "the same" : "summed");
    }
    print_totals(config->is_sync ? "synchronous" : "asynchronous", pass);
    if (twin != NULL) {
        print_totals("twin", twin);
        print_comparison(run);
    }
    if (run->options->faults != NULL) {
        printf("   faults        %" PRId64 " fired, seed %" PRIu64 "%s\n", pass->fired,
               run->options->seed, pass->fired == 0 ? ": this run shows nothing about faults" : "");
    }
    if (found > 0) {
        printf("   NONFINITE     %" PRIu64 " non-finite contributions, first: step %" PRId64
               ", microbatch %u, rank %u%s\n",
               found, finding->step, finding->microbatch, finding->rank,
               run->config.check == ALAR_CHECK_AGREE ? "; all ranks stopped after that step" : "");
    }
    (void)alar_cli_flush();
    if (run->stats != NULL) {
        write_stats(run, pass, twin);
    }
}

const struct alar_run_view alar_cli_run_view = {
    .reported = show_report,
    .compared = show_compared,
    .progress = show_progress,
    .ending = show_ending,
    .summary = show_summary,
    .leaving = alar_cli_apart_end,
};

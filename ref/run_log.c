/* What people read of a run: log lines, progress, the ending, the summary. */
#include "clock.h"
#include "report_json.h"
#include "run.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { PROGRESS_COLUMNS = 40 };

uint64_t run_report_bits(const struct run *run, const struct alar_report *report)
{
    uint64_t bits = 0;

    if (run->options->encoding == ALAR_PAIR32) {
        float loss = (float)report->loss;
        uint32_t narrow = 0;

        memcpy(&narrow, &loss, sizeof(narrow));
        return narrow;
    }
    memcpy(&bits, &report->loss, sizeof(bits));
    return bits;
}

static enum alar_dtype run_dtype(const struct run *run)
{
    return run->options->encoding == ALAR_PAIR32 ? ALAR_F32 : ALAR_F64;
}

/* "4.0b" style hex of a report's bits, or EMPTY. */
static void format_bits(char *text, size_t bytes, const struct run *run,
                        const struct alar_report *report)
{
    int digits = run->options->encoding == ALAR_PAIR32 ? 8 : 16;

    if (report->is_empty) {
        snprintf(text, bytes, "EMPTY");
    } else {
        snprintf(text, bytes, "%0*" PRIx64, digits, run_report_bits(run, report));
    }
}

static void print_line(const struct run_rank *rank, const struct alar_report *report,
                       double elapsed_ms)
{
    const struct run *run = rank->run;
    uint64_t last = alar_dataset_step(&run->dataset, run->range.end - 1);
    char loss[32] = "EMPTY";

    if (!report->is_empty) {
        snprintf(loss, sizeof(loss), "%.6E", report->loss);
    }
    printf(" iteration %8" PRId64 "/%8" PRIu64 " | elapsed time per iteration (ms): %.3f |"
           " %s lm loss: %s | tokens: %.0f | nan iterations: %u | empty: %" PRIu64 " |",
           report->step, last, elapsed_ms, alar_normalization_names[run->options->normalization],
           loss, report->tokens, report->nan_steps, report->empty);
    if (report->nonfinite > 0) {
        printf(" non-finite contributions: %" PRIu64 " |", report->nonfinite);
    }
    putchar('\n');
    fflush(stdout);
}

/* The twin's report against the first pass's. */
static void compare(struct run_rank *rank, const struct alar_report *report)
{
    const struct run *run = rank->run;

    if (rank->compared >= rank->log_count) {
        return;
    }
    const struct alar_report *first = &rank->log[rank->compared++];
    uint64_t a = run_report_bits(run, first);
    uint64_t b = run_report_bits(run, report);
    bool is_same = first->is_empty == report->is_empty &&
                   (first->is_empty || alar_fp_is_same(run_dtype(run), a, b));
    uint64_t ulps = is_same ? 0
                    : first->is_empty || report->is_empty
                        ? UINT64_MAX
                        : alar_fp_ulps(run_dtype(run), a, b);
    char ours[32];
    char twins[32];

    rank->same += is_same;
    rank->ulps_max = ulps > rank->ulps_max ? ulps : rank->ulps_max;
    if (rank->rank != 0 || run->options->is_quiet) {
        return;
    }
    format_bits(ours, sizeof(ours), run, first);
    format_bits(twins, sizeof(twins), run, report);
    if (is_same) {
        printf("   step %6" PRId64 ": %s, same bits\n", report->step, ours);
    } else {
        printf("   step %6" PRId64 ": %s, synchronous %s, %" PRIu64 " ulp apart\n", report->step,
               ours, twins, ulps);
    }
}

void run_log_report(void *sink, const struct alar_report *report)
{
    struct run_rank *rank = sink;
    struct run *run = rank->run;
    uint64_t now = run->world ? alar_sim_now(run->world) : alar_clock_now(NULL);

    if (run->is_twin) {
        compare(rank, report);
        return;
    }
    if (rank->log_count < rank->log_max) {
        rank->log[rank->log_count++] = *report;
    }
    if (rank->rank == 0) {
        double elapsed_ms = (double)(now - rank->since_us) / 1000.0 / (double)report->steps;

        if (!run->options->is_quiet) {
            print_line(rank, report, elapsed_ms);
        }
        if (run->log_json != NULL) {
            alar_report_json_write(run->log_json, report, run->options->normalization,
                                   run->options->encoding);
        }
    }
    rank->since_us = now;
}

void run_log_progress(const struct run *run, size_t steps)
{
    static size_t shown = SIZE_MAX;
    size_t all = run->range.end - run->range.begin;
    size_t filled = steps * PROGRESS_COLUMNS / all;

    if (run->rank[0].rank != 0 || filled == shown || !isatty(STDERR_FILENO)) {
        return;
    }
    shown = filled;
    fprintf(stderr, "\r%s [%.*s%*s] %zu/%zu steps%s", run->is_twin ? "twin" : "run ", (int)filled,
            "########################################", (int)(PROGRESS_COLUMNS - filled), "", steps,
            all, steps == all ? "\n" : "");
}

void run_log_ending(const struct run_rank *rank, const char *text)
{
    char line[2048];
    int length = snprintf(line, sizeof(line), "alar run: rank %u: %s\n", rank->rank, text);

    /* One write, so that the lines of several ranks never mix, and none is lost in a buffer. */
    fflush(stdout);
    if (write(STDERR_FILENO, line, (size_t)length) != length) {
        fputs(line, stderr);
    }
}

static void print_totals(const char *name, const struct run_totals *totals)
{
    printf("   %-13s %" PRId64 " handles posted: %" PRId64 " complete before the wait, %" PRId64
           " waited for, %" PRId64 " failed, %" PRId64 " timed out, %" PRId64 " leaked; %" PRId64
           " collectives; %.3f ms blocked in waits\n",
           name, totals->posted, totals->ready, totals->waited, totals->failed, totals->timed_out,
           totals->leaked, totals->posted, (double)totals->blocked_us / 1000.0);
}

static void print_comparison(const struct run *run)
{
    const struct run_rank *rank = &run->rank[0];

    printf("   comparison    %zu of %zu logged values have the same bits as their synchronous twin",
           rank->same, rank->log_count);
    if (rank->same < rank->log_count) {
        printf("; the others are at most %" PRIu64 " ulp apart", rank->ulps_max);
    }
    putchar('\n');
}

void run_log_summary(const struct run *run, const struct run_totals *pass,
                     const struct run_totals *twin)
{
    const struct alar_run_options *options = run->options;
    uint64_t found = 0;
    const struct alar_finding *finding = alar_driver_findings(run->rank[0].driver, &found);

    printf("summary: %u ranks on %s, %s-%s, %s over %s, %s, waited at the %s; sums over ranks\n",
           run->ranks, run->backend->name, options->rules.is_sync ? "sync" : "async",
           alar_placement_names[options->rules.placement],
           alar_normalization_names[options->normalization], alar_over_names[options->over],
           alar_encoding_names[options->encoding], options->rules.waits_at_log ? "log line" : "step");
    print_totals(options->rules.is_sync ? "synchronous" : "asynchronous", pass);
    if (twin != NULL) {
        print_totals("twin", twin);
        print_comparison(run);
    }
    if (found > 0) {
        printf("   NONFINITE     %" PRIu64 " non-finite contributions, first: step %" PRId64
               ", microbatch %u, rank %u%s\n",
               found, finding->step, finding->microbatch, finding->rank,
               run->status == ALAR_E_NONFINITE ? "; all ranks stopped after that step" : "");
    }
    fflush(stdout);
}

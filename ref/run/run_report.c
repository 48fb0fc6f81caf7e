/* What becomes of each report: kept, written as JSON, shown, and held against its twin. */
#include "numbers/fp.h"
#include "run/run_state.h"

#include <string.h>

uint64_t run_report_bits(const struct run *run, const struct alar_report *report)
{
    uint64_t bits = 0;

    if (run->config.encoding == ALAR_PAIR32) {
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
    return run->config.encoding == ALAR_PAIR32 ? ALAR_F32 : ALAR_F64;
}

/* How far the twin's report is from the first pass's: 0 for the same bits, UINT64_MAX when just one
   of them is EMPTY or NaN, or another rank holds the extreme. */
static uint64_t report_ulps(const struct run *run, const struct alar_report *first,
                            const struct alar_report *twin)
{
    uint64_t a = run_report_bits(run, first);
    uint64_t b = run_report_bits(run, twin);

    if (first->is_empty || twin->is_empty) {
        return first->is_empty == twin->is_empty ? 0 : UINT64_MAX;
    }
    if (first->extreme_rank != twin->extreme_rank) {
        return UINT64_MAX;
    }
    return alar_fp_is_same(run_dtype(run), a, b) ? 0 : alar_fp_ulps(run_dtype(run), a, b);
}

static void report_compare(struct run_rank *rank, const struct alar_report *twin)
{
    const struct run *run = rank->run;

    if (rank->compared >= rank->log_count) {
        return;
    }
    const struct alar_report *first = &rank->log[rank->compared++];
    uint64_t ulps = report_ulps(run, first, twin);

    rank->same += ulps == 0;
    rank->ulps_max = ulps > rank->ulps_max ? ulps : rank->ulps_max;
    if (ulps > 0 && run_audit(run, rank->compared - 1, first, twin) != ALAR_OK) {
        rank->illegal++;
        rank->run->code = (int)alar_status_class(ALAR_E_DIFFERS);
    }
    if (rank->rank == run->reporter) {
        run->options->view->compared(run, first, twin, ulps);
    }
}

void run_report(void *sink, const struct alar_report *report)
{
    struct run_rank *rank = sink;
    struct run *run = rank->run;
    uint64_t now = alar_driver_now(rank->driver);
    double elapsed_ms = (double)(now - rank->since_us) / 1000.0 / (double)report->steps;

    if (run->is_twin) {
        report_compare(rank, report);
        return;
    }
    rank->since_us = now;
    if (rank->log_count < rank->log_max) {
        rank->log[rank->log_count++] = *report;
    }
    if (rank->rank == run->reporter) {
        run->options->view->reported(run, report, elapsed_ms);
        if (run->has_log_json) {
            alar_report_file_write(&run->log_json, report);
        }
    }
}

/* A report under `exact`: recomputed from the contributions without rounding, so one value is legal
   and no other. */
#include "judge/report/report.h"

#include "engine/participation.h"
#include "engine/payload.h"
#include "numbers/fp.h"

#include <math.h>

/* The cell's contributions added up; false when they are no sums. */
static bool exact_cell(const struct log_view *view, const struct log_cell *cell,
                       struct alar_exact_ratio *pair)
{
    const struct judge_op *op = cell->op;
    const uint64_t *in = alar_arena_at(view->judge->arena, op->in);
    size_t at = (size_t)(cell->element / 2) * ALAR_PAYLOAD_EXACT_LANES; /* of a pair of two */
    int64_t lanes[ALAR_PAYLOAD_EXACT_LANES];

    for (size_t i = 0; i < ALAR_PAYLOAD_EXACT_LANES; i++) {
        uint64_t sum = 0;

        for (uint32_t m = 0; m < op->members; m++) {
            sum += in[(size_t)m * op->lanes + at + i];
        }
        lanes[i] = (int64_t)sum;
    }
    pair->denominator = lanes[ALAR_LANES_F64];
    return pair->denominator >= 0 &&
           alar_lanes_decode(lanes, ALAR_F64, &pair->numerator) == ALAR_OK;
}

static bool exact_is_laid_out(const struct log_view *view)
{
    for (uint32_t k = 0; k < view->report->parts; k++) {
        const struct judge_op *op = judge_op_at(view->judge, view->part[k].op);

        if (op->red != ALAR_RED_SUM ||
            op->lanes < (uint64_t)op->pairs * ALAR_PAYLOAD_EXACT_LANES + ALAR_CENSUS_LANES) {
            return false;
        }
    }
    return view->kind != ALAR_METRIC_MEAN ||
           (view->report->normalization >= 0 && view->report->over >= 0);
}

/* What the operations make of the interval; false when that can't be said. */
static bool exact_interval(const struct log_view *view, struct alar_tally *interval)
{
    bool is_mean = view->kind == ALAR_METRIC_MEAN;
    enum alar_over over = is_mean ? (enum alar_over)view->report->over : ALAR_OVER_POOLED;
    enum alar_normalization normalization =
        is_mean ? (enum alar_normalization)view->report->normalization : ALAR_TOKEN_WEIGHTED;
    struct alar_tally step = {.tokens = 0};
    struct log_cell cell = {0};
    struct alar_exact_ratio pair;
    uint32_t number = 0;

    while (log_cell_next(view, &cell)) {
        if (cell.step != number) {
            alar_loss_add_step(interval, ALAR_EXACT, over, &step);
            step = (struct alar_tally){.tokens = 0};
        }
        number = cell.step;
        if (!exact_cell(view, &cell, &pair)) {
            return false;
        }
        alar_loss_exact_add_pair(&step, normalization, cell.op->members, &pair);
    }
    alar_loss_add_step(interval, ALAR_EXACT, over, &step);
    return true;
}

static enum alar_anomaly exact_counts(const struct log_view *view, const struct alar_tally *sum)
{
    const struct judge_report *report = view->report;
    bool has_tokens = report->tokens >= 0 && log_has_tokens(view);
    double tokens = (double)report->tokens;
    bool is_shared = false;

    if (has_tokens && (tokens < sum->tokens || tokens > sum->tokens)) {
        return ALAR_ANOMALY_WRONG_COUNT;
    }
    uint64_t flags = log_flags(view, &is_shared);
    uint64_t nonfinite = report->nonfinite > 0 ? (uint64_t)report->nonfinite : flags;

    if ((is_shared ? nonfinite > flags : nonfinite != flags) ||
        (report->empty >= 0 && (uint64_t)report->empty != sum->empty)) {
        return ALAR_ANOMALY_WRONG_COUNT;
    }
    return ALAR_ANOMALY_COUNT;
}

/* A mean or a sum. */
static enum alar_anomaly exact_value(const struct log_view *view, const struct alar_tally *interval,
                                     struct log_span *legal)
{
    const struct judge_report *report = view->report;
    double value = 0.0;
    bool has_value = view->kind == ALAR_METRIC_SUM ? alar_loss_total(interval, ALAR_EXACT, &value)
                                                   : alar_loss_value(interval, ALAR_EXACT, &value);

    *legal = (struct log_span){!has_value        ? LOG_EMPTY
                               : isfinite(value) ? LOG_NUMBER
                                                 : LOG_SPECIAL,
                               value, value};
    if (legal->kind == LOG_EMPTY) {
        return report->is_empty ? ALAR_ANOMALY_COUNT : ALAR_ANOMALY_EMPTY_AS_NUMBER;
    }
    if (legal->kind == LOG_SPECIAL) {
        return report->is_special ? ALAR_ANOMALY_COUNT : ALAR_ANOMALY_NONFINITE_DROPPED;
    }
    return log_fits(report, *legal) ? ALAR_ANOMALY_COUNT : ALAR_ANOMALY_ILLEGAL_REPORT;
}

bool log_exact_check(const struct log_view *view, struct log_span *legal, uint32_t *holder,
                     enum alar_anomaly *anomaly)
{
    struct alar_tally interval = {.tokens = 0};
    struct log_extreme extreme;

    if (!exact_is_laid_out(view) || !exact_interval(view, &interval)) {
        return false;
    }
    if (alar_metric_is_extreme(view->kind)) {
        if (!log_extreme_read(view, &extreme)) {
            return false;
        }
        *legal = extreme.legal;
        *holder = extreme.holder;
        *anomaly = log_extreme_check(view, &extreme);
    } else {
        *anomaly = exact_value(view, &interval, legal);
    }
    if (*anomaly == ALAR_ANOMALY_COUNT) {
        *anomaly = exact_counts(view, &interval);
    }
    return true;
}

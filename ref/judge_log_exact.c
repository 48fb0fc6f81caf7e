/* A report under `exact`: recomputed from the contributions without rounding, so one value is legal
   and no other. */
#include "judge_log.h"

#include "census.h"
#include "fp.h"
#include "payload.h"

#include <math.h>
#include <string.h>

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
    return view->report->normalization >= 0 && view->report->over >= 0;
}

/* What the operations make of the interval; false when that can't be said. */
static bool exact_interval(const struct log_view *view, struct alar_tally *interval)
{
    enum alar_over over = (enum alar_over)view->report->over;
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
        alar_loss_exact_add_pair(&step, (enum alar_normalization)view->report->normalization,
                                 cell.op->members, &pair);
    }
    alar_loss_add_step(interval, ALAR_EXACT, over, &step);
    return true;
}

/* How many (rank, microbatch) flags are set, of all metrics. */
static uint64_t exact_flags(const struct log_view *view)
{
    uint64_t count = 0;

    for (uint32_t k = 0; k < view->report->parts; k++) {
        const struct judge_op *op = judge_op_at(view->judge, view->part[k].op);
        const uint64_t *in = alar_arena_at(view->judge->arena, op->in);
        uint64_t first = (uint64_t)op->pairs * ALAR_PAYLOAD_EXACT_LANES;

        for (uint32_t m = 0; m < op->members; m++) {
            for (uint64_t e = first; e + ALAR_CENSUS_LANES < op->lanes; e++) {
                /* Loop bound: the bits of a lane, cleared one a turn. */
                for (uint64_t set = in [(size_t)m * op->lanes + e]; set; set &= set - 1) {
                    count++;
                }
            }
        }
    }
    return count;
}

static enum alar_anomaly exact_counts(const struct log_view *view, const struct alar_tally *sum)
{
    const struct judge_report *report = view->report;
    bool has_tokens = report->tokens >= 0 && report->normalization != ALAR_RANK_MEAN &&
                      report->normalization != ALAR_SEED_UNDIVIDED;
    double tokens = (double)report->tokens;

    if (has_tokens && (tokens < sum->tokens || tokens > sum->tokens)) {
        return ALAR_ANOMALY_WRONG_COUNT;
    }
    const struct judge_op *first = judge_op_at(view->judge, view->part[0].op);
    uint64_t flags = exact_flags(view);
    uint64_t nonfinite = report->nonfinite > 0 ? (uint64_t)report->nonfinite : flags;
    bool is_alone = strchr(first->key, ',') == NULL;

    if ((is_alone ? nonfinite != flags : nonfinite > flags) ||
        (report->empty >= 0 && (uint64_t)report->empty != sum->empty)) {
        return ALAR_ANOMALY_WRONG_COUNT;
    }
    return ALAR_ANOMALY_COUNT;
}

bool log_exact_check(const struct log_view *view, struct log_span *legal,
                     enum alar_anomaly *anomaly)
{
    const struct judge_report *report = view->report;
    struct alar_tally interval = {.tokens = 0};
    double value = 0.0;

    if (!exact_is_laid_out(view) || !exact_interval(view, &interval)) {
        return false;
    }
    bool has_value = alar_loss_value(&interval, ALAR_EXACT, &value);

    *legal = (struct log_span){!has_value        ? LOG_EMPTY
                               : isfinite(value) ? LOG_NUMBER
                                                 : LOG_SPECIAL,
                               value, value};
    if (legal->kind == LOG_EMPTY) {
        *anomaly = report->is_empty ? ALAR_ANOMALY_COUNT : ALAR_ANOMALY_EMPTY_AS_NUMBER;
    } else if (legal->kind == LOG_SPECIAL) {
        *anomaly = report->is_special ? ALAR_ANOMALY_COUNT : ALAR_ANOMALY_NONFINITE_DROPPED;
    } else {
        *anomaly = log_fits(report, *legal) ? ALAR_ANOMALY_COUNT : ALAR_ANOMALY_ILLEGAL_REPORT;
    }
    if (*anomaly == ALAR_ANOMALY_COUNT) {
        *anomaly = exact_counts(view, &interval);
    }
    return true;
}

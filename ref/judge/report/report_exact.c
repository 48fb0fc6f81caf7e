/* A report under `exact`: recomputed from the contributions without rounding, so one value is legal
   and no other. */
#include "judge/report/report.h"

#include "engine/participation.h"
#include "engine/payload.h"
#include "numbers/fp.h"

#include <math.h>
#include <string.h>

/* The microbatch's contributions added up; false when they are no sums. */
static bool exact_microbatch(const struct report_view *view,
                             const struct report_microbatch *microbatch,
                             struct alar_exact_ratio *pair)
{
    const struct judge_op *op = microbatch->op;
    const uint64_t *in = alar_arena_at(view->judge->arena, op->in);
    size_t at =
        (size_t)(microbatch->element / 2) * ALAR_PAYLOAD_EXACT_ELEMENTS; /* of a pair of two */
    uint64_t sum[ALAR_PAYLOAD_EXACT_ELEMENTS] = {0};
    int64_t elements[ALAR_PAYLOAD_EXACT_ELEMENTS];

    for (uint32_t m = 0; m < op->members; m++) {
        bool counts = report_counts(view, op, m);

        for (size_t i = 0; counts && i < ALAR_PAYLOAD_EXACT_ELEMENTS; i++) {
            sum[i] += in[(size_t)m * op->elements + at + i];
        }
    }
    memcpy(elements, sum, sizeof elements);
    pair->denominator = elements[ALAR_EXACT_WIRE_F64];
    return pair->denominator >= 0 &&
           alar_exact_wire_decode(elements, ALAR_F64, &pair->numerator) == ALAR_OK;
}

static bool exact_is_laid_out(const struct report_view *view)
{
    for (uint32_t k = 0; k < view->report->parts; k++) {
        const struct judge_op *op = judge_op_at(view->judge, view->part[k].op);

        if (op->red != ALAR_SUM ||
            op->elements <
                (uint64_t)op->pairs * ALAR_PAYLOAD_EXACT_ELEMENTS + ALAR_PARTICIPATION_ELEMENTS) {
            return false;
        }
    }
    return view->kind != ALAR_METRIC_MEAN ||
           (view->report->normalization >= 0 && view->report->over >= 0);
}

/* What the operations make of the interval; false when that can't be said. */
static bool exact_interval(const struct report_view *view, struct alar_tally *interval)
{
    bool is_mean = view->kind == ALAR_METRIC_MEAN;
    enum alar_over over = is_mean ? (enum alar_over)view->report->over : ALAR_OVER_POOLED;
    enum alar_normalization normalization =
        is_mean ? (enum alar_normalization)view->report->normalization : ALAR_TOKEN_WEIGHTED;
    struct alar_tally step = {.tokens = 0};
    struct report_microbatch microbatch = {0};
    struct alar_exact_ratio pair;
    uint32_t number = 0;

    while (report_microbatch_next(view, &microbatch)) {
        if (microbatch.step != number) {
            alar_loss_add_step(interval, ALAR_EXACT, over, &step);
            step = (struct alar_tally){.tokens = 0};
        }
        number = microbatch.step;
        if (!exact_microbatch(view, &microbatch, &pair)) {
            return false;
        }
        alar_loss_exact_add_pair(&step, normalization, microbatch.op->members, &pair);
    }
    alar_loss_add_step(interval, ALAR_EXACT, over, &step);
    return true;
}

static void exact_counts(const struct report_view *view, const struct alar_tally *sum,
                         struct report_answer *answer)
{
    const struct judge_report *report = view->report;
    bool is_shared = false;
    uint64_t flags = report_flags(view, &is_shared), nonfinite = (uint64_t)report->nonfinite;
    bool is_flagged = is_shared ? nonfinite <= flags : nonfinite == flags;

    if (report->tokens >= 0 && !report_has_tokens(view)) {
        answer->unknown = ALAR_UNKNOWN_COUNTS;
    } else if (report->tokens >= 0 &&
               ((double)report->tokens < sum->tokens || (double)report->tokens > sum->tokens)) {
        report_count(answer, ALAR_REPORT_COUNT_TOKENS, report->tokens, (uint64_t)sum->tokens);
    } else if (report->nonfinite >= 0 && !is_flagged) {
        report_count(answer, ALAR_REPORT_COUNT_NONFINITE, report->nonfinite, flags);
    } else if (report->empty >= 0 && (uint64_t)report->empty != sum->empty) {
        report_count(answer, ALAR_REPORT_COUNT_EMPTY, report->empty, sum->empty);
    }
}

/* A mean or a sum. */
static enum alar_anomaly exact_value(const struct report_view *view,
                                     const struct alar_tally *interval, struct report_span *legal)
{
    const struct judge_report *report = view->report;
    double value = 0.0;
    bool has_value = view->kind == ALAR_METRIC_SUM ? alar_loss_total(interval, ALAR_EXACT, &value)
                                                   : alar_loss_value(interval, ALAR_EXACT, &value);

    *legal = (struct report_span){!has_value        ? REPORT_EMPTY
                                  : isfinite(value) ? REPORT_NUMBER
                                                    : REPORT_SPECIAL,
                                  value, value};
    if (legal->kind == REPORT_EMPTY) {
        return report->is_empty ? ALAR_ANOMALY_COUNT : ALAR_ANOMALY_EMPTY_AS_NUMBER;
    }
    if (legal->kind == REPORT_SPECIAL) {
        return report->is_special ? ALAR_ANOMALY_COUNT : ALAR_ANOMALY_NONFINITE_DROPPED;
    }
    return report_fits(report, *legal) ? ALAR_ANOMALY_COUNT : ALAR_ANOMALY_ILLEGAL_REPORT;
}

bool report_exact_check(const struct report_view *view, struct report_answer *answer)
{
    struct alar_tally interval = {.tokens = 0};
    struct report_extreme extreme;

    if (!exact_is_laid_out(view) || !exact_interval(view, &interval)) {
        return false;
    }
    if (alar_metric_is_extreme(view->kind)) {
        if (!report_extreme_read(view, &extreme)) {
            return false;
        }
        answer->legal = extreme.legal;
        answer->holder = extreme.holder;
        answer->anomaly = report_extreme_check(view, &extreme);
    } else {
        answer->anomaly = exact_value(view, &interval, &answer->legal);
    }
    if (answer->anomaly == ALAR_ANOMALY_COUNT) {
        exact_counts(view, &interval, answer);
    }
    return true;
}

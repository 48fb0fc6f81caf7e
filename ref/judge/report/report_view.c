/* A report laid out as microbatches, and what its contributions hold. */
#include "judge/report/report.h"

#include "numbers/fp.h"

#include <math.h>
#include <string.h>

static bool view_part(const struct alar_judge *judge, struct report_view *view, uint32_t k,
                      bool *is_echo)
{
    uint64_t at = view->part[k].op;

    if (at == 0) {
        return false;
    }
    const struct judge_op *op = judge_op_at(judge, at);
    const struct judge_op *first = judge_op_at(judge, view->part[0].op);
    *is_echo = *is_echo || op->is_found || op->is_tainted ||
               op->number >= judge_group_at(judge, op->group)->mismatch;
    view->is_by_name = view->is_by_name && op->step >= 0;
    return op->ins == op->members && !op->is_partial && op->dtype == first->dtype &&
           op->members == first->members && (op->pairs == 0) == view->is_scalar &&
           2 * (uint64_t)op->pairs <= op->elements && op->in != 0;
}

static void view_count(struct report_view *view)
{
    struct report_microbatch microbatch = {0};

    while (report_microbatch_next(view, &microbatch)) {
        view->microbatches = microbatch.index;
        view->steps = microbatch.step + 1;
    }
}

/* Where steps begin: at operations of another step, at every so many pairs of an operation that
   covers several, or at equal shares of operations that do not name their steps. */
static void view_steps(struct report_view *view)
{
    const struct judge_report *report = view->report;
    const struct alar_judge *judge = view->judge;
    const struct judge_op *first = judge_op_at(judge, view->part[0].op);
    const struct judge_op *last = judge_op_at(judge, view->part[report->parts - 1].op);
    bool has_means = report->normalization > ALAR_TOKEN_WEIGHTED;
    int64_t span = report->step - report->first_step + 1;
    struct report_microbatch microbatch = {0};

    if (!view->is_by_name) {
        while (report_microbatch_next(view, &microbatch)) {
            view->microbatches = microbatch.index;
        }
        bool is_even = span > 0 && view->microbatches % (uint64_t)span == 0;
        view->pairs_a_step = is_even ? (uint32_t)(view->microbatches / (uint64_t)span) : 0;
    } else if (first->mb < 0 && !view->is_scalar && last->step < report->step) {
        view->pairs_a_step =
            has_means && judge->loop.microbatches > 0 ? (uint32_t)judge->loop.microbatches : 1;
    }
    view_count(view);
}

bool report_view_windows(struct report_view *view)
{
    const struct judge_report *report = view->report;
    const struct judge_op *first = judge_op_at(view->judge, view->part[0].op);
    bool has_means = report->normalization > ALAR_TOKEN_WEIGHTED;
    uint32_t ours;

    if (!view->is_by_name || view->is_scalar || first->mb >= 0 || view->pairs_a_step != 0 ||
        report->first_step >= first->step || first->pairs / report_names(view, first, &ours) < 2) {
        return false;
    }
    view->pairs_a_step = has_means && view->judge->loop.microbatches > 0
                             ? (uint32_t)view->judge->loop.microbatches
                             : 1;
    view_count(view);
    return true;
}

/* Lays the report out; false when it can't be recomputed. */
bool report_view_build(struct alar_judge *judge, const struct judge_report *report,
                       struct report_view *view, bool *is_echo)
{
    *view = (struct report_view){.judge = judge, .report = report, .is_by_name = true};
    view->part = alar_arena_at(judge->arena, report->part);
    *is_echo = false;
    if (report->parts == 0 || view->part[0].op == 0) {
        return false;
    }
    const struct judge_op *first = judge_op_at(judge, view->part[0].op);
    view->dtype = first->dtype;
    view->ranks = first->members;
    view->is_scalar = first->pairs == 0;
    view->kind = report->kind >= 0 ? (enum alar_metric_kind)report->kind
                                   : judge_metric_at(judge, report->metric)->kind;
    view->is_replicated = report_scope_has(judge, judge_metric_at(judge, report->metric), true);
    view->is_exact = alar_dtype_is_float(first->dtype) && alar_dtype_precision(first->dtype) < 24;
    for (uint32_t k = 0; k < report->parts; k++) {
        if (!view_part(judge, view, k, is_echo)) {
            return false;
        }
    }
    uint32_t ours, names = report_names(view, first, &ours);
    if (names > ALAR_METRICS_MAX) {
        return false;
    }
    if (view->is_scalar ? first->elements != names : first->pairs % names != 0) {
        return false;
    }
    view_steps(view);
    return view->microbatches > 0 && report_replicas_agree(view);
}

bool report_has_tokens(const struct report_view *view)
{
    int32_t normalization = view->report->normalization;

    return !view->is_scalar &&
           (view->kind != ALAR_METRIC_MEAN ||
            (normalization != ALAR_RANK_MEAN && normalization != ALAR_SEED_UNDIVIDED));
}

/* A count that its dtype can't be trusted with. */
static bool weight_is_rounded(const struct report_view *view,
                              const struct report_microbatch *microbatch, double weights)
{
    double exact_max = alar_dtype_is_float(view->dtype)
                           ? ldexp(1.0, alar_dtype_precision(view->dtype))
                           : (double)INT64_MAX;
    const uint64_t *out = microbatch->op->out && microbatch->op->classes == 1
                              ? alar_arena_at(view->judge->arena, microbatch->op->out)
                              : NULL;

    for (uint32_t m = 0; m < microbatch->op->members; m++) {
        if (report_weight(view, microbatch, m) > exact_max) {
            return true;
        }
    }
    double held = out ? alar_fp_to_double(view->dtype, out[microbatch->element + 1]) : weights;
    return held < weights || held > weights;
}

/* Steps without a value, and steps whose value is not finite. */
static void sums_steps(const struct report_view *view, struct report_sums *sums)
{
    struct report_microbatch microbatch = {0};
    uint32_t step = 0;
    double weight = 0;
    bool is_special = false;

    while (report_microbatch_next(view, &microbatch)) {
        if (microbatch.step != step) {
            sums->empty_steps += !(weight > 0);
            sums->nonfinite_steps += is_special;
            weight = 0;
            is_special = false;
        }
        step = microbatch.step;
        weight += microbatch.weight;
        is_special = is_special || !isfinite(microbatch.low);
    }
    sums->empty_steps += !(weight > 0);
    sums->nonfinite_steps += is_special;
}

struct report_sums report_sums_read(const struct report_view *view)
{
    struct report_microbatch microbatch = {0};
    struct report_sums sums = {0};

    while (report_microbatch_next(view, &microbatch)) {
        double weights = 0, replicas = 0;
        uint64_t nonfinite = sums.nonfinite;

        for (uint32_t m = 0; m < microbatch.op->members; m++) {
            double weight = report_weight(view, &microbatch, m);

            if (!report_counts(view, microbatch.op, m)) {
                replicas += weight;
                continue;
            }

            weights += weight;
            sums.empty_microbatches += !(weight > 0);
            sums.nonfinite += isfinite(report_numerator(view, &microbatch, m)) ? 0U : 1U;
        }
        sums.tokens += microbatch.weight;
        sums.is_overflow =
            sums.is_overflow || (nonfinite == sums.nonfinite && !isfinite(microbatch.low));
        if (!view->is_scalar && microbatch.op->red == ALAR_SUM) {
            sums.is_rounded =
                sums.is_rounded || weight_is_rounded(view, &microbatch, weights + replicas);
        }
    }
    sums.flagged = report_flags(view, &sums.is_shared);
    sums_steps(view, &sums);
    return sums;
}

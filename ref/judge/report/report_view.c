/* A report laid out as cells, and what its contributions hold. */
#include "judge/report/report.h"

#include "numbers/fp.h"

#include <math.h>
#include <string.h>

static bool view_part(const struct alar_judge *judge, struct log_view *view, uint32_t k,
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
           2 * (uint64_t)op->pairs <= op->lanes && op->in != 0;
}

/* Where steps begin: at operations of another step, at every so many pairs of an operation that
   covers several, or at equal shares of operations that do not name their steps. */
static void view_steps(struct log_view *view)
{
    const struct judge_report *report = view->report;
    const struct alar_judge *judge = view->judge;
    const struct judge_op *first = judge_op_at(judge, view->part[0].op);
    const struct judge_op *last = judge_op_at(judge, view->part[report->parts - 1].op);
    bool has_means = report->normalization > ALAR_TOKEN_WEIGHTED;
    int64_t span = report->step - report->first_step + 1;
    struct log_cell cell = {0};

    if (!view->is_by_name) {
        while (log_cell_next(view, &cell)) {
            view->cells = cell.index;
        }
        bool is_even = span > 0 && view->cells % (uint64_t)span == 0;
        view->pairs_a_step = is_even ? (uint32_t)(view->cells / (uint64_t)span) : 0;
    } else if (first->mb < 0 && !view->is_scalar && last->step < report->step) {
        view->pairs_a_step =
            has_means && judge->loop.microbatches > 0 ? (uint32_t)judge->loop.microbatches : 1;
    }
    memset(&cell, 0, sizeof cell);
    while (log_cell_next(view, &cell)) {
        view->cells = cell.index;
        view->steps = cell.step + 1;
    }
}

/* Lays the report out; false when it can't be recomputed. */
bool log_view_build(struct alar_judge *judge, const struct judge_report *report,
                    struct log_view *view, bool *is_echo)
{
    *view = (struct log_view){.judge = judge, .report = report, .is_by_name = true};
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
    view->is_exact = alar_dtype_is_float(first->dtype) && alar_dtype_precision(first->dtype) < 24;
    for (uint32_t k = 0; k < report->parts; k++) {
        if (!view_part(judge, view, k, is_echo)) {
            return false;
        }
    }
    uint32_t ours, names = log_names(view, first, &ours);
    if (names > ALAR_METRICS_MAX) {
        return false;
    }
    if (view->is_scalar ? first->lanes != names : first->pairs % names != 0) {
        return false;
    }
    view_steps(view);
    return view->cells > 0;
}

bool log_has_tokens(const struct log_view *view)
{
    int32_t normalization = view->report->normalization;

    return !view->is_scalar &&
           (view->kind != ALAR_METRIC_MEAN ||
            (normalization != ALAR_RANK_MEAN && normalization != ALAR_SEED_UNDIVIDED));
}

/* A count that its dtype can't be trusted with. */
static bool weight_is_rounded(const struct log_view *view, const struct log_cell *cell,
                              double weights)
{
    double exact_max = alar_dtype_is_float(view->dtype)
                           ? ldexp(1.0, alar_dtype_precision(view->dtype))
                           : (double)INT64_MAX;
    const uint64_t *out = cell->op->out && cell->op->classes == 1
                              ? alar_arena_at(view->judge->arena, cell->op->out)
                              : NULL;

    for (uint32_t m = 0; m < cell->op->members; m++) {
        if (log_weight(view, cell, m) > exact_max) {
            return true;
        }
    }
    double held = out ? alar_fp_to_double(view->dtype, out[cell->element + 1]) : weights;
    return held < weights || held > weights;
}

/* Steps without a value, and steps whose value is not finite. */
static void sums_steps(const struct log_view *view, struct log_sums *sums)
{
    struct log_cell cell = {0};
    uint32_t step = 0;
    double weight = 0;
    bool is_special = false;

    while (log_cell_next(view, &cell)) {
        if (cell.step != step) {
            sums->empty_steps += !(weight > 0);
            sums->nonfinite_steps += is_special;
            weight = 0;
            is_special = false;
        }
        step = cell.step;
        weight += cell.weight;
        is_special = is_special || !isfinite(cell.low);
    }
    sums->empty_steps += !(weight > 0);
    sums->nonfinite_steps += is_special;
}

struct log_sums log_sums_read(const struct log_view *view)
{
    struct log_cell cell = {0};
    struct log_sums sums = {0};

    while (log_cell_next(view, &cell)) {
        double weights = 0;
        uint64_t nonfinite = sums.nonfinite;

        for (uint32_t m = 0; m < cell.op->members; m++) {
            double weight = log_weight(view, &cell, m);

            weights += weight;
            sums.empty_cells += !(weight > 0);
            sums.nonfinite += isfinite(log_numerator(view, &cell, m)) ? 0U : 1U;
        }
        sums.tokens += cell.weight;
        sums.is_overflow = sums.is_overflow || (nonfinite == sums.nonfinite && !isfinite(cell.low));
        if (!view->is_scalar && cell.op->red == ALAR_RED_SUM) {
            sums.is_rounded = sums.is_rounded || weight_is_rounded(view, &cell, weights);
        }
    }
    sums.flagged = log_flags(view, &sums.is_shared);
    sums_steps(view, &sums);
    return sums;
}

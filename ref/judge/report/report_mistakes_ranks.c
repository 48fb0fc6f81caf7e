/* Mistakes that no row of a table states: of some ranks, of other steps, of numbers shown before,
   of too small a dtype. */
#include "judge/report/report.h"

#include "base/check.h"

/* Something of one rank alone: of the reporting one first, else of another. */
static bool is_of_one_rank(const struct report_view *view, struct report_how how,
                           enum report_rule rule, uint32_t *rank)
{
    const struct judge_op *op = judge_op_at(view->judge, view->part[0].op);
    const struct judge_group *group = judge_group_at(view->judge, op->group);
    uint32_t self = 0;

    how.rule = rule;
    (void)judge_member_find(view->judge, group, view->report->rank, &self);
    for (uint32_t k = 0; view->ranks > 1 && k < view->ranks; k++) {
        how.rank = k == 0 ? self : k <= self ? k - 1 : k;
        struct report_span span = report_evaluate(view, how);
        bool says = rule == REPORT_RANK || span.kind == REPORT_NUMBER;

        if (says && report_fits(view->report, span)) {
            *rank = judge_member_rank(view->judge, group, how.rank);
            return true;
        }
    }
    return false;
}

/* The mean of what was shown before and of the right value, in one of the usual shares. */
static bool is_smoothed(const struct report_view *view, struct report_how how)
{
    static const double usual[] = {0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999};
    const struct judge_report *report = view->report;
    struct report_span legal = report_evaluate(view, how);
    struct report_span shown = {REPORT_NUMBER, report->before_low, report->before_high};
    bool can_be = report->has_before && legal.kind == REPORT_NUMBER;

    for (size_t k = 0; can_be && k < sizeof usual / sizeof *usual; k++) {
        struct report_span before = report_scale(shown, usual[k]);
        struct report_span now = report_scale(legal, 1 - usual[k]);

        if (report_fits(report, (struct report_span){REPORT_NUMBER, before.low + now.low,
                                                     before.high + now.high})) {
            return true;
        }
    }
    return false;
}

/* The value of a declared group, or of all ranks but one. */
static bool is_of_some_ranks(const struct report_view *view, struct report_how how)
{
    how.rule = REPORT_GROUP;
    for (uint64_t g = view->judge->group; g; g = judge_group_at(view->judge, g)->next) {
        how.group = g;
        if (judge_group_at(view->judge, g)->members < view->ranks &&
            report_fits(view->report, report_evaluate(view, how))) {
            return true;
        }
    }
    for (uint32_t r = 0; view->ranks > 2 && r < view->ranks; r++) {
        how.rank = r;
        how.rule = REPORT_RANK;
        if (report_evaluate(view, how).kind == REPORT_EMPTY) {
            continue; /* it held nothing: without it the report covers exactly the ranks */
        }
        how.rule = REPORT_WITHOUT;
        if (report_fits(view->report, report_evaluate(view, how))) {
            return true;
        }
    }
    return false;
}

/* The right value times, or divided by, the size of a declared group. */
static bool is_scaled(const struct report_view *view, struct report_how how, bool is_divided)
{
    struct report_span legal = report_evaluate(view, how);

    for (uint64_t g = view->judge->group; g; g = judge_group_at(view->judge, g)->next) {
        double size = judge_group_at(view->judge, g)->members;

        if (size > 1 &&
            report_fits(view->report, report_scale(legal, is_divided ? 1 / size : size))) {
            return true;
        }
    }
    return false;
}

/* Moves the view to operations `by` numbers on; false, and nothing moved, when one is not kept. */
static bool view_move(const struct report_view *view, int64_t by)
{
    struct judge_part *part = alar_arena_at(view->judge->arena, view->report->part);
    bool is_whole = true;

    for (uint32_t k = 0; k < view->report->parts; k++) {
        uint64_t op = judge_op_find_kept(view->judge, part[k].group, part[k].number + (uint64_t)by);

        is_whole =
            is_whole && op != 0 &&
            judge_op_at(view->judge, op)->ins == judge_op_at(view->judge, op)->members &&
            judge_op_at(view->judge, op)->pairs == judge_op_at(view->judge, part[k].op)->pairs;
    }
    for (uint32_t k = 0; is_whole && k < view->report->parts; k++) {
        part[k].number += (uint64_t)by;
        part[k].op = judge_op_find_kept(view->judge, part[k].group, part[k].number);
    }
    return is_whole;
}

/* The right value of another step, or of another window. */
static bool is_shifted(const struct report_view *view, struct report_how how)
{
    int64_t window = view->report->parts, step = window / (int64_t)view->steps;
    const int64_t by[] = {-step, step, -window, window};
    bool is_found = false;

    for (size_t k = 0; k < sizeof by / sizeof *by && !is_found; k++) {
        if (by[k] != 0 && view_move(view, by[k])) {
            is_found = report_fits(view->report, report_evaluate(view, how));
            INV("what was moved can be moved back", view_move(view, -by[k]));
        }
    }
    return is_found;
}

/* Sums that were accumulated in too small a dtype, be it by the operations or behind them. */
static bool is_rounded(const struct report_view *view, struct report_how how)
{
    static const enum alar_dtype small[] = {ALAR_BF16, ALAR_F16, ALAR_F32};
    struct report_view wide = *view;

    wide.is_exact = false;
    if (view->is_exact && report_fits(view->report, report_evaluate(&wide, how))) {
        return true;
    }
    how.rule = REPORT_LOW;
    for (size_t k = 0; k < sizeof small / sizeof *small; k++) {
        how.dtype = small[k];
        if (report_fits(view->report, report_evaluate(view, how))) {
            return true;
        }
    }
    return false;
}

/* Mistakes that no row states, as one word of bits. */
bool report_mistake_fits(const struct report_view *view, struct report_how how,
                         enum alar_anomaly anomaly, uint32_t *own)
{
    uint32_t other;

    switch ((int)anomaly) {
    case ALAR_ANOMALY_OWN_ONLY:
        return is_of_one_rank(view, how, REPORT_RANK, own);
    case ALAR_ANOMALY_LAST_OF_RANK:
        return view->microbatches > view->steps &&
               is_of_one_rank(view, how, REPORT_LAST_OF_RANK, &other);
    case ALAR_ANOMALY_OWN_COUNT:
        return !view->is_scalar && is_of_one_rank(view, how, REPORT_OWN_COUNT, &other);
    case ALAR_ANOMALY_SMOOTHED:
        return is_smoothed(view, how);
    case ALAR_ANOMALY_WRONG_GROUP:
        return is_of_some_ranks(view, how);
    case ALAR_ANOMALY_DIVIDED_TWICE:
        return is_scaled(view, how, true);
    case ALAR_ANOMALY_SCALING_LEAKED:
        return is_scaled(view, how, false);
    case ALAR_ANOMALY_SHIFTED:
        return is_shifted(view, how);
    case ALAR_ANOMALY_PRECISION_LOST:
        return is_rounded(view, how);
    default:
        return false;
    }
}

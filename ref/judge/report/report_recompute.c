/* What a report could be: recomputed from contributions and results, by the rule that is asked for.
 */
#include "judge/report/report.h"

#include "engine/loss.h"
#include "numbers/fp.h"

#include <math.h>

/* The ranks that a rule looks at. */
static bool rank_counts(const struct log_view *view, const struct log_cell *cell,
                        const struct log_how *how, uint32_t member)
{
    const struct judge_group *group = judge_group_at(view->judge, cell->op->group);
    uint32_t at;

    switch (how->rule) {
    case LOG_RANK:
        return member == how->rank;
    case LOG_WITHOUT:
        return member != how->rank;
    default:
        return judge_member_find(view->judge, judge_group_at(view->judge, how->group),
                                 judge_member_rank(view->judge, group, member), &at);
    }
}

static void add_ranks(const struct log_view *view, const struct log_cell *cell,
                      const struct log_how *how, struct log_fold *fold)
{
    for (uint32_t m = 0; m < cell->op->members; m++) {
        if (rank_counts(view, cell, how, m)) {
            double numerator = log_numerator(view, cell, m);

            log_fold_add(fold, numerator, numerator);
            fold->weight += log_weight(view, cell, m);
        }
    }
}

/* The means of the ranks of one cell, summed; returns how many ranks were not empty. */
static uint32_t rank_means(const struct log_view *view, const struct log_cell *cell,
                           struct log_span *sum)
{
    struct log_fold fold = {0};
    uint32_t count = 0;

    for (uint32_t m = 0; m < cell->op->members; m++) {
        double numerator = log_numerator(view, cell, m);
        struct log_span mean = log_divided(
            view, (struct log_span){LOG_NUMBER, numerator, numerator}, log_weight(view, cell, m));

        if (mean.kind != LOG_EMPTY) {
            log_fold_span(&fold, mean);
            count++;
        }
    }
    *sum = log_fold_sum(view, &fold);
    return count;
}

/* Rules that look at ranks' means. */
static void add_means(const struct log_view *view, const struct log_cell *cell,
                      const struct log_how *how, struct log_fold *fold)
{
    struct log_span sum;
    uint32_t count = rank_means(view, cell, &sum);

    if (count == 0) {
        return;
    }
    if (how->rule == LOG_RANK_MEANS || how->rule == LOG_RANK_MEANS_ALL) {
        sum = log_divided(view, sum, how->rule == LOG_RANK_MEANS ? count : cell->op->members);
    }
    log_fold_span(fold, sum);
    fold->weight = how->rule == LOG_SUM_ALL ? 1 : fold->weight + 1;
}

static void add_cell(const struct log_view *view, const struct log_cell *cell,
                     const struct log_how *how, struct log_fold *fold)
{
    struct log_span ratio =
        log_divided(view, (struct log_span){LOG_NUMBER, cell->low, cell->high}, cell->weight);

    switch (how->rule) {
    case LOG_LAST:
        *fold = (struct log_fold){0};
        log_fold_add(fold, cell->low, cell->high);
        fold->weight = cell->weight;
        break;
    case LOG_CELLS:
    case LOG_SUM_CELLS:
        if (ratio.kind != LOG_EMPTY) {
            log_fold_span(fold, ratio);
            fold->weight = how->rule == LOG_SUM_CELLS ? 1 : fold->weight + 1;
        }
        break;
    case LOG_NUMERATORS:
    case LOG_MEAN_NUMERATORS:
        log_fold_add(fold, cell->low, cell->high);
        fold->weight = how->rule == LOG_NUMERATORS ? 1 : fold->weight + 1;
        break;
    case LOG_RANK:
    case LOG_WITHOUT:
    case LOG_GROUP:
        add_ranks(view, cell, how, fold);
        break;
    case LOG_RANK_MEANS:
    case LOG_RANK_MEANS_ALL:
    case LOG_SUM_RANKS:
    case LOG_SUM_ALL:
        add_means(view, cell, how, fold);
        break;
    default: /* POOL, FLOORED, TOTAL */
        log_fold_add(fold, cell->low, cell->high);
        fold->weight += cell->weight;
        break;
    }
}

/* The value of what was folded since the step, or the interval, began. */
static struct log_span close_step(const struct log_view *view, const struct log_how *how,
                                  const struct log_fold *fold)
{
    struct log_span sum = log_fold_sum(view, fold);
    double weight = fold->weight;

    if (how->rule == LOG_TOTAL && weight > 0) {
        weight = 1;
    }
    if (how->rule == LOG_FLOORED) {
        weight = floor(weight / view->ranks) * view->ranks;
    }
    return log_divided(view, sum, weight);
}

/* Adds the value of a step to the interval; steps without a value do not count. */
static void close_into(const struct log_view *view, const struct log_how *how,
                       struct log_fold *step, struct log_fold *interval)
{
    struct log_span span = close_step(view, how, step);

    *step = (struct log_fold){0};
    if (span.kind == LOG_EMPTY || (how->is_finite_only && span.kind == LOG_SPECIAL)) {
        return;
    }
    log_fold_span(interval, span);
    interval->weight += 1;
}

/* Everything accumulated in one small dtype, over ranks, cells and steps alike. */
static struct log_span evaluate_low(const struct log_view *view, const struct log_how *how)
{
    struct log_cell cell = {0};
    uint64_t sum = 0;
    double weight = 0;

    while (log_cell_next(view, &cell)) {
        for (uint32_t m = 0; m < cell.op->members; m++) {
            uint64_t term = alar_fp_from_double(how->dtype, log_numerator(view, &cell, m));

            sum = alar_fp_add(how->dtype, ALAR_NEAREST, sum, term);
            weight += log_weight(view, &cell, m);
        }
    }
    double value = alar_fp_to_double(how->dtype, sum);
    return log_divided(view, (struct log_span){LOG_NUMBER, value, value}, weight);
}

struct log_span log_evaluate(const struct log_view *view, struct log_how how)
{
    struct log_cell cell = {0};
    struct log_fold step = {0}, interval = {0};
    uint32_t number = 0;
    bool is_pooled = how.over == ALAR_OVER_POOLED;

    if (how.rule == LOG_LOW) {
        return evaluate_low(view, &how);
    }
    while (log_cell_next(view, &cell)) {
        if (cell.step != number && !is_pooled) {
            close_into(view, &how, &step, &interval);
        }
        number = cell.step;
        add_cell(view, &cell, &how, &step);
    }
    if (is_pooled) {
        return close_step(view, &how, &step);
    }
    close_into(view, &how, &step, &interval);
    return log_divided(view, log_fold_sum(view, &interval), interval.weight);
}

/* The engine's own arithmetic: one rounding an operation, in the encoding, from the left. */
struct log_span log_engine(const struct log_view *view)
{
    bool is_sum = view->kind == ALAR_METRIC_SUM;
    enum alar_over over = is_sum ? ALAR_OVER_POOLED : (enum alar_over)view->report->over;
    enum alar_normalization normalization =
        is_sum ? ALAR_TOKEN_WEIGHTED : (enum alar_normalization)view->report->normalization;
    enum alar_encoding encoding = view->dtype == ALAR_F32 ? ALAR_PAIR32 : ALAR_PAIR64;
    struct alar_tally step = {0}, interval = {0};
    struct log_cell cell = {0};
    uint32_t number = 0;
    double value = 0;

    while (log_cell_next(view, &cell)) {
        if (cell.step != number) {
            alar_loss_add_step(&interval, encoding, over, &step);
            step = (struct alar_tally){0};
        }
        number = cell.step;
        alar_loss_add_pair(&step, encoding, normalization, view->ranks,
                           (struct alar_ratio){cell.low, cell.weight});
    }
    alar_loss_add_step(&interval, encoding, over, &step);
    if (!(is_sum ? alar_loss_total : alar_loss_value)(&interval, encoding, &value)) {
        return (struct log_span){LOG_EMPTY, 0, 0};
    }
    return (struct log_span){isfinite(value) ? LOG_NUMBER : LOG_SPECIAL, value, value};
}

/* Could the report be one of these? The ends are rounded to the format of its bits, as it was. */
bool log_fits(const struct judge_report *report, struct log_span span)
{
    if (span.kind != LOG_NUMBER) {
        return span.kind == LOG_EMPTY ? report->is_empty : report->is_special;
    }
    double low = alar_fp_to_double(report->dtype, alar_fp_from_double(report->dtype, span.low));
    double high = alar_fp_to_double(report->dtype, alar_fp_from_double(report->dtype, span.high));
    return !report->is_empty && !report->is_special && low <= report->high && high >= report->low;
}

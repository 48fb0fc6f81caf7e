/* What a report could be: recomputed from contributions and results, by the rule that is asked for.
 */
#include "judge/report/report.h"

#include "engine/loss.h"
#include "numbers/fp.h"

#include <math.h>

/* The ranks that a rule looks at. */
static bool rank_counts(const struct report_view *view, const struct report_microbatch *microbatch,
                        const struct report_how *how, uint32_t member)
{
    const struct judge_group *group = judge_group_at(view->judge, microbatch->op->group);
    uint32_t at;

    switch (how->rule) {
    case REPORT_RANK:
    case REPORT_LAST_OF_RANK:
    case REPORT_OWN_COUNT:
        return member == how->rank;
    case REPORT_WITHOUT:
        return member != how->rank;
    default:
        return judge_member_find(view->judge, judge_group_at(view->judge, how->group),
                                 judge_member_rank(view->judge, group, member), &at);
    }
}

static void add_ranks(const struct report_view *view, const struct report_microbatch *microbatch,
                      const struct report_how *how, struct report_fold *fold)
{
    for (uint32_t m = 0; m < microbatch->op->members; m++) {
        if (rank_counts(view, microbatch, how, m)) {
            double numerator = report_numerator(view, microbatch, m);

            report_fold_add(fold, numerator, numerator);
            fold->weight += report_weight(view, microbatch, m);
        }
    }
}

/* The means of the ranks of one microbatch, summed; returns how many ranks were not empty. */
static uint32_t rank_means(const struct report_view *view,
                           const struct report_microbatch *microbatch, struct report_span *sum)
{
    struct report_fold fold = {0};
    uint32_t count = 0;

    for (uint32_t m = 0; m < microbatch->op->members; m++) {
        double numerator = report_numerator(view, microbatch, m);
        struct report_span mean =
            report_divided(view, (struct report_span){REPORT_NUMBER, numerator, numerator},
                           report_weight(view, microbatch, m));

        if (mean.kind != REPORT_EMPTY && report_counts(view, microbatch->op, m)) {
            report_fold_span(&fold, mean);
            count++;
        }
    }
    *sum = report_fold_sum(view, &fold);
    return count;
}

/* Rules that look at ranks' means. */
static void add_means(const struct report_view *view, const struct report_microbatch *microbatch,
                      const struct report_how *how, struct report_fold *fold)
{
    struct report_span sum;
    uint32_t count = rank_means(view, microbatch, &sum);

    if (count == 0) {
        return;
    }
    if (how->rule == REPORT_RANK_MEANS || how->rule == REPORT_RANK_MEANS_ALL) {
        sum = report_divided(view, sum,
                             how->rule == REPORT_RANK_MEANS ? count : microbatch->op->members);
    }
    report_fold_span(fold, sum);
    fold->weight = how->rule == REPORT_SUM_ALL ? 1 : fold->weight + 1;
}

/* The value of a microbatch; what is empty may count by mistake. */
static struct report_span report_ratio(const struct report_view *view,
                                       const struct report_microbatch *microbatch,
                                       const struct report_how *how)
{
    struct report_span sum = {REPORT_NUMBER, microbatch->low, microbatch->high};
    bool has_all = (how->counts_empty & REPORT_EMPTY_RANKS) != 0;
    struct report_span ratio =
        report_divided(view, sum, has_all ? microbatch->op->members : microbatch->weight);

    return ratio.kind == REPORT_EMPTY && (how->counts_empty & REPORT_EMPTY_MICROBATCHES) != 0
               ? (struct report_span){REPORT_NUMBER, 0, 0}
               : ratio;
}

static void add_microbatch(const struct report_view *view,
                           const struct report_microbatch *microbatch, const struct report_how *how,
                           struct report_fold *fold)
{
    struct report_span ratio = report_ratio(view, microbatch, how);

    switch (how->rule) {
    case REPORT_LAST:
        *fold = (struct report_fold){0};
        report_fold_add(fold, microbatch->low, microbatch->high);
        fold->weight = microbatch->weight;
        break;
    case REPORT_LAST_OF_RANK:
        *fold = (struct report_fold){0};
        add_ranks(view, microbatch, how, fold);
        break;
    case REPORT_OWN_COUNT:
        report_fold_add(fold, microbatch->low, microbatch->high);
        fold->weight += report_weight(view, microbatch, how->rank);
        break;
    case REPORT_MICROBATCHES:
    case REPORT_SUM_MICROBATCHES:
        if (ratio.kind != REPORT_EMPTY) {
            report_fold_span(fold, ratio);
            fold->weight = how->rule == REPORT_SUM_MICROBATCHES ? 1 : fold->weight + 1;
        }
        break;
    case REPORT_NUMERATORS:
    case REPORT_MEAN_NUMERATORS:
        report_fold_add(fold, microbatch->low, microbatch->high);
        fold->weight = how->rule == REPORT_NUMERATORS ? 1 : fold->weight + 1;
        break;
    case REPORT_RANK:
    case REPORT_WITHOUT:
    case REPORT_GROUP:
        add_ranks(view, microbatch, how, fold);
        break;
    case REPORT_RANK_MEANS:
    case REPORT_RANK_MEANS_ALL:
    case REPORT_SUM_RANKS:
    case REPORT_SUM_ALL:
        add_means(view, microbatch, how, fold);
        break;
    default: /* POOL, FLOORED, TOTAL */
        report_fold_add(fold, microbatch->low, microbatch->high);
        fold->weight += microbatch->weight;
        break;
    }
}

/* The value of what was folded since the step, or the interval, began. */
static struct report_span close_step(const struct report_view *view, const struct report_how *how,
                                     const struct report_fold *fold)
{
    struct report_span sum = report_fold_sum(view, fold);
    double weight = fold->weight;

    if ((how->rule == REPORT_TOTAL || (how->is_total && how->rule != REPORT_POOL)) && weight > 0) {
        weight = 1;
    }
    if (how->rule == REPORT_FLOORED) {
        weight = floor(weight / view->ranks) * view->ranks;
    }
    return report_divided(view, sum, weight);
}

/* Adds the value of a step to the interval; steps without a value do not count. */
static void close_into(const struct report_view *view, const struct report_how *how,
                       struct report_fold *step, struct report_fold *interval)
{
    struct report_span span = close_step(view, how, step);

    *step = (struct report_fold){0};
    if (span.kind == REPORT_EMPTY && (how->counts_empty & REPORT_EMPTY_STEPS) != 0) {
        span = (struct report_span){REPORT_NUMBER, 0, 0};
    }
    if (span.kind == REPORT_EMPTY || (how->is_finite_only && span.kind == REPORT_SPECIAL)) {
        return;
    }
    report_fold_span(interval, span);
    interval->weight += 1;
}

/* Everything accumulated in one small dtype, over ranks, microbatches and steps alike. */
static struct report_span evaluate_low(const struct report_view *view, const struct report_how *how)
{
    struct report_microbatch microbatch = {0};
    uint64_t sum = 0;
    double weight = 0;

    while (report_microbatch_next(view, &microbatch)) {
        for (uint32_t m = 0; m < microbatch.op->members; m++) {
            uint64_t term = alar_fp_from_double(how->dtype, report_numerator(view, &microbatch, m));

            sum = alar_fp_add(how->dtype, ALAR_NEAREST, sum, term);
            weight += report_weight(view, &microbatch, m);
        }
    }
    double value = alar_fp_to_double(how->dtype, sum);
    return report_divided(view, (struct report_span){REPORT_NUMBER, value, value}, weight);
}

struct report_span report_evaluate(const struct report_view *view, struct report_how how)
{
    struct report_microbatch microbatch = {0};
    struct report_fold step = {0}, interval = {0};
    uint32_t number = 0;
    bool is_pooled = how.over == ALAR_OVER_POOLED;

    if (how.rule == REPORT_LOW) {
        return evaluate_low(view, &how);
    }
    while (report_microbatch_next(view, &microbatch)) {
        if (microbatch.step != number && !is_pooled) {
            close_into(view, &how, &step, &interval);
        }
        number = microbatch.step;
        add_microbatch(view, &microbatch, &how, &step);
    }
    if (is_pooled) {
        return close_step(view, &how, &step);
    }
    close_into(view, &how, &step, &interval);
    return report_divided(view, report_fold_sum(view, &interval), interval.weight);
}

/* The engine's own arithmetic: one rounding an operation, in the encoding, from the left. */
struct report_span report_engine(const struct report_view *view)
{
    bool is_sum = view->kind == ALAR_METRIC_SUM;
    enum alar_over over = is_sum ? ALAR_OVER_POOLED : (enum alar_over)view->report->over;
    enum alar_normalization normalization =
        is_sum ? ALAR_TOKEN_WEIGHTED : (enum alar_normalization)view->report->normalization;
    enum alar_encoding encoding = view->dtype == ALAR_F32 ? ALAR_PAIR32 : ALAR_PAIR64;
    struct alar_tally step = {0}, interval = {0};
    struct report_microbatch microbatch = {0};
    uint32_t number = 0;
    double value = 0;

    while (report_microbatch_next(view, &microbatch)) {
        if (microbatch.step != number) {
            alar_loss_add_step(&interval, encoding, over, &step);
            step = (struct alar_tally){0};
        }
        number = microbatch.step;
        alar_loss_add_pair(&step, encoding, normalization, view->ranks,
                           (struct alar_ratio){microbatch.low, microbatch.weight});
    }
    alar_loss_add_step(&interval, encoding, over, &step);
    if (!(is_sum ? alar_loss_total : alar_loss_value)(&interval, encoding, &value)) {
        return (struct report_span){REPORT_EMPTY, 0, 0};
    }
    return (struct report_span){isfinite(value) ? REPORT_NUMBER : REPORT_SPECIAL, value, value};
}

/* Could the report be one of these? The ends are rounded to the format of its bits, as it was. */
bool report_fits(const struct judge_report *report, struct report_span span)
{
    if (span.kind != REPORT_NUMBER) {
        return span.kind == REPORT_EMPTY ? report->is_empty : report->is_special;
    }
    double low = alar_fp_to_double(report->dtype, alar_fp_from_double(report->dtype, span.low));
    double high = alar_fp_to_double(report->dtype, alar_fp_from_double(report->dtype, span.high));
    return !report->is_empty && !report->is_special && low <= report->high && high >= report->low;
}

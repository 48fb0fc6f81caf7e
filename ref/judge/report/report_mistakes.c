/* Which mistake gives the number that was shown? Each known one is tried; the first row that gives
   it is named, and it is counted how many other kinds give it too. */
#include "judge/report/report.h"

#include "base/check.h"

#include <math.h>

/* What a row needs to say anything that the right rule does not. */
enum {
    NEEDS_RANKS = 1,        /* more than one */
    NEEDS_MICROBATCHES = 2, /* more than one a step */
    NEEDS_STEPS = 4,        /* more than one */
    NEEDS_SUMS = 8,         /* pairs hold sums and counts, not means */
    NEEDS_REPLICATED = 16   /* the metric is declared so */
};

/* By what the result is multiplied, or, below zero, divided. */
enum factor {
    ONCE,
    RANKS,
    MICROBATCHES,
    STEPS,
    ALL_MICROBATCHES,
    PER_RANKS,
    PER_MICROBATCHES,
    PER_STEPS,
    PER_ALL_MICROBATCHES
};

/* A mistake. rule: REPORT_RULES stands for the declared one. */
struct mistake {
    enum alar_anomaly anomaly;
    int rule;
    enum factor factor;
    unsigned needs;
};

enum {
    LEGAL = -1,  /* the declared rule itself */
    TOTALS = -2, /* the mean of the ranks' own means over all microbatches */
    OTHER = -3   /* the declared rule, the other way over the steps */
};

/* clang-format off */
static const struct mistake mistakes[] = {
    {ALAR_ANOMALY_REPLICA_COUNTED,      REPORT_MEAN_NUMERATORS, ONCE,          NEEDS_RANKS | NEEDS_REPLICATED},
    {ALAR_ANOMALY_MEAN_OF_RANK_MEANS,   REPORT_RANK_MEANS,      ONCE,          NEEDS_RANKS | NEEDS_SUMS},
    {ALAR_ANOMALY_MEAN_OF_RANK_MEANS,   REPORT_RANK_MEANS_ALL,  ONCE,          NEEDS_RANKS | NEEDS_SUMS},
    {ALAR_ANOMALY_MEAN_OF_RANK_MEANS,   TOTALS,              ONCE,          NEEDS_RANKS | NEEDS_SUMS | NEEDS_MICROBATCHES},
    {ALAR_ANOMALY_NEVER_DIVIDED,        REPORT_SUM_RANKS,       ONCE,          NEEDS_RANKS | NEEDS_SUMS},
    {ALAR_ANOMALY_NEVER_DIVIDED,        REPORT_SUM_MICROBATCHES,       ONCE,          NEEDS_MICROBATCHES},
    {ALAR_ANOMALY_NEVER_DIVIDED,        REPORT_SUM_ALL,         ONCE,          NEEDS_RANKS | NEEDS_MICROBATCHES | NEEDS_SUMS},
    {ALAR_ANOMALY_NEVER_DIVIDED,        REPORT_NUMERATORS,      ONCE,          0},
    {ALAR_ANOMALY_NEVER_DIVIDED,        REPORT_MEAN_NUMERATORS, ONCE,          0},
    {ALAR_ANOMALY_NEVER_DIVIDED,        LEGAL,               STEPS,         NEEDS_STEPS},
    {ALAR_ANOMALY_MEAN_OF_MB_MEANS,     REPORT_MICROBATCHES,           ONCE,          NEEDS_MICROBATCHES | NEEDS_SUMS},
    {ALAR_ANOMALY_WRONG_OVER,           OTHER,               ONCE,          NEEDS_STEPS},
    {ALAR_ANOMALY_OTHER_NORMALIZATION,  REPORT_POOL,            ONCE,          NEEDS_SUMS},
    {ALAR_ANOMALY_LAST_MICROBATCH,      REPORT_LAST,            ONCE,          NEEDS_MICROBATCHES},
    {ALAR_ANOMALY_LAST_MICROBATCH,      REPORT_LAST,            MICROBATCHES,         NEEDS_MICROBATCHES},
    {ALAR_ANOMALY_FLOORED_WEIGHTS,      REPORT_FLOORED,         ONCE,          NEEDS_RANKS | NEEDS_SUMS},
    {ALAR_ANOMALY_DIVIDED_TWICE,        LEGAL,               PER_RANKS,     NEEDS_RANKS},
    {ALAR_ANOMALY_DIVIDED_TWICE,        LEGAL,               PER_MICROBATCHES,     NEEDS_MICROBATCHES},
    {ALAR_ANOMALY_DIVIDED_TWICE,        LEGAL,               PER_STEPS,     NEEDS_STEPS},
    {ALAR_ANOMALY_DIVIDED_TWICE,        LEGAL,               PER_ALL_MICROBATCHES, NEEDS_STEPS | NEEDS_MICROBATCHES},
    {ALAR_ANOMALY_SCALING_LEAKED,       LEGAL,               RANKS,         NEEDS_RANKS},
    {ALAR_ANOMALY_SCALING_LEAKED,       LEGAL,               MICROBATCHES,         NEEDS_MICROBATCHES},
    {ALAR_ANOMALY_SCALING_LEAKED,       LEGAL,               ALL_MICROBATCHES,     NEEDS_STEPS | NEEDS_MICROBATCHES},
};
/* clang-format on */

static bool row_applies(const struct report_view *view, const struct mistake *row, bool has_sums)
{
    bool is_replicated = judge_metric_at(view->judge, view->report->metric)->is_replicated;
    unsigned has = (view->ranks > 1 ? NEEDS_RANKS : 0u) |
                   (view->microbatches > view->steps ? NEEDS_MICROBATCHES : 0u) |
                   (view->steps > 1 ? NEEDS_STEPS : 0u) | (has_sums ? NEEDS_SUMS : 0u) |
                   (is_replicated ? NEEDS_REPLICATED : 0u);

    return (row->needs & ~has) == 0;
}

static double row_factor(const struct report_view *view, enum factor factor)
{
    double microbatches = view->microbatches, steps = view->steps;

    switch (factor) {
    case ONCE:
        return 1;
    case RANKS:
        return view->ranks;
    case MICROBATCHES:
        return microbatches / steps;
    case STEPS:
        return steps;
    case ALL_MICROBATCHES:
        return microbatches;
    case PER_RANKS:
        return 1.0 / view->ranks;
    case PER_MICROBATCHES:
        return steps / microbatches;
    case PER_STEPS:
        return 1 / steps;
    default:
        return 1 / microbatches;
    }
}

/* The mean of the ranks' own values. */
static struct report_span rank_totals(const struct report_view *view, struct report_how how)
{
    struct report_fold fold = {0};

    for (uint32_t r = 0; r < view->ranks; r++) {
        how.rule = REPORT_RANK;
        how.rank = r;
        struct report_span own = report_evaluate(view, how);

        if (own.kind != REPORT_EMPTY) {
            report_fold_span(&fold, own);
            fold.weight += 1;
        }
    }
    return report_divided(view, report_fold_sum(view, &fold), fold.weight);
}

static bool row_fits(const struct report_view *view, const struct mistake *row,
                     struct report_how how)
{
    struct report_span span;

    if (row->rule >= 0) {
        how.rule = (enum report_rule)row->rule;
    } else if (row->rule == OTHER) {
        how.over = how.over == ALAR_OVER_STEPS ? ALAR_OVER_POOLED : ALAR_OVER_STEPS;
    }
    span = row->rule == TOTALS ? rank_totals(view, how) : report_evaluate(view, how);
    if (row->factor != ONCE) {
        span = report_scale(span, row_factor(view, row->factor));
    }
    return report_fits(view->report, span);
}

/* One rank's own value, of the reporting rank or of another one. */
static bool is_of_one_rank(const struct report_view *view, struct report_how how)
{
    how.rule = REPORT_RANK;
    for (uint32_t r = 0; view->ranks > 1 && r < view->ranks; r++) {
        how.rank = r;
        if (report_fits(view->report, report_evaluate(view, how))) {
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
    how.rule = REPORT_WITHOUT;
    for (uint32_t r = 0; view->ranks > 2 && r < view->ranks; r++) {
        how.rank = r;
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
    uint64_t hint = 0;
    bool is_whole = true;

    for (uint32_t k = 0; k < view->report->parts; k++) {
        uint64_t number = part[k].number + (uint64_t)by;
        uint64_t op = judge_report_find(view->judge, part[k].group, number, hint);

        is_whole =
            is_whole && op != 0 &&
            judge_op_at(view->judge, op)->ins == judge_op_at(view->judge, op)->members &&
            judge_op_at(view->judge, op)->pairs == judge_op_at(view->judge, part[k].op)->pairs;
        hint = op;
    }
    for (uint32_t k = 0; is_whole && k < view->report->parts; k++) {
        hint = judge_report_find(view->judge, part[k].group, part[k].number + (uint64_t)by, hint);
        part[k].op = hint;
        part[k].number += (uint64_t)by;
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
static bool mistake_fits(const struct report_view *view, struct report_how how,
                         enum alar_anomaly anomaly)
{
    switch ((int)anomaly) {
    case ALAR_ANOMALY_OWN_ONLY:
        return is_of_one_rank(view, how);
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

static bool anomaly_fits(const struct report_view *view, struct report_how how, bool has_sums,
                         enum alar_anomaly anomaly)
{
    for (size_t k = 0; k < sizeof mistakes / sizeof *mistakes; k++) {
        if (mistakes[k].anomaly == anomaly && row_applies(view, &mistakes[k], has_sums) &&
            row_fits(view, &mistakes[k], how)) {
            return true;
        }
    }
    return mistake_fits(view, how, anomaly);
}

/* Mistakes that say something about a sum that was to stay one. */
static bool is_of_totals(enum alar_anomaly anomaly)
{
    return anomaly == ALAR_ANOMALY_OTHER_NORMALIZATION || anomaly == ALAR_ANOMALY_DIVIDED_TWICE ||
           anomaly == ALAR_ANOMALY_SCALING_LEAKED || anomaly == ALAR_ANOMALY_SHIFTED;
}

enum alar_anomaly report_diagnose(const struct report_view *view, struct report_how legal,
                                  bool has_sums, uint32_t *others)
{
    enum alar_anomaly named = ALAR_ANOMALY_COUNT;

    *others = 0;
    for (int a = ALAR_ANOMALY_REPLICA_COUNTED; a < ALAR_ANOMALY_ILLEGAL_REPORT; a++) {
        bool is_tried = legal.rule != REPORT_TOTAL || is_of_totals((enum alar_anomaly)a);

        if (is_tried && anomaly_fits(view, legal, has_sums, (enum alar_anomaly)a)) {
            *others += named != ALAR_ANOMALY_COUNT;
            named = named == ALAR_ANOMALY_COUNT ? (enum alar_anomaly)a : named;
        }
    }
    return named;
}

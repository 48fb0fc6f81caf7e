/* Which mistake gives the number that was shown? Each known one is tried; the first kind that gives
   it is named, and the others that give it too are said beside it. */
#include "judge/report/report.h"

/* What a row needs to say anything that the right rule does not. */
enum {
    NEEDS_RANKS = 1,        /* more than one */
    NEEDS_MICROBATCHES = 2, /* more than one a step */
    NEEDS_STEPS = 4,        /* more than one */
    NEEDS_SUMS = 8,         /* pairs hold sums and counts, not means */
    NEEDS_REPLICATED = 16,  /* some group holds the metric whole; then its values are all counted */
    NEEDS_EMPTY = 32        /* some step has no value */
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
    PER_ALL_MICROBATCHES,
    PER_INTERVAL,       /* of the header */
    STEPS_PER_INTERVAL, /* by what was configured there, instead of what there was */
    MICROBATCHES_PER_STEP,
    RANKS_PER_WORLD
};

/* A mistake. rule: one of enum report_rule, or of those below. */
struct mistake {
    enum alar_anomaly anomaly;
    int rule;
    enum factor factor;
    unsigned needs;
    unsigned counts_empty; /* REPORT_EMPTY_... */
};

enum {
    LEGAL = -1,       /* the declared rule itself */
    TOTALS = -2,      /* the mean of the ranks' own means over all microbatches */
    OTHER = -3,       /* the declared rule, the other way over the steps */
    OTHER_RATIOS = -4 /* the mean of the microbatches' ratios, the other way over the steps */
};

/* clang-format off */
static const struct mistake mistakes[] = {
    {ALAR_ANOMALY_REPLICA_COUNTED,      REPORT_MEAN_NUMERATORS, ONCE,          NEEDS_RANKS | NEEDS_REPLICATED, 0},
    {ALAR_ANOMALY_REPLICA_COUNTED,      LEGAL,               ONCE,          NEEDS_RANKS | NEEDS_REPLICATED, 0},
    {ALAR_ANOMALY_EMPTY_COUNTED,        LEGAL,               ONCE,          0, REPORT_EMPTY_RANKS},
    {ALAR_ANOMALY_EMPTY_COUNTED,        LEGAL,               ONCE,          0, REPORT_EMPTY_MICROBATCHES},
    {ALAR_ANOMALY_EMPTY_COUNTED,        LEGAL,               ONCE,          0, REPORT_EMPTY_RANKS | REPORT_EMPTY_MICROBATCHES},
    {ALAR_ANOMALY_EMPTY_COUNTED,        LEGAL,               ONCE,          NEEDS_EMPTY, REPORT_EMPTY_STEPS},
    {ALAR_ANOMALY_MEAN_OF_RANK_MEANS,   REPORT_RANK_MEANS,      ONCE,          NEEDS_RANKS | NEEDS_SUMS, 0},
    {ALAR_ANOMALY_MEAN_OF_RANK_MEANS,   REPORT_RANK_MEANS_ALL,  ONCE,          NEEDS_RANKS | NEEDS_SUMS, 0},
    {ALAR_ANOMALY_MEAN_OF_RANK_MEANS,   TOTALS,              ONCE,          NEEDS_RANKS | NEEDS_SUMS | NEEDS_MICROBATCHES, 0},
    {ALAR_ANOMALY_NEVER_DIVIDED,        REPORT_SUM_RANKS,       ONCE,          NEEDS_RANKS | NEEDS_SUMS, 0},
    {ALAR_ANOMALY_NEVER_DIVIDED,        REPORT_SUM_MICROBATCHES,       ONCE,          NEEDS_MICROBATCHES, 0},
    {ALAR_ANOMALY_NEVER_DIVIDED,        REPORT_SUM_ALL,         ONCE,          NEEDS_RANKS | NEEDS_MICROBATCHES | NEEDS_SUMS, 0},
    {ALAR_ANOMALY_NEVER_DIVIDED,        REPORT_NUMERATORS,      ONCE,          0, 0},
    {ALAR_ANOMALY_NEVER_DIVIDED,        REPORT_MEAN_NUMERATORS, ONCE,          0, 0},
    {ALAR_ANOMALY_NEVER_DIVIDED,        LEGAL,               STEPS,         NEEDS_STEPS, 0},
    {ALAR_ANOMALY_MEAN_OF_MB_MEANS,     REPORT_MICROBATCHES,           ONCE,          NEEDS_MICROBATCHES | NEEDS_SUMS, 0},
    {ALAR_ANOMALY_MEAN_OF_MB_MEANS,     OTHER_RATIOS,        ONCE,          NEEDS_MICROBATCHES | NEEDS_SUMS | NEEDS_STEPS, 0},
    {ALAR_ANOMALY_WRONG_OVER,           OTHER,               ONCE,          NEEDS_STEPS, 0},
    {ALAR_ANOMALY_OTHER_NORMALIZATION,  REPORT_POOL,            ONCE,          NEEDS_SUMS, 0},
    {ALAR_ANOMALY_LAST_MICROBATCH,      REPORT_LAST,            ONCE,          NEEDS_MICROBATCHES, 0},
    {ALAR_ANOMALY_LAST_MICROBATCH,      REPORT_LAST,            MICROBATCHES,         NEEDS_MICROBATCHES, 0},
    {ALAR_ANOMALY_FLOORED_WEIGHTS,      REPORT_FLOORED,         ONCE,          NEEDS_RANKS | NEEDS_SUMS, 0},
    {ALAR_ANOMALY_DIVIDED_TWICE,        LEGAL,               PER_RANKS,     NEEDS_RANKS, 0},
    {ALAR_ANOMALY_DIVIDED_TWICE,        LEGAL,               PER_MICROBATCHES,     NEEDS_MICROBATCHES, 0},
    {ALAR_ANOMALY_DIVIDED_TWICE,        LEGAL,               PER_STEPS,     NEEDS_STEPS, 0},
    {ALAR_ANOMALY_DIVIDED_TWICE,        LEGAL,               PER_ALL_MICROBATCHES, NEEDS_STEPS | NEEDS_MICROBATCHES, 0},
    {ALAR_ANOMALY_DIVIDED_TWICE,        LEGAL,               PER_INTERVAL,  0, 0},
    {ALAR_ANOMALY_DIVIDED_BY_CONFIGURED, LEGAL,              STEPS_PER_INTERVAL, 0, 0},
    {ALAR_ANOMALY_DIVIDED_BY_CONFIGURED, LEGAL,              MICROBATCHES_PER_STEP, 0, 0},
    {ALAR_ANOMALY_DIVIDED_BY_CONFIGURED, LEGAL,              RANKS_PER_WORLD, 0, 0},
    {ALAR_ANOMALY_SCALING_LEAKED,       LEGAL,               RANKS,         NEEDS_RANKS, 0},
    {ALAR_ANOMALY_SCALING_LEAKED,       LEGAL,               MICROBATCHES,         NEEDS_MICROBATCHES, 0},
    {ALAR_ANOMALY_SCALING_LEAKED,       LEGAL,               ALL_MICROBATCHES,     NEEDS_STEPS | NEEDS_MICROBATCHES, 0},
};
/* clang-format on */

static bool row_applies(const struct report_view *view, const struct mistake *row, bool has_sums)
{
    bool has_empty = (row->needs & NEEDS_EMPTY) != 0 && report_sums_read(view).empty_steps > 0;
    unsigned has = (view->ranks > 1 ? NEEDS_RANKS : 0u) |
                   (view->microbatches > view->steps ? NEEDS_MICROBATCHES : 0u) |
                   (view->steps > 1 ? NEEDS_STEPS : 0u) | (has_sums ? NEEDS_SUMS : 0u) |
                   (view->is_replicated ? NEEDS_REPLICATED : 0u) | (has_empty ? NEEDS_EMPTY : 0u);

    return (row->needs & ~has) == 0;
}

static double row_factor(const struct report_view *view, enum factor factor)
{
    double microbatches = view->microbatches, steps = view->steps;
    const struct alar_loop *loop = &view->judge->loop;
    double interval = loop->report_interval > 0 ? (double)loop->report_interval : steps;
    double each = loop->microbatches > 0 ? (double)loop->microbatches : microbatches / steps;

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
    case PER_INTERVAL:
        return loop->report_interval > 0 ? 1 / interval : 1;
    case STEPS_PER_INTERVAL:
        return steps / interval;
    case MICROBATCHES_PER_STEP:
        return microbatches / steps / each;
    case RANKS_PER_WORLD:
        return (double)view->ranks / view->judge->setup.world;
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
    struct report_view counted = *view;
    double factor = row_factor(view, row->factor);
    struct report_span span;

    if (row->factor != ONCE && !(factor < 1 || factor > 1)) {
        return false; /* it says nothing that the right rule does not */
    }
    if (row->rule >= 0) {
        how.rule = (enum report_rule)row->rule;
    } else if (row->rule == OTHER) {
        how.over = how.over == ALAR_OVER_STEPS ? ALAR_OVER_POOLED : ALAR_OVER_STEPS;
    } else if (row->rule == OTHER_RATIOS) {
        how.over = how.over == ALAR_OVER_STEPS ? ALAR_OVER_POOLED : ALAR_OVER_STEPS;
        how.rule = REPORT_MICROBATCHES;
    }
    how.counts_empty = row->counts_empty;
    counted.counts_replicas = (row->needs & NEEDS_REPLICATED) != 0;
    span = row->rule == TOTALS ? rank_totals(&counted, how) : report_evaluate(&counted, how);
    return report_fits(view->report, row->factor != ONCE ? report_scale(span, factor) : span);
}

static bool anomaly_fits(const struct report_view *view, struct report_how how,
                         enum alar_anomaly anomaly, uint32_t *own)
{
    bool has_sums = report_has_tokens(view);

    for (size_t k = 0; k < sizeof mistakes / sizeof *mistakes; k++) {
        if (mistakes[k].anomaly == anomaly && row_applies(view, &mistakes[k], has_sums) &&
            row_fits(view, &mistakes[k], how)) {
            return true;
        }
    }
    return report_mistake_fits(view, how, anomaly, own);
}

/* Mistakes that say something about a sum that was to stay one. */
static bool is_of_totals(enum alar_anomaly anomaly)
{
    static const enum alar_anomaly of_totals[] = {
        ALAR_ANOMALY_REPLICA_COUNTED, ALAR_ANOMALY_OTHER_NORMALIZATION,
        ALAR_ANOMALY_LAST_MICROBATCH, ALAR_ANOMALY_LAST_OF_RANK,
        ALAR_ANOMALY_DIVIDED_TWICE,   ALAR_ANOMALY_SCALING_LEAKED,
        ALAR_ANOMALY_OWN_ONLY,        ALAR_ANOMALY_WRONG_GROUP,
        ALAR_ANOMALY_SHIFTED,         ALAR_ANOMALY_SMOOTHED};

    for (size_t k = 0; k < sizeof of_totals / sizeof *of_totals; k++) {
        if (of_totals[k] == anomaly) {
            return true;
        }
    }
    return false;
}

void report_diagnose(const struct report_view *view, struct report_how legal,
                     struct report_named *named)
{
    legal.is_total = legal.rule == REPORT_TOTAL;
    for (int a = ALAR_ANOMALY_REPLICA_COUNTED; a < ALAR_ANOMALY_ILLEGAL_REPORT; a++) {
        enum alar_anomaly anomaly = (enum alar_anomaly)a;

        if ((legal.is_total && !is_of_totals(anomaly)) ||
            !anomaly_fits(view, legal, anomaly, &named->own)) {
            continue;
        }
        if (named->first == ALAR_ANOMALY_COUNT) {
            named->first = anomaly;
        } else {
            named->others[a / 64] |= UINT64_C(1) << a % 64;
        }
    }
}

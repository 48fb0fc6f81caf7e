/* Which rules make a legal value of what was contributed. */
#include "judge/report/report.h"

#include "base/check.h"

static enum log_rule declared_rule(const struct log_view *view, int32_t normalization)
{
    const struct judge_metric *metric = judge_metric_at(view->judge, view->report->metric);
    bool is_share = view->is_scalar && metric->group && !metric->is_replicated;

    if (normalization == ALAR_SEED_UNDIVIDED) {
        return LOG_MEAN_NUMERATORS;
    }
    if (view->is_scalar || normalization > ALAR_TOKEN_WEIGHTED) {
        return is_share && normalization < 0 ? LOG_MEAN_NUMERATORS : LOG_CELLS;
    }
    return LOG_POOL;
}

uint32_t log_rules(const struct log_view *view, struct log_legal *rule)
{
    static const enum log_rule of_sums[] = {LOG_POOL, LOG_RANK_MEANS, LOG_CELLS};
    const struct judge_metric *metric = judge_metric_at(view->judge, view->report->metric);
    const struct judge_report *report = view->report;
    uint32_t count = 0;

    if (view->kind == ALAR_METRIC_SUM) {
        rule[0].how = (struct log_how){.rule = LOG_TOTAL, .over = ALAR_OVER_POOLED};
        rule[0].normalization = ALAR_TOKEN_WEIGHTED;
        return 1;
    }
    for (int32_t over = ALAR_OVER_STEPS; over <= ALAR_OVER_POOLED; over++) {
        if (report->over >= 0 && report->over != over) {
            continue;
        }
        struct log_how how = {.rule = declared_rule(view, report->normalization), .over = over};

        rule[count++] = (struct log_legal){how, report->normalization < 0 ? ALAR_TOKEN_WEIGHTED
                                                                          : report->normalization};
        for (int32_t n = ALAR_RANK_MEAN; report->normalization < 0 && n <= ALAR_MICROBATCH_MEAN;
             n++) {
            how.rule = of_sums[n];
            if (!view->is_scalar) {
                rule[count++] = (struct log_legal){how, n};
            }
        }
        if (report->normalization < 0 && view->is_scalar && metric->group == 0) {
            how.rule = LOG_MEAN_NUMERATORS; /* a plain sum, as far as anybody said */
            rule[count++] = (struct log_legal){how, ALAR_SEED_UNDIVIDED};
        }
    }
    POST(count <= LOG_RULES);
    return count;
}

/* Which rules make a legal value of what was contributed. */
#include "judge/report/report.h"

#include "base/check.h"

static enum report_rule declared_rule(const struct report_view *view, int32_t normalization)
{
    const struct judge_metric *metric = judge_metric_at(view->judge, view->report->metric);
    bool is_share = view->is_scalar && report_scope_has(view->judge, metric, false);

    if (normalization == ALAR_SEED_UNDIVIDED) {
        return REPORT_MEAN_NUMERATORS;
    }
    if (view->is_scalar || normalization > ALAR_TOKEN_WEIGHTED) {
        return is_share && normalization < 0 ? REPORT_MEAN_NUMERATORS : REPORT_MICROBATCHES;
    }
    return REPORT_POOL;
}

uint32_t report_rules(const struct report_view *view, struct report_legal *rule)
{
    static const enum report_rule of_sums[] = {REPORT_POOL, REPORT_RANK_MEANS, REPORT_MICROBATCHES};
    const struct judge_metric *metric = judge_metric_at(view->judge, view->report->metric);
    const struct judge_report *report = view->report;
    uint32_t count = 0;

    if (view->kind == ALAR_METRIC_SUM) {
        rule[0].how = (struct report_how){.rule = REPORT_TOTAL, .over = ALAR_OVER_POOLED};
        rule[0].normalization = ALAR_TOKEN_WEIGHTED;
        return 1;
    }
    for (int32_t over = ALAR_OVER_STEPS; over <= ALAR_OVER_POOLED; over++) {
        if (report->over >= 0 && report->over != over) {
            continue;
        }
        struct report_how how = {.rule = declared_rule(view, report->normalization), .over = over};

        rule[count++] = (struct report_legal){
            how, report->normalization < 0 ? ALAR_TOKEN_WEIGHTED : report->normalization};
        for (int32_t n = ALAR_RANK_MEAN; report->normalization < 0 && n <= ALAR_MICROBATCH_MEAN;
             n++) {
            how.rule = of_sums[n];
            if (!view->is_scalar) {
                rule[count++] = (struct report_legal){how, n};
            }
        }
        if (report->normalization < 0 && view->is_scalar && metric->scopes == 0) {
            how.rule = REPORT_MEAN_NUMERATORS; /* a plain sum, as far as anybody said */
            rule[count++] = (struct report_legal){how, ALAR_SEED_UNDIVIDED};
        }
    }
    POST(count <= REPORT_RULES);
    return count;
}

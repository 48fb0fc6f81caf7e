/* Do replicas hold what they must: the same? */
#include "judge/report/report.h"

#include <string.h>

/* Does each member that does not count hold what a lower one of its group holds? */
static bool microbatch_agrees(const struct report_view *view,
                              const struct report_microbatch *microbatch)
{
    const struct judge_op *op = microbatch->op;
    const struct judge_metric *metric = judge_metric_at(view->judge, view->report->metric);
    const struct judge_group *group = judge_group_at(view->judge, op->group);

    for (uint32_t m = 0; m < op->members; m++) {
        uint64_t same =
            report_scope_find(view->judge, metric, judge_member_rank(view->judge, group, m), true);
        double own[] = {report_numerator(view, microbatch, m), report_weight(view, microbatch, m)};

        for (uint32_t k = 0; same && k < m; k++) {
            double other[] = {report_numerator(view, microbatch, k),
                              report_weight(view, microbatch, k)};

            if (report_has_member(view->judge, judge_group_at(view->judge, same),
                                  judge_member_rank(view->judge, group, k)) &&
                memcmp(own, other, sizeof own) != 0) {
                return false;
            }
        }
    }
    return true;
}

bool report_replicas_agree(const struct report_view *view)
{
    struct report_microbatch microbatch = {0};

    while (view->is_replicated && report_microbatch_next(view, &microbatch)) {
        if (!microbatch_agrees(view, &microbatch)) {
            return false;
        }
    }
    return true;
}

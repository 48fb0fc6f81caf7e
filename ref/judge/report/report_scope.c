/* The steps and ranks that a report speaks of: no arithmetic is needed to see that they are others
   than its operations have; and which of its ranks hold the same. */
#include "judge/report/report.h"

#include <string.h>

void report_count(struct report_answer *answer, enum alar_report_count count, int64_t shown,
                  uint64_t due)
{
    answer->anomaly = ALAR_ANOMALY_WRONG_COUNT;
    answer->count = count;
    answer->count_shown = (uint64_t)shown;
    answer->count_due = due;
}

static const struct judge_scope *scope_at(const struct alar_judge *judge, uint64_t scope)
{
    return alar_arena_at(judge->arena, scope);
}

bool report_scope_has(const struct alar_judge *judge, const struct judge_metric *metric,
                      bool is_replicated)
{
    for (uint64_t s = metric->scopes; s; s = scope_at(judge, s)->next) {
        if (scope_at(judge, s)->is_replicated == is_replicated) {
            return true;
        }
    }
    return false;
}

static bool is_digit(char sign)
{
    return sign >= '0' && sign <= '9';
}

/* Are two names the same but for their digits? */
static bool is_alike(const char *a, const char *b)
{
    while (*a != '\0' || *b != '\0') {
        if (is_digit(*a)) {
            a++;
        } else if (is_digit(*b)) {
            b++;
        } else if (*a++ != *b++) {
            return false;
        }
    }
    return true;
}

bool report_has_member(const struct alar_judge *judge, const struct judge_group *group,
                       uint32_t rank)
{
    uint32_t member;

    return judge_member_find(judge, group, rank, &member);
}

/* The group a scope was declared for, or one like it, that `rank` is in. */
static uint64_t scope_group(const struct alar_judge *judge, const struct judge_scope *scope,
                            uint32_t rank)
{
    const struct judge_group *own = NULL;

    for (uint64_t g = judge->group; g; g = judge_group_at(judge, g)->next) {
        own = judge_group_at(judge, g)->hash == scope->hash ? judge_group_at(judge, g) : own;
    }
    for (uint64_t g = judge->group; own != NULL && g; g = judge_group_at(judge, g)->next) {
        const struct judge_group *group = judge_group_at(judge, g);

        if ((group == own || (group->is_declared && is_alike(group->name, own->name))) &&
            report_has_member(judge, group, rank)) {
            return g;
        }
    }
    return 0;
}

uint64_t report_scope_find(const struct alar_judge *judge, const struct judge_metric *metric,
                           uint32_t rank, bool is_replicated)
{
    uint64_t group = 0;

    for (uint64_t s = metric->scopes; s && group == 0; s = scope_at(judge, s)->next) {
        if (scope_at(judge, s)->is_replicated == is_replicated) {
            group = scope_group(judge, scope_at(judge, s), rank);
        }
    }
    return group;
}

bool report_counts(const struct report_view *view, const struct judge_op *op, uint32_t member)
{
    if (!view->is_replicated || view->counts_replicas) {
        return true;
    }
    const struct judge_metric *metric = judge_metric_at(view->judge, view->report->metric);
    const struct judge_group *group = judge_group_at(view->judge, op->group);
    uint64_t same =
        report_scope_find(view->judge, metric, judge_member_rank(view->judge, group, member), true);

    for (uint32_t m = 0; same && m < member; m++) {
        if (report_has_member(view->judge, judge_group_at(view->judge, same),
                              judge_member_rank(view->judge, group, m))) {
            return false;
        }
    }
    return true;
}

/* A metric that each rank of a group holds a share of: its operations hold whole groups, and nobody
   else. spec: O-110 */
static bool is_of_its_groups(const struct report_view *view, const struct judge_metric *metric,
                             const struct judge_group *group)
{
    for (uint32_t m = 0; m < group->members; m++) {
        uint32_t rank = judge_member_rank(view->judge, group, m);
        uint64_t found = report_scope_find(view->judge, metric, rank, false);
        const struct judge_group *needed = found ? judge_group_at(view->judge, found) : NULL;

        for (uint32_t k = 0; needed != NULL && k < needed->members; k++) {
            if (!report_has_member(view->judge, group, judge_member_rank(view->judge, needed, k))) {
                return false;
            }
        }
        if (needed == NULL) {
            return false;
        }
    }
    return true;
}

enum alar_anomaly report_scope_check(const struct report_view *view)
{
    const struct judge_report *report = view->report;
    const struct judge_metric *metric = judge_metric_at(view->judge, report->metric);
    bool is_partial = report_scope_has(view->judge, metric, false);
    uint64_t checked = 0;

    for (uint32_t k = 0; k < report->parts; k++) {
        const struct judge_op *op = judge_op_at(view->judge, view->part[k].op);

        if (op->step >= 0 && (op->step < report->first_step || op->step > report->step)) {
            return ALAR_ANOMALY_SHIFTED_LABEL;
        }
        if (is_partial && op->group != checked &&
            !is_of_its_groups(view, metric, judge_group_at(view->judge, op->group))) {
            return ALAR_ANOMALY_WRONG_GROUP;
        }
        checked = op->group;
    }
    return ALAR_ANOMALY_COUNT;
}

/* Which settled operations are kept for reports, and when a report is due. */
#include "judge/report/report.h"

#include "base/check.h"

#include <string.h>

enum {
    REPORT_ELEMENTS_MAX = 65536, /* operations with more recorded elements are no log reductions */
    LOG_KEPT_MIN = 64,           /* operations kept at least */
    LOG_INTERVALS = 4,           /* intervals kept, of the longest one reported so far */
};

static struct judge_report *report_at(const struct alar_judge *judge, uint64_t report)
{
    return alar_arena_at(judge->arena, report);
}

/* Only what says that it belongs to a metric or a step can be asked for by a report. */
bool judge_report_wants(const struct judge_op *op)
{
    bool is_named = op->key_hash != 0 || op->step >= 0 || op->pairs > 0;

    return is_named && op->elements > 0 && op->elements <= REPORT_ELEMENTS_MAX;
}

static void report_drop_oldest(struct alar_judge *judge)
{
    uint64_t oldest = judge->log.oldest;

    judge->log.oldest = judge_op_at(judge, oldest)->newer;
    if (judge->log.oldest == 0) {
        judge->log.newest = 0;
    }
    judge->log.kept--;
    judge_op_give(judge, oldest);
}

/* Where the operations of a list are kept. */
static void parts_find(const struct alar_judge *judge, uint64_t list, uint32_t count)
{
    struct judge_part *part = count ? alar_arena_at(judge->arena, list) : NULL;
    uint64_t hint = 0;

    for (uint32_t k = 0; k < count; k++) {
        part[k].op = judge_report_find(judge, part[k].group, part[k].number, hint);
        hint = part[k].op;
    }
}

/* Are all operations settled? Those that are, are found. */
static bool report_is_due(struct alar_judge *judge, struct judge_report *report)
{
    uint64_t list = report->all_parts ? report->all : report->part; /* the one holds the other */
    uint32_t count = report->all_parts ? report->all_parts : report->parts;
    const struct judge_part *part = alar_arena_at(judge->arena, list);

    while (report->settled < count) {
        if (judge_op_find(judge, part[report->settled].group, part[report->settled].number)) {
            return false;
        }
        report->settled++;
    }
    parts_find(judge, report->part, report->parts);
    parts_find(judge, report->all, report->all_parts);
    return true;
}

static void report_give(struct alar_judge *judge, uint64_t report)
{
    const struct judge_report *given = report_at(judge, report);

    alar_arena_give(judge->arena, given->part, given->room * sizeof(struct judge_part));
    if (given->all) {
        alar_arena_give(judge->arena, given->all, given->room * sizeof(struct judge_part));
    }
    alar_arena_give(judge->arena, report, sizeof *given);
}

/* Room for the last few intervals, once it is known how long they are. */
static void report_learn(struct alar_judge *judge, const struct judge_report *report)
{
    uint64_t wanted = LOG_INTERVALS * (uint64_t)report->parts;

    wanted = wanted < LOG_KEPT_MIN ? LOG_KEPT_MIN : wanted;
    if (!judge->log.is_learned || judge->log.kept_max < wanted) {
        judge->log.kept_max = wanted;
    }
    judge->log.is_learned = true;
}

/* Judges the report if it is due. */
static bool report_try_one(struct alar_judge *judge, uint64_t at)
{
    struct judge_report *report = report_at(judge, at);

    if (!report_is_due(judge, report)) {
        return false;
    }
    judge_report_check(judge, report);
    report_learn(judge, report);
    report_give(judge, at);
    return true;
}

/* Judges the reports that are due, oldest first. */
static void report_try(struct alar_judge *judge)
{
    uint64_t *link = &judge->log.waiting;

    judge->log.last = 0;
    judge->log.is_stale = false;
    while (*link) {
        uint64_t at = *link, next = report_at(judge, at)->next;

        if (report_try_one(judge, at)) {
            *link = next;
        } else {
            judge->log.last = at;
            link = &report_at(judge, at)->next;
        }
    }
}

/* Those that wait were tried when an operation ended last. */
void judge_report_wait(struct alar_judge *judge, uint64_t report)
{
    if (judge->log.is_stale) {
        report_try(judge);
    }
    if (report_try_one(judge, report)) {
        return;
    }
    *(judge->log.last ? &report_at(judge, judge->log.last)->next : &judge->log.waiting) = report;
    judge->log.last = report;
}

void judge_report_keep(struct alar_judge *judge, uint64_t made)
{
    struct judge_op *op = judge_op_at(judge, made);

    op->older = judge->log.newest;
    op->newer = 0;
    if (judge->log.newest) {
        judge_op_at(judge, judge->log.newest)->newer = made;
    } else {
        judge->log.oldest = made;
    }
    judge->log.newest = made;
    judge->log.kept++;
    report_try(judge);
    while (judge->log.kept > judge->log.kept_max) {
        report_drop_oldest(judge);
    }
}

void judge_report_finish(struct alar_judge *judge)
{
    report_try(judge);
    for (uint64_t r = judge->log.waiting; r; r = report_at(judge, r)->next) {
        judge_unknown(judge, ALAR_UNKNOWN_REPORT, report_at(judge, r)->place,
                      report_at(judge, r)->rank);
    }
    for (uint64_t m = judge->log.metric; m; m = judge_metric_at(judge, m)->next) {
        report_kinds_finish(judge, judge_metric_at(judge, m));
        report_steps_finish(judge, judge_metric_at(judge, m));
        report_claims_finish(judge, judge_metric_at(judge, m));
    }
}

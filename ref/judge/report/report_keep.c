/* Which settled operations are kept for reports, and when a report is due. */
#include "judge/report/report.h"

#include "base/chain.h"

#include <stddef.h>

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

    for (uint32_t k = 0; k < count; k++) {
        part[k].op = judge_op_find_kept(judge, part[k].group, part[k].number);
    }
}

/* The first operation of the report that is not settled; 0: they all are. */
static uint64_t report_awaits(const struct alar_judge *judge, struct judge_report *report)
{
    uint64_t list = report->all_parts ? report->all : report->part; /* the one holds the other */
    uint32_t count = report->all_parts ? report->all_parts : report->parts;
    const struct judge_part *part = alar_arena_at(judge->arena, list);
    uint64_t op = 0;

    while (report->settled < count && op == 0) {
        op = judge_op_find(judge, part[report->settled].group, part[report->settled].number);
        report->settled += op == 0;
    }
    return op;
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

/* Judges a report whose operations are all settled. */
static void report_judge(struct alar_judge *judge, uint64_t at)
{
    struct judge_report *report = report_at(judge, at);

    parts_find(judge, report->part, report->parts);
    parts_find(judge, report->all, report->all_parts);
    judge_report_check(judge, report);
    report_learn(judge, report);
    report_give(judge, at);
}

/* Judges the reports that are due, oldest first. */
static void reports_judge(struct alar_judge *judge)
{
    uint64_t next =
        alar_chain_sort(judge->arena, judge->log.due, offsetof(struct judge_report, beside),
                        offsetof(struct judge_report, order), false);

    judge->log.due = 0;
    while (next) {
        uint64_t at = next;
        const struct judge_report *report = report_at(judge, at);

        next = report->beside;
        *(report->before ? &report_at(judge, report->before)->next : &judge->log.waiting) =
            report->next;
        *(report->next ? &report_at(judge, report->next)->before : &judge->log.last) =
            report->before;
        report_judge(judge, at);
    }
}

/* A report waits for the first of its operations that is not settled, and then for the next one. */
static void report_hang(struct alar_judge *judge, uint64_t at)
{
    struct judge_report *report = report_at(judge, at);
    uint64_t op = report_awaits(judge, report);
    uint64_t *first = op ? &judge_op_at(judge, op)->waiting : &judge->log.due;

    report->beside = *first;
    *first = at;
}

void judge_reports_settled(struct alar_judge *judge, const struct judge_op *op)
{
    for (uint64_t next = op->waiting; next;) {
        uint64_t at = next;

        next = report_at(judge, at)->beside;
        report_hang(judge, at);
    }
}

/* Those that are due became so when an operation ended that was not kept. */
void judge_report_wait(struct alar_judge *judge, uint64_t at)
{
    struct judge_report *report = report_at(judge, at);

    reports_judge(judge);
    if (report_awaits(judge, report) == 0) {
        report_judge(judge, at);
        return;
    }
    report->order = ++judge->log.seen;
    report->before = judge->log.last;
    *(judge->log.last ? &report_at(judge, judge->log.last)->next : &judge->log.waiting) = at;
    judge->log.last = at;
    report_hang(judge, at);
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
    reports_judge(judge);
    while (judge->log.kept > judge->log.kept_max) {
        report_drop_oldest(judge);
    }
}

void judge_report_finish(struct alar_judge *judge)
{
    reports_judge(judge);
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

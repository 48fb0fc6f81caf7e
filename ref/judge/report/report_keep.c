/* Which settled operations are kept for reports, and when a report is due. */
#include "judge/report/report.h"

#include "base/check.h"

#include <string.h>

enum {
    REPORT_ELEMENTS_MAX = 65536, /* operations with more recorded elements are no log reductions */
    LOG_KEPT_MIN = 64,           /* operations kept at least */
    LOG_INTERVALS = 4,           /* intervals kept, of the longest one reported so far */
};

struct judge_metric *judge_metric_at(const struct alar_judge *judge, uint64_t metric)
{
    return alar_arena_at(judge->arena, metric);
}

static struct judge_report *report_at(const struct alar_judge *judge, uint64_t report)
{
    return alar_arena_at(judge->arena, report);
}

uint64_t judge_metric_find(const struct alar_judge *judge, uint64_t hash)
{
    uint64_t metric = judge->log.metric;

    while (metric && judge_metric_at(judge, metric)->hash != hash) {
        metric = judge_metric_at(judge, metric)->next;
    }
    return metric;
}

/* Does the operation carry the metric: under its name, in a list of names, or under no name at all?
 */
bool judge_report_is_of(const struct alar_judge *judge, const struct judge_op *op,
                        const struct judge_metric *metric)
{
    return op->key_hash == 0 || op->key_hash == metric->hash ||
           judge_report_has_name(judge, op, metric->hash);
}

/* "max loss", "loss/max": the metric whose extreme it is by its name. */
static uint64_t name_bounds(struct alar_text name)
{
    static const char *const words[] = {"max", "min"};
    size_t length = 3;

    for (unsigned k = 0; k < 2 && name.length > length + 1; k++) {
        const char *end = name.data + name.length - length;

        if (memcmp(name.data, words[k], length) == 0 && strchr(" _-/.", name.data[length])) {
            return alar_text_hash(
                (struct alar_text){name.data + length + 1, name.length - length - 1});
        }
        if (memcmp(end, words[k], length) == 0 && strchr(" _-/.", end[-1])) {
            return alar_text_hash((struct alar_text){name.data, name.length - length - 1});
        }
    }
    return 0;
}

uint64_t judge_metric_make(struct alar_judge *judge, struct alar_text name)
{
    uint64_t hash = alar_text_hash(name);
    uint64_t metric = judge_metric_find(judge, hash);

    if (metric == 0) {
        metric = alar_arena_take(judge->arena, sizeof(struct judge_metric));
        struct judge_metric *made = judge_metric_at(judge, metric);

        made->next = judge->log.metric;
        made->hash = hash;
        made->bounds = name_bounds(name);
        alar_text_keep(name, made->name, sizeof made->name);
        judge->log.metric = metric;
    }
    return metric;
}

/* Looks from `start` to the newest. */
static uint64_t find_from(const struct alar_judge *judge, uint64_t start, uint64_t group,
                          uint64_t number)
{
    uint64_t at = start;

    while (at &&
           (judge_op_at(judge, at)->group != group || judge_op_at(judge, at)->number != number)) {
        at = judge_op_at(judge, at)->newer;
    }
    return at;
}

/* A kept operation, or 0; operations that follow each other are found at once. */
uint64_t judge_report_find(const struct alar_judge *judge, uint64_t group, uint64_t number,
                           uint64_t hint)
{
    uint64_t found = hint ? find_from(judge, judge_op_at(judge, hint)->newer, group, number) : 0;

    return found ? found : find_from(judge, judge->log.oldest, group, number);
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

/* Judges the reports that are due, oldest first. */
static void report_try(struct alar_judge *judge)
{
    uint64_t *link = &judge->log.waiting;

    while (*link) {
        uint64_t at = *link;
        struct judge_report *report = report_at(judge, at);

        if (report_is_due(judge, report)) {
            *link = report->next;
            judge_report_check(judge, report);
            report_learn(judge, report);
            report_give(judge, at);
        } else {
            link = &report->next;
        }
    }
}

void judge_report_wait(struct alar_judge *judge, uint64_t report)
{
    uint64_t *link = &judge->log.waiting;

    while (*link) {
        link = &report_at(judge, *link)->next;
    }
    *link = report;
    report_try(judge);
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
        report_steps_finish(judge, judge_metric_at(judge, m));
        report_claims_finish(judge, judge_metric_at(judge, m));
    }
}

/* Each step stands in one report of a metric, rank and sink: none is lost, at the end or in
   between, none stands in two lines, and a label names the steps whose operations the report is
   made of. */
#include "judge/report/report.h"

#include "base/check.h"

#include <string.h>

enum {
    STEPS_MINE = 0x80 /* in `sinks`, while a report is entered: it stands for the operation */
};

struct judge_sink *report_sink(struct judge_ledger *ledger, uint64_t hash)
{
    uint32_t k = 0;

    while (k < ledger->sinks && k + 1 < JUDGE_SINKS && ledger->sink[k].hash != hash) {
        k++;
    }
    if (k == ledger->sinks) {
        ledger->sinks++;
        ledger->sink[k] = (struct judge_sink){.hash = hash,
                                              .first_step = -1,
                                              .step = -1,
                                              .normalization = -1,
                                              .over = -1,
                                              .kind = -1};
    }
    return &ledger->sink[k];
}

/* Entries of the ledger, from .. end. */
struct steps_range {
    uint32_t from, end;
};

/* The first entry of that step or a later one, of entries whose steps are sorted. */
static uint32_t steps_first(const struct judge_due *due, uint32_t count, int64_t step)
{
    uint32_t low = 0, high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (due[middle].step < step) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Where entries of steps first .. last can stand: all of them are looked at once a step was
   reduced again. */
static struct steps_range steps_range(const struct judge_ledger *ledger,
                                      const struct judge_due *due, int64_t first, int64_t last)
{
    struct steps_range range = {0, ledger->count};

    if (ledger->is_sorted) {
        range.from = steps_first(due, ledger->count, first);
        range.end = last < INT64_MAX ? steps_first(due, ledger->count, last + 1) : ledger->count;
    }
    return range;
}

/* Puts an operation where its step and number put it. */
static void parts_insert(struct judge_part *part, uint32_t *count, const struct judge_due *due,
                         const struct judge_due *all)
{
    uint32_t at = (*count)++;

    while (at > 0 && (all[part[at - 1].op].step > due->step ||
                      (all[part[at - 1].op].step == due->step && part[at - 1].group == due->group &&
                       part[at - 1].number > due->number))) {
        part[at] = part[at - 1];
        at--;
    }
    /* Until it is found, the place in the ledger stands where the operation will. */
    part[at] = (struct judge_part){due->group, due->number, (uint64_t)(due - all)};
}

/* The operations of the report's steps that its rank has issued so far: of each the last attempt.
   Operations without `mb` may as well be microbatches, as long as no step had just one. */
void report_parts(struct alar_judge *judge, const struct judge_ledger *ledger,
                  struct judge_report *report)
{
    const struct judge_due *due = report_ledger_due(judge, ledger);
    bool are_parts = judge->loop.microbatches > 1 && !ledger->is_single;
    bool is_sure = false;

    struct steps_range range = steps_range(ledger, due, report->first_step, report->step);

    report->room = range.end - range.from + 1;
    report->part = alar_arena_take(judge->arena, report->room * sizeof(struct judge_part));
    report->all = alar_arena_take(judge->arena, report->room * sizeof(struct judge_part));
    struct judge_part *part = alar_arena_at(judge->arena, report->part);
    struct judge_part *all = alar_arena_at(judge->arena, report->all);

    for (uint32_t k = range.from; k < range.end; k++) {
        if (due[k].step < report->first_step || due[k].step > report->step) {
            continue;
        }
        report->has_replaced = report->has_replaced || (due[k].is_replaced && !are_parts);
        if (!due[k].is_replaced || (due[k].is_unlabelled && are_parts)) {
            parts_insert(part, &report->parts, &due[k], due);
        }
        parts_insert(all, &report->all_parts, &due[k], due);
        is_sure = is_sure || (due[k].is_replaced && !due[k].is_unlabelled);
    }
    report->all_parts = report->has_replaced ? report->all_parts : 0;
    report->is_retried = is_sure || ledger->is_single || judge->loop.microbatches == 1;
    for (uint32_t k = 0; k < report->parts; k++) {
        part[k].op = 0;
    }
    for (uint32_t k = 0; k < report->all_parts; k++) {
        all[k].op = 0;
    }
}

/* Numbers of one group are sorted; among several groups it looks from `*hint` on, both ways and
   round the end: parts mostly follow each other. */
static struct judge_due *steps_find(struct judge_due *due, const struct judge_ledger *ledger,
                                    uint32_t *hint, const struct judge_part *part)
{
    uint32_t count = ledger->count, low = 0, high = count;

    while (ledger->is_one_group && low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (due[middle].number < part->number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (uint32_t k = 0; k < (ledger->is_one_group ? low < count : count); k++) {
        uint32_t away = k % 2 == 0 ? k / 2 : count - (k + 1) / 2;
        uint32_t at = ledger->is_one_group ? low : (*hint + away) % count;

        if (due[at].group == part->group && due[at].number == part->number) {
            *hint = at + 1;
            return &due[at];
        }
    }
    return NULL;
}

/* Marks what the report stands for, and tells what another one stood for already, or what it mixes:
   two attempts at one step. */
static void steps_mark(struct alar_judge *judge, const struct judge_ledger *ledger,
                       const struct judge_report *report, uint8_t bit)
{
    const struct judge_metric *metric = judge_metric_at(judge, report->metric);
    const struct judge_part *part = alar_arena_at(judge->arena, report->part);
    struct judge_due *due = report_ledger_due(judge, ledger);
    bool has_replaced = false, has_last = false;
    int64_t step = report->step;
    uint32_t hint = 0;

    for (uint32_t k = 0; k < report->parts; k++) {
        struct judge_due *mine = steps_find(due, ledger, &hint, &part[k]);

        if (mine == NULL) {
            continue;
        }
        if ((mine->sinks & bit) != 0) {
            (void)report_found(
                judge, ALAR_ANOMALY_REPORTED_TWICE, metric,
                (struct report_about){report->rank, mine->step, report->place, mine->place});
        }
        mine->place = mine->sinks ? mine->place : report->place;
        mine->sinks |= (uint8_t)(bit | STEPS_MINE);
        has_replaced = has_replaced || (mine->is_replaced && !mine->is_unlabelled);
        has_last = has_last || !mine->is_replaced;
        step = mine->is_replaced ? mine->step : step;
    }
    if (has_replaced && has_last) {
        (void)report_found(
            judge, ALAR_ANOMALY_ATTEMPTS_MIXED, metric,
            (struct report_about){.rank = report->rank, .step = step, .place = report->place});
    }
}

static bool steps_has(const struct judge_ledger *ledger, const struct judge_due *due, int64_t step)
{
    struct steps_range range = steps_range(ledger, due, step, step);

    for (uint32_t k = range.from; k < range.end; k++) {
        if (due[k].step == step && (due[k].sinks & STEPS_MINE) != 0) {
            return true;
        }
    }
    return false;
}

/* Operations of the steps on the label that the report is not made of: told beside it, as steps
   that are not finite or empty; or a label that takes in the steps of another report. */
static void steps_left_out(struct alar_judge *judge, const struct judge_ledger *ledger,
                           const struct judge_report *report, uint8_t bit)
{
    const struct judge_metric *metric = judge_metric_at(judge, report->metric);
    struct judge_due *due = report_ledger_due(judge, ledger);
    bool is_told = report->nonfinite > 0 || report->empty > 0;
    struct steps_range range = steps_range(ledger, due, report->first_step, report->step);

    for (uint32_t k = range.from; k < range.end; k++) {
        bool is_on_label = due[k].step >= report->first_step && due[k].step <= report->step;

        if (!is_on_label || due[k].is_replaced || (due[k].sinks & STEPS_MINE) != 0) {
            continue;
        }
        if ((due[k].sinks & bit) == 0) {
            due[k].sinks |= is_told ? bit : 0;
        } else if (!steps_has(ledger, due, due[k].step)) {
            (void)report_found(
                judge, ALAR_ANOMALY_SHIFTED_LABEL, metric,
                (struct report_about){report->rank, due[k].step, report->place, due[k].place});
            break;
        }
    }
}

static void steps_unmark(struct alar_judge *judge, const struct judge_ledger *ledger,
                         const struct judge_report *report)
{
    const struct judge_part *part = alar_arena_at(judge->arena, report->part);
    struct judge_due *due = report_ledger_due(judge, ledger);
    uint32_t hint = 0;

    for (uint32_t k = 0; k < report->parts; k++) {
        struct judge_due *mine = steps_find(due, ledger, &hint, &part[k]);

        if (mine != NULL) {
            mine->sinks &= (uint8_t)~STEPS_MINE;
        }
    }
}

/* Enters a report of the ledger's rank. spec: O-60, O-100 to O-102 */
void report_steps_enter(struct alar_judge *judge, struct judge_ledger *ledger,
                        const struct judge_report *report)
{
    struct judge_sink *sink = report_sink(ledger, report->sink);
    uint8_t bit = (uint8_t)(1u << (sink - ledger->sink));

    if (report->parts == 0) {
        return;
    }
    steps_mark(judge, ledger, report, bit);
    steps_left_out(judge, ledger, report, bit);
    steps_unmark(judge, ledger, report);
    sink->first_step = report->first_step;
    sink->step = report->step;
    sink->latest = ledger->latest;
    sink->place = report->place;
    sink->is_early = false;
}

/* An operation that was found wrong has no value to report; one that is no longer known may have.
 */
static bool steps_is_owed(const struct alar_judge *judge, const struct judge_ledger *ledger,
                          const struct judge_due *due, uint8_t bit)
{
    const struct judge_due *all = report_ledger_due(judge, ledger);

    if (due->is_replaced || !due->is_named || (due->sinks & bit) != 0) {
        return false;
    }
    struct steps_range range = steps_range(ledger, all, due->step, due->step);

    for (uint32_t k = range.from; due->mb < 0 && !ledger->is_single && k < range.end; k++) {
        if (all[k].step == due->step && (all[k].sinks & bit) != 0) {
            return false; /* another operation of the step was chosen, of which it is not known how
                             they belong together */
        }
    }
    uint64_t op = judge_op_find_kept(judge, due->group, due->number);

    return op == 0 || !(judge_op_at(judge, op)->is_found || judge_op_at(judge, op)->is_tainted);
}

/* Did the rank end in order? Those that did not may have been about to write more. */
static bool rank_is_regular(const struct judge_rank *rank)
{
    return rank->is_over && !rank->is_exited && !rank->is_given_up && !rank->is_aborted;
}

static bool all_are_regular(const struct alar_judge *judge)
{
    for (uint32_t r = 0; r < judge->setup.world; r++) {
        if (!rank_is_regular(judge_rank_at(judge, r))) {
            return false;
        }
    }
    return judge->verdict.unknown[ALAR_UNKNOWN_NO_END] == 0;
}

static void steps_lost(struct alar_judge *judge, const struct judge_metric *metric,
                       const struct judge_ledger *ledger, const struct judge_sink *sink,
                       const struct judge_due *due)
{
    struct alar_evidence *evidence =
        report_found(judge, ALAR_ANOMALY_REPORT_LOST, metric,
                     (struct report_about){.rank = ledger->rank, .step = due->step});

    for (uint32_t k = 0; evidence == NULL && k < judge->verdict.finding_count; k++) {
        struct alar_evidence *kept = &judge->verdict.finding[k];
        bool is_it =
            kept->anomaly == ALAR_ANOMALY_REPORT_LOST && strcmp(kept->name[0], metric->name) == 0;

        evidence = is_it ? kept : NULL;
    }
    if (evidence == NULL) {
        return;
    }
    if (evidence->ops.count == 0) {
        evidence->amount[0] = (uint64_t)sink->step;
        evidence->microbatch = due->mb;
        memcpy(evidence->group, judge_group_at(judge, due->group)->name, sizeof evidence->group);
        evidence->witness[evidence->witness_count++] =
            (struct alar_witness_event){.record = ALAR_RECORD_REPORT,
                                        .place = sink->place,
                                        .rank = ledger->rank,
                                        .is_of_report = true};
    }
    alar_list_add(&evidence->ops, due->number);
}

/* Steps that were reduced and stand in no report, of ranks that report others. spec: O-60 */
void report_steps_finish(struct alar_judge *judge, const struct judge_metric *metric)
{
    bool is_regular = all_are_regular(judge);

    for (uint32_t r = 0; metric->ledger && r < judge->setup.world; r++) {
        const struct judge_ledger *ledger = report_ledger_find(judge, metric, r);

        for (uint32_t s = 0; ledger != NULL && s < ledger->sinks; s++) {
            const struct judge_due *due = report_ledger_due(judge, ledger);
            const struct judge_sink *sink = &ledger->sink[s];

            for (uint32_t k = 0; k < ledger->count; k++) {
                bool is_between = due[k].step < sink->step;

                if ((is_between ? rank_is_regular(judge_rank_at(judge, r)) : is_regular) &&
                    steps_is_owed(judge, ledger, &due[k], (uint8_t)(1u << s))) {
                    steps_lost(judge, metric, ledger, sink, &due[k]);
                }
            }
        }
    }
}

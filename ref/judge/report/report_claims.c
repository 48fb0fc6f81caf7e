/* What can be said of a report when it is written, without recomputing it: one metric has one
   definition, the number and its bits are the same, and it was there to be written. */
#include "judge/report/report.h"

#include "numbers/fp.h"

#include <math.h>
#include <string.h>

/* No rounding of either number in a dtype of eight bits or more makes up for a gap above this share
   of it. */
static const double claims_rounding = 0x1p-7;

static struct report_about about_of(const struct judge_report *report)
{
    return (struct report_about){
        .rank = report->rank, .step = report->step, .place = report->place};
}

static enum alar_metric_kind kind_of(const struct alar_judge *judge,
                                     const struct judge_report *report)
{
    return report->kind >= 0 ? (enum alar_metric_kind)report->kind
                             : judge_metric_at(judge, report->metric)->kind;
}

/* Two words of one list that differ, as evidence. */
static void differ(struct alar_judge *judge, const struct judge_report *report,
                   const struct judge_sink *sink, const char *const *names, int32_t was, int32_t is)
{
    struct report_about about = about_of(report);

    about.before = sink->place;
    struct alar_evidence *evidence = report_found(judge, ALAR_ANOMALY_DEFINITION_CHANGED,
                                                  judge_metric_at(judge, report->metric), about);

    if (evidence != NULL) {
        alar_text_keep((struct alar_text){names[was], strlen(names[was])}, evidence->name[1],
                       sizeof evidence->name[1]);
        alar_text_keep((struct alar_text){names[is], strlen(names[is])}, evidence->name[2],
                       sizeof evidence->name[2]);
    }
}

/* One definition in all reports of a metric by one rank in one sink, and that of the header.
   spec: O-103 */
static void claims_definition(struct alar_judge *judge, const struct judge_report *report,
                              struct judge_sink *sink)
{
    int32_t kind = (int32_t)kind_of(judge, report);
    bool is_mean = kind == ALAR_METRIC_MEAN, is_window = report->first_step < report->step;
    int32_t declared = judge->loop.normalization;
    int32_t first = sink->normalization >= 0 ? sink->normalization : declared;

    if (sink->kind >= 0 && sink->kind != kind) {
        differ(judge, report, sink, alar_metric_kind_names, sink->kind, kind);
    } else if (is_mean && first >= 0 && report->normalization >= 0 &&
               first != report->normalization) {
        differ(judge, report, sink, alar_normalization_names, first, report->normalization);
    } else if (is_mean && is_window && sink->over >= 0 && report->over >= 0 &&
               sink->over != report->over) {
        differ(judge, report, sink, alar_over_names, sink->over, report->over);
    }
    sink->kind = sink->kind >= 0 ? sink->kind : kind;
    sink->normalization = sink->normalization >= 0 ? sink->normalization : report->normalization;
    sink->over = sink->over >= 0 || !is_window ? sink->over : report->over;
}

/* Ranks that define one metric differently. spec: O-103 */
void report_claims_finish(struct alar_judge *judge, const struct judge_metric *metric)
{
    const struct judge_sink *first = NULL;

    for (uint32_t r = 0; metric->ledger && r < judge->setup.world; r++) {
        const struct judge_ledger *ledger = report_ledger_find(judge, metric, r);
        const struct judge_sink *sink = ledger != NULL ? &ledger->sink[0] : NULL;

        if (sink == NULL || sink->normalization < 0) {
            continue;
        }
        if (first != NULL && first->hash == sink->hash &&
            first->normalization != sink->normalization) {
            struct alar_evidence *evidence =
                report_found(judge, ALAR_ANOMALY_DEFINITION_CHANGED, metric,
                             (struct report_about){r, sink->step, sink->place, first->place});

            if (evidence != NULL) {
                const char *was = alar_normalization_names[first->normalization];
                const char *is = alar_normalization_names[sink->normalization];

                alar_text_keep((struct alar_text){was, strlen(was)}, evidence->name[1],
                               sizeof evidence->name[1]);
                alar_text_keep((struct alar_text){is, strlen(is)}, evidence->name[2],
                               sizeof evidence->name[2]);
            }
        }
        first = first != NULL ? first : sink;
    }
}

/* Below by more than rounding explains? */
static bool is_below(double high, double low)
{
    double size = fabs(high) > fabs(low) ? fabs(high) : fabs(low);

    return high < low && low - high > size * claims_rounding;
}

/* The greatest of the values that make a mean is not below it, the least not above. */
static void claims_compare(struct alar_judge *judge, const struct judge_report *report,
                           uint64_t bound, uint64_t bounded)
{
    const struct judge_metric *extreme = judge_metric_at(judge, bound);
    const struct judge_metric *mean = judge_metric_at(judge, bounded);
    const struct judge_ledger *ledger[2] = {report_ledger_find(judge, extreme, report->rank),
                                            report_ledger_find(judge, mean, report->rank)};
    const struct judge_sink *sink[2] = {NULL, NULL};

    for (unsigned side = 0; side < 2; side++) {
        for (uint32_t k = 0; ledger[side] != NULL && k < ledger[side]->sinks; k++) {
            if (ledger[side]->sink[k].hash == report->sink) {
                sink[side] = &ledger[side]->sink[k];
            }
        }
    }
    if (sink[0] == NULL || sink[1] == NULL || !sink[0]->is_number || !sink[1]->is_number ||
        sink[0]->step != sink[1]->step || sink[0]->first_step != sink[1]->first_step ||
        sink[1]->kind != ALAR_METRIC_MEAN ||
        (!extreme->is_bound_declared &&
         (sink[0]->first_step != sink[0]->step || sink[1]->normalization != ALAR_TOKEN_WEIGHTED))) {
        return;
    }
    bool is_broken = sink[0]->kind == ALAR_METRIC_MAX   ? is_below(sink[0]->high, sink[1]->low)
                     : sink[0]->kind == ALAR_METRIC_MIN ? is_below(sink[1]->high, sink[0]->low)
                                                        : false;
    if (is_broken) {
        struct alar_evidence *evidence = report_found(
            judge, ALAR_ANOMALY_BOUND_BROKEN, extreme,
            (struct report_about){report->rank, report->step, sink[0]->place, sink[1]->place});

        if (evidence != NULL) {
            memcpy(evidence->name[1], mean->name, sizeof evidence->name[1]);
            evidence->dtype = ALAR_F64;
            evidence->has_found = true;
            evidence->found = alar_fp_bits((sink[0]->low + sink[0]->high) / 2);
            evidence->lowest = alar_fp_bits((sink[1]->low + sink[1]->high) / 2);
        }
    }
}

/* Metrics that bound each other, declared or by their names. spec: O-107 */
static void claims_bounds(struct alar_judge *judge, const struct judge_report *report)
{
    const struct judge_metric *mine = judge_metric_at(judge, report->metric);

    uint64_t bounded = mine->bounds ? judge_metric_find(judge, mine->bounds) : 0;
    uint64_t next = judge_metric_bounding(judge, mine);

    while (bounded || next) {
        bool is_bounded = bounded && (!next || judge_metric_at(judge, bounded)->order >=
                                                   judge_metric_at(judge, next)->order);

        if (is_bounded) {
            claims_compare(judge, report, report->metric, bounded);
            bounded = 0;
        } else {
            claims_compare(judge, report, next, report->metric);
            next = judge_metric_at(judge, next)->beside;
        }
    }
}

/* Is the reporting rank still waiting for one of the operations? Under a stream contract a copy may
   be ordered behind the wait, which nobody recorded. */
static bool claims_is_early(const struct alar_judge *judge, const struct judge_report *report)
{
    const struct judge_part *part = alar_arena_at(judge->arena, report->part);

    for (uint32_t k = 0; !judge->contract.is_stream && k < report->parts; k++) {
        uint64_t at = judge_op_find(judge, part[k].group, part[k].number);
        uint32_t member;

        if (at == 0 || !judge_member_find(judge, judge_group_at(judge, part[k].group), report->rank,
                                          &member)) {
            continue;
        }
        const struct judge_entry *entry = judge_entry_at(judge, judge_op_at(judge, at), member);

        if (entry->life == JUDGE_PENDING) {
            return report->all_parts == 0 || report->is_retried;
        }
    }
    return false;
}

/* Did all ranks come to the end of its operations, later? */
static bool claims_are_through(const struct alar_judge *judge, const struct judge_report *report)
{
    const struct judge_part *part = alar_arena_at(judge->arena, report->part);

    for (uint32_t k = 0; k < report->parts; k++) {
        const struct judge_op *op = part[k].op ? judge_op_at(judge, part[k].op) : NULL;

        if (!op || op->finished < op->members) {
            return false;
        }
    }
    return report->parts > 0;
}

/* The value of an operation was logged, and its completion was recorded later. spec: O-104 */
void report_claims_settle(struct alar_judge *judge, const struct judge_report *report)
{
    if (report->is_early && claims_are_through(judge, report)) {
        (void)report_found(judge, ALAR_ANOMALY_EARLY_READ, judge_metric_at(judge, report->metric),
                           about_of(report));
    }
}

/* What people saw and the bits beside it are one number. spec: O-105 */
static void claims_shown(struct alar_judge *judge, const struct judge_report *report,
                         struct report_span shown)
{
    double value = report->low;
    bool is_same = shown.kind == REPORT_EMPTY    ? false
                   : shown.kind == REPORT_NUMBER ? shown.low <= value && value <= shown.high
                   : isnan(shown.low)            ? isnan(value)
                                                 : alar_fp_bits(shown.low) == alar_fp_bits(value);

    if (is_same) {
        return;
    }
    struct alar_evidence *evidence =
        report_found(judge, ALAR_ANOMALY_SHOWN_DIFFERS, judge_metric_at(judge, report->metric),
                     about_of(report));
    if (evidence != NULL) {
        evidence->dtype = ALAR_F64;
        evidence->has_found = shown.kind != REPORT_EMPTY;
        evidence->found =
            alar_fp_bits(shown.kind == REPORT_NUMBER ? (shown.low + shown.high) / 2 : shown.low);
        evidence->lowest = alar_fp_bits(value);
    }
}

/* Holds a report against what its rank reported before, and keeps what the next is held against.
   `shown` is the number that stands beside bits; of no kind when there is one of them alone. */
void report_claims_enter(struct alar_judge *judge, struct judge_ledger *ledger,
                         struct judge_report *report, const struct report_span *shown)
{
    struct judge_sink *sink = report_sink(ledger, report->sink);

    report->has_before = sink->is_number;
    report->before_low = sink->low;
    report->before_high = sink->high;
    claims_definition(judge, report, sink);
    if (shown != NULL) {
        claims_shown(judge, report, *shown);
    }
    if (report->has_replaced) {
        (void)report_found(judge, ALAR_ANOMALY_STEP_RETRIED, judge_metric_at(judge, report->metric),
                           about_of(report));
    }
    report->is_early = claims_is_early(judge, report);
    report_steps_enter(judge, ledger, report);
    sink->is_number = !report->is_empty && !report->is_special;
    sink->low = report->low;
    sink->high = report->high;
    sink->first_step = report->first_step;
    sink->step = report->step;
    sink->place = report->place;
    claims_bounds(judge, report);
}

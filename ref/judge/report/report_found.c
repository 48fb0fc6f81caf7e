/* Findings about log lines: one for each kind of mistake and metric, which further reports widen.
 */
#include "judge/report/report.h"

#include "numbers/fp.h"

#include <string.h>

enum {
    FOUND_SHOWN = 4 /* operations shown as evidence */
};

static void found_show(struct alar_evidence *evidence, struct alar_place place, uint32_t rank)
{
    if (place.line > 0 && evidence->witness_count < ALAR_SCENES_MAX) {
        evidence->witness[evidence->witness_count++] = (struct alar_witness_event){
            .record = ALAR_RECORD_REPORT, .place = place, .rank = rank, .is_of_report = true};
    }
}

/* A new finding, for the caller to fill; NULL when it widened one, or was only counted. */
struct alar_evidence *report_found(struct alar_judge *judge, enum alar_anomaly anomaly,
                                   const struct judge_metric *metric, struct report_about about)
{
    for (uint32_t k = 0; k < judge->verdict.finding_count; k++) {
        struct alar_evidence *kept = &judge->verdict.finding[k];

        if (kept->anomaly == anomaly && kept->is_report &&
            strcmp(kept->name[0], metric->name) == 0) {
            alar_list_add(&kept->ranks, about.rank);
            kept->amount[1]++;
            judge->verdict.found[anomaly]++;
            judge->verdict.widened += !alar_anomaly_is_note(anomaly);
            return NULL;
        }
    }
    struct alar_evidence *evidence = judge_found(judge, anomaly, NULL, about.rank);
    if (evidence == NULL) {
        return NULL;
    }
    evidence->has_op = false;
    evidence->is_report = true;
    evidence->step = about.step;
    evidence->amount[1] = 1; /* reports of the kind */
    memcpy(evidence->name[0], metric->name, sizeof evidence->name[0]);
    found_show(evidence, about.before, about.rank);
    found_show(evidence, about.place, about.rank);
    return evidence;
}

/* Operations of a report, as evidence. */
static void found_operations(const struct report_view *view, struct alar_evidence *evidence)
{
    memcpy(evidence->group,
           judge_group_at(view->judge, judge_op_at(view->judge, view->part[0].op)->group)->name,
           sizeof evidence->group);
    for (uint32_t k = 0; k < view->report->parts && k < FOUND_SHOWN; k++) {
        const struct judge_op *op = judge_op_at(view->judge, view->part[k].op);
        struct alar_witness_event *witness = &evidence->witness[evidence->witness_count++];

        *witness = (struct alar_witness_event){.record = ALAR_RECORD_ISSUE, .place = op->place};
        witness->rank = judge_member_rank(view->judge, judge_group_at(view->judge, op->group), 0);
        witness->n = op->n;
        witness->is_of_report = true;
        witness->number = op->number;
        witness->dtype = op->dtype;
        witness->shown = op->elements < 2 ? op->elements : 2;
        memcpy(witness->bits, alar_arena_at(view->judge->arena, op->in),
               witness->shown * sizeof *witness->bits);
        alar_list_add(&evidence->ops, op->number);
    }
}

/* A report whose number or counts are wrong, with what would have been legal. */
struct alar_evidence *report_found_value(struct alar_judge *judge, const struct report_view *view,
                                         enum alar_anomaly anomaly, struct report_span legal)
{
    const struct judge_report *report = view->report;
    struct alar_evidence *evidence =
        report_found(judge, anomaly, judge_metric_at(judge, report->metric),
                     (struct report_about){.rank = report->rank, .step = report->step});

    if (evidence == NULL) {
        return NULL;
    }
    evidence->dtype = report->dtype;
    evidence->has_found = !report->is_empty;
    evidence->found = alar_fp_from_double(report->dtype, (report->low + report->high) / 2);
    evidence->has_range = legal.kind == REPORT_NUMBER;
    evidence->lowest = alar_fp_from_double(report->dtype, legal.low);
    evidence->highest = alar_fp_from_double(report->dtype, legal.high);
    found_operations(view, evidence);
    found_show(evidence, report->place, report->rank);
    struct alar_witness_event *last = &evidence->witness[evidence->witness_count - 1];

    last->dtype = report->dtype;
    last->is_empty = report->is_empty;
    last->shown = report->is_empty ? 0 : 1;
    last->bits[0] = evidence->found;
    return evidence;
}

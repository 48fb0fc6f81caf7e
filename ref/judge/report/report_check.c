/* One report against its contributions. Causes come first: the wrong steps or ranks, numbers that
   no arithmetic can mend, counts that were rounded; then the value itself. */
#include "judge/report/report.h"

#include "base/check.h"
#include "numbers/fp.h"

#include <math.h>
#include <string.h>

enum {
    CHECK_SHOWN = 4 /* operations shown as evidence */
};

/* The header declared the arithmetic: one rounding an operation, in the encoding, from the left. */
static bool check_is_exact(const struct report_view *view)
{
    bool is_element = view->dtype == ALAR_F32 || view->dtype == ALAR_F64;

    return view->judge->loop.encoding >= 0 && is_element && !view->is_scalar &&
           (view->kind == ALAR_METRIC_SUM ||
            (view->report->normalization >= 0 && view->report->over >= 0));
}

static void check_show(const struct report_view *view, struct alar_evidence *evidence)
{
    const struct judge_report *report = view->report;

    memcpy(evidence->group,
           judge_group_at(view->judge, judge_op_at(view->judge, view->part[0].op)->group)->name,
           sizeof evidence->group);
    for (uint32_t k = 0; k < report->parts && k < CHECK_SHOWN; k++) {
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
    evidence->witness[evidence->witness_count++] =
        (struct alar_witness_event){.record = ALAR_RECORD_REPORT,
                                    .place = report->place,
                                    .rank = report->rank,
                                    .is_of_report = true,
                                    .dtype = report->dtype,
                                    .shown = report->is_empty ? 0 : 1,
                                    .bits = {evidence->found, 0}};
}

/* One finding for each kind of mistake and metric; further reports widen it. */
static struct alar_evidence *check_found(struct alar_judge *judge, const struct report_view *view,
                                         enum alar_anomaly anomaly, struct report_span legal)
{
    const struct judge_report *report = view->report;
    const struct judge_metric *metric = judge_metric_at(judge, report->metric);

    for (uint32_t k = 0; k < judge->verdict.finding_count; k++) {
        struct alar_evidence *kept = &judge->verdict.finding[k];

        if (kept->anomaly == anomaly && strcmp(kept->name[0], metric->name) == 0) {
            alar_list_add(&kept->ranks, report->rank);
            kept->amount[1]++;
            judge->verdict.found[anomaly]++;
            return NULL;
        }
    }
    struct alar_evidence *evidence = judge_found(judge, anomaly, NULL, report->rank);
    if (evidence == NULL) {
        return NULL;
    }
    evidence->has_op = false;
    evidence->is_report = true;
    evidence->step = report->step;
    evidence->dtype = report->dtype;
    evidence->has_found = !report->is_empty;
    evidence->found = alar_fp_from_double(report->dtype, (report->low + report->high) / 2);
    evidence->has_range = legal.kind == REPORT_NUMBER;
    evidence->lowest = alar_fp_from_double(report->dtype, legal.low);
    evidence->highest = alar_fp_from_double(report->dtype, legal.high);
    evidence->amount[1] = 1; /* reports of the kind */
    memcpy(evidence->name[0], metric->name, sizeof evidence->name[0]);
    check_show(view, evidence);
    return evidence;
}

/* Other steps or ranks than the report speaks of: no arithmetic is needed to see that. */
static enum alar_anomaly check_scope(const struct report_view *view)
{
    const struct judge_report *report = view->report;
    const struct judge_metric *metric = judge_metric_at(view->judge, report->metric);
    uint32_t member;

    for (uint32_t k = 0; k < report->parts; k++) {
        const struct judge_op *op = judge_op_at(view->judge, view->part[k].op);
        const struct judge_group *group = judge_group_at(view->judge, op->group);

        if (op->step >= 0 && (op->step < report->first_step || op->step > report->step)) {
            return ALAR_ANOMALY_SHIFTED_LABEL;
        }
        if (metric->group == 0 || metric->is_replicated) {
            continue;
        }
        const struct judge_group *needed = judge_group_at(view->judge, metric->group);
        for (uint32_t m = 0; m < needed->members; m++) {
            if (!judge_member_find(view->judge, group, judge_member_rank(view->judge, needed, m),
                                   &member)) {
                return ALAR_ANOMALY_WRONG_GROUP;
            }
        }
    }
    return ALAR_ANOMALY_COUNT;
}

/* Values that are not finite, or not there. COUNT: nothing of the kind is wrong; then `is_judged`
   says whether all is said. */
static enum alar_anomaly check_special(const struct report_view *view,
                                       const struct report_sums *sums, struct report_how how,
                                       bool *is_judged)
{
    const struct judge_report *report = view->report;
    struct report_span legal = report_evaluate(view, how);
    uint64_t count = report->nonfinite > 0 ? (uint64_t)report->nonfinite : 0;
    bool says_so = count > 0 && (count == sums->nonfinite || count == sums->flagged ||
                                 count == sums->nonfinite_steps);

    *is_judged = true;
    if (sums->nonfinite > 0) {
        how.is_finite_only = true;
        return report->is_special || (says_so && report_fits(report, report_evaluate(view, how)))
                   ? ALAR_ANOMALY_COUNT
                   : ALAR_ANOMALY_NONFINITE_DROPPED;
    }
    if (legal.kind == REPORT_EMPTY) {
        bool is_zero = !report->is_special && report->low <= 0 && report->high >= 0;

        return report->is_empty || (is_zero && report->empty > 0) ? ALAR_ANOMALY_COUNT
                                                                  : ALAR_ANOMALY_EMPTY_AS_NUMBER;
    }
    if (report->is_special) {
        if (isnan(report->low) && sums->empty_microbatches > 0 && !sums->is_overflow) {
            return ALAR_ANOMALY_EMPTY_RANK_NAN;
        }
        return isnan(report->low) && !sums->is_overflow ? ALAR_ANOMALY_ILLEGAL_REPORT
                                                        : ALAR_ANOMALY_OVERFLOW;
    }
    *is_judged = false;
    return ALAR_ANOMALY_COUNT;
}

/* The value of a report whose numbers are all finite. */
static enum alar_anomaly check_value(struct alar_judge *judge, const struct report_view *view,
                                     const struct report_legal *rule, uint32_t rules,
                                     uint32_t *others)
{
    const struct judge_report *report = view->report;
    uint32_t fits = 0;

    *others = 0;
    if (check_is_exact(view) && report_fits(report, report_engine(view))) {
        return ALAR_ANOMALY_COUNT;
    }
    for (uint32_t k = 0; k < rules; k++) {
        if (report_fits(report, report_evaluate(view, rule[k].how))) {
            fits |= 1u << (ALAR_OVER_COUNT * (uint32_t)rule[k].normalization +
                           (uint32_t)rule[k].how.over);
        }
    }
    if (fits != 0 && !check_is_exact(view)) {
        if (report->normalization < 0 && view->kind == ALAR_METRIC_MEAN) {
            judge->verdict.reports_fit =
                judge->verdict.reports_undeclared++ == 0 ? fits : judge->verdict.reports_fit & fits;
        }
        return ALAR_ANOMALY_COUNT;
    }
    bool has_sums = report_has_tokens(view);
    enum alar_anomaly named =
        fits != 0 ? ALAR_ANOMALY_COUNT : report_diagnose(view, rule[0].how, has_sums, others);
    return named == ALAR_ANOMALY_COUNT ? ALAR_ANOMALY_ILLEGAL_REPORT : named;
}

/* The counts beside the value. spec: O-59 */
static enum alar_anomaly check_counts(const struct report_view *view,
                                      const struct report_sums *sums)
{
    const struct judge_report *report = view->report;
    bool has_tokens = report->tokens >= 0 && report_has_tokens(view);
    double tokens = (double)report->tokens;
    uint64_t nonfinite = (uint64_t)report->nonfinite, empty = (uint64_t)report->empty;

    if (has_tokens && (tokens < sums->tokens || tokens > sums->tokens)) {
        return ALAR_ANOMALY_WRONG_COUNT;
    }
    bool is_flagged = sums->is_shared ? nonfinite <= sums->flagged : nonfinite == sums->flagged;

    if (report->nonfinite > 0 && nonfinite != sums->nonfinite && !is_flagged &&
        nonfinite != sums->nonfinite_steps) {
        return ALAR_ANOMALY_WRONG_COUNT;
    }
    return report->empty >= 0 && empty != sums->empty_steps && empty != sums->empty_microbatches
               ? ALAR_ANOMALY_WRONG_COUNT
               : ALAR_ANOMALY_COUNT;
}

static void check_note(struct alar_judge *judge, const struct report_view *view)
{
    struct alar_evidence *evidence;

    if (view->report->normalization == ALAR_SEED_UNDIVIDED && view->kind == ALAR_METRIC_MEAN) {
        evidence = check_found(judge, view, ALAR_ANOMALY_UNDIVIDED,
                               (struct report_span){REPORT_EMPTY, 0, 0});
        INV("a note is kept or widened", evidence == NULL || evidence->witness_count > 0);
    }
}

/* A mean or a sum; `others` as report_diagnose says. */
static enum alar_anomaly check_number(struct alar_judge *judge, const struct report_view *view,
                                      const struct report_sums *sums, uint32_t *others)
{
    struct report_legal rule[REPORT_RULES];
    uint32_t rules = report_rules(view, rule);
    bool is_judged = true;
    enum alar_anomaly anomaly = check_special(view, sums, rule[0].how, &is_judged);

    return anomaly == ALAR_ANOMALY_COUNT && !is_judged
               ? check_value(judge, view, rule, rules, others)
               : anomaly;
}

/* The value that is shown beside a finding. */
static struct report_span check_legal(const struct report_view *view)
{
    struct report_legal rule[REPORT_RULES];
    struct report_extreme extreme;

    if (alar_metric_is_extreme(view->kind)) {
        return report_extreme_read(view, &extreme) ? extreme.legal
                                                   : (struct report_span){REPORT_EMPTY, 0, 0};
    }
    report_rules(view, rule);
    return report_evaluate(view, rule[0].how);
}

/* False when it can't be recomputed. */
static bool check_report(struct alar_judge *judge, const struct report_view *view)
{
    struct report_sums sums = report_sums_read(view);
    struct report_extreme extreme = {.nonfinite = 0};
    enum alar_anomaly anomaly = check_scope(view);
    uint32_t others = 0;
    bool is_extreme = alar_metric_is_extreme(view->kind);

    if (is_extreme && !report_extreme_read(view, &extreme)) {
        return false;
    }
    sums.nonfinite = is_extreme ? extreme.nonfinite : sums.nonfinite;
    if (anomaly == ALAR_ANOMALY_COUNT && sums.is_rounded) {
        anomaly = ALAR_ANOMALY_PRECISION_LOST;
    }
    if (anomaly == ALAR_ANOMALY_COUNT) {
        anomaly = is_extreme ? report_extreme_check(view, &extreme)
                             : check_number(judge, view, &sums, &others);
    }
    if (anomaly == ALAR_ANOMALY_COUNT) {
        anomaly = check_counts(view, &sums);
    }
    if (anomaly == ALAR_ANOMALY_COUNT) {
        check_note(judge, view);
        return true;
    }
    struct alar_evidence *evidence = check_found(judge, view, anomaly, check_legal(view));
    if (evidence != NULL) {
        evidence->amount[0] = anomaly == ALAR_ANOMALY_WRONG_HOLDER ? extreme.holder : others;
    }
    return true;
}

/* The same where whole numbers travel; false when it can't be recomputed. */
static bool check_exact(struct alar_judge *judge, const struct report_view *view)
{
    enum alar_anomaly scope = check_scope(view);
    enum alar_anomaly anomaly = ALAR_ANOMALY_COUNT;
    struct report_span legal;
    uint32_t holder = 0;

    if (!report_exact_check(view, &legal, &holder, &anomaly)) {
        return false;
    }
    anomaly = scope != ALAR_ANOMALY_COUNT ? scope : anomaly;
    if (anomaly == ALAR_ANOMALY_COUNT) {
        check_note(judge, view);
    } else {
        struct alar_evidence *evidence = check_found(judge, view, anomaly, legal);

        INV("a finding is kept or widened", evidence == NULL || evidence->witness_count > 0);
        if (evidence != NULL && anomaly == ALAR_ANOMALY_WRONG_HOLDER) {
            evidence->amount[0] = holder;
        }
    }
    return true;
}

/* How far a metric's reports go, by their labels or by their operations. */
static void check_reported(const struct alar_judge *judge, const struct judge_report *report,
                           struct judge_metric *metric)
{
    const struct judge_part *part = alar_arena_at(judge->arena, report->part);
    int64_t last = report->step;

    for (uint32_t k = 0; k < report->parts; k++) {
        int64_t step = part[k].op ? judge_op_at(judge, part[k].op)->step : -1;

        last = step > last ? step : last;
    }
    if (!metric->is_reported || metric->reported < last) {
        metric->reported = last;
    }
    metric->is_reported = true;
}

/* A report on an operation that was found wrong is an echo: the cause is named already. */
void judge_report_check(struct alar_judge *judge, const struct judge_report *report)
{
    struct judge_metric *metric = judge_metric_at(judge, report->metric);
    uint64_t said = report_said(judge);
    struct report_view view;
    bool is_echo;

    if (report_is_again(judge, report)) {
        judge->verdict.reports_judged++;
        return;
    }
    bool is_whole = report_view_build(judge, report, &view, &is_echo);

    check_reported(judge, report, metric);
    bool has_integers = is_whole && view.dtype == ALAR_I64 && !view.is_scalar;

    if (is_echo || metric->is_disputed) {
        return;
    }
    if (!is_whole || !(has_integers ? check_exact : check_report)(judge, &view)) {
        judge_unknown(judge, ALAR_UNKNOWN_REPORT, report->place, report->rank);
        return;
    }
    judge->verdict.reports_judged++;
    report_keep_good(judge, report, report_said(judge) != said);
}

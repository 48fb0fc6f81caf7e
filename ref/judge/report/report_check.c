/* One report against its contributions. Causes come first: the wrong steps or ranks, numbers that
   no arithmetic can mend, counts that were rounded; then the value itself. */
#include "judge/report/report.h"

#include "base/check.h"

#include <math.h>
#include <string.h>

/* The header declared the arithmetic: one rounding an operation, in the encoding, from the left. */
static bool check_is_exact(const struct report_view *view)
{
    bool is_encoded = view->dtype == ALAR_F32 || view->dtype == ALAR_F64;

    return view->judge->loop.encoding >= 0 && is_encoded && !view->is_scalar &&
           (view->kind == ALAR_METRIC_SUM ||
            (view->report->normalization >= 0 && view->report->over >= 0));
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

/* A mean by counts, of operations that carry none: any weights give a value between the least and
   the greatest contribution, and one of equal contributions is that value. spec: O-108 */
static bool lacks_counts(const struct report_view *view)
{
    int32_t normalization = view->report->normalization;
    bool needs = normalization == ALAR_TOKEN_WEIGHTED || normalization == ALAR_MICROBATCH_MEAN;
    struct report_microbatch microbatch = {0};
    double least = HUGE_VAL, most = -HUGE_VAL;

    if (!view->is_scalar || view->kind != ALAR_METRIC_MEAN || !needs) {
        return false;
    }
    while (report_microbatch_next(view, &microbatch)) {
        for (uint32_t m = 0; m < microbatch.op->members; m++) {
            double value = report_numerator(view, &microbatch, m);

            least = fmin(least, value);
            most = fmax(most, value);
        }
    }
    return least < most && view->report->high >= least && view->report->low <= most;
}

/* The value of a report whose numbers are all finite. */
static void check_value(const struct report_view *view, const struct report_legal *rule,
                        uint32_t rules, struct report_answer *answer)
{
    const struct judge_report *report = view->report;
    uint32_t fits = 0;

    if (check_is_exact(view) && report_fits(report, report_engine(view))) {
        return;
    }
    if (lacks_counts(view)) {
        answer->unknown = ALAR_UNKNOWN_COUNTS;
        return;
    }
    for (uint32_t k = 0; k < rules; k++) {
        if (report_fits(report, report_evaluate(view, rule[k].how))) {
            fits |= 1u << (ALAR_OVER_COUNT * (uint32_t)rule[k].normalization +
                           (uint32_t)rule[k].how.over);
        }
    }
    if (fits != 0 && !check_is_exact(view)) {
        answer->fits = report->normalization < 0 && view->kind == ALAR_METRIC_MEAN ? fits : 0;
        return;
    }
    if (fits == 0) {
        report_diagnose(view, rule[0].how, &answer->named);
    }
    answer->anomaly = fits == 0 && answer->named.first != ALAR_ANOMALY_COUNT
                          ? answer->named.first
                          : ALAR_ANOMALY_ILLEGAL_REPORT;
}

/* The counts beside the value. spec: O-59, O-106 */
static void check_counts(const struct report_view *view, const struct report_sums *sums,
                         struct report_answer *answer)
{
    const struct judge_report *report = view->report;
    uint64_t nonfinite = (uint64_t)report->nonfinite, empty = (uint64_t)report->empty;
    bool is_flagged = sums->is_shared ? nonfinite <= sums->flagged : nonfinite == sums->flagged;
    /* An empty rank's own mean is NaN there, and no loss that is not finite. */
    bool is_undivided = report->normalization == ALAR_SEED_UNDIVIDED;
    bool is_counted = nonfinite == sums->nonfinite || nonfinite == sums->nonfinite_steps ||
                      (is_flagged && (sums->flagged > 0 || sums->nonfinite == 0 || is_undivided));

    if (report->tokens >= 0 && !report_has_tokens(view)) {
        answer->unknown = ALAR_UNKNOWN_COUNTS;
    } else if (report->tokens >= 0 &&
               ((double)report->tokens < sums->tokens || (double)report->tokens > sums->tokens)) {
        report_count(answer, ALAR_REPORT_COUNT_TOKENS, report->tokens, (uint64_t)sums->tokens);
    } else if (report->nonfinite >= 0 && !is_counted) {
        report_count(answer, ALAR_REPORT_COUNT_NONFINITE, report->nonfinite,
                     sums->nonfinite > 0 ? sums->nonfinite : sums->flagged);
    } else if (report->empty >= 0 && empty != sums->empty_steps &&
               empty != sums->empty_microbatches) {
        report_count(answer, ALAR_REPORT_COUNT_EMPTY, report->empty, sums->empty_microbatches);
    }
}

static bool answer_is_good(const struct report_answer *answer)
{
    return answer->anomaly == ALAR_ANOMALY_COUNT && answer->unknown == ALAR_UNKNOWN_COUNT;
}

/* A mean or a sum. */
static void check_number(const struct report_view *view, const struct report_sums *sums,
                         struct report_answer *answer)
{
    struct report_legal rule[REPORT_RULES];
    uint32_t rules = report_rules(view, rule);
    bool is_judged = true;

    answer->anomaly = check_special(view, sums, rule[0].how, &is_judged);
    if (answer->anomaly == ALAR_ANOMALY_COUNT && !is_judged) {
        check_value(view, rule, rules, answer);
    }
}

/* Held against numbers of a floating-point dtype. */
static void check_report(const struct report_view *view, struct report_answer *answer)
{
    struct report_sums sums = report_sums_read(view);
    struct report_extreme extreme = {.nonfinite = 0};
    bool is_extreme = alar_metric_is_extreme(view->kind);

    if (is_extreme && !report_extreme_read(view, &extreme)) {
        answer->unknown = ALAR_UNKNOWN_REPORT;
        return;
    }
    sums.nonfinite = is_extreme ? extreme.nonfinite : sums.nonfinite;
    if (is_extreme) {
        answer->legal = extreme.legal;
        answer->holder = extreme.holder;
    }
    answer->anomaly = report_scope_check(view);
    if (!is_extreme) {
        struct report_legal rule[REPORT_RULES];

        (void)report_rules(view, rule);
        answer->legal = report_evaluate(view, rule[0].how);
    }
    if (answer->anomaly == ALAR_ANOMALY_COUNT && sums.is_rounded) {
        answer->anomaly = ALAR_ANOMALY_PRECISION_LOST;
    }
    if (answer->anomaly == ALAR_ANOMALY_COUNT && is_extreme) {
        answer->anomaly = report_extreme_check(view, &extreme);
    } else if (answer->anomaly == ALAR_ANOMALY_COUNT) {
        check_number(view, &sums, answer);
    }
    bool is_of_own = answer->anomaly == ALAR_ANOMALY_OWN_COUNT;

    if (is_of_own || answer_is_good(answer)) {
        check_counts(view, &sums, answer);
        if (is_of_own && answer->anomaly == ALAR_ANOMALY_WRONG_COUNT) {
            answer->named.others[ALAR_ANOMALY_OWN_COUNT / 64] |= UINT64_C(1)
                                                                 << ALAR_ANOMALY_OWN_COUNT % 64;
        }
    }
}

/* The same where whole numbers travel. */
static void check_exact(const struct report_view *view, struct report_answer *answer)
{
    enum alar_anomaly scope = report_scope_check(view);

    if (!report_exact_check(view, answer)) {
        answer->unknown = ALAR_UNKNOWN_REPORT;
    } else if (scope != ALAR_ANOMALY_COUNT) {
        answer->anomaly = scope;
    }
}

static struct report_answer check_view(const struct report_view *view)
{
    struct report_answer answer = {.anomaly = ALAR_ANOMALY_COUNT,
                                   .unknown = ALAR_UNKNOWN_COUNT,
                                   .legal = {REPORT_EMPTY, 0, 0},
                                   .named = {.first = ALAR_ANOMALY_COUNT, .own = ALAR_RANK_ALL}};

    (view->dtype == ALAR_I64 && !view->is_scalar ? check_exact : check_report)(view, &answer);
    return answer;
}

/* An operation that covers several steps may name the first of them or the last. spec: O-109 */
static struct report_answer check_readings(const struct report_view *view)
{
    struct report_answer answer = check_view(view);
    struct report_view other = *view;

    if (!answer_is_good(&answer) && report_view_windows(&other)) {
        struct report_answer second = check_view(&other);

        return answer_is_good(&second) ? second : answer;
    }
    return answer;
}

static void check_note(struct alar_judge *judge, const struct report_view *view)
{
    struct alar_evidence *evidence;

    if (view->report->normalization == ALAR_SEED_UNDIVIDED && view->kind == ALAR_METRIC_MEAN) {
        evidence = report_found_value(judge, view, ALAR_ANOMALY_UNDIVIDED,
                                      (struct report_span){REPORT_EMPTY, 0, 0});
        INV("a note is kept or widened", evidence == NULL || evidence->witness_count > 0);
    }
}

/* Puts an answer into the verdict. */
static void check_tell(struct alar_judge *judge, const struct report_view *view,
                       const struct report_answer *answer)
{
    const struct judge_report *report = view->report;

    if (answer->anomaly == ALAR_ANOMALY_COUNT && answer->unknown != ALAR_UNKNOWN_COUNT) {
        if (answer->unknown == ALAR_UNKNOWN_COUNTS && judge->verdict.claimed < 0) {
            judge->verdict.claimed = report->tokens;
        }
        judge_unknown(judge, answer->unknown, report->place, report->rank);
        return;
    }
    judge->verdict.reports_judged++;
    if (answer->anomaly == ALAR_ANOMALY_COUNT) {
        if (answer->fits != 0) {
            judge->verdict.reports_fit = judge->verdict.reports_undeclared++ == 0
                                             ? answer->fits
                                             : judge->verdict.reports_fit & answer->fits;
        }
        check_note(judge, view);
        return;
    }
    struct alar_evidence *evidence =
        report_found_value(judge, view, answer->anomaly, answer->legal);

    if (evidence != NULL) {
        evidence->amount[0] = answer->holder;
        evidence->count = answer->count;
        evidence->count_shown = answer->count_shown;
        evidence->count_due = answer->count_due;
        evidence->own = answer->named.own;
        memcpy(evidence->fits, answer->named.others, sizeof evidence->fits);
    }
}

/* Operations of a step without `mb` replaced others: are both microbatches after all? spec: O-101
 */
static void check_attempts(struct alar_judge *judge, const struct judge_report *report,
                           struct report_answer *answer)
{
    struct judge_report whole = *report;
    struct report_view view;
    bool is_echo;

    whole.part = report->all;
    whole.parts = report->all_parts;
    if (answer_is_good(answer) || report->all_parts == 0 ||
        !report_view_build(judge, &whole, &view, &is_echo) || is_echo) {
        return;
    }
    struct report_answer all = check_readings(&view);

    if (answer_is_good(&all) && report->is_retried) {
        answer->anomaly = ALAR_ANOMALY_ATTEMPTS_MIXED;
    } else if (answer_is_good(&all)) {
        answer->anomaly = ALAR_ANOMALY_COUNT;
        answer->unknown = ALAR_UNKNOWN_ATTEMPTS;
    }
}

/* A report on an operation that was found wrong is an echo: the cause is named already. */
void judge_report_check(struct alar_judge *judge, const struct judge_report *report)
{
    uint64_t said = report_said(judge);
    struct report_view view;
    bool is_echo;

    if (report_is_again(judge, report)) {
        judge->verdict.reports_judged++;
        return;
    }
    bool is_whole = report_view_build(judge, report, &view, &is_echo);

    if (is_echo || judge_metric_at(judge, report->metric)->is_disputed) {
        return;
    }
    if (!is_whole) {
        judge_unknown(judge, ALAR_UNKNOWN_REPORT, report->place, report->rank);
        return;
    }
    struct report_answer answer = check_readings(&view);

    report_claims_settle(judge, report);
    check_attempts(judge, report, &answer);
    check_tell(judge, &view, &answer);
    report_keep_good(judge, report, report_said(judge) != said);
}

/* One finding in words, from its evidence alone. */
#include "check/verdict_state.h"

#include "sys/decimal.h"

#include <string.h>

static void say_ranks(struct verdict_phrase *phrase, const struct alar_list *ranks)
{
    verdict_say(phrase, ranks->count == 1 ? "rank " : "ranks ");
    verdict_say_list(phrase, ranks);
}

static void say_op(struct verdict_phrase *phrase, const struct alar_evidence *evidence)
{
    if (evidence->is_report) {
        verdict_say(phrase, "report of %s", evidence->name[0]);
    } else if (evidence->ops.count > 1) {
        verdict_say(phrase, "operations %s/", evidence->group);
        verdict_say_list(phrase, &evidence->ops);
    } else if (evidence->has_op) {
        verdict_say(phrase, "operation %s/%llu", evidence->group,
                    (unsigned long long)evidence->number);
    }
    if (evidence->step >= 0) {
        verdict_say(phrase, " of step %lld", (long long)evidence->step);
    }
}

/* A reduction, or another collective, from what the evidence keeps of it. */
static void say_collective(struct verdict_phrase *phrase, unsigned long long amount)
{
    static const char *const names[] = {
        "", "all_gather", "gather", "reduce", "reduce_scatter", "broadcast", "scan"};
    unsigned long long name = amount >> 8 & 7, root = amount >> 11, red = amount & 255;
    bool is_moved = name == 1 || name == 2 || name == 5;

    verdict_say(phrase, "%s%s%s", name < 7 ? names[name] : "?", name > 0 && !is_moved ? " " : "",
                is_moved             ? ""
                : red <= ALAR_MINLOC ? alar_reduction_names[red]
                                     : "?");
    if (root > 0) {
        verdict_say(phrase, " with root %llu", root - 1);
    }
}

/* What kinds of mismatch disagree on, in words. */
static void say_mismatch(struct verdict_phrase *phrase, const struct alar_evidence *evidence)
{
    unsigned long long a = evidence->amount[0], b = evidence->amount[1];

    switch ((int)evidence->anomaly) {
    case ALAR_ANOMALY_MISMATCH_KEY:
        verdict_say(phrase, ": \"%s\" against \"%s\"", evidence->name[0], evidence->name[1]);
        break;
    case ALAR_ANOMALY_MISMATCH_RED:
        verdict_say(phrase, ": ");
        say_collective(phrase, a);
        verdict_say(phrase, " against ");
        say_collective(phrase, b);
        break;
    case ALAR_ANOMALY_MISMATCH_DTYPE:
        verdict_say(phrase, ": %s against %s", alar_dtype_name((enum alar_dtype)a),
                    alar_dtype_name((enum alar_dtype)b));
        break;
    case ALAR_ANOMALY_MISMATCH_CALL:
        verdict_say_calls(phrase, evidence);
        break;
    case ALAR_ANOMALY_HANG:
    case ALAR_ANOMALY_ILLEGAL_CALL:
        verdict_say(phrase, ": %s", evidence->name[0]);
        break;
    case ALAR_ANOMALY_CALL_REFUSED:
        verdict_say(phrase, ": %s: %s", evidence->name[0], evidence->name[1]);
        break;
    case ALAR_ANOMALY_MISMATCH_ELEMENTS:
        verdict_say(phrase, ": %llu against %llu", a, b);
        break;
    default:
        break;
    }
}

static void say_membership(struct verdict_phrase *phrase, const struct alar_evidence *evidence)
{
    if (evidence->missing.count > 0) {
        verdict_say(phrase, evidence->joined.count > 0 ? "; joined {" : "");
        verdict_say_list(phrase, &evidence->joined);
        verdict_say(phrase, evidence->joined.count > 0 ? "}, missing {" : "; missing {");
        verdict_say_list(phrase, &evidence->missing);
        verdict_say(phrase, "}");
    }
}

/* How far each rank came, and what it said last of it. spec: O-21, O-22 */
static void say_standing(struct verdict_phrase *phrase, const struct alar_evidence *evidence)
{
    for (uint32_t k = 0; k < evidence->standing_count; k++) {
        const struct alar_standing *standing = &evidence->standing[k];

        verdict_say(phrase, "; rank %u: %s, last call `%s`", standing->rank,
                    alar_standing_text(standing->kind), alar_record_name(standing->last));
    }
}

static void say_numbers(struct verdict_phrase *phrase, const struct alar_evidence *evidence)
{
    if (evidence->is_open) {
        verdict_say(phrase, "; nothing tells which rank is odd");
    }
    if (evidence->is_late && evidence->late > 0) {
        verdict_say(phrase, "; %s late: %llu after the deadline",
                    evidence->is_success ? "success came" : "told",
                    (unsigned long long)evidence->late);
    } else if (evidence->is_late) {
        verdict_say(phrase, "; told at the deadline");
    }
    if (evidence->anomaly == ALAR_ANOMALY_STALL) {
        verdict_say(phrase,
                    evidence->amount[0] ? "; all started, not progressing" : "; not started");
    }
    if (evidence->anomaly == ALAR_ANOMALY_RANKS_DISAGREE) {
        verdict_say(phrase, "; %llu different results, %llu of them legal alone",
                    (unsigned long long)evidence->amount[0],
                    (unsigned long long)evidence->amount[1]);
    }
    if (evidence->is_report) {
        verdict_say_report(phrase, evidence);
        return;
    }
    if (evidence->has_found) {
        verdict_say(phrase, "; element %lld is ", (long long)evidence->element);
        verdict_say_value(phrase, evidence->dtype, evidence->found);
    }
    if (evidence->has_range) {
        verdict_say(phrase, ", any order gives ");
        verdict_say_value(phrase, evidence->dtype, evidence->lowest);
        if (evidence->highest != evidence->lowest) {
            verdict_say(phrase, " to ");
            verdict_say_value(phrase, evidence->dtype, evidence->highest);
        }
    }
}

static void say_excuse(struct verdict_phrase *phrase, const struct alar_verdict *verdict,
                       const struct alar_evidence *evidence)
{
    if (evidence->excused >= 0) {
        const struct alar_fault_seen *fault = &verdict->fault[evidence->excused];

        verdict_say(phrase, "; excused by the injected fault %s", fault->point);
        if (fault->rank != ALAR_RANK_ALL) {
            verdict_say(phrase, " on rank %u", fault->rank);
        }
    }
}

void verdict_say_finding(struct verdict_phrase *phrase, const struct alar_verdict *verdict,
                         const struct alar_evidence *evidence)
{
    verdict_say(phrase, "%s: ", alar_anomaly_name(evidence->anomaly));
    say_op(phrase, evidence);
    if (evidence->ranks.count > 0) {
        verdict_say(phrase, evidence->has_op || evidence->is_report ? ", " : "");
        say_ranks(phrase, &evidence->ranks);
    }
    verdict_say(phrase, ": %s", alar_anomaly_sentence(evidence->anomaly));
    verdict_say_answer(phrase, evidence);
    say_mismatch(phrase, evidence);
    say_membership(phrase, evidence);
    say_numbers(phrase, evidence);
    if (evidence->anomaly == ALAR_ANOMALY_STALL || evidence->anomaly == ALAR_ANOMALY_TIMEOUT) {
        say_standing(phrase, evidence);
    }
    verdict_say_diagnosis(phrase, evidence);
    say_excuse(phrase, verdict, evidence);
}

void verdict_say_refused(struct verdict_phrase *phrase, const struct alar_verdict *verdict)
{
    for (uint32_t k = 0; k < verdict->finding_count; k++) {
        if (verdict->finding[k].anomaly == ALAR_ANOMALY_CALL_REFUSED) {
            verdict_say(phrase, "; note: ");
            verdict_say_finding(phrase, verdict, &verdict->finding[k]);
        }
    }
}

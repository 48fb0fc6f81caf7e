/* What is wrong with a report, in words. */
#include "check/verdict_state.h"

static void say_count(struct verdict_phrase *phrase, const struct alar_evidence *evidence)
{
    static const char *const counts[] = {"", "tokens", "that are not finite", "that are empty"};

    if (evidence->count != ALAR_REPORT_COUNT_NONE) {
        verdict_say(phrase, "; it says %llu %s, its contributions hold %llu",
                    (unsigned long long)evidence->count_shown, counts[evidence->count],
                    (unsigned long long)evidence->count_due);
    }
}

/* The other mistakes that give the number. spec: O-57 */
static void say_fits(struct verdict_phrase *phrase, const struct alar_evidence *evidence)
{
    unsigned others = 0;

    for (unsigned a = 0; a < ALAR_ANOMALY_COUNT; a++) {
        if (evidence->fits[a / 64] >> a % 64 & 1) {
            verdict_say(phrase, "%s%s", others++ ? ", " : "; not the only explanation: ",
                        alar_anomaly_name((enum alar_anomaly)a));
        }
    }
    if (others > 0) {
        verdict_say(phrase, " (%u other%s)", others, others == 1 ? "" : "s");
    }
}

/* Two numbers that should be in an order, or the same. */
static void say_pair(struct verdict_phrase *phrase, const struct alar_evidence *evidence)
{
    if (evidence->anomaly == ALAR_ANOMALY_BOUND_BROKEN) {
        verdict_say(phrase, "; it is ");
        verdict_say_value(phrase, evidence->dtype, evidence->found);
        verdict_say(phrase, ", %s ", evidence->name[1]);
        verdict_say_value(phrase, evidence->dtype, evidence->lowest);
    } else if (evidence->anomaly == ALAR_ANOMALY_SHOWN_DIFFERS) {
        verdict_say(phrase, evidence->has_found ? "; shown is " : "; shown is EMPTY");
        if (evidence->has_found) {
            verdict_say_value(phrase, evidence->dtype, evidence->found);
        }
        verdict_say(phrase, ", the bits are ");
        verdict_say_value(phrase, evidence->dtype, evidence->lowest);
    }
}

static void say_number(struct verdict_phrase *phrase, const struct alar_evidence *evidence)
{
    if (evidence->has_found) {
        verdict_say(phrase, "; shown is ");
        verdict_say_value(phrase, evidence->dtype, evidence->found);
    }
    if (evidence->has_range) {
        verdict_say(phrase, ", its contributions give ");
        verdict_say_value(phrase, evidence->dtype, evidence->lowest);
        if (evidence->highest != evidence->lowest) {
            verdict_say(phrase, " to ");
            verdict_say_value(phrase, evidence->dtype, evidence->highest);
        }
    }
}

void verdict_say_report(struct verdict_phrase *phrase, const struct alar_evidence *evidence)
{
    switch ((int)evidence->anomaly) {
    case ALAR_ANOMALY_BOUND_BROKEN:
    case ALAR_ANOMALY_SHOWN_DIFFERS:
        say_pair(phrase, evidence);
        return;
    case ALAR_ANOMALY_DEFINITION_CHANGED:
        verdict_say(phrase, ": %s, then %s", evidence->name[1], evidence->name[2]);
        return;
    case ALAR_ANOMALY_REPORT_LOST:
        verdict_say(phrase, evidence->ops.count == 1 ? ": operation %s/" : ": operations %s/",
                    evidence->group);
        verdict_say_list(phrase, &evidence->ops);
        if (evidence->microbatch >= 0) {
            verdict_say(phrase, ", first of them microbatch %lld", (long long)evidence->microbatch);
        }
        return;
    case ALAR_ANOMALY_WRONG_HOLDER:
        verdict_say(phrase, "; rank %llu holds it", (unsigned long long)evidence->amount[0]);
        break;
    case ALAR_ANOMALY_OWN_ONLY:
        verdict_say(phrase, "; it is the value of rank %u", evidence->own);
        break;
    default:
        break;
    }
    say_number(phrase, evidence);
    say_count(phrase, evidence);
    say_fits(phrase, evidence);
}

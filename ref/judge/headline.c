/* Which finding is named first: the first cause, not what follows from it. */
#include "judge/judge_state.h"

#include <string.h>

/* What is only said because an operation never came to a good end. */
static bool is_end(enum alar_anomaly anomaly)
{
    return anomaly == ALAR_ANOMALY_MISMATCH_COUNT || anomaly == ALAR_ANOMALY_FAILED_RANK ||
           anomaly == ALAR_ANOMALY_TIMEOUT || anomaly == ALAR_ANOMALY_STALL ||
           anomaly == ALAR_ANOMALY_FAILED;
}

/* Something went wrong in an earlier operation of its group: a bad end is the echo of that. */
static bool is_echo(const struct alar_verdict *verdict, const struct alar_evidence *evidence)
{
    for (uint32_t k = 0; is_end(evidence->anomaly) && k < verdict->finding_count; k++) {
        const struct alar_evidence *other = &verdict->finding[k];

        if (other->has_op && !alar_anomaly_is_note(other->anomaly) && !is_end(other->anomaly) &&
            other->anomaly != ALAR_ANOMALY_LEAK && other->number < evidence->number &&
            strcmp(other->group, evidence->group) == 0) {
            return true;
        }
    }
    return false;
}

/* The first cause is the headline, and its echoes come after everything else. spec: O-72 */
void judge_headline(struct alar_verdict *verdict)
{
    uint32_t echoes = 0;

    for (uint32_t k = 0; k + echoes < verdict->finding_count;) {
        if (is_echo(verdict, &verdict->finding[k])) {
            struct alar_evidence echo = verdict->finding[k];

            memmove(&verdict->finding[k], &verdict->finding[k + 1],
                    (verdict->finding_count - 1 - k) * sizeof echo);
            verdict->finding[verdict->finding_count - 1] = echo;
            echoes++;
        } else {
            k++;
        }
    }
}

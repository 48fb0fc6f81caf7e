/* Calls that met other calls, and where ranks stood when the recording ended. */
#include "check/verdict_state.h"

void verdict_say_calls(struct verdict_phrase *phrase, const struct alar_evidence *evidence)
{
    for (uint32_t k = 0; k < evidence->witness_count && k < 2; k++) {
        const struct alar_witness_event *witness = &evidence->witness[k];

        verdict_say(phrase, "%s%s on rank %u", k > 0 ? " against " : ": ", evidence->name[k],
                    witness->rank);
        if (witness->src[0]) {
            verdict_say(phrase, " (%s)", witness->src);
        }
    }
    verdict_say(phrase, ", call %llu of %s", (unsigned long long)evidence->amount[0],
                evidence->group);
}

void verdict_say_pending(struct verdict_phrase *phrase, const struct alar_pending *pending)
{
    verdict_say(phrase, ": operation %s/%llu; joined {", pending->group,
                (unsigned long long)pending->number);
    verdict_say_list(phrase, &pending->joined);
    verdict_say(phrase, "}, missing {");
    verdict_say_list(phrase, &pending->missing);
    verdict_say(phrase, "}");
}

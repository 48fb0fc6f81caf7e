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

void verdict_say_refused(struct verdict_phrase *phrase, const struct alar_verdict *verdict)
{
    for (uint32_t k = 0; k < verdict->finding_count; k++) {
        if (verdict->finding[k].anomaly == ALAR_ANOMALY_CALL_REFUSED) {
            verdict_say(phrase, "; note: ");
            verdict_say_finding(phrase, verdict, &verdict->finding[k]);
        }
    }
}

static void say_stand(struct verdict_phrase *phrase, const struct alar_stand *stand)
{
    verdict_say(phrase, "rank %u ", stand->rank);
    if (!stand->is_in_call) {
        verdict_say(phrase, "outside MPI");
    } else {
        verdict_say(phrase, "in %s", stand->call);
    }
    if (stand->has_peer && stand->peer >= 0) {
        verdict_say(phrase, ", with rank %lld", (long long)stand->peer);
    }
    verdict_say(phrase, ", t = %lld, since %lld", (long long)stand->t, (long long)stand->since);
}

void verdict_story_stands(const struct alar_words *words, const struct alar_history_files *files,
                          const struct alar_verdict *verdict, struct verdict_phrase *phrase)
{
    for (uint32_t k = 0; k < verdict->stands && k < ALAR_LIST_MAX; k++) {
        const struct alar_stand *stand = &verdict->stand[k];

        say_stand(phrase, stand);
        verdict_say(phrase, "  [");
        verdict_say_place(phrase, files, stand->place);
        if (stand->src[0]) {
            verdict_say(phrase, ", called from %s", stand->src);
        }
        verdict_say(phrase, "]");
        verdict_story_row(words, "stands", phrase);
    }
    if (verdict->stands > ALAR_LIST_MAX) {
        verdict_say(phrase, "%u more ranks", verdict->stands - ALAR_LIST_MAX);
        verdict_story_row(words, "stands", phrase);
    }
}

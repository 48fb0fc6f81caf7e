/* What explains an illegal value, in words. */
#include "check/verdict_state.h"

enum {
    SHOWN = 3 /* explanations told of several that fit */
};

static void say_subset(struct verdict_phrase *phrase, const struct alar_evidence *evidence,
                       uint32_t subset)
{
    const char *comma = "";

    verdict_say(phrase, "only ranks ");
    for (uint32_t m = 0; m < ALAR_LIST_MAX; m++) {
        if (subset >> m & 1) {
            verdict_say(phrase, "%s%u", comma, evidence->member[m]);
            comma = ", ";
        }
    }
}

/* The causes that speak of ranks, bits or numbers. */
static void say_details(struct verdict_phrase *phrase, const struct alar_evidence *evidence,
                        const struct alar_explanation *why)
{
    switch (why->cause) {
    case ALAR_CAUSE_OWN:
        verdict_say(phrase, "rank %u's contribution alone", why->rank);
        break;
    case ALAR_CAUSE_COUNT_OFF:
        verdict_say(phrase, "divided by %u", why->other);
        break;
    case ALAR_CAUSE_MISSING:
        verdict_say(phrase, "rank %u is missing", why->rank);
        break;
    case ALAR_CAUSE_DOUBLED:
        verdict_say(phrase, "rank %u is counted twice", why->rank);
        break;
    case ALAR_CAUSE_WIDTH:
        verdict_say(phrase, "accumulated in %s", alar_dtype_name((enum alar_dtype)why->other));
        break;
    case ALAR_CAUSE_MODEL:
        verdict_say(phrase, "rounded by %s", alar_model_name((enum alar_model)why->other));
        break;
    case ALAR_CAUSE_REDUCTION:
        verdict_say(phrase, "what %s gives", alar_reduction_names[why->other]);
        break;
    case ALAR_CAUSE_REPLACED:
        verdict_say(phrase, "rank %u is replaced by rank %u", why->rank, why->other);
        break;
    case ALAR_CAUSE_STALE:
        verdict_say(phrase, "rank %u's contribution is the previous operation's", why->rank);
        break;
    case ALAR_CAUSE_EARLY:
        verdict_say(phrase, "rank %u's contribution is the next operation's", why->rank);
        break;
    case ALAR_CAUSE_SUBSET:
        say_subset(phrase, evidence, why->subset);
        break;
    case ALAR_CAUSE_FLIPPED:
        verdict_say(phrase, "bit %u of rank %u is flipped", why->other, why->rank);
        break;
    default:
        verdict_say(phrase, "bit %u of the result is flipped", why->other);
        break;
    }
}

void verdict_say_explanation(struct verdict_phrase *phrase, const struct alar_evidence *evidence,
                             const struct alar_explanation *why)
{
    static const char *const plain[ALAR_CAUSE_COUNT] = {
        [ALAR_CAUSE_POISON] = "what the buffer held before",
        [ALAR_CAUSE_PREVIOUS] = "the previous operation's value",
        [ALAR_CAUSE_NEXT] = "the next operation's value",
        [ALAR_CAUSE_ZERO_SIGN] = "a zero of the wrong sign",
        [ALAR_CAUSE_UNDIVIDED] = "the sum, never divided",
        [ALAR_CAUSE_DIVIDED] = "the average, not the sum",
        [ALAR_CAUSE_DIVIDED_TWICE] = "the average, divided once more",
        [ALAR_CAUSE_DOUBLE_ROUNDED] = "rounded twice",
    };

    if (plain[why->cause]) {
        verdict_say(phrase, "%s", plain[why->cause]);
    } else {
        say_details(phrase, evidence, why);
    }
}

/* Explanations of the best tier: one is the diagnosis, several are told as such. spec: N-23 */
void verdict_say_diagnosis(struct verdict_phrase *phrase, const struct alar_evidence *evidence)
{
    const struct alar_diagnosis *diagnosis = &evidence->diagnosis;

    if (!evidence->has_diagnosis) {
        return;
    }
    if (diagnosis->count == 0) {
        verdict_say(phrase, "; no single known fault gives it%s",
                    diagnosis->cut == 0 ? "" : ", of those that could be tried");
        return;
    }
    verdict_say(phrase, diagnosis->is_unique      ? "; diagnosis: "
                        : diagnosis->in_tier == 1 ? "; diagnosis, of those that could be tried: "
                                                  : "; diagnosis, ambiguous: ");
    for (uint32_t k = 0; k < diagnosis->in_tier && k < diagnosis->kept && k < SHOWN; k++) {
        verdict_say(phrase, k ? ", or " : "");
        verdict_say_explanation(phrase, evidence, &diagnosis->kept_explanation[k]);
    }
    if (diagnosis->in_tier > SHOWN) {
        verdict_say(phrase, ", or %u more", diagnosis->in_tier - SHOWN);
    }
    verdict_say(phrase, evidence->is_torn ? "; torn: other elements are of this operation" : "");
}

/* What was wrong about an answer of the back end, in words. */
#include "check/verdict_state.h"

#include <string.h>

/* The k-th word of the field `call`. */
static void say_call(struct verdict_phrase *phrase, uint32_t call)
{
    const char *word = alar_field_choices(ALAR_FIELD_CALL);

    for (uint32_t k = 0; k < call && strchr(word, ' ') != NULL; k++) {
        word = strchr(word, ' ') + 1;
    }
    verdict_say(phrase, "; %.*s", (int)strcspn(word, " "), word);
}

static void say_status(struct verdict_phrase *phrase, int64_t code)
{
    enum alar_status status = (enum alar_status) - code;

    if (code > 0 || code <= -(int64_t)ALAR_STATUS_COUNT) {
        verdict_say(phrase, " answered %lld, which is no status", (long long)code);
    } else {
        verdict_say(phrase, " answered %lld (%s)", (long long)code, alar_status_text(status));
    }
}

void verdict_say_answer(struct verdict_phrase *phrase, const struct alar_evidence *evidence)
{
    static const char *const words[ALAR_ANSWER_FAULTS] = {
        [ALAR_ANSWER_NO_STATUS] = "",
        [ALAR_ANSWER_ERROR] = " where nothing was wrong",
        [ALAR_ANSWER_GAVE] = "",
        [ALAR_ANSWER_TIMEOUT_DONE] = " after it was told that it is done",
        [ALAR_ANSWER_TIMEOUT_EARLY] = " before it had",
        [ALAR_ANSWER_FREED] = " while the operation was pending",
        [ALAR_ANSWER_NOT_FREED] = " although the operation is over",
        [ALAR_ANSWER_FULL] = " before as many were pending as it promised to bear",
        [ALAR_ANSWER_STOOD_STILL] = ": still pending, though it promised progress of its own",
        [ALAR_ANSWER_WENT_BACK] = ": not yet, after it was told that it is done",
    };
    static const char *const gone[] = {"died of signal", "ended the process with code", "hung"};

    if (evidence->answer == ALAR_ANSWER_GOOD) {
        return;
    }
    say_call(phrase, evidence->call);
    if (evidence->answer == ALAR_ANSWER_BLOCKED) {
        verdict_say(phrase, " took %llu units of time", (unsigned long long)evidence->amount[1]);
    } else if (evidence->answer == ALAR_ANSWER_OUTSIDE) {
        verdict_say(phrase, " left %llu byte(s) changed", (unsigned long long)evidence->amount[1]);
    } else if (evidence->answer >= ALAR_ANSWER_SIGNAL) {
        verdict_say(phrase, " %s", gone[evidence->answer - ALAR_ANSWER_SIGNAL]);
        if (evidence->answer != ALAR_ANSWER_HANG) {
            int64_t code = (int64_t)evidence->amount[0];

            verdict_say(phrase, " %lld", (long long)(code < 0 ? -code : code));
        }
    } else if (evidence->answer == ALAR_ANSWER_GAVE) {
        verdict_say(phrase, " gave %lld", (long long)evidence->amount[1]);
    } else if (evidence->answer != ALAR_ANSWER_WENT_BACK &&
               evidence->answer != ALAR_ANSWER_STOOD_STILL) {
        say_status(phrase, (int64_t)evidence->amount[0]);
    }
    verdict_say(phrase, "%s",
                evidence->answer < ALAR_ANSWER_BLOCKED ? words[evidence->answer] : "");
    if (evidence->name[1][0]) {
        verdict_say(phrase, ": %s", evidence->name[1]);
    }
}

/* One reason per verdict, in words, from the evidence alone. */
#include "check/verdict_state.h"

#include "sys/decimal.h"

#include <stdarg.h>
#include <string.h>

void verdict_say_unknown(struct verdict_phrase *phrase, const struct alar_history_files *files,
                         const struct alar_verdict *verdict, unsigned reason)
{
    const char *after = ":";

    verdict_say(phrase, "%s", alar_unknown_text((enum alar_unknown)reason));
    if (verdict->unknown[reason] > 1) {
        verdict_say(phrase, " (%llu times)", (unsigned long long)verdict->unknown[reason]);
    }
    if (reason == ALAR_UNKNOWN_LIMIT) {
        verdict_say(phrase, ": %llu %s; %llu records were, and %llu of %llu operations so far;",
                    (unsigned long long)verdict->limited,
                    verdict->limit == ALAR_LIMIT_SECONDS ? "s" : "MiB",
                    (unsigned long long)verdict->events, (unsigned long long)verdict->judged,
                    (unsigned long long)verdict->operations);
    }
    if (reason == ALAR_UNKNOWN_NO_VALUE && verdict->refused > 0) {
        verdict_say(phrase, ", and %llu of %llu operations judged: the first, %s/%llu, is %s",
                    (unsigned long long)verdict->judged, (unsigned long long)verdict->operations,
                    verdict->refused_group, (unsigned long long)verdict->refused_number,
                    verdict->refusal);
    }
    if (reason == ALAR_UNKNOWN_STORAGE) {
        verdict_say(phrase, ": `buf` \"%s\"", verdict->stray);
        after = ",";
    }
    if (reason == ALAR_UNKNOWN_COUNTS && verdict->claimed >= 0) {
        verdict_say(phrase, ": %lld tokens", (long long)verdict->claimed);
        after = ",";
    }
    if (reason == ALAR_UNKNOWN_PENDING) {
        verdict_say_pending(phrase, &verdict->pending);
    } else if (verdict->unknown_rank[reason] != ALAR_RANK_ALL) {
        verdict_say(phrase, "%s rank %u", after, verdict->unknown_rank[reason]);
    }
    if (verdict->unknown_place[reason].line > 0) {
        verdict_say(phrase, " at ");
        verdict_say_place(phrase, files, verdict->unknown_place[reason]);
    }
}

static void keep_one_line(char *text)
{
    for (char *at = text; *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f) {
            *at = '?'; /* names come from the history, and the line stays one line */
        }
    }
}

void alar_verdict_finding(const struct alar_verdict *verdict, const struct alar_evidence *evidence,
                          char *text, size_t size)
{
    struct verdict_phrase phrase = {text, size, 0};

    text[0] = '\0';
    verdict_say_finding(&phrase, verdict, evidence);
    keep_one_line(text);
}

void alar_verdict_reason(const struct alar_history_files *files, const struct alar_verdict *verdict,
                         char *text, size_t size)
{
    struct verdict_phrase phrase = {text, size, 0};

    text[0] = '\0';
    if (verdict->kind == ALAR_PASS) {
        verdict_say_pass(&phrase, verdict);
    } else if (verdict->kind == ALAR_FAIL) {
        verdict_say_finding(&phrase, verdict, &verdict->finding[0]);
    } else {
        bool is_first = true;

        for (unsigned u = 0; u < ALAR_UNKNOWN_COUNT; u++) {
            if (verdict->unknown[u]) {
                verdict_say(&phrase, is_first ? "" : "; ");
                verdict_say_unknown(&phrase, files, verdict, u);
                is_first = false;
            }
        }
    }
    keep_one_line(text);
}

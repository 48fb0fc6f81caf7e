/* Let ... Then ... However: one story per verdict, from the evidence alone. */
#include "check/verdict_state.h"

void alar_verdict_line(const struct alar_words *words, const struct alar_history_files *files,
                       const struct alar_verdict *verdict)
{
    static const char *const colours[] = {"\033[32m", "\033[31m", "\033[33m"};
    char reason[WORDS_BYTES];

    alar_verdict_reason(files, verdict, reason, sizeof reason);
    fprintf(words->out, "%s\t%s%s%s\t%s\n", files->name,
            words->has_colours ? colours[verdict->kind] : "", alar_verdict_name(verdict->kind),
            words->has_colours ? "\033[0m" : "", reason);
}

/* What happened at a witness, in the present tense. */
void verdict_say_witness(struct verdict_phrase *phrase, const struct alar_evidence *evidence,
                         const struct alar_witness_event *witness)
{
    static const char *const verbs[] = {
        [ALAR_RECORD_ISSUE] = "issues",
        [ALAR_RECORD_TEST] = "polls",
        [ALAR_RECORD_WAIT] = "waits for",
        [ALAR_RECORD_DONE] = "is told that it is done:",
        [ALAR_RECORD_COMPLETE] = "sees completion of",
        [ALAR_RECORD_FAIL] = "is told of the failure of",
        [ALAR_RECORD_READ] = "reads",
        [ALAR_RECORD_WRITE] = "writes into",
        [ALAR_RECORD_ALLOC] = "is handed out the storage of",
        [ALAR_RECORD_FREE] = "frees",
        [ALAR_RECORD_DROP] = "drops the handle of",
        [ALAR_RECORD_CANCEL] = "cancels",
        [ALAR_RECORD_REPORT] = "reports",
        [ALAR_RECORD_ANSWER] = "gets an answer on",
        [ALAR_RECORD_CALL] = "calls",
        [ALAR_RECORD_REFUSE] = "is refused",
        [ALAR_RECORD_STAND] = "stands in",
    };
    const char *verb =
        witness->record < sizeof verbs / sizeof *verbs ? verbs[witness->record] : NULL;

    verdict_say(phrase, "%srank %u %s ", witness->is_backend ? "the back end of " : "",
                witness->rank, verb ? verb : alar_record_name(witness->record));
    if (witness->record == ALAR_RECORD_ANSWER && !evidence->has_op) {
        verdict_say(phrase, "a call of no operation");
    } else if (witness->record == ALAR_RECORD_STAND) {
        verdict_say(phrase, "its call");
    } else if (witness->record == ALAR_RECORD_CALL || witness->record == ALAR_RECORD_REFUSE) {
        bool is_other = witness != evidence->witness && witness->record == ALAR_RECORD_CALL;

        verdict_say(phrase, "%s", evidence->name[is_other ? 1 : 0]);
    } else if (witness->record == ALAR_RECORD_REPORT) {
        verdict_say(phrase, "%s%s", evidence->name[0], witness->is_empty ? " as EMPTY" : "");
    } else {
        verdict_say(
            phrase, "%s/%llu", evidence->group,
            (unsigned long long)(witness->is_of_report ? witness->number : evidence->number));
    }
    if (witness->n > 0) {
        verdict_say(phrase, ", %llu element%s", (unsigned long long)witness->n,
                    witness->n == 1 ? "" : "s");
    }
    for (uint32_t k = 0; k < witness->shown; k++) {
        verdict_say(phrase,
                    k             ? ", "
                    : witness->at ? ", from element %lld: "
                                  : ": ",
                    (long long)witness->at);
        verdict_say_value(phrase, witness->dtype, witness->bits[k]);
    }
    if (witness->has_t) {
        verdict_say(phrase, ", t = %lld", (long long)witness->t);
    }
}

void verdict_story_row(const struct alar_words *words, const char *head,
                       struct verdict_phrase *phrase)
{
    fprintf(words->out, "  %-9s %s\n", head, phrase->text);
    phrase->length = 0;
    phrase->text[0] = '\0';
}

static void story_witnesss(const struct alar_words *words, const struct alar_history_files *files,
                           const struct alar_evidence *evidence, struct verdict_phrase *phrase)
{
    for (uint32_t k = 0; k < evidence->witness_count; k++) {
        const struct alar_witness_event *witness = &evidence->witness[k];
        bool is_last = k > 0 && k + 1 == evidence->witness_count;

        verdict_say_witness(phrase, evidence, witness);
        verdict_say(phrase, "  [");
        verdict_say_place(phrase, files, witness->place);
        if (witness->src[0]) {
            verdict_say(phrase, ", called from %s", witness->src);
        }
        verdict_say(phrase, "]");
        verdict_story_row(words, k == 0 ? "Let" : is_last ? "However," : "Then", phrase);
    }
}

static void story_finding(const struct alar_words *words, const struct alar_history_files *files,
                          const struct alar_verdict *verdict, const struct alar_evidence *evidence)
{
    char text[WORDS_BYTES] = "";
    struct verdict_phrase phrase = {text, sizeof text, 0};

    verdict_say(&phrase, "%s: %s", alar_anomaly_rule(evidence->anomaly),
                alar_anomaly_sentence(evidence->anomaly));
    verdict_story_row(words, "rule", &phrase);
    story_witnesss(words, files, evidence, &phrase);
    if (evidence->has_good) {
        verdict_say(&phrase, "%s/%llu was judged good", evidence->group,
                    (unsigned long long)evidence->good);
        verdict_story_row(words, "last good", &phrase);
    }
    verdict_say(&phrase, "%s", alar_anomaly_allowed(evidence->anomaly));
    verdict_story_row(words, "allowed", &phrase);
    if (evidence->excused >= 0) {
        const struct alar_fault_seen *fault = &verdict->fault[evidence->excused];

        verdict_say(&phrase, "the fault %s was injected on purpose  [", fault->point);
        verdict_say_place(&phrase, files, fault->place);
        verdict_say(&phrase, "]");
        verdict_story_row(words, "excused", &phrase);
    }
}

/* Beside a PASS: how its values came about. */
static void story_pass(const struct alar_words *words, const struct alar_verdict *verdict,
                       struct verdict_phrase *phrase)
{
    verdict_say_provenance(phrase, &verdict->provenance);
    if (phrase->length > 0) {
        verdict_story_row(words, "added up", phrase);
    }
    for (uint32_t k = 0; k < verdict->finding_count; k++) {
        verdict_say_finding(phrase, verdict, &verdict->finding[k]);
        verdict_story_row(words, "note", phrase);
    }
}

void alar_verdict_story(const struct alar_words *words, const struct alar_history_files *files,
                        const struct alar_verdict *verdict)
{
    char text[WORDS_BYTES] = "";
    struct verdict_phrase phrase = {text, sizeof text, 0};
    bool is_first = true;

    if (verdict->kind == ALAR_PASS) {
        story_pass(words, verdict, &phrase);
        return;
    }
    for (uint32_t k = 0; k < verdict->finding_count; k++) {
        const struct alar_evidence *evidence = &verdict->finding[k];

        if (alar_anomaly_is_note(evidence->anomaly)) {
            continue;
        }
        if (is_first) {
            story_finding(words, files, verdict, evidence);
            is_first = false;
        } else {
            verdict_say_finding(&phrase, verdict, evidence);
            verdict_story_row(words, "also", &phrase);
        }
    }
    if (alar_verdict_more(verdict) > 0) {
        verdict_say(&phrase, "%llu more findings; --all tells them",
                    (unsigned long long)alar_verdict_more(verdict));
        verdict_story_row(words, "also", &phrase);
    }
    verdict_story_stands(words, files, verdict, &phrase);
    for (unsigned u = 0; u < ALAR_UNKNOWN_COUNT; u++) {
        if (verdict->unknown[u]) {
            verdict_say_unknown(&phrase, files, verdict, u);
            verdict_story_row(words, "unknown", &phrase);
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

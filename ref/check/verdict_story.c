/* Let ... Then ... However: one story per verdict, from the evidence alone. */
#include "check/verdict_state.h"

void alar_words_line(const struct alar_words *words, const struct alar_history_files *files,
                     const struct alar_verdict *verdict)
{
    static const char *const colours[] = {"\033[32m", "\033[31m", "\033[33m"};
    char reason[WORDS_BYTES];

    alar_words_reason(files, verdict, reason, sizeof reason);
    fprintf(words->out, "%s\t%s%s%s\t%s\n", files->name,
            words->has_colours ? colours[verdict->kind] : "", alar_verdict_name(verdict->kind),
            words->has_colours ? "\033[0m" : "", reason);
}

/* What happened at a scene, in the present tense. */
static void say_scene(struct words_phrase *phrase, const struct alar_evidence *evidence,
                      const struct alar_scene *scene)
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
    };
    const char *verb = scene->record < sizeof verbs / sizeof *verbs ? verbs[scene->record] : NULL;

    words_say(phrase, "%srank %u %s ", scene->is_backend ? "the back end of " : "", scene->rank,
              verb ? verb : alar_record_name(scene->record));
    if (scene->record == ALAR_RECORD_REPORT) {
        words_say(phrase, "%s%s", evidence->name[0], scene->shown ? "" : " as EMPTY");
    } else {
        words_say(phrase, "%s/%llu", evidence->group,
                  (unsigned long long)(scene->is_of_report ? scene->number : evidence->number));
    }
    if (scene->n > 0) {
        words_say(phrase, ", %llu element%s", (unsigned long long)scene->n,
                  scene->n == 1 ? "" : "s");
    }
    for (uint32_t k = 0; k < scene->shown; k++) {
        words_say(phrase,
                  k           ? ", "
                  : scene->at ? ", from element %lld: "
                              : ": ",
                  (long long)scene->at);
        words_say_value(phrase, scene->is_of_report ? scene->dtype : evidence->dtype,
                        scene->bits[k]);
    }
    if (scene->has_t) {
        words_say(phrase, ", t = %lld", (long long)scene->t);
    }
}

static void story_row(const struct alar_words *words, const char *head, struct words_phrase *phrase)
{
    fprintf(words->out, "  %-9s %s\n", head, phrase->text);
    phrase->length = 0;
    phrase->text[0] = '\0';
}

static void story_scenes(const struct alar_words *words, const struct alar_history_files *files,
                         const struct alar_evidence *evidence, struct words_phrase *phrase)
{
    for (uint32_t k = 0; k < evidence->scene_count; k++) {
        const struct alar_scene *scene = &evidence->scene[k];
        bool is_last = k > 0 && k + 1 == evidence->scene_count;

        say_scene(phrase, evidence, scene);
        words_say(phrase, "  [");
        words_say_place(phrase, files, scene->place);
        if (scene->src[0]) {
            words_say(phrase, ", called from %s", scene->src);
        }
        words_say(phrase, "]");
        story_row(words, k == 0 ? "Let" : is_last ? "However," : "Then", phrase);
    }
}

static void story_finding(const struct alar_words *words, const struct alar_history_files *files,
                          const struct alar_verdict *verdict, const struct alar_evidence *evidence)
{
    char text[WORDS_BYTES] = "";
    struct words_phrase phrase = {text, sizeof text, 0};

    words_say(&phrase, "%s: %s", alar_anomaly_rule(evidence->anomaly),
              alar_anomaly_sentence(evidence->anomaly));
    story_row(words, "rule", &phrase);
    story_scenes(words, files, evidence, &phrase);
    if (evidence->has_good) {
        words_say(&phrase, "%s/%llu was judged good", evidence->group,
                  (unsigned long long)evidence->good);
        story_row(words, "last good", &phrase);
    }
    words_say(&phrase, "%s", alar_anomaly_allowed(evidence->anomaly));
    story_row(words, "allowed", &phrase);
    if (evidence->excused >= 0) {
        const struct alar_fault_seen *fault = &verdict->fault[evidence->excused];

        words_say(&phrase, "the fault %s was injected on purpose  [", fault->point);
        words_say_place(&phrase, files, fault->place);
        words_say(&phrase, "]");
        story_row(words, "excused", &phrase);
    }
}

void alar_words_story(const struct alar_words *words, const struct alar_history_files *files,
                      const struct alar_verdict *verdict)
{
    char text[WORDS_BYTES] = "";
    struct words_phrase phrase = {text, sizeof text, 0};
    bool is_first = true;

    for (uint32_t k = 0; k < verdict->finding_count; k++) {
        const struct alar_evidence *evidence = &verdict->finding[k];

        if (alar_anomaly_is_note(evidence->anomaly)) {
            continue;
        }
        if (is_first) {
            story_finding(words, files, verdict, evidence);
            is_first = false;
        } else {
            words_say_finding(&phrase, verdict, evidence);
            story_row(words, "also", &phrase);
        }
    }
    for (unsigned u = 0; verdict->kind != ALAR_PASS && u < ALAR_UNKNOWN_COUNT; u++) {
        if (verdict->unknown[u]) {
            words_say_unknown(&phrase, files, verdict, u);
            story_row(words, "unknown", &phrase);
        }
    }
}

/* Let ... Then ... However: one story per verdict, from the evidence alone. */
#include "words.h"

#include "decimal.h"

#include <stdarg.h>
#include <string.h>

enum {
    WORDS_BYTES = 1024,
    WORDS_REPORTS = 512
};

/* Text being put together; what does not fit is left out. */
struct phrase {
    char *text;
    size_t size, length;
};

static void say(struct phrase *phrase, const char *format, ...)
{
    va_list arguments;
    size_t room = phrase->size - phrase->length;

    va_start(arguments, format);
    int length = vsnprintf(phrase->text + phrase->length, room, format, arguments);
    va_end(arguments);
    if (length > 0) {
        phrase->length += (size_t)length < room ? (size_t)length : room - 1;
    }
}

static void say_list(struct phrase *phrase, const struct alar_list *list)
{
    for (uint32_t k = 0; k < list->count && k < ALAR_LIST_MAX; k++) {
        say(phrase, "%s%llu", k ? ", " : "", (unsigned long long)list->item[k]);
    }
    if (list->count > ALAR_LIST_MAX) {
        say(phrase, " and %u more", list->count - ALAR_LIST_MAX);
    }
}

static void say_ranks(struct phrase *phrase, const struct alar_list *ranks)
{
    say(phrase, ranks->count == 1 ? "rank " : "ranks ");
    say_list(phrase, ranks);
}

static void say_place(struct phrase *phrase, const struct alar_history_files *files,
                      struct alar_place place)
{
    if (place.line > 0 && place.file < files->count) {
        say(phrase, "%s:%u", files->path[place.file], place.line);
    }
}

static void say_value(struct phrase *phrase, enum alar_dtype dtype, uint64_t bits)
{
    char decimal[ALAR_DECIMAL_MAX];

    alar_decimal_print(dtype, bits, decimal);
    say(phrase, "%s (%0*llx)", decimal, (int)(2 * alar_dtype_bytes(dtype)),
        (unsigned long long)bits);
}

static void say_op(struct phrase *phrase, const struct alar_evidence *evidence)
{
    if (evidence->is_report) {
        say(phrase, "report of %s", evidence->name[0]);
    } else if (evidence->ops.count > 1) {
        say(phrase, "operations %s/", evidence->group);
        say_list(phrase, &evidence->ops);
    } else if (evidence->has_op) {
        say(phrase, "operation %s/%llu", evidence->group, (unsigned long long)evidence->number);
    }
    if (evidence->step >= 0) {
        say(phrase, " of step %lld", (long long)evidence->step);
    }
}

/* What kinds of mismatch disagree on, in words. */
static void say_mismatch(struct phrase *phrase, const struct alar_evidence *evidence)
{
    static const char *const reds[] = {"sum", "max", "min", "product", "avg"};
    unsigned long long a = evidence->amount[0], b = evidence->amount[1];

    switch ((int)evidence->anomaly) {
    case ALAR_ANOMALY_MISMATCH_KEY:
        say(phrase, ": \"%s\" against \"%s\"", evidence->name[0], evidence->name[1]);
        break;
    case ALAR_ANOMALY_MISMATCH_RED:
        say(phrase, ": %s against %s", a < 5 ? reds[a] : "?", b < 5 ? reds[b] : "?");
        break;
    case ALAR_ANOMALY_MISMATCH_DTYPE:
        say(phrase, ": %s against %s", alar_dtype_name((enum alar_dtype)a),
            alar_dtype_name((enum alar_dtype)b));
        break;
    case ALAR_ANOMALY_MISMATCH_ELEMENTS:
        say(phrase, ": %llu against %llu", a, b);
        break;
    default:
        break;
    }
}

static void say_membership(struct phrase *phrase, const struct alar_evidence *evidence)
{
    if (evidence->missing.count > 0) {
        say(phrase, "; joined {");
        say_list(phrase, &evidence->joined);
        say(phrase, "}, missing {");
        say_list(phrase, &evidence->missing);
        say(phrase, "}");
    }
}

static void say_numbers(struct phrase *phrase, const struct alar_evidence *evidence)
{
    if (evidence->anomaly == ALAR_ANOMALY_STALL) {
        say(phrase, evidence->amount[0] ? "; all started, not progressing" : "; not started");
    }
    if (evidence->anomaly == ALAR_ANOMALY_RANKS_DISAGREE) {
        say(phrase, "; %llu different results, %llu of them legal alone",
            (unsigned long long)evidence->amount[0], (unsigned long long)evidence->amount[1]);
    }
    if (evidence->has_found) {
        if (evidence->is_report) {
            say(phrase, "; shown is ");
        } else {
            say(phrase, "; element %lld is ", (long long)evidence->element);
        }
        say_value(phrase, evidence->dtype, evidence->found);
    }
    if (evidence->has_range) {
        say(phrase, evidence->is_report ? ", its contributions give " : ", any order gives ");
        say_value(phrase, evidence->dtype, evidence->lowest);
        if (evidence->highest != evidence->lowest) {
            say(phrase, " to ");
            say_value(phrase, evidence->dtype, evidence->highest);
        }
    }
}

static void say_excuse(struct phrase *phrase, const struct alar_verdict *verdict,
                       const struct alar_evidence *evidence)
{
    if (evidence->excused >= 0) {
        const struct alar_fault_seen *fault = &verdict->fault[evidence->excused];

        say(phrase, "; excused by the injected fault %s", fault->point);
        if (fault->rank != ALAR_RANK_ALL) {
            say(phrase, " on rank %u", fault->rank);
        }
    }
}

static void say_finding(struct phrase *phrase, const struct alar_verdict *verdict,
                        const struct alar_evidence *evidence)
{
    say(phrase, "%s: ", alar_anomaly_name(evidence->anomaly));
    say_op(phrase, evidence);
    if (evidence->ranks.count > 0) {
        say(phrase, evidence->has_op || evidence->is_report ? ", " : "");
        say_ranks(phrase, &evidence->ranks);
    }
    say(phrase, ": %s", alar_anomaly_sentence(evidence->anomaly));
    say_mismatch(phrase, evidence);
    say_membership(phrase, evidence);
    say_numbers(phrase, evidence);
    say_excuse(phrase, verdict, evidence);
}

static void say_provenance(struct phrase *phrase, const struct alar_provenance *from)
{
    char name[ALAR_TREE_NAME_MAX];

    if (from->names > 0) {
        say(phrase, "; provenance ");
        for (uint32_t k = 0; k < from->names && k < ALAR_NAMES_MAX; k++) {
            alar_tree_name_print(from->name[k], name);
            say(phrase, "%s%s", k ? " = " : "", name);
        }
        say(phrase, from->names > ALAR_NAMES_MAX ? " = ..." : "");
        return;
    }
    if (from->named) {
        say(phrase, "; %llu each by some named tree", (unsigned long long)from->named);
    }
    if (from->chunked) {
        say(phrase, "; %llu in chunks, as a ring", (unsigned long long)from->chunked);
    }
    if (from->only_value) {
        say(phrase, "; %llu with one legal value", (unsigned long long)from->only_value);
    }
    if (from->hull) {
        say(phrase, "; %llu inside the hull of any order", (unsigned long long)from->hull);
    }
    if (from->bound) {
        say(phrase, "; %llu inside the proven bound", (unsigned long long)from->bound);
    }
}

static void say_pass(struct phrase *phrase, const struct alar_verdict *verdict)
{
    char reports[WORDS_REPORTS];

    say(phrase, "%llu of %llu operations judged, same bits on all ranks",
        (unsigned long long)verdict->judged, (unsigned long long)verdict->operations);
    say_provenance(phrase, &verdict->provenance);
    alar_words_reports(verdict, reports, sizeof reports);
    say(phrase, "%s", reports);
    if (verdict->twins_same + verdict->twins_legal) {
        say(phrase, "; twin: same bits %llu, other legal bits %llu",
            (unsigned long long)verdict->twins_same, (unsigned long long)verdict->twins_legal);
    }
    for (unsigned a = 0; a < ALAR_ANOMALY_COUNT; a++) {
        if (verdict->found[a]) {
            say(phrase, "; note: %s, %llu times", alar_anomaly_name((enum alar_anomaly)a),
                (unsigned long long)verdict->found[a]);
        }
    }
}

static void say_unknown(struct phrase *phrase, const struct alar_history_files *files,
                        const struct alar_verdict *verdict, unsigned reason)
{
    say(phrase, "%s", alar_unknown_text((enum alar_unknown)reason));
    if (verdict->unknown[reason] > 1) {
        say(phrase, " (%llu times)", (unsigned long long)verdict->unknown[reason]);
    }
    if (verdict->unknown_rank[reason] != ALAR_RANK_ALL) {
        say(phrase, ": rank %u", verdict->unknown_rank[reason]);
    }
    if (verdict->unknown_place[reason].line > 0) {
        say(phrase, " at ");
        say_place(phrase, files, verdict->unknown_place[reason]);
    }
}

void alar_words_reason(const struct alar_history_files *files, const struct alar_verdict *verdict,
                       char *text, size_t size)
{
    struct phrase phrase = {text, size, 0};

    text[0] = '\0';
    if (verdict->kind == ALAR_PASS) {
        say_pass(&phrase, verdict);
    } else if (verdict->kind == ALAR_FAIL) {
        say_finding(&phrase, verdict, &verdict->finding[0]);
    } else {
        bool is_first = true;

        for (unsigned u = 0; u < ALAR_UNKNOWN_COUNT; u++) {
            if (verdict->unknown[u]) {
                say(&phrase, is_first ? "" : "; ");
                say_unknown(&phrase, files, verdict, u);
                is_first = false;
            }
        }
    }
    for (char *at = text; *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f) {
            *at = '?'; /* names come from the history, and the line stays one line */
        }
    }
}

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
static void say_scene(struct phrase *phrase, const struct alar_evidence *evidence,
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

    say(phrase, "%srank %u %s ", scene->is_backend ? "the back end of " : "", scene->rank,
        verb ? verb : alar_record_name(scene->record));
    if (scene->record == ALAR_RECORD_REPORT) {
        say(phrase, "%s%s", evidence->name[0], scene->shown ? "" : " as EMPTY");
    } else {
        say(phrase, "%s/%llu", evidence->group,
            (unsigned long long)(scene->is_of_report ? scene->number : evidence->number));
    }
    if (scene->n > 0) {
        say(phrase, ", %llu element%s", (unsigned long long)scene->n, scene->n == 1 ? "" : "s");
    }
    for (uint32_t k = 0; k < scene->shown; k++) {
        say(phrase, k ? ", " : scene->at ? ", from element %lld: " : ": ", (long long)scene->at);
        say_value(phrase, scene->is_of_report ? scene->dtype : evidence->dtype, scene->bits[k]);
    }
    if (scene->has_t) {
        say(phrase, ", t = %lld", (long long)scene->t);
    }
}

static void story_row(const struct alar_words *words, const char *head, struct phrase *phrase)
{
    fprintf(words->out, "  %-9s %s\n", head, phrase->text);
    phrase->length = 0;
    phrase->text[0] = '\0';
}

static void story_scenes(const struct alar_words *words, const struct alar_history_files *files,
                         const struct alar_evidence *evidence, struct phrase *phrase)
{
    for (uint32_t k = 0; k < evidence->scene_count; k++) {
        const struct alar_scene *scene = &evidence->scene[k];
        bool is_last = k > 0 && k + 1 == evidence->scene_count;

        say_scene(phrase, evidence, scene);
        say(phrase, "  [");
        say_place(phrase, files, scene->place);
        if (scene->src[0]) {
            say(phrase, ", called from %s", scene->src);
        }
        say(phrase, "]");
        story_row(words, k == 0 ? "Let" : is_last ? "However," : "Then", phrase);
    }
}

static void story_finding(const struct alar_words *words, const struct alar_history_files *files,
                          const struct alar_verdict *verdict, const struct alar_evidence *evidence)
{
    char text[WORDS_BYTES] = "";
    struct phrase phrase = {text, sizeof text, 0};

    say(&phrase, "%s: %s", alar_anomaly_rule(evidence->anomaly),
        alar_anomaly_sentence(evidence->anomaly));
    story_row(words, "rule", &phrase);
    story_scenes(words, files, evidence, &phrase);
    if (evidence->has_good) {
        say(&phrase, "%s/%llu was judged good", evidence->group,
            (unsigned long long)evidence->good);
        story_row(words, "last good", &phrase);
    }
    say(&phrase, "%s", alar_anomaly_allowed(evidence->anomaly));
    story_row(words, "allowed", &phrase);
    if (evidence->excused >= 0) {
        const struct alar_fault_seen *fault = &verdict->fault[evidence->excused];

        say(&phrase, "the fault %s was injected on purpose  [", fault->point);
        say_place(&phrase, files, fault->place);
        say(&phrase, "]");
        story_row(words, "excused", &phrase);
    }
}

void alar_words_story(const struct alar_words *words, const struct alar_history_files *files,
                      const struct alar_verdict *verdict)
{
    char text[WORDS_BYTES] = "";
    struct phrase phrase = {text, sizeof text, 0};
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
            say_finding(&phrase, verdict, evidence);
            story_row(words, "also", &phrase);
        }
    }
    for (unsigned u = 0; verdict->kind != ALAR_PASS && u < ALAR_UNKNOWN_COUNT; u++) {
        if (verdict->unknown[u]) {
            say_unknown(&phrase, files, verdict, u);
            story_row(words, "unknown", &phrase);
        }
    }
}

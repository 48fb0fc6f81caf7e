/* Outcomes as JUnit's XML and as TAP version 13. */
#include "check/outcome.h"

#include "check/verdict_text.h"
#include "sys/json_out.h"

#include <stdlib.h>
#include <string.h>

enum {
    REASON_BYTES = 1024
};

static const char *outcome_word(const struct alar_outcome *outcome)
{
    return outcome->verdict != NULL ? alar_verdict_name(outcome->verdict->kind) : "UNUSABLE";
}

static void outcome_reason(const struct alar_outcome *outcome, char reason[REASON_BYTES])
{
    if (outcome->verdict != NULL) {
        alar_verdict_reason(outcome->files, outcome->verdict, reason, REASON_BYTES);
    } else {
        snprintf(reason, REASON_BYTES, "%s", outcome->error_line);
    }
}

char *alar_outcome_story(const struct alar_outcome *outcome)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    if (file == NULL) {
        return NULL;
    }
    if (outcome->verdict != NULL) {
        struct alar_words words = {file, false};

        alar_verdict_story(&words, outcome->files, outcome->verdict);
    } else {
        fprintf(file, "%s\n", outcome->error_line);
    }
    return fclose(file) == 0 ? text : NULL;
}

/* ---- JUnit ------------------------------------------------------------------------------------
 */

/* Text or the inside of an attribute; what XML 1.0 can't hold becomes '?'. */
static void xml_text(FILE *out, const char *text)
{
    while (*text != '\0') {
        size_t bytes = alar_utf8_bytes(text);
        bool is_bad = bytes == 0 || ((unsigned char)*text < ' ' && *text != '\n' && *text != '\t');
        const char *entity = *text == '&'    ? "&amp;"
                             : *text == '<'  ? "&lt;"
                             : *text == '>'  ? "&gt;"
                             : *text == '"'  ? "&quot;"
                             : *text == '\n' ? "&#10;"
                             : is_bad        ? "?"
                                             : NULL;

        if (entity != NULL) {
            fputs(entity, out);
        } else {
            fwrite(text, 1, bytes, out);
        }
        text += bytes > 0 ? bytes : 1;
    }
}

static enum alar_status cases_open(struct alar_outcomes *outcomes)
{
    if (outcomes->writing == NULL) {
        outcomes->writing = open_memstream(&outcomes->cases, &outcomes->cases_bytes);
    }
    return outcomes->writing != NULL ? ALAR_OK : ALAR_E_NOMEM;
}

enum alar_status alar_junit_add(struct alar_outcomes *outcomes, const struct alar_outcome *outcome)
{
    char reason[REASON_BYTES];
    bool is_failure = outcome->verdict != NULL && outcome->verdict->kind == ALAR_FAIL;
    const char *element = is_failure ? "failure" : "error";

    ALAR_TRY(cases_open(outcomes));
    FILE *out = outcomes->writing;
    outcomes->tests++;
    fputs("  <testcase classname=\"alar check\" name=\"", out);
    xml_text(out, outcome->name);
    if (outcome->verdict != NULL && outcome->verdict->kind == ALAR_PASS) {
        fputs("\"/>\n", out);
        return ALAR_OK;
    }
    outcomes->failures += is_failure;
    outcomes->errors += !is_failure;
    outcome_reason(outcome, reason);
    char *story = alar_outcome_story(outcome);
    if (story == NULL) {
        return ALAR_E_NOMEM;
    }
    fprintf(out, "\">\n    <%s type=\"", element);
    xml_text(out, is_failure ? alar_anomaly_name(outcome->verdict->finding[0].anomaly)
                             : outcome_word(outcome));
    fputs("\" message=\"", out);
    xml_text(out, reason);
    fputs("\">", out);
    xml_text(out, story);
    fprintf(out, "</%s>\n  </testcase>\n", element);
    free(story);
    return ALAR_OK;
}

enum alar_status alar_junit_end(struct alar_outcomes *outcomes)
{
    ALAR_TRY(cases_open(outcomes));
    bool is_whole = fclose(outcomes->writing) == 0;
    fprintf(outcomes->out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuites>\n<testsuite name=\"alar check\" tests=\"%llu\" failures=\"%llu\" "
            "errors=\"%llu\" skipped=\"0\">\n%s</testsuite>\n</testsuites>\n",
            (unsigned long long)outcomes->tests, (unsigned long long)outcomes->failures,
            (unsigned long long)outcomes->errors, is_whole ? outcomes->cases : "");
    free(outcomes->cases);
    return is_whole ? ALAR_OK : ALAR_E_NOMEM;
}

/* ---- TAP --------------------------------------------------------------------------------------
 */

/* A description: no line ends, and no '#', which would begin a directive. */
static void tap_words(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '#' || *text == '\\') {
            fputc('\\', out);
        }
        fputc((unsigned char)*text < ' ' ? '?' : *text, out);
    }
}

enum alar_status alar_tap_add(struct alar_outcomes *outcomes, const struct alar_outcome *outcome)
{
    bool is_good = outcome->verdict != NULL && outcome->verdict->kind == ALAR_PASS;
    char reason[REASON_BYTES];

    if (outcomes->tests++ == 0) {
        fputs("TAP version 13\n", outcomes->out);
    }
    fprintf(outcomes->out, "%s %llu - ", is_good ? "ok" : "not ok",
            (unsigned long long)outcomes->tests);
    tap_words(outcomes->out, outcome->name);
    if (is_good) {
        fputc('\n', outcomes->out);
        return ALAR_OK;
    }
    outcome_reason(outcome, reason);
    fprintf(outcomes->out, ": %s ", outcome_word(outcome));
    tap_words(outcomes->out, reason);
    fputs("\n  ---\n  story: |\n", outcomes->out);
    char *story = alar_outcome_story(outcome);
    if (story == NULL) {
        return ALAR_E_NOMEM;
    }
    for (const char *line = story; *line != '\0';) {
        size_t length = strcspn(line, "\n");

        fprintf(outcomes->out, "    %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    fputs("  ...\n", outcomes->out);
    free(story);
    return ALAR_OK;
}

enum alar_status alar_tap_end(struct alar_outcomes *outcomes)
{
    if (outcomes->tests == 0) {
        fputs("TAP version 13\n", outcomes->out);
    }
    fprintf(outcomes->out, "1..%llu\n", (unsigned long long)outcomes->tests);
    return ALAR_OK;
}

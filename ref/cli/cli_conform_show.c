/* The table of `alar conform`: for people, as TAP, as JSON, as JUnit. */
#include "cli/cli_conform.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const level_names[] = {"must", "should", "note"};

static bool is_broken(const struct alar_conform_row *row)
{
    return row->failed > 0;
}

static uint64_t good(const struct alar_conform_row *row)
{
    return row->tried > row->failed ? row->tried - row->failed : 0;
}

/* What repeats a failure. */
static void repeat_print(FILE *file, const struct alar_cli_conform_view *view,
                         const struct alar_conform_row *row)
{
    const struct alar_conform_options *options = view->options;

    fprintf(file, "alar conform %s --ranks %u --scene %u --seed %" PRIu64 "%s", options->backend,
            row->ranks, row->scene, options->seed, options->is_full ? " --full" : "");
    if (options->config[0] != '\0') {
        fprintf(file, " --config %s", options->config);
    }
    if (view->mutant != NULL) {
        fprintf(file, " --mutant %s", view->mutant);
    }
}

/* "must  ok" ... "not tried" */
static const char *word_of(const struct alar_conform_row *row)
{
    return row->tried == 0 && !is_broken(row) ? "-"
           : !is_broken(row)                  ? "ok"
           : row->level == ALAR_CONFORM_MUST  ? "BROKEN"
                                              : "no";
}

void alar_cli_conform_table(const struct alar_cli_conform_view *view)
{
    const struct alar_conform_result *result = view->result;
    uint32_t count[3] = {0};
    uint32_t broken[3] = {0};

    for (uint32_t k = 0; k < result->rows; k++) {
        const struct alar_conform_row *row = &result->row[k];

        if (row->tried == 0 && !is_broken(row)) {
            printf("%-7s %-7s %-18s %17s  %s\n", level_names[row->level], "-", row->name,
                   "not tried", row->what);
            continue;
        }
        count[row->level]++;
        broken[row->level] += is_broken(row);
        printf("%-7s %-7s %-18s %8" PRIu64 " of %-6" PRIu64 " %s\n", level_names[row->level],
               word_of(row), row->name, good(row), row->tried, row->what);
        if (is_broken(row) && row->reason[0] != '\0') {
            printf("        %s\n        history %s\n        again   ", row->reason, row->history);
            repeat_print(stdout, view, row);
            putchar('\n');
        }
    }
    printf("%s: %s: %u of %u musts broken, %u of %u shoulds not met, %u notes; %u worlds, %" PRIu64
           " scenes, %" PRIu64 " all-reduces judged, %.1f s%s\n",
           view->options->backend, result->name, broken[0], count[0], broken[1], count[1], count[2],
           result->worlds, result->scenes, result->operations, result->seconds,
           result->is_cut ? "; cut short: by --seconds, or because it hung again and again" : "");
}

void alar_cli_conform_tap(const struct alar_cli_conform_view *view)
{
    const struct alar_conform_result *result = view->result;

    printf("TAP version 13\n1..%u\n", result->rows);
    for (uint32_t k = 0; k < result->rows; k++) {
        const struct alar_conform_row *row = &result->row[k];
        bool is_must = row->level == ALAR_CONFORM_MUST;

        printf("%s %u - %s %s: %s (%" PRIu64 " of %" PRIu64 ")%s\n",
               is_broken(row) ? "not ok" : "ok", k + 1, level_names[row->level], row->name,
               row->what, good(row), row->tried,
               row->tried == 0 && !is_broken(row) ? " # SKIP not tried"
               : is_must                          ? ""
                                                  : " # "
                                                    "TO"
                                                    "DO not a must");
        if (is_broken(row) && row->reason[0] != '\0') {
            printf("# %s\n# history %s\n# again ", row->reason, row->history);
            repeat_print(stdout, view, row);
            putchar('\n');
        }
    }
}

/* ---- files -------------------------------------------------------------------------------------
 */

static void json_text(FILE *file, const char *name, const char *text)
{
    fprintf(file, ",\"%s\":\"", name);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            fputc('\\', file);
        }
        fputc((unsigned char)*text < ' ' ? ' ' : *text, file);
    }
    fputc('"', file);
}

bool alar_cli_conform_json(const struct alar_cli_conform_view *view, const char *path)
{
    const struct alar_conform_result *result = view->result;
    FILE *file = fopen(path, "w");

    if (file == NULL) {
        return false;
    }
    fprintf(file,
            "{\"seed\":%" PRIu64 ",\"worlds\":%u,\"scenes\":%" PRIu64 ",\"operations\":%" PRIu64
            ",\"seconds\":%.3f,\"cut\":%s",
            view->options->seed, result->worlds, result->scenes, result->operations,
            result->seconds, result->is_cut ? "true" : "false");
    json_text(file, "backend", view->options->backend);
    json_text(file, "name", result->name);
    fputs(",\"rows\":[", file);
    for (uint32_t k = 0; k < result->rows; k++) {
        const struct alar_conform_row *row = &result->row[k];

        fprintf(file, "%s{\"tried\":%" PRIu64 ",\"failed\":%" PRIu64, k > 0 ? "," : "", row->tried,
                row->failed);
        json_text(file, "name", row->name);
        json_text(file, "level", level_names[row->level]);
        json_text(file, "what", row->what);
        if (row->reason[0] != '\0') {
            fprintf(file, ",\"ranks\":%u,\"scene\":%u", row->ranks, row->scene);
            json_text(file, "reason", row->reason);
            json_text(file, "history", row->history);
        }
        fputc('}', file);
    }
    fputs("]}\n", file);
    bool is_lost = ferror(file) != 0;
    return fclose(file) == 0 && !is_lost;
}

static void xml_text(FILE *file, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '<':
            fputs("&lt;", file);
            break;
        case '&':
            fputs("&amp;", file);
            break;
        case '"':
            fputs("&quot;", file);
            break;
        default:
            fputc((unsigned char)*text < ' ' ? ' ' : *text, file);
            break;
        }
    }
}

static void junit_row(FILE *file, const struct alar_cli_conform_view *view,
                      const struct alar_conform_row *row)
{
    fprintf(file, "  <testcase classname=\"%s\" name=\"", level_names[row->level]);
    xml_text(file, row->name);
    fputs("\">", file);
    if (row->tried == 0 && !is_broken(row)) {
        fputs("<skipped/>", file);
    } else if (is_broken(row) && row->level == ALAR_CONFORM_MUST) {
        fputs("<failure message=\"", file);
        xml_text(file, row->reason);
        fputs("\">", file);
        xml_text(file, row->history);
        fputc('\n', file);
        repeat_print(file, view, row);
        fputs("</failure>", file);
    }
    fputs("</testcase>\n", file);
}

bool alar_cli_conform_junit(const struct alar_cli_conform_view *view, const char *path)
{
    const struct alar_conform_result *result = view->result;
    FILE *file = fopen(path, "w");
    uint32_t failures = 0;

    if (file == NULL) {
        return false;
    }
    for (uint32_t k = 0; k < result->rows; k++) {
        failures += is_broken(&result->row[k]) && result->row[k].level == ALAR_CONFORM_MUST;
    }
    fprintf(file,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"alar conform\" "
            "tests=\"%u\" failures=\"%u\" time=\"%.3f\">\n",
            result->rows, failures, result->seconds);
    for (uint32_t k = 0; k < result->rows; k++) {
        junit_row(file, view, &result->row[k]);
    }
    fputs("</testsuite>\n", file);
    bool is_lost = ferror(file) != 0;
    return fclose(file) == 0 && !is_lost;
}

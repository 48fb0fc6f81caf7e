/* Histories as text, judged. */
#include "tests/lib/told.h"

#include "tests/lib/scratch.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void told_files(struct told *told, const char *const *path, uint32_t count,
                       const struct alar_reading_hooks *hooks)
{
    struct alar_history_files files = {"test", path, count};

    told->status = alar_reading_judge(&told->reading, &files, hooks);
}

static void told_hooked(struct told *told, const char *text, size_t length,
                        const struct alar_reading_hooks *hooks)
{
    const char *path = scratch_write("told.jsonl", text, length);

    snprintf(told->path, sizeof told->path, "%s", path);
    path = told->path;
    told_files(told, &path, 1, hooks);
}

void told_bytes(struct told *told, const char *text, size_t length)
{
    told_hooked(told, text, length, NULL);
}

void told_with(struct told *judged, const char *text, const struct alar_reading_hooks *hooks)
{
    told_hooked(judged, text, strlen(text), hooks);
}

void told(struct told *judged, const char *text)
{
    told_bytes(judged, text, strlen(text));
}

void told_ranks(struct told *told, const char *directory, uint32_t ranks)
{
    const char **path = calloc(ranks, sizeof *path);

    for (uint32_t r = 0; r < ranks; r++) {
        char *name = malloc(512);

        snprintf(name, 512, "%s/rank%u.jsonl", directory, r);
        path[r] = name;
    }
    told_files(told, path, ranks, NULL);
    for (uint32_t r = 0; r < ranks; r++) {
        free((void *)path[r]);
    }
    free((void *)path);
}

const struct alar_verdict *told_verdict(const struct told *told)
{
    cr_assert_eq(told->status, ALAR_OK, "%s", told->reading.error_line);
    return alar_judge_verdict(told->reading.judge);
}

const char *told_reason(const struct told *told)
{
    static char reason[1024];
    const char *path = told->path;
    struct alar_history_files files = {"test", &path, 1};

    alar_verdict_reason(&files, told_verdict(told), reason, sizeof reason);
    return reason;
}

void told_free(struct told *told)
{
    alar_reading_free(&told->reading);
}

void told_quoted(struct told *judged, const char *text)
{
    char *copy = strdup(text);

    cr_assert_not_null(copy);
    for (char *at = copy; (at = strchr(at, '\'')) != NULL;) {
        *at = '"';
    }
    told(judged, copy);
    free(copy);
}

static void told_row(const struct told_row *row)
{
    struct told judged;

    told_quoted(&judged, row->text);
    if (row->kind == ALAR_VERDICT_COUNT) {
        cr_expect_eq(judged.status, ALAR_E_INPUT, "%s: not refused", row->name);
        cr_expect_not_null(strstr(judged.reading.error_line, row->says), "%s: %s", row->name,
                           judged.reading.error_line);
    } else {
        cr_expect_eq(told_verdict(&judged)->kind, row->kind, "%s: %s", row->name,
                     told_reason(&judged));
        cr_expect_not_null(strstr(told_reason(&judged), row->says), "%s: %s", row->name,
                           told_reason(&judged));
    }
    told_free(&judged);
}

void told_rows(const struct told_row *row, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        told_row(&row[k]);
    }
}

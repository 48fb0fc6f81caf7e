/* `alar check`: judges histories, one line each, and explains what it finds. */
#include "cli.h"
#include "history_find.h"
#include "words.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct check {
    bool as_json, is_quiet, is_rerun;
    struct alar_words words;
    enum alar_class worst;
};

static enum alar_class verdict_class(enum alar_verdict_kind kind)
{
    switch (kind) {
    case ALAR_PASS:
        return ALAR_CLASS_GOOD;
    case ALAR_FAIL:
        return ALAR_CLASS_WRONG;
    default:
        return ALAR_CLASS_INCOMPLETE;
    }
}

/* One line that is overwritten; only on a terminal. */
static void tell_progress(void *context, uint64_t bytes)
{
    const char *name = context;

    fprintf(stderr, "\r%s: %llu MB read", name, (unsigned long long)(bytes >> 20));
}

static void check_show(struct check *check, const struct alar_history_files *files,
                       const struct alar_verdict *verdict)
{
    if (check->as_json) {
        if (alar_words_json(check->words.out, files, verdict) != ALAR_OK) {
            check->worst = alar_class_worst(check->worst, ALAR_CLASS_INCOMPLETE);
        }
        return;
    }
    alar_words_line(&check->words, files, verdict);
    if (!check->is_quiet) {
        alar_words_story(&check->words, files, verdict);
    }
}

static void check_history(struct check *check, const struct alar_history_files *files)
{
    struct alar_progress progress = {tell_progress, (void *)files->name};
    struct alar_reading reading;
    bool has_terminal = isatty(STDERR_FILENO) != 0;
    enum alar_status status =
        alar_reading_judge(&reading, files, has_terminal ? &progress : NULL, NULL);

    if (has_terminal && reading.bytes >> 22) {
        fputs("\r\033[K", stderr);
    }
    if (status == ALAR_OK) {
        const struct alar_verdict *verdict = alar_judge_verdict(reading.judge);

        check_show(check, files, verdict);
        check->worst = alar_class_worst(check->worst, verdict_class(verdict->kind));
    } else {
        alar_cli_complain("check", reading.complaint);
        check->worst = alar_class_worst(check->worst, alar_status_class(status));
    }
    alar_reading_free(&reading);
}

static int check_paths(struct check *check, int count, char **paths)
{
    char complaint[ALAR_COMPLAINT_BYTES];
    struct alar_history_set set;
    enum alar_status status = alar_history_find(paths, (size_t)count, &set, complaint);

    if (status != ALAR_OK) {
        alar_cli_complain("check", complaint);
        return (int)alar_status_class(status);
    }
    for (size_t k = 0; k < set.count; k++) {
        check_history(check, &set.history[k]);
    }
    alar_history_set_free(&set);
    return fflush(check->words.out) == 0 ? (int)check->worst : ALAR_CLASS_INCOMPLETE;
}

int alar_cli_check(int argc, char **argv)
{
    struct check check = {.words = {stdout, isatty(STDOUT_FILENO) != 0}};
    const struct alar_option options[] = {
        {"json", ALAR_OPTION_FLAG, &check.as_json, NULL, "one JSON object per history", NULL, 0, 0},
        {"quiet", ALAR_OPTION_FLAG, &check.is_quiet, NULL, "verdict lines only", NULL, 0, 0},
        {NULL, ALAR_OPTION_FLAG, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct alar_command command = {
        "check",
        "judge recorded histories",
        "PATH... | -",
        options,
        "  alar check run/                 a directory of rank files is one history\n"
        "  alar check --json - < h.jsonl   one merged history from standard input\n",
    };
    int count;
    int code = alar_cli_options(&command, argc, argv, &count);

    if (code >= 0) {
        return code;
    }
    if (count == 0) {
        return alar_cli_complain("check", "expected paths of histories, or -, found none");
    }
    return check_paths(&check, count, argv + 1);
}

/* `alar check`: judges histories, one line each, and explains what it finds. */
#include "check/history_find.h"
#include "check/rerun_compare.h"
#include "check/verdict_text.h"
#include "cli/cli.h"
#include "cli/cli_certificate.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct check {
    bool as_json, is_quiet, is_rerun, needs_power;
    const char *certificates, *verified; /* files; NULL when not asked for */
    FILE *certifying;
    const char *name; /* of the history being read */
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
    const struct check *check = context;

    fprintf(stderr, "\r%s: %llu MB read", check->name, (unsigned long long)(bytes >> 20));
}

static void tell_legal(void *context, const struct alar_legal_view *view)
{
    struct check *check = context;

    if (alar_cli_certify(check->certifying, view) != ALAR_OK) {
        check->worst = alar_class_worst(check->worst, ALAR_CLASS_INCOMPLETE);
    }
}

static void check_show(struct check *check, const struct alar_history_files *files,
                       const struct alar_verdict *verdict)
{
    if (check->as_json) {
        if (alar_verdict_json(check->words.out, files, verdict) != ALAR_OK) {
            check->worst = alar_class_worst(check->worst, ALAR_CLASS_INCOMPLETE);
        }
        return;
    }
    alar_verdict_line(&check->words, files, verdict);
    if (!check->is_quiet) {
        alar_verdict_story(&check->words, files, verdict);
    }
}

static void check_history(struct check *check, const struct alar_history_files *files)
{
    struct alar_reading reading;
    bool has_terminal = isatty(STDERR_FILENO) != 0;
    struct alar_reading_hooks hooks = {.progress = has_terminal ? tell_progress : NULL,
                                       .certify = check->certifying ? tell_legal : NULL,
                                       .context = check,
                                       .needs_power = check->needs_power};

    check->name = files->name;
    enum alar_status status = alar_reading_judge(&reading, files, &hooks);

    if (has_terminal && reading.bytes >> 22) {
        fputs("\r\033[K", stderr);
    }
    if (status == ALAR_OK) {
        const struct alar_verdict *verdict = alar_judge_verdict(reading.judge);

        check_show(check, files, verdict);
        check->worst = alar_class_worst(check->worst, verdict_class(verdict->kind));
    } else {
        alar_cli_complain("check", reading.error_line);
        check->worst = alar_class_worst(check->worst, alar_status_class(status));
    }
    alar_reading_free(&reading);
}

/* A difference is wrong when a fixed order was promised; else it is what a free order may do. */
static enum alar_class rerun_show(const struct check *check, const struct alar_history_files *files,
                                  const struct alar_reading *reading,
                                  const struct alar_rerun *rerun)
{
    bool is_fixed = alar_judge_contract(reading[0].judge)->is_fixed ||
                    alar_judge_contract(reading[1].judge)->is_fixed;
    enum alar_verdict_kind kind = rerun->different && is_fixed          ? ALAR_FAIL
                                  : rerun->same + rerun->different == 0 ? ALAR_UNKNOWN
                                                                        : ALAR_PASS;

    if (check->as_json) {
        fprintf(check->words.out,
                "{\"rerun\":\"%s\",\"same\":%llu,\"different\":%llu,\"not_comparable\":%llu}\n",
                alar_verdict_name(kind), (unsigned long long)rerun->same,
                (unsigned long long)rerun->different, (unsigned long long)rerun->other);
        return verdict_class(kind);
    }
    fprintf(check->words.out,
            "%s %s\t%s\t%s%llu operations with the same bits, %llu with others, "
            "%llu not comparable",
            files[0].name, files[1].name, alar_verdict_name(kind),
            kind == ALAR_FAIL ? "rerun-differs: a fixed order was promised: " : "",
            (unsigned long long)rerun->same, (unsigned long long)rerun->different,
            (unsigned long long)rerun->other);
    if (rerun->has_first) {
        fprintf(check->words.out, "; first difference at number %llu, %s:%u and %s:%u",
                (unsigned long long)rerun->number, files[0].path[rerun->place[0].file],
                rerun->place[0].line, files[1].path[rerun->place[1].file], rerun->place[1].line);
    }
    fputc('\n', check->words.out);
    return verdict_class(kind);
}

static int check_rerun(struct check *check, const struct alar_history_set *set)
{
    struct alar_reading reading[2];
    struct alar_rerun rerun;
    enum alar_status status;

    if (set->count != 2) {
        return alar_cli_complain("check", "expected two histories with --rerun");
    }
    status = alar_rerun_compare(set->history, reading, &rerun);
    for (unsigned k = 0; k < 2; k++) {
        if (status == ALAR_OK) {
            const struct alar_verdict *verdict = alar_judge_verdict(reading[k].judge);

            check_show(check, &set->history[k], verdict);
            check->worst = alar_class_worst(check->worst, verdict_class(verdict->kind));
        } else if (reading[k].error_line[0] != '\0') {
            alar_cli_complain("check", reading[k].error_line);
        }
    }
    check->worst = alar_class_worst(
        check->worst, status == ALAR_OK ? rerun_show(check, set->history, reading, &rerun)
                                        : alar_status_class(status));
    alar_reading_free(&reading[0]);
    alar_reading_free(&reading[1]);
    return (int)check->worst;
}

static int check_paths(struct check *check, int count, char **paths)
{
    char error_line[ALAR_ERROR_LINE_BYTES];
    struct alar_history_set set;
    enum alar_status status = alar_history_find(paths, (size_t)count, &set, error_line);

    if (status != ALAR_OK) {
        alar_cli_complain("check", error_line);
        return (int)alar_status_class(status);
    }
    if (check->certificates) {
        check->certifying = alar_cli_certificates_open(check->certificates, "w");
        if (check->certifying == NULL) {
            alar_history_set_free(&set);
            return ALAR_CLASS_UNUSABLE;
        }
    }
    if (check->is_rerun) {
        check->worst = (enum alar_class)check_rerun(check, &set);
    }
    for (size_t k = 0; !check->is_rerun && k < set.count; k++) {
        check_history(check, &set.history[k]);
    }
    alar_history_set_free(&set);
    if (check->certifying && (ferror(check->certifying) | fclose(check->certifying))) {
        check->worst = alar_class_worst(check->worst, ALAR_CLASS_INCOMPLETE);
    }
    return fflush(check->words.out) == 0 ? (int)check->worst : ALAR_CLASS_INCOMPLETE;
}

int alar_cli_check(int argc, char **argv)
{
    struct check check = {.words = {stdout, isatty(STDOUT_FILENO) != 0}};
    const struct alar_option options[] = {
        {"json", ALAR_OPTION_FLAG, &check.as_json, NULL, "one JSON object per history", NULL, 0, 0},
        {"rerun", ALAR_OPTION_FLAG, &check.is_rerun, NULL,
         "two runs on the same contributions: the same bits?", NULL, 0, 0},
        {"require-power", ALAR_OPTION_FLAG, &check.needs_power, NULL,
         "UNKNOWN where no missing rank would have shown", NULL, 0, 0},
        {"certificates", ALAR_OPTION_TEXT, &check.certificates, "FILE",
         "write why each legal value is legal, a line each", NULL, 0, 0},
        {"verify-certificate", ALAR_OPTION_TEXT, &check.verified, "FILE",
         "check such lines by plain evaluation, no history needed", NULL, 0, 0},
        {"quiet", ALAR_OPTION_FLAG, &check.is_quiet, NULL, "verdict lines only; also -q", NULL, 0,
         0},
        {NULL, ALAR_OPTION_FLAG, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct alar_command command = {
        "check",
        "judge recorded histories",
        "PATH... | -",
        options,
        "  alar check run/                 a directory of rank files is one history\n"
        "  alar check --rerun run1/ run2/  compare two runs operation by operation\n"
        "  alar check --json - < h.jsonl   one merged history from standard input\n",
    };
    int count;

    for (int k = 1; k < argc && strcmp(argv[k], "--") != 0; k++) {
        argv[k] = strcmp(argv[k], "-q") == 0 ? (char *)"--quiet" : argv[k];
    }
    int code = alar_cli_options(&command, argc, argv, &count);

    if (code >= 0) {
        return code;
    }
    if (check.verified) {
        return count == 0 ? alar_cli_verify(check.verified, check.is_quiet)
                          : alar_cli_complain("check", "expected no history beside certificates");
    }
    if (check.is_rerun && (check.certificates || check.needs_power)) {
        return alar_cli_complain("check", "expected --rerun alone");
    }
    if (count == 0) {
        return alar_cli_complain("check", "expected paths of histories, or -, found none");
    }
    return check_paths(&check, count, argv + 1);
}

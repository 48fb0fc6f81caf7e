/* `alar check`: judges histories, one line each, and explains what it finds. */
#include "check/history_find.h"
#include "check/outcome.h"
#include "check/rerun_compare.h"
#include "check/verdict_text.h"
#include "cli/cli.h"
#include "cli/cli_certificate.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum {
    FINDINGS_ALL = 10000, /* kept at most with --all */
    THREADS_MOST = 256,
    LIMIT_MOST = 1 << 30, /* seconds, or MiB */
    LIMIT_NONE            /* not asked for */
};

/* How outcomes are told. */
enum check_format {
    CHECK_TEXT,
    CHECK_JSON,
    CHECK_JUNIT,
    CHECK_TAP,
    CHECK_SARIF,
    CHECK_FORMATS
};

struct check {
    bool as[CHECK_FORMATS]; /* as asked for */
    enum check_format format;
    bool is_quiet, is_rerun, needs_power, tells_all;
    int color;
    uint64_t seconds, memory_mib;        /* limits; LIMIT_NONE: not asked for */
    uint64_t threads;                    /* 0: as many as pay */
    const char *certificates, *verified; /* files; NULL when not asked for */
    FILE *certifying;
    struct alar_cli_progress progress;
    struct alar_words words;
    struct alar_outcomes outcomes;
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

static void tell_progress(void *context, uint64_t bytes)
{
    alar_cli_progress_tell(&((struct check *)context)->progress, bytes);
}

static void tell_legal(void *context, const struct alar_legal_view *view)
{
    struct check *check = context;

    if (alar_cli_certify(check->certifying, view) != ALAR_OK) {
        check->worst = alar_class_worst(check->worst, ALAR_CLASS_INCOMPLETE);
    }
}

static enum alar_status outcome_text(struct check *check, const struct alar_outcome *outcome)
{
    if (outcome->verdict == NULL) {
        return ALAR_OK; /* said on stderr */
    }
    alar_verdict_line(&check->words, outcome->files, outcome->verdict);
    if (!check->is_quiet) {
        alar_verdict_story(&check->words, outcome->files, outcome->verdict);
    }
    return ALAR_OK;
}

static enum alar_status outcome_json(struct check *check, const struct alar_outcome *outcome)
{
    return outcome->verdict == NULL
               ? alar_unusable_json(check->words.out, outcome->name, outcome->error_line)
               : alar_verdict_json(check->words.out, outcome->files, outcome->verdict);
}

static void check_tell(struct check *check, const struct alar_outcome *outcome)
{
    enum alar_status status = ALAR_OK;

    switch (check->format) {
    case CHECK_JSON:
        status = outcome_json(check, outcome);
        break;
    case CHECK_JUNIT:
        status = alar_junit_add(&check->outcomes, outcome);
        break;
    case CHECK_TAP:
        status = alar_tap_add(&check->outcomes, outcome);
        break;
    case CHECK_SARIF:
        status = alar_sarif_add(&check->outcomes, outcome);
        break;
    default:
        status = outcome_text(check, outcome);
    }
    if (status != ALAR_OK) {
        check->worst = alar_class_worst(check->worst, ALAR_CLASS_INCOMPLETE);
    }
}

/* Whatever the format, why an input can't be used is said on stderr too. */
static void check_unusable(struct check *check, const char *name, const char *error_line,
                           enum alar_status status)
{
    struct alar_outcome outcome = {.name = name, .error_line = error_line};

    alar_cli_complain("check", error_line);
    check_tell(check, &outcome);
    check->worst = alar_class_worst(check->worst, alar_status_class(status));
}

static void check_judged(struct check *check, const struct alar_history_files *files,
                         const struct alar_verdict *verdict)
{
    struct alar_outcome outcome = {.name = files->name, .files = files, .verdict = verdict};

    check_tell(check, &outcome);
    check->worst = alar_class_worst(check->worst, verdict_class(verdict->kind));
}

static void check_history(struct check *check, const struct alar_history_files *files)
{
    struct alar_reading reading;
    struct alar_reading_hooks hooks = {.progress = tell_progress,
                                       .certify = check->certifying ? tell_legal : NULL,
                                       .context = check,
                                       .threads = (uint32_t)check->threads,
                                       .finding_room = check->tells_all ? FINDINGS_ALL : 0,
                                       .needs_power = check->needs_power,
                                       .has_seconds = check->seconds != LIMIT_NONE,
                                       .seconds = check->seconds,
                                       .has_memory = check->memory_mib != LIMIT_NONE,
                                       .memory_mib = check->memory_mib};

    check->progress = (struct alar_cli_progress){.what = files->name};
    enum alar_status status = alar_reading_judge(&reading, files, &hooks);

    alar_cli_progress_end(&check->progress);
    if (status == ALAR_OK) {
        check_judged(check, files, alar_judge_verdict(reading.judge));
    } else {
        check_unusable(check, files->name, reading.error_line, status);
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

    if (check->format == CHECK_JSON) {
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
            check_judged(check, &set->history[k], alar_judge_verdict(reading[k].judge));
        } else if (reading[k].error_line[0] != '\0') {
            check_unusable(check, set->history[k].name, reading[k].error_line, status);
        }
    }
    check->worst = alar_class_worst(
        check->worst, status == ALAR_OK ? rerun_show(check, set->history, reading, &rerun)
                                        : alar_status_class(status));
    alar_reading_free(&reading[0]);
    alar_reading_free(&reading[1]);
    return (int)check->worst;
}

/* A path that is not there is told of by itself, so that the others are judged all the same. */
static int paths_present(struct check *check, int count, char **paths)
{
    char error_line[ALAR_ERROR_LINE_BYTES];
    struct stat found;
    int present = 0;

    for (int k = 0; k < count; k++) {
        if (strcmp(paths[k], "-") == 0 || stat(paths[k], &found) == 0) {
            paths[present++] = paths[k];
        } else {
            enum alar_status why = alar_complain(
                error_line, paths[k], "expected a file or directory, found: %s", strerror(errno));

            check_unusable(check, paths[k], error_line, why);
        }
    }
    return present;
}

static enum alar_status certificates_open(struct check *check, const struct alar_history_set *set,
                                          char *error_line)
{
    if (check->certificates == NULL) {
        return ALAR_OK;
    }
    if (alar_history_set_reads(set, check->certificates)) {
        return alar_complain(error_line, check->certificates,
                             "expected a file for certificates, found one of the histories");
    }
    check->certifying = fopen(check->certificates, "w");
    return check->certifying != NULL
               ? ALAR_OK
               : alar_complain(error_line, check->certificates,
                               "expected a file to write, found: %s", strerror(errno));
}

static void check_paths(struct check *check, int count, char **paths)
{
    char error_line[ALAR_ERROR_LINE_BYTES];
    struct alar_history_set set = {0};
    int present = paths_present(check, count, paths);
    enum alar_status status = ALAR_OK;

    if (present > 0) {
        status = alar_history_find(paths, (size_t)present, &set, error_line);
    }
    if (status == ALAR_OK) {
        status = certificates_open(check, &set, error_line);
    }
    if (status != ALAR_OK) {
        check_unusable(check, present == 1 ? paths[0] : "", error_line, status);
    } else if (check->is_rerun) {
        check->worst = (enum alar_class)check_rerun(check, &set);
    }
    for (size_t k = 0; !check->is_rerun && k < set.count; k++) {
        check_history(check, &set.history[k]);
    }
    alar_history_set_free(&set);
}

static int check_all(struct check *check, int count, char **paths)
{
    enum alar_status status = ALAR_OK;

    check_paths(check, count, paths);
    if (check->format == CHECK_JUNIT) {
        status = alar_junit_end(&check->outcomes);
    } else if (check->format == CHECK_TAP) {
        status = alar_tap_end(&check->outcomes);
    } else if (check->format == CHECK_SARIF) {
        status = alar_sarif_end(&check->outcomes);
    }
    if ((check->certifying && (ferror(check->certifying) | fclose(check->certifying))) ||
        status != ALAR_OK) {
        check->worst = alar_class_worst(check->worst, ALAR_CLASS_INCOMPLETE);
    }
    return (int)check->worst;
}

static int check_options(struct check *check, int argc, char **argv, int *count)
{
    const struct alar_option options[] = {
        /* clang-format off */
        {"all", ALAR_OPTION_FLAG, &check->tells_all, NULL, "every finding, not the 16 worst", NULL, 0, 0},
        {"json", ALAR_OPTION_FLAG, &check->as[CHECK_JSON], NULL, "a JSON object a line for each history: spec/verdict.schema.json", NULL, 0, 0},
        {"junit", ALAR_OPTION_FLAG, &check->as[CHECK_JUNIT], NULL, "a JUnit document: a test case for each history", NULL, 0, 0},
        {"tap", ALAR_OPTION_FLAG, &check->as[CHECK_TAP], NULL, "TAP, version 13", NULL, 0, 0},
        {"sarif", ALAR_OPTION_FLAG, &check->as[CHECK_SARIF], NULL, "a SARIF 2.1.0 document: a result for each finding", NULL, 0, 0},
        {"rerun", ALAR_OPTION_FLAG, &check->is_rerun, NULL, "two runs on the same contributions: the same bits?", NULL, 0, 0},
        {"require-power", ALAR_OPTION_FLAG, &check->needs_power, NULL, "UNKNOWN where no missing rank would have shown", NULL, 0, 0},
        {"certificates", ALAR_OPTION_TEXT, &check->certificates, "FILE", "write why each legal value is legal, a line each", NULL, 0, 0},
        {"verify-certificate", ALAR_OPTION_TEXT, &check->verified, "FILE", "check such lines by plain evaluation, no history needed", NULL, 0, 0},
        {"threads", ALAR_OPTION_NUMBER, &check->threads, "N", "threads that read [a core's each; 1 for one file, or less than 4 MiB]", NULL, 1, THREADS_MOST},
        {"limit-seconds", ALAR_OPTION_NUMBER, &check->seconds, "N", "stop judging a history after so long, and say where", NULL, 0, LIMIT_MOST},
        {"limit-memory", ALAR_OPTION_NUMBER, &check->memory_mib, "MIB", "likewise once the judge would need more", NULL, 1, LIMIT_MOST},
        {"color", ALAR_OPTION_CHOICE, &check->color, NULL, "colours [auto: on a terminal, without NO_COLOR]", alar_cli_colors, 0, 0},
        {"quiet", ALAR_OPTION_FLAG, &check->is_quiet, NULL, "verdict lines only", NULL, 0, 0},
        {NULL, ALAR_OPTION_FLAG, NULL, NULL, NULL, NULL, 0, 0},
        /* clang-format on */
    };
    const struct alar_command command = {
        "check",
        "judge recorded histories",
        "PATH... | -",
        options,
        "  alar check run/                     a directory of rank files is one history\n"
        "  alar check --rerun run1/ run2/      compare two runs operation by operation\n"
        "  alar check --json - < h.jsonl       one merged history from standard input\n"
        "  alar check --limit-seconds 60 run/  what no minute suffices for is UNKNOWN\n"
        "  alar check --junit run/ > alar.xml  for CI; see ci/examples\n",
    };

    return alar_cli_options(&command, argc, argv, count);
}

int alar_cli_check(int argc, char **argv)
{
    struct check check = {.words = {stdout, false},
                          .outcomes = {.out = stdout},
                          .seconds = LIMIT_NONE,
                          .memory_mib = LIMIT_NONE};
    int count, formats = 0;
    int code = check_options(&check, argc, argv, &count);

    if (code >= 0) {
        return code;
    }
    for (int k = 0; k < CHECK_FORMATS; k++) {
        check.format = check.as[k] ? (enum check_format)k : check.format;
        formats += check.as[k];
    }
    check.words.has_colours = alar_cli_has_colors(check.color);
    if (check.verified) {
        return count == 0 ? alar_cli_verify(check.verified, check.is_quiet)
                          : alar_cli_complain("check", "expected no history beside certificates");
    }
    if (formats > 1) {
        return alar_cli_complain("check", "expected one of --json, --junit, --tap, --sarif");
    }
    bool is_limited = check.seconds != LIMIT_NONE || check.memory_mib != LIMIT_NONE;
    if (check.is_rerun &&
        (check.certificates || check.needs_power || is_limited || check.format > CHECK_JSON)) {
        return alar_cli_complain("check", "expected --rerun alone");
    }
    if (count == 0) {
        return alar_cli_complain("check", "expected paths of histories, or -, found none");
    }
    return check_all(&check, count, argv + 1);
}

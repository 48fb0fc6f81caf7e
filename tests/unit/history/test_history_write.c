/* The history writer: what happens to lines when files, disks and processes fail. */
#include "history/history.h"
#include "sys/error_line.h"
#include "sys/line_write.h"
#include "tests/lib/history_more.h"
#include "tests/lib/scratch.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(history_write, .init = scratch_make, .fini = scratch_remove);

enum {
    TEXT_BYTES = 1 << 16
};

static char text[TEXT_BYTES];

static struct alar_history *opened(uint32_t rank, size_t elements, size_t ops)
{
    const struct alar_history_options options = {
        .directory = scratch_path(""), .rank = rank, .elements = elements, .ops = ops};
    struct alar_history *history = NULL;
    char error_line[ALAR_ERROR_LINE_BYTES] = "";

    cr_assert_eq(alar_history_open(&history, &options, error_line), ALAR_OK, "%s", error_line);
    return history;
}

static const float pair[2] = {2906.9321F, 128.0F};
static const struct alar_elements pair_elements = {pair, 2, ALAR_F32};

/* The empty twin: a run without a history takes the same path. */
Test(history_write, no_history_takes_every_record)
{
    const struct alar_report report = {0};

    alar_history_trace(NULL, 0, &(struct alar_history_trace){0});
    alar_history_contract(NULL, 0, &(struct alar_history_contract){0});
    alar_history_issue(NULL, 0, &(struct alar_history_issue){0});
    alar_history_wait(NULL, 0, &(struct alar_history_wait){0});
    alar_history_done(NULL, 0, &(struct alar_history_done){0});
    alar_history_twin(NULL, 0, &(struct alar_history_done){0});
    alar_history_complete(NULL, 0, (struct alar_history_op){0});
    alar_history_fail(NULL, 0, &(struct alar_history_fail){0});
    alar_history_read(NULL, 0, &(struct alar_history_read){0});
    alar_history_report(NULL, 0, &(struct alar_history_report){.report = &report});
    alar_history_fault(NULL, 0, &(struct alar_history_fault){0});
    alar_history_abort(NULL, 0, NULL);
    alar_history_exit(NULL, 0, &(struct alar_history_exit){0});
    alar_history_end(NULL, 0);
    cr_assert_eq(alar_history_close(NULL, NULL), ALAR_OK);
}

/* Writes one issue of `count` zero elements; returns how many of them are in its line, which has
   all fields before and behind them. */
static size_t elements_written(uint32_t rank, size_t count)
{
    struct alar_history *history = opened(rank, count, 0);
    float *zeros = calloc(count, sizeof(*zeros));
    char *line = malloc(ALAR_HISTORY_LINE_BYTES + 1);
    char name[32];
    size_t elements = 0;

    cr_assert(zeros != NULL && line != NULL);
    alar_history_issue(history, 0,
                       &(struct alar_history_issue){
                           .reduction = "sum", .in = {zeros, count, ALAR_F32}, .pairs = 1});
    cr_assert_eq(alar_history_close(history, NULL), ALAR_OK);
    snprintf(name, sizeof(name), "rank%u.jsonl", rank);
    cr_assert_leq(scratch_read(name, line, ALAR_HISTORY_LINE_BYTES + 1), ALAR_HISTORY_LINE_BYTES);
    snprintf(name, sizeof(name), "\"n\":%zu,", count);
    cr_assert_not_null(strstr(line, name));
    const char *at = strstr(line, "\"in\":[") + 5;
    while (memcmp(at + 1, "\"00000000\"", 10) == 0) {
        elements++;
        at += 11;
    }
    cr_assert_str_eq(at, "],\"pairs\":1}\n");
    free(line);
    free(zeros);
    return elements;
}

/* All elements are written as long as the line stays under 16 MiB; then the first ones, and n
 * tells.
 */
Test(history_write, long_operations_keep_all_lanes_that_fit)
{
    cr_assert_eq(elements_written(0, 17), 17);
    cr_assert_eq(elements_written(1, 100000), 100000);
    cr_assert_eq(elements_written(2, 1500000), 1500000);
    size_t elements = elements_written(3, 2000000);
    cr_assert(elements > 1500000 && elements < 2000000, "%zu lanes", elements);
}

/* A killed process leaves every line it wrote, whole: nothing waits in a buffer. */
Test(history_write, a_killed_rank_keeps_its_lines)
{
    pid_t child = fork();

    cr_assert_geq(child, 0);
    if (child == 0) {
        struct alar_history *history = opened(3, 2, 0);

        for (uint64_t i = 0; i < 100; i++) {
            alar_history_done(history, i, &(struct alar_history_done){{NULL, i}, 0, pair_elements});
        }
        raise(SIGKILL);
    }
    int status = 0;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFSIGNALED(status));
    size_t length = scratch_read("rank3.jsonl", text, sizeof(text));
    size_t lines = 0;
    for (size_t i = 0; i < length; i++) {
        lines += text[i] == '\n';
    }
    cr_assert_eq(lines, 100);
    cr_assert_eq(text[length - 1], '\n');
}

/* The disk is full after 1000 bytes: all lines before are whole, nothing follows the torn one, and
   the caller learns of it at the end. */
Test(history_write, the_first_failed_write_is_latched)
{
    struct alar_history *history = opened(3, 2, 0);
    struct rlimit limit = {1000, RLIM_INFINITY};
    char error_line[ALAR_ERROR_LINE_BYTES] = "";
    uint64_t whole = 0;

    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (uint64_t i = 0; i < 20; i++) {
        alar_history_done(history, i, &(struct alar_history_done){{NULL, i}, 0, pair_elements});
    }
    limit.rlim_cur = RLIM_INFINITY;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    alar_history_end(history, 99);
    cr_assert_eq(alar_history_close(history, error_line), ALAR_E_IO);

    cr_assert_eq(scratch_read("rank3.jsonl", text, sizeof(text)), 1000);
    for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        char expected[32];

        snprintf(expected, sizeof(expected), "\"i\":%d,", (int)whole++);
        cr_assert_not_null(strstr(line, expected));
    }
    cr_assert_gt(whole, 5);
    char told[64];
    snprintf(told, sizeof(told), "found: File too large after %d records", (int)whole);
    cr_assert_not_null(strstr(error_line, told), "%s", error_line);
    cr_assert_not_null(strstr(error_line, "/rank3.jsonl: expected"), "%s", error_line);
}

/* More operations than the opening was told of: refused as a whole, never cut. */
Test(history_write, a_record_without_room_is_an_error)
{
    struct alar_history *history = opened(3, 0, 0);
    const struct alar_report report = {0};
    char error_line[ALAR_ERROR_LINE_BYTES] = "";

    alar_history_report(
        history, 0,
        &(struct alar_history_report){.report = &report, .metric = "lm loss", .ops = 10000});
    cr_assert_eq(alar_history_close(history, error_line), ALAR_E_IO);
    cr_assert_not_null(strstr(error_line, "Message too long after 0 records"), "%s", error_line);
    cr_assert_eq(scratch_read("rank3.jsonl", text, sizeof(text)), 0);
}

/* A writer that does what a plan says: a number of bytes, or minus an errno. */
static const int *plan;
static char written[256];
static size_t written_bytes;

static ssize_t planned_write(int file, const void *bytes, size_t count)
{
    int step = *plan++;

    cr_assert_geq(file, 0);
    if (step < 0) {
        errno = -step;
        return -1;
    }
    count = (size_t)step < count ? (size_t)step : count;
    memcpy(written + written_bytes, bytes, count);
    written_bytes += count;
    return (ssize_t)count;
}

Test(history_write, short_and_interrupted_writes_are_continued)
{
    static const struct {
        int plan[8];
        const char *written;
        int error;
    } rows[] = {
        {{99, 99}, "line 1\nline 2\n", 0},
        {{3, 2, 99, 99}, "line 1\nline 2\n", 0},
        {{-EINTR, -EINTR, 3, -EINTR, 99, 99}, "line 1\nline 2\n", 0},
        {{99, -ENOSPC, 99}, "line 1\n", ENOSPC},
        {{99, 3, -EIO, 99}, "line 1\nlin", EIO},
        {{0, 99, 99}, "", ENOSPC},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct alar_line_writer append = {0};
        char error_line[ALAR_ERROR_LINE_BYTES] = "";

        cr_assert_eq(alar_line_write_open(&append, scratch_path("x"), true, error_line), ALAR_OK);
        append.write = planned_write;
        plan = rows[i].plan;
        written_bytes = 0;
        alar_line_write_line(&append, "line 1\n", 7);
        alar_line_write_line(&append, "line 2\n", 7);
        cr_assert_eq(written_bytes, strlen(rows[i].written), "row %zu", i);
        cr_assert_arr_eq(written, rows[i].written, written_bytes);
        cr_assert_eq(append.error, rows[i].error, "row %zu", i);
        cr_assert_eq(alar_line_write_close(&append), rows[i].error == 0 ? ALAR_OK : ALAR_E_IO);
    }
}

static void assert_unprepared(const char *directory, bool may_replace, const char *expected)
{
    char error_line[ALAR_ERROR_LINE_BYTES] = "";

    cr_assert_eq(alar_history_prepare(directory, may_replace, error_line), ALAR_E_INPUT);
    cr_assert_not_null(strstr(error_line, expected), "'%s' lacks '%s'", error_line, expected);
    cr_assert_eq(strncmp(error_line, directory, strlen(directory)), 0, "%s", error_line);
}

/* An old history is never overwritten unasked, and never stays beside a new one. */
Test(history_write, an_old_history_is_refused_or_replaced)
{
    char error_line[ALAR_ERROR_LINE_BYTES] = "";
    struct stat about;

    cr_assert_eq(alar_history_prepare(scratch_path("new"), false, error_line), ALAR_OK, "%s",
                 error_line);
    cr_assert_eq(alar_history_prepare(scratch_path("new"), false, error_line), ALAR_OK, "%s",
                 error_line);
    scratch_write("new/rank17.jsonl", "{\"ev\":\"trace\"}\n", 15);
    scratch_write("new/ranks.jsonl", "kept\n", 5);
    scratch_write("new/rank01.jsonl", "kept\n", 5);
    assert_unprepared(scratch_path("new"), false,
                      "expected a directory without a history, found rank17");
    cr_assert_eq(stat(scratch_path("new/rank17.jsonl"), &about), 0);
    cr_assert_eq(alar_history_prepare(scratch_path("new"), true, error_line), ALAR_OK, "%s",
                 error_line);
    cr_assert_neq(stat(scratch_path("new/rank17.jsonl"), &about), 0);
    scratch_write("new/rank3.jsonl", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 14); /* reserved, and killed */
    cr_assert_eq(alar_history_prepare(scratch_path("new"), true, error_line), ALAR_OK, "%s",
                 error_line);
    scratch_write("new/rank3.jsonl", "no history\n", 11);
    assert_unprepared(scratch_path("new"), true, "found rank3.jsonl, which is none");
    cr_assert_eq(stat(scratch_path("new/rank3.jsonl"), &about), 0);
    cr_assert_eq(stat(scratch_path("new/ranks.jsonl"), &about), 0);
    cr_assert_eq(stat(scratch_path("new/rank01.jsonl"), &about), 0);
}

Test(history_write, a_directory_that_can_not_be_written_is_refused)
{
    const char *file = scratch_write("file", "x", 1);
    struct alar_history_options options = {.directory = scratch_path(""), .rank = 5};
    struct alar_history *history = NULL;
    char error_line[ALAR_ERROR_LINE_BYTES] = "";

    assert_unprepared(scratch_path("none/deeper"), false, "found: No such file");
    assert_unprepared(file, false, "found: Not a directory");
    scratch_write("rank5.jsonl", "old\n", 4);
    cr_assert_eq(alar_history_open(&history, &options, error_line), ALAR_E_INPUT);
    cr_assert_not_null(
        strstr(error_line, "/rank5.jsonl: expected a file to write to, found: File ex"), "%s",
        error_line);
    cr_assert_null(history);
    cr_assert_eq(scratch_read("rank5.jsonl", text, sizeof(text)), 4);
}

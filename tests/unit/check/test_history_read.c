/* Reading histories: every malformed input is refused with line, column, expectation and finding;
   every layout of files is read; nothing crashes. */
#include "check/history_find.h"
#include "sys/line_read.h"
#include "tests/lib/scratch.h"
#include "tests/lib/told.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(history_read, .init = scratch_make, .fini = scratch_remove);

#define I0 "{\"ev\":\"issue\",\"rank\":0,\"op\":0,\"in\":[1]}\n"
#define D0 "{\"ev\":\"done\",\"rank\":0,\"op\":0,\"out\":[1]}\n"

static const struct {
    const char *text, *error_line;
} refused[] = {
    {"{\"ev\":}\n", "1:7: expected JSON, found parse error: unallowed token at this point in "
                    "JSON text"},
    {"no json\n", "1:1: expected JSON, found lexical error: invalid string in json text."},
    {"[1]\n", "1:1: expected a record, found a list"},
    {"7 \n", "1:1: expected a record, found a number"},
    {"\"ev\"\n", "1:1: expected a record, found text"},
    {"null\n", "1:1: expected a record, found null"},
    {"{}\n", "1:1: expected `ev`, found none"},
    {I0 "{\"ev\":\"isue\",\"rank\":0}\n", "2:7: expected a known record in `ev`, found isue"},
    {I0 "{\"ev\":\"done\",\"rank\":0,\"op\":0,\"out\":[1]}\"\n" D0,
     "2:40: expected the end of the line behind the record, found more"},
    {I0 D0 I0 "{\"ev\":\"done\"", NULL}, /* cut, not refused; but the third line is */
    {"{\"ev\":\"issue\",\"rank\":0}\n", "1:1: expected `op` in `issue`, found none"},
    {"{\"ev\":\"issue\",\"rank\":-1,\"op\":0}\n",
     "1:22: expected an integer from 0 in `rank`, found -1"},
    {"{\"ev\":\"issue\",\"rank\":1.5,\"op\":0}\n",
     "1:22: expected an integer from 0 in `rank`, found 1.5"},
    {"{\"ev\":\"issue\",\"rank\":\"0\",\"op\":0}\n",
     "1:22: expected an integer from 0 in `rank`, found 0"},
    {"{\"ev\":\"issue\",\"rank\":0,\"rank\":0,\"op\":0}\n",
     "1:24: expected `rank` once, found it twice"},
    {"{\"ev\":\"issue\",\"rank\":0,\"op\":\"world\"}\n",
     "1:29: expected \"group/number\" or a number in `op`, found world"},
    {"{\"ev\":\"issue\",\"rank\":0,\"op\":\"/3\"}\n",
     "1:29: expected \"group/number\" or a number in `op`, found /3"},
    {"{\"ev\":\"issue\",\"rank\":0,\"op\":99999999999999999999}\n",
     "1:29: expected \"group/number\" or a number in `op`, found 99999999999999999999"},
    {"{\"ev\":\"issue\",\"rank\":0,\"op\":0,\"dtype\":\"f31\"}\n",
     "1:39: expected one of: f16 bf16 f32 f64 i32 i64 u8 i8 i16 u16 u32 u64 in `dtype`, "
     "found f31"},
    {"{\"ev\":\"issue\",\"rank\":0,\"op\":0,\"red\":\"xor\"}\n",
     "1:37: expected one of: sum avg max min product land lor lxor band bor bxor maxloc minloc in "
     "`red`, "
     "found xor"},
    {"{\"ev\":\"issue\",\"rank\":0,\"op\":0,\"in\":[\"4534a7\"]}\n",
     "1:31: expected hex digits 8 in `in`, found digits 6"},
    {"{\"ev\":\"issue\",\"rank\":0,\"op\":0,\"in\":[\"4534A76D\"]}\n",
     "1:37: expected values: hex digits, numbers, \"nan\", \"inf\", \"-inf\" in `in`, found "
     "4534A76D"},
    {"{\"ev\":\"issue\",\"rank\":0,\"op\":0,\"dtype\":\"u8\",\"in\":[256]}\n",
     "1:44: expected values that the dtype can hold in `in`, found one it can't"},
    {"{\"ev\":\"issue\",\"rank\":0,\"op\":0,\"n\":1,\"in\":[1,2]}\n",
     "1:37: expected at most n values 1 in `in`, found values 2"},
    {"{\"ev\":\"issue\",\"rank\":0,\"op\":0,\"in\":{\"a\":1}}\n",
     "1:36: expected values: hex digits, numbers, \"nan\", \"inf\", \"-inf\" in `in`, found an "
     "object"},
    {"{\"ev\":\"issue\",\"rank\":0,\"op\":0,\"in\":[[1]]}\n",
     "1:37: expected values: hex digits, numbers, \"nan\", \"inf\", \"-inf\" in `in`, found a "
     "list"},
    {"{\"ev\":\"issue\",\"rank\":0,\"op\":0,\"members\":[1,0]}\n",
     "1:44: expected ascending ranks in `members`, found 0"},
    {"{\"ev\":\"issue\",\"rank\":0,\"op\":0,\"sync\":1}\n",
     "1:38: expected true or false in `sync`, found 1"},
    {"{\"ev\":\"end\"}{\"ev\":\"end\"}\n", "1:13: expected one record a line, found two"},
    {"{\"ev\":\"end\",\n\"rank\":0}\n",
     "1:13: expected the end of the record, found the end of the line"},
    {D0, "1:23: expected an operation this rank issued in `op`, found one it has not issued yet"},
    {I0 "{\"ev\":\"done\",\"rank\":0,\"op\":1}\n",
     "2:23: expected an operation this rank issued in `op`, found one it has not issued yet"},
    {I0 "{\"ev\":\"issue\",\"rank\":0,\"op\":2}\n",
     "2:24: expected operation number 1 in `op`, found number 2"},
    {I0 I0, "2:24: expected operation number 1 in `op`, found number 0"},
    {"{\"ev\":\"issue\",\"rank\":0,\"i\":0,\"op\":0}\n{\"ev\":\"done\",\"rank\":0,\"i\":2,"
     "\"op\":0}\n",
     "2:23: expected running number 1 in `i`, found number 2"},
    {"{\"ev\":\"issue\",\"rank\":0,\"t\":5,\"op\":0}\n{\"ev\":\"done\",\"rank\":0,\"t\":4,"
     "\"op\":0}\n",
     "2:23: expected time at least 5 in `t`, found time 4"},
    {"{\"ev\":\"trace\",\"world\":2}\n{\"ev\":\"issue\",\"rank\":2,\"op\":0}\n",
     "2:15: expected a rank below 2 in `rank`, found rank 2"},
    {"{\"ev\":\"trace\",\"world\":1}\n{\"ev\":\"end\"}\n{\"ev\":\"issue\",\"rank\":0,\"op\":0}"
     "\n",
     "3:2: expected nothing after the end of the rank in `ev`, found a record"},
    {"{\"ev\":\"trace\",\"world\":1,\"v\":2}\n",
     "1:25: expected format version 1 in `v`, found version 2"},
    {"{\"ev\":\"trace\",\"world\":2}\n{\"ev\":\"trace\",\"world\":2}\n",
     "2:2: expected one header, before anything else in `ev`, found a header in the middle"},
    {"{\"ev\":\"trace\",\"rank\":4,\"world\":4}\n",
     "1:15: expected a rank below 4 in `rank`, found rank 4"},
    {"{\"ev\":\"trace\",\"world\":999999}\n", "expected a world of at most 131072 ranks"},
    {"{\"ev\":\"contract\",\"wait\":\"later\"}\n",
     "1:25: expected one of: blocking stream in `wait`, found later"},
    {"{\"ev\":\"contract\",\"tree\":\"oak\"}\n",
     "1:18: expected the name of a tree in `tree`, found another name"},
    {I0 "{\"ev\":\"contract\",\"rank\":0,\"wait\":\"stream\"}\n",
     "2:2: expected the contract before the first issue in `ev`, found a contract after it"},
    {"{\"ev\":\"contract\",\"use\":\"once\"}\n{\"ev\":\"contract\",\"use\":\"any\"}\n",
     "2:18: expected what other ranks promised in `use`, found another promise"},
    {I0 "{\"ev\":\"read\",\"rank\":0}\n", "2:2: expected `op` or `buf` in `ev`, found neither"},
    {I0 D0 "{\"ev\":\"twin\",\"rank\":0,\"op\":0,\"out\":[1]}\n",
     "3:2: expected the twin before the operation is done in `ev`, found a twin after it"},
    {"{\"ev\":\"test\",\"rank\":0,\"op\":0}\n", "1:1: expected `done` in `test`, found none"},
    {"{\"ev\":\"report\",\"rank\":0,\"metric\":\"x\",\"step\":1,\"loss\":\"about 5\"}\n",
     "1:54: expected a number, null, \"nan\", \"inf\" or \"-inf\" in `loss`, found about 5"},
    {"{\"ev\":\"issue\",\"rank\":0,\"op\":0,\"src\":\"\xff\"}\n",
     "expected JSON, found lexical error: invalid bytes in UTF8 string."},
};

/* Where, what was expected and what was found, letter by letter. spec: O-01, O-04 */
Test(history_read, refuses_what_can_be_no_history)
{
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
        struct told judged;

        told(&judged, refused[k].text);
        cr_expect_eq(judged.status, ALAR_E_INPUT, "row %zu: %s", k, refused[k].text);
        if (refused[k].error_line) {
            cr_expect_not_null(strstr(judged.reading.error_line, refused[k].error_line),
                               "row %zu: expected %s\n   found %s", k, refused[k].error_line,
                               judged.reading.error_line);
            cr_expect_not_null(strstr(judged.reading.error_line, "told.jsonl:"), "row %zu", k);
        }
        told_free(&judged);
    }
}

/* Each valid example of the specification is read, each invalid one is refused: the page is the
   contract. spec: O-01 */
Test(history_read, agrees_with_the_examples_of_the_specification)
{
    char line[4096];
    FILE *page = fopen("spec/history.md", "r");
    unsigned good = 0, bad = 0;

    cr_assert_not_null(page);
    while (fgets(line, sizeof line, page)) {
        char text[8192];
        char *end = strstr(line, "}   ");
        bool is_example = strncmp(line, "    {\"ev\":", 10) == 0;
        struct told judged;

        if (!is_example) {
            continue;
        }
        if (end) {
            end[1] = '\n';
            end[2] = '\0';
        }
        bool is_issue = strstr(line, "\"issue\"") || strstr(line, "\"trace\"");
        snprintf(text, sizeof text,
                 "{\"ev\":\"trace\",\"world\":4}\n"
                 "%s%s",
                 is_issue ? ""
                          : "{\"ev\":\"issue\",\"rank\":0,\"op\":0,\"n\":2}\n"
                            "{\"ev\":\"issue\",\"rank\":0,\"op\":1}\n"
                            "{\"ev\":\"issue\",\"rank\":0,\"op\":2}\n"
                            "{\"ev\":\"issue\",\"rank\":0,\"op\":3}\n"
                            "{\"ev\":\"issue\",\"rank\":1,\"op\":0}\n"
                            "{\"ev\":\"issue\",\"rank\":2,\"op\":9}\n",
                 line + 4);
        if (is_issue && strstr(line, "\"op\":2")) {
            snprintf(text, sizeof text, "{\"ev\":\"issue\",\"rank\":0,\"op\":0}\n%s", line + 4);
        }
        bool has_header = strstr(line, "\"trace\"") || strstr(line, "\"i\":") != NULL;
        if (strstr(line, "\"contract\"") || strstr(line, "\"trace\"")) {
            snprintf(text, sizeof text, "%s", line + 4);
        } else if (has_header) {
            char *at = strstr(text, "\"i\":");
            memcpy(at, "\"x\":", 4); /* the example stands in the middle of a recording */
        }
        told(&judged, text);
        cr_assert_eq(judged.status, end ? ALAR_E_INPUT : ALAR_OK, "%s -> %s", text,
                     judged.reading.error_line);
        good += !end;
        bad += end != NULL;
        told_free(&judged);
    }
    fclose(page);
    cr_assert_geq(good, 25);
    cr_assert_geq(bad, 20);
}

/* A line may be as long as 16 MiB, and no longer. */
Test(history_read, refuses_lines_over_16_mib)
{
    for (unsigned extra = 0; extra < 2; extra++) {
        static const char head[] = "{\"ev\":\"end\",\"x\":\"", tail[] = "\"}";
        size_t length = ALAR_LINE_BYTES + extra;
        char *text = malloc(length + 1);
        struct told judged;

        memset(text, 'a', length);
        memcpy(text, head, sizeof head - 1);
        memcpy(text + length - (sizeof tail - 1), tail, sizeof tail - 1);
        text[length] = '\n';
        told_bytes(&judged, text, length + 1);

        cr_assert_eq(judged.status, extra ? ALAR_E_INPUT : ALAR_OK, "%s",
                     judged.reading.error_line);
        cr_assert(!extra || strstr(judged.reading.error_line, ":1:1: expected a line of at most"));
        told_free(&judged);
        free(text);
    }
}

/* Cut anywhere, a history is refused, UNKNOWN, or complete to the last record: never a crash, and
   never convicted of what the cut took away. */
Test(history_read, survives_a_cut_at_every_byte)
{
    static const char text[] = "{\"ev\":\"trace\",\"world\":2,\"clock\":\"ticks\"}\n"
                               "{\"ev\":\"issue\",\"rank\":0,\"t\":0,\"op\":0,\"in\":[1]}\n"
                               "{\"ev\":\"issue\",\"rank\":1,\"t\":0,\"op\":0,\"in\":[2]}\n"
                               "{\"ev\":\"done\",\"rank\":0,\"t\":1,\"op\":0,\"out\":[3]}\n"
                               "{\"ev\":\"done\",\"rank\":1,\"t\":1,\"op\":0,\"out\":[3]}\n"
                               "{\"ev\":\"end\"}\n";
    size_t whole = sizeof text - 1;

    for (size_t length = 0; length <= whole; length++) {
        struct told judged;
        bool is_whole = length + 1 >= whole;

        told_bytes(&judged, text, length);
        cr_assert_eq(judged.status, ALAR_OK, "%zu: %s", length, judged.reading.error_line);
        cr_assert_eq(told_verdict(&judged)->kind, is_whole ? ALAR_PASS : ALAR_UNKNOWN, "%zu: %s",
                     length, told_reason(&judged));
        told_free(&judged);
    }
}

/* Decoded strings, blanks, unknown fields and a last line without newline change nothing. */
Test(history_read, reads_what_json_allows)
{
    struct told judged;

    told(&judged,
         " {\"\\u0065v\" : \"issue\", \"x\":{\"rank\":[null,true,{\"a\":\"b\"}]}, \"rank\":0,"
         "\"op\":\"w\\u006frld/0\", \"in\":[ 1e0 , \"7f800000\" ] }\r\n"
         "\r\n\n"
         "{\"op\":\"world/0\",\"out\":[1,\"inf\"],\"rank\":0,\"ev\":\"done\"}");

    cr_assert_eq(told_verdict(&judged)->kind, ALAR_PASS, "%s", told_reason(&judged));
    told_free(&judged);
}

static void write_rank(const char *name, unsigned rank, const char *tag)
{
    char text[1024];

    snprintf(text, sizeof text,
             "{\"ev\":\"trace\",\"rank\":%u,\"world\":2,\"tag\":\"%s\"}\n"
             "{\"ev\":\"issue\",\"rank\":%u,\"op\":0,\"in\":[1]}\n"
             "{\"ev\":\"done\",\"rank\":%u,\"op\":0,\"out\":[2]}\n"
             "{\"ev\":\"end\",\"rank\":%u}\n",
             rank, tag, rank, rank, rank);
    scratch_write(name, text, strlen(text));
}

static enum alar_status find(const char *path, struct alar_history_set *set, char *error_line)
{
    char copy[512];
    char *paths[1] = {copy};

    snprintf(copy, sizeof copy, "%s", path);
    return alar_history_find(paths, 1, set, error_line);
}

/* Rank files of a directory are one history; merged files are one each; a mixture is refused. */
Test(history_read, finds_what_belongs_together)
{
    char error_line[ALAR_ERROR_LINE_BYTES];
    struct alar_history_set set;

    write_rank("rank0.jsonl", 0, "a");
    write_rank("rank1.jsonl", 1, "a");
    scratch_write("README.md", "not a history", 13);
    cr_assert_eq(find(scratch_path(""), &set, error_line), ALAR_OK, "%s", error_line);
    cr_assert_eq(set.count, 1);
    cr_assert_eq(set.history[0].count, 2);
    alar_history_set_free(&set);

    write_rank("rank1.jsonl", 1, "b");
    cr_assert_eq(find(scratch_path(""), &set, error_line), ALAR_E_INPUT);
    cr_assert_not_null(strstr(error_line, "rank1.jsonl:1:1: expected a file of the same history"),
                       "%s", error_line);

    scratch_write("rank1.jsonl", I0 D0, strlen(I0 D0));
    cr_assert_eq(find(scratch_path(""), &set, error_line), ALAR_E_INPUT);

    scratch_write("rank0.jsonl", I0 D0, strlen(I0 D0));
    cr_assert_eq(find(scratch_path(""), &set, error_line), ALAR_OK, "%s", error_line);
    cr_assert_eq(set.count, 2);
    alar_history_set_free(&set);

    cr_assert_eq(find(scratch_path("missing.jsonl"), &set, error_line), ALAR_E_INPUT);
    cr_assert_not_null(strstr(error_line, "expected a file or directory, found: No such file"));
}

/* Two files of one rank are never judged together. */
Test(history_read, refuses_two_files_of_one_rank)
{
    struct told judged;

    write_rank("rank0.jsonl", 0, "a");
    write_rank("rank1.jsonl", 0, "a");
    told_ranks(&judged, scratch_path(""), 2);

    cr_assert_eq(judged.status, ALAR_E_INPUT);
    cr_assert_not_null(strstr(judged.reading.error_line, "rank1.jsonl:1:2: expected one header"),
                       "%s", judged.reading.error_line);
    told_free(&judged);
}

/* A rank without a file is said to be missing, not passed over. spec: O-06 */
Test(history_read, misses_the_file_of_a_rank)
{
    struct told judged;

    write_rank("rank0.jsonl", 0, "a");
    told_ranks(&judged, scratch_path(""), 1);

    cr_assert_eq(told_verdict(&judged)->kind, ALAR_UNKNOWN, "%s", told_reason(&judged));
    cr_assert_eq(told_verdict(&judged)->unknown[ALAR_UNKNOWN_NO_RECORD], 1);
    told_free(&judged);
}

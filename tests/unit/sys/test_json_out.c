/* Composed JSON: it parses whatever went in, and stays inside its room. And the report file made of
   it. */
#include "history/report_json.h"
#include "sys/error_line.h"
#include "sys/json_out.h"
#include "tests/lib/scratch.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <yajl/yajl_tree.h>

TestSuite(json_out, .init = scratch_make, .fini = scratch_remove);

static const float pair[2] = {2906.9321F, 128.0F};
static const struct alar_elements pair_elements = {pair, 2, ALAR_F32};

/* Bits of every width, most significant digit first. */
Test(json_out, bits_have_the_width_of_their_dtype)
{
    static const uint64_t value = UINT64_C(0x0123456789abcdef);
    static const struct {
        enum alar_dtype dtype;
        const char *bits;
    } rows[] = {{ALAR_F64, "[\"0123456789abcdef\"]"},
                {ALAR_I64, "[\"0123456789abcdef\"]"},
                {ALAR_F32, "[\"89abcdef\"]"},
                {ALAR_I32, "[\"89abcdef\"]"},
                {ALAR_F16, "[\"cdef\"]"},
                {ALAR_BF16, "[\"cdef\"]"},
                {ALAR_U8, "[\"ef\"]"}};
    char line[256];
    struct alar_json json = {.bytes = line, .room = sizeof(line)};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        alar_json_begin(&json);
        alar_json_elements(&json, "x", (struct alar_elements){&value, 1, rows[i].dtype});
        cr_assert_eq(json.length, strlen(rows[i].bits) + 5);
        cr_assert_arr_eq(line + 5, rows[i].bits, strlen(rows[i].bits));
    }
}

/* Whatever the text, the line parses, and valid text comes back as it was. */
Test(json_out, any_text_makes_a_line_that_parses)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"plain", "plain"},
        {"quote \" slash \\ /", "quote \" slash \\ /"},
        {"line\nfeed\ttab\x01\x1f\x7f", "line\nfeed\ttab\x01\x1f\x7f"},
        {"Gr\xc3\xbc\xc3\x9f"
         "e \xe2\x82\xac \xf0\x9f\x98\x80",
         "Gr\xc3\xbc\xc3\x9f"
         "e \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\xff\xfe", "??"},
        {"cut \xe2\x82", "cut ??"},
        {"overlong \xc0\x80 \xe0\x80\x80 \xf0\x80\x80\x80", "overlong ?? ??? ????"},
        {"surrogate \xed\xa0\x80", "surrogate ???"},
        {"beyond \xf4\x90\x80\x80 \xf5\x80\x80\x80", "beyond ???? ????"},
    };
    static const char *const path[] = {"tag", NULL};
    char line[256];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct alar_json json = {.bytes = line, .room = sizeof(line) - 1};

        alar_json_begin(&json);
        alar_json_text(&json, "tag", rows[i].in);
        alar_json_end(&json);
        cr_assert_not(json.is_full);
        line[json.length] = '\0';
        cr_assert_eq(strchr(line, '\n'), line + json.length - 1);
        yajl_val tree = yajl_tree_parse(line, NULL, 0);
        cr_assert_not_null(tree, "%s", line);
        cr_assert_str_eq(YAJL_GET_STRING(yajl_tree_get(tree, (const char **)path, yajl_t_string)),
                         rows[i].out);
        yajl_tree_free(tree);
    }
}

/* A line that does not fit its room is marked, at every room, and no byte behind it is touched. */
Test(json_out, a_line_never_leaves_its_room)
{
    char line[256];

    for (size_t room = 0; room <= 200; room++) {
        struct alar_json json = {.bytes = line, .room = room};

        memset(line, '#', sizeof(line));
        alar_json_begin(&json);
        alar_json_text(&json, "text", "a \" \xff");
        alar_json_signed(&json, "number", INT64_MIN);
        alar_json_elements(&json, "in", pair_elements);
        alar_json_ops(&json, "ops", "world", 8, 3);
        alar_json_end(&json);
        cr_assert_leq(json.length, room);
        cr_assert_eq(line[room], '#');
        cr_assert_eq(json.is_full, room < 116, "room %zu, length %zu", room, json.length);
    }
    cr_assert_not_null(strstr(line, "\"number\":-9223372036854775808,"));
}

static const struct {
    struct alar_report report;
    enum alar_normalization normalization;
    enum alar_encoding encoding;
    const char *line;
} reports[] = {
    {{.loss = 5.51927280426025390625, .tokens = 6390},
     ALAR_TOKEN_WEIGHTED,
     ALAR_PAIR32,
     "\"normalization\":\"token-weighted\",\"loss\":5.519273,\"bits\":\"40b09de2\","
     "\"tokens\":6390,\"nonfinite\":0,\"empty\":0}"},
    {{.loss = 0.1, .tokens = 1},
     ALAR_MICROBATCH_MEAN,
     ALAR_PAIR64,
     "\"normalization\":\"microbatch-mean\",\"loss\":0.1,\"bits\":\"3fb999999999999a\","
     "\"tokens\":1,\"nonfinite\":0,\"empty\":0}"},
    {{.is_empty = true, .empty = 3},
     ALAR_TOKEN_WEIGHTED,
     ALAR_PAIR32,
     "\"normalization\":\"token-weighted\",\"loss\":null,\"bits\":null,\"tokens\":0,"
     "\"nonfinite\":0,\"empty\":3}"},
    {{.loss = (double)INFINITY, .tokens = 5, .nonfinite = 4},
     ALAR_TOKEN_WEIGHTED,
     ALAR_PAIR32,
     "\"normalization\":\"token-weighted\",\"loss\":\"inf\",\"bits\":\"7f800000\",\"tokens\":5,"
     "\"nonfinite\":4,\"empty\":0}"},
    {{.loss = -(double)INFINITY, .tokens = (double)NAN},
     ALAR_TOKEN_WEIGHTED,
     ALAR_PAIR64,
     "\"normalization\":\"token-weighted\",\"loss\":\"-inf\",\"bits\":\"fff0000000000000\","
     "\"tokens\":null,\"nonfinite\":0,\"empty\":0}"},
    {{.loss = (double)NAN},
     ALAR_SEED_UNDIVIDED,
     ALAR_PAIR32,
     "\"normalization\":\"seed-undivided\",\"loss\":\"nan\",\"bits\":\"7fc00000\","
     "\"tokens\":null,\"nonfinite\":0,\"empty\":0}"},
    {{.loss = 2.0},
     ALAR_RANK_MEAN,
     ALAR_PAIR32,
     "\"normalization\":\"rank-mean\",\"loss\":2,\"bits\":\"40000000\",\"tokens\":null,"
     "\"nonfinite\":0,\"empty\":0}"},
    {{.kind = ALAR_METRIC_SUM, .loss = 2.0, .tokens = 3},
     ALAR_RANK_MEAN,
     ALAR_PAIR32,
     "\"kind\":\"sum\",\"loss\":2,\"bits\":\"40000000\",\"tokens\":3,"
     "\"nonfinite\":0,\"empty\":0}"},
    {{.kind = ALAR_METRIC_MAX, .loss = 2.0, .extreme_rank = 5},
     ALAR_TOKEN_WEIGHTED,
     ALAR_PAIR32,
     "\"kind\":\"max\",\"holder\":5,\"loss\":2,\"bits\":\"40000000\",\"tokens\":0,"
     "\"nonfinite\":0,\"empty\":0}"},
    {{.kind = ALAR_METRIC_MIN, .is_empty = true},
     ALAR_TOKEN_WEIGHTED,
     ALAR_PAIR32,
     "\"kind\":\"min\",\"loss\":null,\"bits\":null,\"tokens\":0,"
     "\"nonfinite\":0,\"empty\":0}"},
};

/* One line a report, EMPTY included; the bits are exact, the number is the shortest that gives
 * them. */
Test(json_out, a_report_file_has_a_line_for_every_value)
{
    for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
        struct alar_report_file file = {.normalization = reports[i].normalization,
                                        .encoding = reports[i].encoding,
                                        .counts_nonfinite = true};
        struct alar_report report = reports[i].report;
        char error_line[ALAR_ERROR_LINE_BYTES] = "";
        char line[512];
        char text[1024];

        report.metric = "lm loss";
        report.first_step = report.step = report.logged_at_step = 150;
        cr_assert_eq(alar_report_file_open(&file, scratch_path("log"), error_line), ALAR_OK);
        alar_report_file_write(&file, &report);
        cr_assert_eq(alar_report_file_close(&file), ALAR_OK);
        scratch_read("log", text, sizeof(text));
        snprintf(
            line, sizeof(line),
            "{\"step\":150,\"first_step\":150,\"logged_at_step\":150,\"metric\":\"lm loss\",%s\n",
            reports[i].line);
        cr_assert_str_eq(text, line);
    }
}

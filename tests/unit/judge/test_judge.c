/* The oracle: what is wrong is named, what is healthy is never reported, and order decides rather
   than values. */
#include "judge/explain.h"
#include "judge/judge.h"
#include "tests/lib/scratch.h"
#include "tests/lib/told.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(judge, .init = scratch_make, .fini = scratch_remove);

#define GLOO "tests/data/histories-gloo/"

/* Each smallest bad history is convicted of its anomaly and of nothing that comes before it, and
   the nearest good one is not reported: no anomaly is decoration.
   spec: O-05, O-10, O-11, O-12, O-13, O-14, O-15, O-16, O-17, O-18, O-19, O-20, O-21, O-22, O-23,
   O-30, O-31, O-32, O-33, O-34, O-40, O-41, O-42, O-43, O-44 */
Test(judge, names_each_anomaly_and_passes_its_neighbour)
{
    for (unsigned a = 0; a < ALAR_ANOMALY_COUNT; a++) {
        enum alar_anomaly anomaly = (enum alar_anomaly)a;
        struct alar_example lines = alar_explain(anomaly);
        struct told bad, good;

        if (!lines.bad[0]) {
            continue;
        }
        told(&bad, lines.bad);
        told(&good, lines.good);

        const struct alar_verdict *wrong = told_verdict(&bad), *right = told_verdict(&good);
        cr_assert_eq(wrong->kind, alar_anomaly_is_note(anomaly) ? ALAR_PASS : ALAR_FAIL, "%s: %s",
                     alar_anomaly_name(anomaly), told_reason(&bad));
        cr_assert_gt(wrong->finding_count, 0, "%s", alar_anomaly_name(anomaly));
        cr_assert_eq(wrong->finding[0].anomaly, anomaly, "%s: %s", alar_anomaly_name(anomaly),
                     told_reason(&bad));
        cr_assert_eq(right->kind, ALAR_PASS, "%s: %s", alar_anomaly_name(anomaly),
                     told_reason(&good));
        cr_assert_eq(right->finding_count, 0, "%s: %s", alar_anomaly_name(anomaly),
                     told_reason(&good));
        told_free(&bad);
        told_free(&good);
    }
}

/* Four lines are a test case. spec: O-05 */
Test(judge, takes_four_lines)
{
    struct told four;

    told(&four, "{\"ev\":\"issue\",\"rank\":0,\"op\":0,\"in\":[1]}\n"
                "{\"ev\":\"issue\",\"rank\":1,\"op\":0,\"in\":[2]}\n"
                "{\"ev\":\"done\",\"rank\":0,\"op\":0,\"out\":[3]}\n"
                "{\"ev\":\"done\",\"rank\":1,\"op\":0,\"out\":[3]}\n");

    cr_assert_eq(told_verdict(&four)->kind, ALAR_PASS);
    cr_assert_eq(told_verdict(&four)->judged, 1);
    told_free(&four);
}

/* A real library's healthy recording passes whole, and its order of additions is named. spec: O-05
 */
Test(judge, passes_fault_free_gloo_as_a_right_fold)
{
    struct told gloo;
    char name[ALAR_TREE_NAME_MAX];

    told_ranks(&gloo, GLOO "fault-free", 4);

    const struct alar_verdict *verdict = told_verdict(&gloo);
    cr_assert_eq(verdict->kind, ALAR_PASS, "%s", told_reason(&gloo));
    cr_assert_eq(verdict->operations, 50);
    cr_assert_eq(verdict->judged, 50);
    cr_assert_eq(verdict->provenance.named, 50);
    cr_assert_eq(verdict->provenance.names, 1);
    alar_tree_name_print(verdict->provenance.name[0], name);
    cr_assert_str_eq(name, "right-fold");
    told_free(&gloo);
}

/* The version counter convicts; the partial sums that `now` shows never do. spec: O-13 */
Test(judge, finds_the_overwrite_in_gloo_and_nothing_else)
{
    struct told gloo;

    told_ranks(&gloo, GLOO "overwrite", 4);

    const struct alar_verdict *verdict = told_verdict(&gloo);
    cr_assert_eq(verdict->finding_count, 1);
    cr_assert_eq(verdict->finding[0].anomaly, ALAR_ANOMALY_IN_FLIGHT_WRITE);
    cr_assert_eq(verdict->finding[0].number, 9);
    cr_assert_eq(verdict->finding[0].ranks.count, 1);
    cr_assert_eq(verdict->finding[0].ranks.item[0], 1);
    cr_assert(verdict->finding[0].has_good && verdict->finding[0].good == 8);
    told_free(&gloo);
}

/* spec: O-18 */
Test(judge, finds_the_early_read_in_gloo_and_nothing_else)
{
    struct told gloo;

    told_ranks(&gloo, GLOO "early-read", 4);

    const struct alar_verdict *verdict = told_verdict(&gloo);
    cr_assert_eq(verdict->finding_count, 1);
    cr_assert_eq(verdict->finding[0].anomaly, ALAR_ANOMALY_EARLY_READ);
    cr_assert_eq(verdict->finding[0].number, 9);
    cr_assert_eq(verdict->finding[0].ranks.count, 1);
    cr_assert_eq(verdict->finding[0].ranks.item[0], 2);
    told_free(&gloo);
}

/* Without the version counter the value convicts: an overwrite that no record shows. spec: O-31 */
Test(judge, finds_the_overwrite_by_its_value_alone)
{
    static char text[4][65536];
    struct told gloo;

    for (uint32_t r = 0; r < 4; r++) {
        char from[128], name[32], *at = text[r];
        snprintf(from, sizeof from, GLOO "overwrite/rank%u.jsonl", r);
        snprintf(name, sizeof name, "rank%u.jsonl", r);
        FILE *file = fopen(from, "r");
        cr_assert_not_null(file, "%s", from);
        text[r][fread(text[r], 1, sizeof text[r] - 1, file)] = '\0';
        fclose(file);
        while ((at = strstr(at, "\"ver\":1")) != NULL) {
            at[6] = '0';
        }
        scratch_write(name, text[r], strlen(text[r]));
    }

    told_ranks(&gloo, scratch_path(""), 4);

    const struct alar_verdict *verdict = told_verdict(&gloo);
    cr_assert_eq(verdict->finding_count, 1, "%s", told_reason(&gloo));
    cr_assert_eq(verdict->finding[0].anomaly, ALAR_ANOMALY_ILLEGAL_VALUE);
    cr_assert_eq(verdict->finding[0].number, 9);
    told_free(&gloo);
}

/* A recording cut at any line is neither passed nor convicted of what it did not get to. spec: O-06
 */
Test(judge, never_passes_and_never_convicts_a_cut_recording)
{
    static char text[65536];
    FILE *file = fopen(GLOO "fault-free/rank2.jsonl", "r");
    cr_assert_not_null(file);
    size_t length = fread(text, 1, sizeof text, file);
    fclose(file);

    for (uint32_t r = 0; r < 4; r++) {
        char from[128], name[32];
        static char whole[65536];
        snprintf(from, sizeof from, GLOO "fault-free/rank%u.jsonl", r);
        snprintf(name, sizeof name, "rank%u.jsonl", r);
        file = fopen(from, "r");
        cr_assert_not_null(file);
        size_t bytes = fread(whole, 1, sizeof whole, file);
        fclose(file);
        scratch_write(name, whole, bytes);
    }
    for (size_t cut = 200; cut + 1 < length; cut += 97) {
        struct told gloo;

        scratch_write("rank2.jsonl", text, cut);
        told_ranks(&gloo, scratch_path(""), 4);
        cr_assert_eq(told_verdict(&gloo)->kind, ALAR_UNKNOWN, "cut at %zu: %s", cut,
                     told_reason(&gloo));
        told_free(&gloo);
    }
}

/* A wait that orders a stream is no host barrier; the contract decides. spec: O-03, O-16, O-18 */
Test(judge, tells_stream_waits_from_blocking_ones)
{
    static const char *const body = "{\"ev\":\"issue\",\"rank\":0,\"t\":0,\"op\":0,\"in\":[1]}\n"
                                    "{\"ev\":\"issue\",\"rank\":1,\"t\":0,\"op\":0,\"in\":[2]}\n"
                                    "{\"ev\":\"wait\",\"rank\":0,\"t\":0,\"op\":0,\"stream\":2}\n"
                                    "{\"ev\":\"done\",\"rank\":0,\"t\":1,\"op\":0,\"out\":[3]}\n"
                                    "%s"
                                    "{\"ev\":\"complete\",\"rank\":0,\"t\":100,\"op\":0}\n"
                                    "{\"ev\":\"done\",\"rank\":1,\"t\":100,\"op\":0,\"out\":[3]}\n"
                                    "{\"ev\":\"complete\",\"rank\":1,\"t\":100,\"op\":0}\n";
    static const struct {
        const char *contract, *middle;
        enum alar_anomaly expected; /* COUNT: PASS */
    } rows[] = {
        {"stream", "{\"ev\":\"read\",\"rank\":0,\"t\":2,\"op\":0}\n", ALAR_ANOMALY_EARLY_READ},
        {"stream", "{\"ev\":\"read\",\"rank\":0,\"t\":2,\"op\":0,\"stream\":2}\n",
         ALAR_ANOMALY_COUNT},
        {"stream", "{\"ev\":\"read\",\"rank\":0,\"t\":2,\"op\":0,\"stream\":1}\n",
         ALAR_ANOMALY_EARLY_READ},
        {"stream", "{\"ev\":\"test\",\"rank\":0,\"t\":2,\"op\":0,\"done\":false}\n",
         ALAR_ANOMALY_COUNT},
        {"stream",
         "{\"ev\":\"sync\",\"rank\":0,\"t\":2}\n{\"ev\":\"read\",\"rank\":0,\"t\":2,\"op\":0}\n",
         ALAR_ANOMALY_COUNT},
        {"blocking", "{\"ev\":\"test\",\"rank\":0,\"t\":2,\"op\":0,\"done\":false}\n",
         ALAR_ANOMALY_PREMATURE},
    };

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char text[2048];
        struct told judged;
        int head = snprintf(text, sizeof text, "{\"ev\":\"contract\",\"wait\":\"%s\"}\n",
                            rows[k].contract);
        snprintf(text + head, sizeof text - (size_t)head, body, rows[k].middle);
        told(&judged, text);

        const struct alar_verdict *verdict = told_verdict(&judged);
        if (rows[k].expected == ALAR_ANOMALY_COUNT) {
            cr_assert_eq(verdict->kind, ALAR_PASS, "row %zu: %s", k, told_reason(&judged));
        } else {
            cr_assert_eq(verdict->kind, ALAR_FAIL, "row %zu: %s", k, told_reason(&judged));
            cr_assert_eq(verdict->finding[0].anomaly, rows[k].expected, "row %zu: %s", k,
                         told_reason(&judged));
        }
        told_free(&judged);
    }
}

/* An injected fault that explains the outcome is named; one that does not is not. spec: O-07 */
Test(judge, says_what_excuses_an_outcome)
{
    static const char *const body = "{\"ev\":\"trace\",\"world\":2,\"clock\":\"ticks\"}\n%s"
                                    "{\"ev\":\"issue\",\"rank\":0,\"t\":0,\"op\":0,\"in\":[1]}\n"
                                    "{\"ev\":\"fail\",\"rank\":0,\"t\":50,\"op\":0,"
                                    "\"error\":\"timeout\"}\n"
                                    "{\"ev\":\"end\",\"rank\":0}\n";
    static const struct {
        const char *fault;
        int32_t excused;
    } rows[] = {
        {"", -1},
        {"{\"ev\":\"fault\",\"rank\":1,\"point\":\"alar/rank/mute/1\"}\n", 0},
        {"{\"ev\":\"fault\",\"rank\":1,\"point\":\"alar/contribution/bitflip\"}\n", -1},
    };

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char text[1024];
        struct told judged;
        snprintf(text, sizeof text, body, rows[k].fault);
        told(&judged, text);

        const struct alar_verdict *verdict = told_verdict(&judged);
        cr_assert_eq(verdict->finding[0].anomaly, ALAR_ANOMALY_TIMEOUT, "%s", told_reason(&judged));
        cr_assert_eq(verdict->finding[0].excused, rows[k].excused, "row %zu", k);
        cr_assert_eq(verdict->finding[0].missing.count, 1);
        cr_assert_eq(verdict->finding[0].missing.item[0], 1);
        told_free(&judged);
    }
}

/* Of a mismatch the first divergence is named, not what follows from it. spec: O-10 */
Test(judge, names_the_first_divergence_only)
{
    struct told judged;

    told(&judged,
         "{\"ev\":\"issue\",\"rank\":0,\"op\":1,\"red\":\"avg\",\"in\":[1],\"key\":\"a\"}\n"
         "{\"ev\":\"issue\",\"rank\":0,\"op\":2,\"red\":\"avg\",\"in\":[10],\"key\":\"b\"}\n"
         "{\"ev\":\"issue\",\"rank\":1,\"op\":1,\"red\":\"avg\",\"in\":[20],\"key\":\"b\"}\n"
         "{\"ev\":\"issue\",\"rank\":1,\"op\":2,\"red\":\"avg\",\"in\":[3],\"key\":\"a\"}\n"
         "{\"ev\":\"done\",\"rank\":0,\"op\":1,\"out\":[10.5]}\n"
         "{\"ev\":\"done\",\"rank\":1,\"op\":1,\"out\":[10.5]}\n"
         "{\"ev\":\"done\",\"rank\":0,\"op\":2,\"out\":[6.5]}\n"
         "{\"ev\":\"done\",\"rank\":1,\"op\":2,\"out\":[6.5]}\n");

    const struct alar_verdict *verdict = told_verdict(&judged);
    cr_assert_eq(verdict->finding_count, 1, "%s", told_reason(&judged));
    cr_assert_eq(verdict->finding[0].anomaly, ALAR_ANOMALY_MISMATCH_KEY);
    cr_assert_eq(verdict->finding[0].number, 1);
    told_free(&judged);
}

/* What the oracle does not claim: nothing judged is no PASS, nothing unsaid is held against
   anybody, and what is settled is forgotten. */
#include "judge/judge.h"
#include "tests/lib/scratch.h"
#include "tests/lib/told.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(judge_limits, .init = scratch_make, .fini = scratch_remove);

/* Nothing judged is nothing shown. spec: O-06 */
Test(judge_limits, calls_nothing_judged_unknown)
{
    static const char *const texts[] = {
        "",
        "\n\n",
        "{\"ev\":\"trace\",\"world\":2}\n{\"ev\":\"end\"}\n",
        "{\"ev\":\"issue\",\"rank\":0,\"op\":0}\n{\"ev\":\"done\",\"rank\":0,\"op\":0}\n",
        "{\"ev\":\"issue\",\"rank\":0,\"op\":0,\"in\":[1]}\n{\"ev\":\"done\",\"rank\":0,\"op\":0}"
        "\n",
        "{\"ev\":\"issue\",\"rank\":0,\"op\":0}\n{\"ev\":\"done\",\"rank\":0,\"op\":0,\"out\":[1]}"
        "\n",
    };

    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        struct told judged;
        told(&judged, texts[k]);

        cr_assert_eq(told_verdict(&judged)->kind, ALAR_UNKNOWN, "text %zu", k);
        told_free(&judged);
    }
}

/* Memory follows what is pending, not how much has passed. spec: O-08 */
Test(judge_limits, forgets_what_is_settled)
{
    static char text[1 << 20];
    size_t used[2];

    for (unsigned k = 0; k < 2; k++) {
        struct told judged;
        char *at = text;

        at += snprintf(at, 512, "{\"ev\":\"trace\",\"world\":2,\"clock\":\"ticks\"}\n");
        for (unsigned op = 0; op < (k ? 2000u : 200u); op++) {
            at += snprintf(at, 512,
                           "{\"ev\":\"issue\",\"rank\":0,\"op\":%u,\"in\":[1,2]}\n"
                           "{\"ev\":\"issue\",\"rank\":1,\"op\":%u,\"in\":[1,2]}\n"
                           "{\"ev\":\"done\",\"rank\":0,\"op\":%u,\"out\":[2,4]}\n"
                           "{\"ev\":\"done\",\"rank\":1,\"op\":%u,\"out\":[2,4]}\n",
                           op, op, op, op);
        }
        snprintf(at, 64, "{\"ev\":\"end\"}\n");
        told(&judged, text);
        cr_assert_eq(told_verdict(&judged)->kind, ALAR_PASS, "%s", told_reason(&judged));
        used[k] = judged.reading.arena.used;
        told_free(&judged);
    }
    cr_assert_eq(used[0], used[1]);
}

/* What a recorder did not say is not held against the program: an undeclared group may have fewer
   members, and two slices of one storage do not meet. spec: O-05, O-14 */
Test(judge_limits, holds_nothing_unsaid_against_anybody)
{
    static const struct {
        const char *text;
        enum alar_verdict_kind expected;
    } rows[] = {
        {"{\"ev\":\"trace\",\"world\":3}\n"
         "{\"ev\":\"issue\",\"rank\":0,\"op\":\"dp/0\",\"in\":[1]}\n"
         "{\"ev\":\"issue\",\"rank\":1,\"op\":\"dp/0\",\"in\":[2]}\n"
         "{\"ev\":\"done\",\"rank\":0,\"op\":\"dp/0\",\"out\":[3]}\n"
         "{\"ev\":\"done\",\"rank\":1,\"op\":\"dp/0\",\"out\":[3]}\n"
         "{\"ev\":\"end\"}\n",
         ALAR_UNKNOWN},
        {"{\"ev\":\"trace\",\"world\":3}\n"
         "{\"ev\":\"declare\",\"group\":\"dp\",\"members\":[0,1]}\n"
         "{\"ev\":\"issue\",\"rank\":0,\"op\":\"dp/0\",\"in\":[1]}\n"
         "{\"ev\":\"issue\",\"rank\":1,\"op\":\"dp/0\",\"in\":[2]}\n"
         "{\"ev\":\"done\",\"rank\":0,\"op\":\"dp/0\",\"out\":[3]}\n"
         "{\"ev\":\"done\",\"rank\":1,\"op\":\"dp/0\",\"out\":[3]}\n"
         "{\"ev\":\"end\"}\n",
         ALAR_PASS},
        {"{\"ev\":\"issue\",\"rank\":0,\"op\":0,\"in\":[1,2],\"buf\":\"a\",\"at\":0}\n"
         "{\"ev\":\"issue\",\"rank\":0,\"op\":1,\"in\":[3],\"buf\":\"a\",\"at\":2}\n"
         "{\"ev\":\"write\",\"rank\":0,\"buf\":\"a\",\"at\":3,\"n\":1}\n"
         "{\"ev\":\"done\",\"rank\":0,\"op\":0,\"out\":[1,2]}\n"
         "{\"ev\":\"done\",\"rank\":0,\"op\":1,\"out\":[3]}\n",
         ALAR_PASS},
        {"{\"ev\":\"issue\",\"rank\":0,\"op\":0,\"in\":[1,2],\"buf\":\"a\",\"at\":0}\n"
         "{\"ev\":\"issue\",\"rank\":0,\"op\":1,\"in\":[3],\"buf\":\"a\",\"at\":1}\n"
         "{\"ev\":\"done\",\"rank\":0,\"op\":0,\"out\":[1,2]}\n"
         "{\"ev\":\"done\",\"rank\":0,\"op\":1,\"out\":[3]}\n",
         ALAR_FAIL},
        {"{\"ev\":\"issue\",\"rank\":0,\"op\":0,\"in\":[1,2],\"buf\":\"a\",\"at\":4}\n"
         "{\"ev\":\"write\",\"rank\":0,\"buf\":\"a\",\"at\":5,\"n\":1}\n"
         "{\"ev\":\"done\",\"rank\":0,\"op\":0,\"out\":[1,2]}\n",
         ALAR_FAIL},
    };

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct told judged;
        told(&judged, rows[k].text);

        cr_assert_eq(told_verdict(&judged)->kind, rows[k].expected, "row %zu: %s", k,
                     told_reason(&judged));
        told_free(&judged);
    }
}

/* A rank that the library calls silent is named, although it had joined. spec: O-21 */
Test(judge_limits, names_the_rank_a_library_calls_silent)
{
    struct told judged;

    told(&judged, "{\"ev\":\"issue\",\"rank\":0,\"op\":0,\"in\":[1]}\n"
                  "{\"ev\":\"issue\",\"rank\":1,\"op\":0,\"in\":[2]}\n"
                  "{\"ev\":\"fail\",\"rank\":0,\"op\":0,\"error\":\"lost\",\"missing\":[1]}\n");

    const struct alar_verdict *verdict = told_verdict(&judged);
    cr_assert_eq(verdict->finding[0].anomaly, ALAR_ANOMALY_TIMEOUT, "%s", told_reason(&judged));
    cr_assert_eq(verdict->finding[0].missing.count, 1);
    cr_assert_eq(verdict->finding[0].missing.item[0], 1);
    told_free(&judged);
}

/* A pass over the first elements says that it is one. spec: O-06 */
Test(judge_limits, says_when_only_the_first_elements_were_recorded)
{
    struct told judged;

    told(&judged, "{\"ev\":\"issue\",\"rank\":0,\"op\":0,\"n\":100,\"in\":[1,2]}\n"
                  "{\"ev\":\"done\",\"rank\":0,\"op\":0,\"out\":[1,2]}\n");

    cr_assert_eq(told_verdict(&judged)->kind, ALAR_PASS);
    cr_assert_eq(told_verdict(&judged)->prefixes, 1);
    cr_assert_not_null(strstr(told_reason(&judged), "of 1 only the first elements"));
    told_free(&judged);
}

/* The second rank's contribution comes late by its own clock: only a clock that both share
   convicts. spec: O-02 */
Test(judge_limits, compares_times_on_a_shared_clock_only)
{
    static const struct {
        const char *clock0, *clock1;
        enum alar_verdict_kind expected;
    } rows[] = {
        {"\"clock\":\"ticks\"", "\"clock\":\"ticks\"", ALAR_FAIL},
        {"\"clock\":\"monotonic_ns\",\"t0\":0,\"host\":\"a\",\"boot_id\":\"x\"",
         "\"clock\":\"monotonic_ns\",\"t0\":0,\"host\":\"a\",\"boot_id\":\"x\"", ALAR_FAIL},
        {"\"clock\":\"monotonic_ns\",\"t0\":0,\"host\":\"a\",\"boot_id\":\"x\"",
         "\"clock\":\"monotonic_ns\",\"t0\":-2,\"host\":\"a\",\"boot_id\":\"x\"", ALAR_PASS},
        {"\"clock\":\"monotonic_ns\",\"t0\":0,\"host\":\"a\",\"boot_id\":\"x\"",
         "\"clock\":\"monotonic_ns\",\"t0\":0,\"host\":\"b\",\"boot_id\":\"x\"", ALAR_PASS},
        {"\"clock\":\"monotonic_ns\",\"t0\":0", "\"clock\":\"monotonic_ns\",\"t0\":0", ALAR_PASS},
        {"\"backend\":\"x\"", "\"backend\":\"x\"", ALAR_PASS},
    };

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char text[2048];
        struct told judged;
        snprintf(text, sizeof text,
                 "{\"ev\":\"trace\",\"rank\":0,\"world\":2,%s}\n"
                 "{\"ev\":\"trace\",\"rank\":1,\"world\":2,%s}\n"
                 "{\"ev\":\"issue\",\"rank\":0,\"t\":0,\"op\":0,\"in\":[1]}\n"
                 "{\"ev\":\"done\",\"rank\":0,\"t\":1,\"op\":0,\"out\":[3]}\n"
                 "{\"ev\":\"issue\",\"rank\":1,\"t\":2,\"op\":0,\"in\":[2]}\n"
                 "{\"ev\":\"done\",\"rank\":1,\"t\":3,\"op\":0,\"out\":[3]}\n"
                 "{\"ev\":\"end\"}\n",
                 rows[k].clock0, rows[k].clock1);
        told(&judged, text);

        cr_assert_eq(told_verdict(&judged)->kind, rows[k].expected, "row %zu: %s", k,
                     told_reason(&judged));
        told_free(&judged);
    }
}

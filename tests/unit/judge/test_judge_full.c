/* A verdict keeps a few findings, events and names, and counts the rest: nothing that does not fit
   may be lost from the count, or take the place of what is worse. */
#include "judge/explain.h"
#include "judge/judge.h"
#include "tests/lib/scratch.h"
#include "tests/lib/told.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

TestSuite(judge_full, .init = scratch_make, .fini = scratch_remove);

/* A history that is being written. */
struct page {
    char text[1 << 16];
    size_t length;
};

static struct page page;

static void put(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    page.length += (size_t)vsnprintf(page.text + page.length, sizeof page.text - page.length,
                                     format, arguments);
    va_end(arguments);
    cr_assert_lt(page.length, sizeof page.text);
}

/* The worst finding there is, in each of the groups m`first`, ... */
static void put_worst(unsigned first, unsigned count)
{
    for (unsigned k = first; k < first + count; k++) {
        put("{\"ev\":\"issue\",\"rank\":0,\"op\":\"m%u/0\",\"members\":[0]}\n", k);
        put("{\"ev\":\"issue\",\"rank\":1,\"op\":\"m%u/0\",\"members\":[0,1]}\n", k);
    }
}

/* The example of an anomaly with worse findings before its first issue. */
static void put_crowded(const char *example)
{
    const char *issue = strstr(example, "{\"ev\":\"issue\"");

    cr_assert_not_null(issue, "%s", example);
    page.length = 0;
    put("%.*s", (int)(issue - example), example);
    put_worst(0, ALAR_FINDINGS_MAX);
    put("%s", issue);
}

/* Each anomaly is counted although the list is full of worse ones, which stay. spec: O-05 */
Test(judge_full, counts_what_it_can_not_keep)
{
    unsigned tried = 0;

    for (unsigned a = ALAR_ANOMALY_MISMATCH_MEMBERS + 1; a < ALAR_ANOMALY_COUNT; a++) {
        const char *name = alar_anomaly_name((enum alar_anomaly)a);
        const char *example = alar_explain((enum alar_anomaly)a).bad;
        struct told judged;

        if (!strstr(example, "\"rank\":1") || a == ALAR_ANOMALY_MISMATCH_ORDER ||
            a == ALAR_ANOMALY_HANG) {
            continue; /* there is a second rank; another order is read from a kept mismatch; a hang
                         is the echo of whatever else was found */
        }
        put_crowded(example);
        told(&judged, page.text);

        const struct alar_verdict *verdict = told_verdict(&judged);
        cr_expect_eq(verdict->kind, ALAR_FAIL, "%s", name);
        cr_expect_gt(verdict->found[a], 0, "%s", name);
        cr_expect_eq(verdict->found[ALAR_ANOMALY_MISMATCH_MEMBERS], ALAR_FINDINGS_MAX, "%s", name);
        cr_expect_eq(verdict->finding_count, ALAR_FINDINGS_MAX, "%s", name);
        for (unsigned k = 0; k < verdict->finding_count; k++) {
            cr_expect_eq(verdict->finding[k].anomaly, ALAR_ANOMALY_MISMATCH_MEMBERS, "%s", name);
        }
        tried++;
        told_free(&judged);
    }
    cr_assert_gt(tried, 25, "%u", tried);
}

/* What is worse pushes the least out, wherever it comes. spec: O-05 */
Test(judge_full, keeps_the_worst)
{
    struct told judged;

    page.length = 0;
    for (unsigned k = 0; k < ALAR_FINDINGS_MAX + 4; k++) {
        put("{\"ev\":\"issue\",\"rank\":0,\"op\":\"g/%u\",\"members\":[0],\"in\":[1]}\n", k);
        put("{\"ev\":\"read\",\"rank\":0,\"op\":\"g/%u\"}\n", k);
    }
    put_worst(0, 3);
    told(&judged, page.text);

    const struct alar_verdict *verdict = told_verdict(&judged);
    cr_assert_eq(verdict->found[ALAR_ANOMALY_EARLY_READ], ALAR_FINDINGS_MAX + 4);
    cr_assert_eq(verdict->finding_count, ALAR_FINDINGS_MAX);
    for (unsigned k = 0; k < ALAR_FINDINGS_MAX; k++) {
        cr_assert_eq(verdict->finding[k].anomaly,
                     k < 3 ? ALAR_ANOMALY_MISMATCH_MEMBERS : ALAR_ANOMALY_EARLY_READ);
    }
    told_free(&judged);
}

/* Ranks beyond those kept are counted, and as many results as are told apart are. spec: O-30 */
Test(judge_full, counts_ranks_and_results_beyond_those_kept)
{
    enum {
        WORLD = 20
    };
    struct told judged;

    page.length = 0;
    for (unsigned r = 0; r < WORLD; r++) {
        put("{\"ev\":\"issue\",\"rank\":%u,\"op\":0,\"in\":[1]}\n", r);
    }
    for (unsigned r = 0; r < WORLD; r++) {
        put("{\"ev\":\"done\",\"rank\":%u,\"op\":0,\"out\":[%u]}\n", r, 20 + r % 7);
    }
    told(&judged, page.text);

    const struct alar_verdict *verdict = told_verdict(&judged);
    const struct alar_evidence *evidence = &verdict->finding[0];
    cr_assert_eq(evidence->anomaly, ALAR_ANOMALY_RANKS_DISAGREE, "%s", told_reason(&judged));
    cr_assert_eq(evidence->amount[0], 7, "%s", told_reason(&judged));
    cr_assert_eq(evidence->amount[1], 1);
    cr_assert_eq(evidence->joined.count, 3);
    cr_assert_eq(evidence->ranks.count, 17);
    cr_assert_eq(evidence->witness_count, ALAR_SCENES_MAX);
    cr_assert_eq(verdict->found[ALAR_ANOMALY_ILLEGAL_VALUE], 1);
    told_free(&judged);
}

/* The last operation that was good before a finding, whichever is judged first. spec: O-05 */
Test(judge_full, names_the_last_good_operation)
{
    static const unsigned order[] = {3, 2, 4, 1, 6};
    struct told judged;

    page.length = 0;
    put("{\"ev\":\"issue\",\"rank\":0,\"op\":\"g/4\",\"members\":[0],\"in\":[1]}\n");
    for (unsigned k = 0; k < 7; k++) {
        put("{\"ev\":\"issue\",\"rank\":0,\"op\":%u,\"in\":[1]}\n", k);
    }
    put("{\"ev\":\"read\",\"rank\":0,\"op\":5}\n");
    put("{\"ev\":\"done\",\"rank\":0,\"op\":\"g/4\",\"out\":[1]}\n");
    for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
        put("{\"ev\":\"done\",\"rank\":0,\"op\":%u,\"out\":[1]}\n", order[k]);
    }
    told(&judged, page.text);

    const struct alar_evidence *evidence = &told_verdict(&judged)->finding[0];
    cr_assert_eq(evidence->anomaly, ALAR_ANOMALY_EARLY_READ, "%s", told_reason(&judged));
    cr_assert(evidence->has_good);
    cr_assert_eq(evidence->good, 4);
    told_free(&judged);
}

/* What a verdict says beyond right and wrong: the culprit of an illegal value, where legal values
   come from, and what the inputs could have shown at all. */
#include "judge/judge.h"
#include "tests/lib/draw.h"
#include "tests/lib/scratch.h"
#include "tests/lib/told.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

TestSuite(judge_doubt, .init = scratch_make, .fini = scratch_remove);

/* A history that is being written. */
struct page {
    char text[16384];
    size_t length;
};

static void put(struct page *page, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    page->length += (size_t)vsnprintf(page->text + page->length, sizeof page->text - page->length,
                                      format, arguments);
    va_end(arguments);
    cr_assert_lt(page->length, sizeof page->text);
}

/* Group g: every other rank of the world. */
static void put_group(struct page *page, uint32_t n)
{
    page->length = 0;
    put(page, "{\"ev\":\"declare\",\"group\":\"g\",\"members\":[");
    for (uint32_t m = 0; m < n; m++) {
        put(page, "%s%u", m ? "," : "", 2 * m + 1);
    }
    put(page, "]}\n");
}

static void put_issues(struct page *page, unsigned op, const char *fields, uint32_t n,
                       const double in[][16], uint32_t elements)
{
    for (uint32_t m = 0; m < n; m++) {
        put(page, "{\"ev\":\"issue\",\"rank\":%u,\"op\":\"g/%u\"%s,\"in\":[", 2 * m + 1, op,
            fields);
        for (uint32_t e = 0; e < elements; e++) {
            put(page, "%s%.17g", e ? "," : "", in[e][m]);
        }
        put(page, "]}\n");
    }
}

static void put_dones(struct page *page, unsigned op, uint32_t n, const double *out,
                      uint32_t elements)
{
    for (uint32_t m = 0; m < n; m++) {
        put(page, "{\"ev\":\"done\",\"rank\":%u,\"op\":\"g/%u\",\"out\":[", 2 * m + 1, op);
        for (uint32_t e = 0; e < elements; e++) {
            put(page, "%s%.17g", e ? "," : "", out[e]);
        }
        put(page, "]}\n");
    }
}

/* A history of one element and one operation. */
static void put_one(struct page *page, const char *fields, uint32_t n, const double in[][16],
                    double out)
{
    put_group(page, n);
    put_issues(page, 0, fields, n, in, 1);
    put_dones(page, 0, n, &out, 1);
}

static void ledger(double *column, uint32_t n)
{
    for (uint32_t m = 0; m < n; m++) {
        column[m] = (double)(UINT64_C(1) << 2 * m);
    }
}

static double total(const double *column, uint32_t n)
{
    double sum = 0;

    for (uint32_t m = 0; m < n; m++) {
        sum += column[m];
    }
    return sum;
}

/* Ledger inputs name the rank that is missing or counted twice, alone, by its number in the world
   and not in its group; with two ranks, a missing one is the other's contribution. spec: N-23 */
Test(judge_doubt, names_the_culprit_of_a_ledger)
{
    for (uint32_t n = 2; n <= 12; n++) {
        for (uint32_t k = 0; k < 2 * n; k++) {
            struct page page;
            double in[1][16], out;
            uint32_t rank = k / 2;
            bool is_own = n == 2 && k % 2 == 0;
            struct told judged;

            ledger(in[0], n);
            out = total(in[0], n) + (k % 2 ? in[0][rank] : -in[0][rank]);
            put_one(&page, "", n, (const double(*)[16])in, out);
            told(&judged, page.text);

            const struct alar_verdict *verdict = told_verdict(&judged);
            cr_assert_eq(verdict->kind, ALAR_FAIL, "%u ranks, fault %u", n, k);
            const struct alar_evidence *evidence = &verdict->finding[0];
            const struct alar_explanation *why = &evidence->diagnosis.kept_explanation[0];
            cr_assert(evidence->has_diagnosis && evidence->diagnosis.is_unique, "%u ranks, %s", n,
                      told_reason(&judged));
            cr_assert_eq(why->cause, k % 2    ? ALAR_CAUSE_DOUBLED
                                     : is_own ? ALAR_CAUSE_OWN
                                              : ALAR_CAUSE_MISSING);
            cr_assert_eq(why->rank, 2 * (is_own ? 1 - rank : rank) + 1, "%s", told_reason(&judged));
            told_free(&judged);
        }
    }
}

/* A value left over from the operation before, or taken from the one after, is told as such: when
   the other is held for its group, kept for a report, or not settled yet. spec: N-23 */
Test(judge_doubt, knows_the_operations_beside)
{
    static const char *const fields[] = {"", ",\"key\":\"loss\",\"step\":3"};
    const double early[][16] = {{1.5, 2.25, 7.125, 5}}, late[][16] = {{3, 4.5, 11, 6.0625}};
    const double early_sum[] = {15.875}, late_sum[] = {24.5625};

    for (unsigned k = 0; k < 4; k++) {
        struct page page;
        bool is_next = k >= 2;
        struct told judged;

        put_group(&page, 4);
        put_issues(&page, 0, fields[k % 2], 4, early, 1);
        if (is_next) { /* the other operation is issued before this one ends */
            put_issues(&page, 1, fields[k % 2], 4, late, 1);
        }
        put_dones(&page, 0, 4, is_next ? late_sum : early_sum, 1);
        if (!is_next) {
            put_issues(&page, 1, fields[k % 2], 4, late, 1);
        }
        put_dones(&page, 1, 4, is_next ? late_sum : early_sum, 1);
        told(&judged, page.text);

        const struct alar_evidence *evidence = &told_verdict(&judged)->finding[0];
        cr_assert_eq(told_verdict(&judged)->kind, ALAR_FAIL, "case %u: %s", k, page.text);
        cr_assert(evidence->diagnosis.is_unique, "case %u: %s", k, told_reason(&judged));
        cr_assert_eq(evidence->diagnosis.kept_explanation[0].cause,
                     is_next ? ALAR_CAUSE_NEXT : ALAR_CAUSE_PREVIOUS, "case %u: %s", k,
                     told_reason(&judged));
        told_free(&judged);
    }
}

/* One element of this operation, the other of the one before: a torn pair. spec: N-23 */
Test(judge_doubt, sees_a_torn_pair)
{
    const double before[][16] = {{1.5, 2.25, 7.125, 5}, {512, 100, 256, 300}};
    const double now[][16] = {{3, 4.5, 11, 6.0625}, {128, 140, 112, 700}};
    const double whole[] = {15.875, 1168}, torn[] = {24.5625, 1168};
    struct page page;
    struct told judged;

    put_group(&page, 4);
    put_issues(&page, 0, "", 4, before, 2);
    put_dones(&page, 0, 4, whole, 2);
    put_issues(&page, 1, "", 4, now, 2);
    put_dones(&page, 1, 4, torn, 2);
    told(&judged, page.text);

    const struct alar_evidence *evidence = &told_verdict(&judged)->finding[0];
    cr_assert_eq(evidence->element, 1);
    cr_assert(evidence->is_torn, "%s", told_reason(&judged));
    cr_assert_not_null(strstr(told_reason(&judged), "diagnosis: the previous operation's value"));
    told_free(&judged);
}

/* What the inputs could have shown: a rank that contributes nothing is missed by nobody, and next
   to 2^24 a contribution of 1/4 may vanish. spec: N-21 */
Test(judge_doubt, tells_what_a_pass_is_worth)
{
    static const struct {
        double in[4], out;
        uint64_t vacuous, drops;
    } rows[] = {
        {{1, 2, 3, 4}, 10, 0, 4},
        {{1, 0, 3, 4}, 8, 0, 3},
        {{0, 0, 0, 0}, 0, 1, 0},
        {{16777216, 0.25, 0.25, 0.25}, 16777216, 0, 1},
    };

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct page page;
        double in[1][16];
        struct told judged;

        memcpy(in[0], rows[k].in, sizeof rows[k].in);
        put_one(&page, "", 4, (const double(*)[16])in, rows[k].out);
        told(&judged, page.text);

        const struct alar_reveal *reveal = &told_verdict(&judged)->reveal;
        cr_assert_eq(reveal->operations, 1, "row %zu: %s", k, told_reason(&judged));
        cr_assert_eq(reveal->ranks, 4);
        cr_assert_eq(reveal->vacuous, rows[k].vacuous, "row %zu", k);
        cr_assert_eq(reveal->drops, rows[k].drops, "row %zu", k);
        told_free(&judged);
    }
}

/* A drawn order that no library uses is still the order of some tree, and is counted as such; the
   search that finds it is complete for these. spec: N-17 */
Test(judge_doubt, finds_the_tree_of_any_order)
{
    uint64_t element[ALAR_PROOF_COUNT] = {0};

    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct draw draw = {seed};
        struct alar_adder adder = {ALAR_F64, ALAR_F64, ALAR_NEAREST, false};
        uint64_t bits[16], room[16];
        double in[1][16], out;
        struct page page;
        struct told judged;

        draw_values(&draw, DRAW_MIXED, ALAR_F64, bits, 8);
        out = alar_fp_double(draw_sum(&draw, adder, bits, 8, room));
        for (uint32_t m = 0; m < 8; m++) {
            in[0][m] = alar_fp_double(bits[m]);
        }
        put_one(&page, ",\"dtype\":\"f64\"", 8, (const double(*)[16])in, out);
        told(&judged, page.text);

        cr_assert_eq(told_verdict(&judged)->kind, ALAR_PASS, "seed %llu: %s",
                     (unsigned long long)seed, told_reason(&judged));
        for (unsigned proof = 0; proof < ALAR_PROOF_COUNT; proof++) {
            element[proof] += told_verdict(&judged)->provenance.element[proof];
        }
        told_free(&judged);
    }
    cr_assert_gt(element[ALAR_PROOF_NAMED], 0);
    cr_assert_gt(element[ALAR_PROOF_ORDERED] + element[ALAR_PROOF_ANY], 0);
    cr_assert_eq(element[ALAR_PROOF_HULL], 0);
}

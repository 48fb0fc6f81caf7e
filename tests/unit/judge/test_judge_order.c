/* Values that no named tree explains: any order of additions is passed, wrong sets of ranks never
 * are. */
#include "judge/judge.h"
#include "tests/lib/draw.h"
#include "tests/lib/scratch.h"
#include "tests/lib/told.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

TestSuite(judge_order, .init = scratch_make, .fini = scratch_remove);

/* Adds up a column in a random order of additions: two random partial sums at a time. */
static uint64_t any_order(struct draw *draw, enum alar_dtype dtype, const uint64_t *in, uint32_t n)
{
    uint64_t left[16];

    memcpy(left, in, n * sizeof *in);
    while (n > 1) {
        uint32_t a = draw_below(draw, n);
        uint64_t first = left[a];
        left[a] = left[--n];
        uint32_t b = draw_below(draw, n);
        left[b] = alar_fp_add(dtype, ALAR_NEAREST, first, left[b]);
    }
    return left[0];
}

static void one_value(struct told *judged, enum alar_dtype dtype, const uint64_t *in, uint32_t n,
                      uint64_t out)
{
    char text[8192];
    int digits = (int)(2 * alar_dtype_bytes(dtype));
    size_t at = 0;

    for (uint32_t r = 0; r < n; r++) {
        at += (size_t)snprintf(
            text + at, sizeof text - at,
            "{\"ev\":\"issue\",\"rank\":%u,\"op\":0,\"dtype\":\"%s\",\"in\":[\"%0*llx\"]}\n"
            "{\"ev\":\"done\",\"rank\":%u,\"op\":0,\"out\":[\"%0*llx\"]}\n",
            r, alar_dtype_name(dtype), digits, (unsigned long long)in[r], r, digits,
            (unsigned long long)out);
    }
    told(judged, text);
}

/* The sum in any order whatever is never convicted: not by the hull, and not by the bound beyond
   it. spec: O-31 */
Test(judge_order, never_convicts_any_order_of_additions, .timeout = 100)
{
    uint32_t passed = 0, drawn = DRAWN(600);

    for (uint64_t seed = 1; seed <= drawn; seed++) {
        struct draw draw = {seed};
        uint32_t n = 2 + draw_below(&draw, 15);
        enum alar_dtype dtype = (enum alar_dtype)draw_below(&draw, ALAR_I32);
        uint64_t in[16];
        struct told judged;

        draw_values(&draw, (enum draw_family)draw_below(&draw, DRAW_FAMILY_COUNT), dtype, in, n);
        one_value(&judged, dtype, in, n, any_order(&draw, dtype, in, n));

        cr_assert_neq(told_verdict(&judged)->kind, ALAR_FAIL, "seed %llu, %u ranks of %s: %s",
                      (unsigned long long)seed, n, alar_dtype_name(dtype), told_reason(&judged));
        passed += told_verdict(&judged)->kind == ALAR_PASS;
        told_free(&judged);
    }
    cr_assert_geq(passed, drawn * 9 / 10); /* undecided only where some order may overflow */
}

/* Ledger inputs, 4^r from rank r: a rank that is missing, doubled or replaced is always seen, in
   the hull's reachable and beyond it. spec: O-31 */
Test(judge_order, always_convicts_a_wrong_set_of_ranks)
{
    for (uint32_t n = 2; n <= 16; n++) {
        for (uint32_t r = 0; r < n; r++) {
            for (unsigned fault = 0; fault < 2; fault++) {
                uint64_t in[16];
                double sum = 0;
                struct told judged;

                for (uint32_t k = 0; k < n; k++) {
                    double value = (double)(UINT64_C(1) << 2 * k);
                    in[k] = alar_fp_from_double(ALAR_F64, value);
                    sum += k != r ? value : fault ? 2 * value : 0;
                }
                one_value(&judged, ALAR_F64, in, n, alar_fp_from_double(ALAR_F64, sum));

                cr_assert_eq(told_verdict(&judged)->kind, ALAR_FAIL, "%u ranks, rank %u %s", n, r,
                             fault ? "doubled" : "missing");
                cr_assert_eq(told_verdict(&judged)->finding[0].anomaly, ALAR_ANOMALY_ILLEGAL_VALUE);
                told_free(&judged);
            }
        }
    }
}

/* Beyond the hull's reachable specials decide as they do within it. spec: O-32 */
Test(judge_order, keeps_specials_among_many_ranks)
{
    static const struct {
        double first, second, out;
        enum alar_verdict_kind expected;
    } rows[] = {
        {(double)NAN, 1, (double)NAN, ALAR_PASS},
        {(double)NAN, 1, 15, ALAR_FAIL},
        {(double)INFINITY, 1, (double)INFINITY, ALAR_PASS},
        {(double)INFINITY, -(double)INFINITY, (double)NAN, ALAR_PASS},
        {(double)INFINITY, -(double)INFINITY, 0, ALAR_FAIL},
        {-(double)INFINITY, 1, -(double)INFINITY, ALAR_PASS},
        {1, 1, (double)INFINITY, ALAR_FAIL},
        {1, 1, 14, ALAR_PASS},
        {1, 1, 13, ALAR_FAIL},
        {1e8, 1, 100000016, ALAR_PASS}, /* 1e8 + 13 in some order */
        {1e8, 1, 100000008, ALAR_PASS},
        {1e8, 1, 100000128, ALAR_FAIL}, /* the bound is 52 */
    };

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        uint64_t in[14];
        struct told judged;
        for (uint32_t r = 0; r < 14; r++) {
            in[r] = alar_fp_from_double(ALAR_F32, r == 0   ? rows[k].first
                                                  : r == 1 ? rows[k].second
                                                           : 1);
        }
        one_value(&judged, ALAR_F32, in, 14, alar_fp_from_double(ALAR_F32, rows[k].out));

        cr_assert_eq(told_verdict(&judged)->kind, rows[k].expected, "row %zu: %s", k,
                     told_reason(&judged));
        told_free(&judged);
    }
}

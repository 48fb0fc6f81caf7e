/* Whatever a contract promises about dtypes, adders and averages, a value made by its rules is
   passed and certified, and the certificate holds. */
#include "judge/judge.h"
#include "legal/certificate.h"
#include "tests/lib/draw.h"
#include "tests/lib/scratch.h"
#include "tests/lib/told.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(judge_contract, .init = scratch_make, .fini = scratch_remove);

enum {
    RANKS = 9
};

/* One operation under a drawn contract. */
struct deal {
    struct alar_adder adder;
    bool has_adder, has_width;
    enum alar_reduction red;
    enum alar_avg avg;
    enum alar_nan_policy nan;
    uint32_t n;
    uint64_t in[RANKS], out;
    unsigned certified, refused;
    char text[8192];
    size_t length;
};

static const char *const averages[] = {"any", "sum-divide", "sum-multiply", "multiply-sum",
                                       "divide-sum"};
static const char *const policies[] = {"any", "propagate", "ignore", "idiom"};

static void put(struct deal *deal, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    deal->length += (size_t)vsnprintf(deal->text + deal->length, sizeof deal->text - deal->length,
                                      format, arguments);
    va_end(arguments);
    cr_assert_lt(deal->length, sizeof deal->text);
}

static void write_deal(struct deal *deal)
{
    enum alar_dtype dtype = deal->adder.dtype;
    int digits = (int)(2 * alar_dtype_bytes(dtype));

    deal->length = 0;
    put(deal, "{\"ev\":\"contract\",\"avg\":\"%s\",\"nan\":\"%s\"", averages[deal->avg],
        policies[deal->nan]);
    if (deal->has_adder) {
        put(deal, ",\"adder\":\"%s\"", alar_model_name(deal->adder.model));
    }
    if (deal->has_width) {
        put(deal, ",\"width\":\"%s\"", alar_dtype_name(deal->adder.wide));
    }
    put(deal, "}\n");
    for (uint32_t r = 0; r < deal->n; r++) {
        put(deal,
            "{\"ev\":\"issue\",\"rank\":%u,\"op\":0,\"red\":\"%s\",\"dtype\":\"%s\",\"in\":[\"%0*"
            "llx\"]}\n",
            r, alar_reduction_names[deal->red], alar_dtype_name(dtype), digits,
            (unsigned long long)deal->in[r]);
    }
    for (uint32_t r = 0; r < deal->n; r++) {
        put(deal, "{\"ev\":\"done\",\"rank\":%u,\"op\":0,\"out\":[\"%0*llx\"]}\n", r, digits,
            (unsigned long long)deal->out);
    }
}

/* The certificate of every legal value is written and checked at once. */
static void check_certificate(void *context, const struct alar_legal_view *view)
{
    struct deal *deal = context;
    char text[ALAR_CERTIFICATE_BYTES(RANKS)];
    uint64_t value = 0, memory[512];
    struct alar_reduce reduce;

    cr_assert_eq(alar_certificate_write(view->reduce, view->value, view->origin, view->scratch,
                                        text, sizeof text),
                 ALAR_OK);
    enum alar_status status =
        alar_certificate_check(text, (struct alar_scratch){memory, sizeof memory}, &reduce, &value);
    deal->certified++;
    deal->refused += status != ALAR_OK || value != deal->out;
}

static void draw_deal(struct draw *draw, struct deal *deal)
{
    uint64_t prepared[RANKS], room[RANKS];
    enum alar_dtype dtype = (enum alar_dtype)draw_below(draw, ALAR_I32);

    *deal = (struct deal){.adder = {dtype, dtype, ALAR_NEAREST}};
    deal->has_adder = draw_below(draw, 2);
    deal->has_width = draw_below(draw, 2);
    if (deal->has_adder) {
        deal->adder.model = (enum alar_model)draw_below(draw, ALAR_MODEL_COUNT);
    }
    if (deal->has_width) {
        deal->adder.wide = (enum alar_dtype)draw_below(draw, ALAR_I32);
    }
    deal->n = 1 + draw_below(draw, RANKS);
    deal->red = draw_below(draw, 2) ? ALAR_AVG : ALAR_SUM;
    deal->avg = (enum alar_avg)(draw_below(draw, ALAR_AVG_DIVIDE_SUM) + 1);
    deal->nan = (enum alar_nan_policy)draw_below(draw, 4);
    draw_values(draw, (enum draw_family)draw_below(draw, DRAW_FAMILY_COUNT), dtype, deal->in,
                deal->n);
    enum alar_avg avg = deal->red == ALAR_AVG ? deal->avg : ALAR_AVG_ANY;
    alar_average_prepare(avg, dtype, deal->in, deal->n, prepared);
    deal->out = alar_average_finish(avg, dtype,
                                    draw_sum(draw, deal->adder, prepared, deal->n, room), deal->n);
}

/* Sums and averages by every adder, width and convention, in drawn orders. spec: N-02, N-16, N-17,
   N-22 */
Test(judge_contract, passes_what_keeps_it, .timeout = 100)
{
    unsigned passed = 0, certified = 0, drawn = 800;

    for (uint64_t seed = 1; seed <= drawn; seed++) {
        struct draw draw = {seed};
        struct deal deal;
        struct alar_reading_hooks hooks = {.certify = check_certificate, .context = &deal};
        struct told judged;

        draw_deal(&draw, &deal);
        write_deal(&deal);
        told_with(&judged, deal.text, seed % 2 ? &hooks : NULL);

        cr_assert_neq(told_verdict(&judged)->kind, ALAR_FAIL, "seed %llu: %s\n%s",
                      (unsigned long long)seed, told_reason(&judged), deal.text);
        cr_assert_eq(deal.refused, 0, "seed %llu\n%s", (unsigned long long)seed, deal.text);
        passed += told_verdict(&judged)->kind == ALAR_PASS;
        certified += deal.certified;
        told_free(&judged);
    }
    cr_assert_geq(passed, drawn * 9 / 10, "%u", passed);
    cr_assert_geq(certified, drawn / 2 * 9 / 10, "%u", certified);
}

/* Maxima: what each policy for NaN allows. spec: N-18, O-32 */
Test(judge_contract, keeps_to_the_policy_for_nan)
{
    enum {
        NOT_A_NUMBER = 0x7fc00000,
        ONE = 0x3f800000,
        TWO = 0x40000000
    };
    static const struct {
        enum alar_nan_policy nan;
        uint32_t in[2], out;
        enum alar_anomaly found; /* COUNT: PASS */
    } rows[] = {
        {ALAR_NAN_PROPAGATE, {NOT_A_NUMBER, TWO}, NOT_A_NUMBER, ALAR_ANOMALY_COUNT},
        {ALAR_NAN_PROPAGATE, {NOT_A_NUMBER, TWO}, TWO, ALAR_ANOMALY_NAN_LOST},
        {ALAR_NAN_IGNORE, {NOT_A_NUMBER, TWO}, TWO, ALAR_ANOMALY_COUNT},
        {ALAR_NAN_IGNORE, {NOT_A_NUMBER, TWO}, ONE, ALAR_ANOMALY_ILLEGAL_VALUE},
        {ALAR_NAN_IGNORE, {NOT_A_NUMBER, NOT_A_NUMBER}, TWO, ALAR_ANOMALY_NAN_LOST},
        {ALAR_NAN_IDIOM, {NOT_A_NUMBER, TWO}, TWO, ALAR_ANOMALY_COUNT},
        {ALAR_NAN_IDIOM, {NOT_A_NUMBER, TWO}, ONE, ALAR_ANOMALY_ILLEGAL_VALUE},
        {ALAR_NAN_ANY, {NOT_A_NUMBER, TWO}, NOT_A_NUMBER, ALAR_ANOMALY_COUNT},
        {ALAR_NAN_ANY, {ONE, TWO}, ONE, ALAR_ANOMALY_ILLEGAL_VALUE},
    };

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct deal deal = {.adder = {ALAR_F32, ALAR_F32, ALAR_NEAREST},
                            .red = ALAR_MAX,
                            .nan = rows[k].nan,
                            .n = 2,
                            .in = {rows[k].in[0], rows[k].in[1]},
                            .out = rows[k].out};
        struct alar_reading_hooks hooks = {.certify = check_certificate, .context = &deal};
        struct told judged;

        write_deal(&deal);
        told_with(&judged, deal.text, &hooks);

        const struct alar_verdict *verdict = told_verdict(&judged);
        bool is_good = rows[k].found == ALAR_ANOMALY_COUNT;
        cr_assert_eq(verdict->kind, is_good ? ALAR_PASS : ALAR_FAIL, "row %zu: %s", k,
                     told_reason(&judged));
        cr_assert(is_good || verdict->finding[0].anomaly == rows[k].found, "row %zu: %s", k,
                  told_reason(&judged));
        cr_assert_eq(deal.certified, is_good ? 1 : 0);
        cr_assert_eq(deal.refused, 0);
        told_free(&judged);
    }
}

/* Products of integers have no order; of floats they are the only legal one, or within the hull.
   spec: O-31, N-30 */
Test(judge_contract, products_have_a_proof)
{
    static const struct {
        const char *dtype, *in[3], *out;
        enum alar_verdict_kind kind;
    } rows[] = {
        {"i32", {"3", "-5", "7"}, "-105", ALAR_PASS},
        {"i32", {"3", "-5", "7"}, "-104", ALAR_FAIL},
        {"f32", {"3", "5", "7"}, "105", ALAR_PASS},
        {"f32", {"3", "5", "7"}, "106", ALAR_FAIL},
        {"f32", {"3", "\"nan\"", "7"}, "21", ALAR_FAIL},
    };

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct deal deal = {.length = 0};
        struct told judged;

        for (int r = 0; r < 3; r++) {
            put(&deal,
                "{\"ev\":\"issue\",\"rank\":%d,\"op\":0,\"red\":\"product\",\"dtype\":\"%s\","
                "\"in\":[%s]}\n",
                r, rows[k].dtype, rows[k].in[r]);
            put(&deal, "{\"ev\":\"done\",\"rank\":%d,\"op\":0,\"out\":[%s]}\n", r, rows[k].out);
        }
        told(&judged, deal.text);

        cr_assert_eq(told_verdict(&judged)->kind, rows[k].kind, "row %zu: %s", k,
                     told_reason(&judged));
        told_free(&judged);
    }
}

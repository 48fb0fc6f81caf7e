/* The oracle on values: whatever legal order, dtype and interleaving is passed; what no order gives
   is not. */
#include "judge/judge.h"
#include "tests/lib/draw.h"
#include "tests/lib/scratch.h"
#include "tests/lib/told.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(judge_value, .init = scratch_make, .fini = scratch_remove);

/* A drawn healthy history: n ranks, one legal tree, any interleaving of the ranks' lines. */
struct healthy {
    struct draw draw;
    uint32_t n, ops, elements;
    enum alar_dtype dtype;
    char *line[16 * 3 * 8];
    uint32_t lines[16]; /* of each rank */
};

static void healthy_values(const struct healthy *healthy, char *text, size_t room,
                           const uint64_t *bits)
{
    size_t length = 0;

    for (uint32_t e = 0; e < healthy->elements; e++) {
        length += (size_t)snprintf(text + length, room - length, "%s\"%0*llx\"", e ? "," : "",
                                   (int)(2 * alar_dtype_bytes(healthy->dtype)),
                                   (unsigned long long)bits[e]);
    }
}

static void healthy_op(struct healthy *healthy, uint32_t op, struct alar_tree_name name)
{
    uint64_t in[8][16], out[8], column[16], stack[16];
    int32_t node[32];
    struct alar_tree tree = {node, 0, 32};
    struct alar_adder adder = {healthy->dtype, healthy->dtype, ALAR_NEAREST, false};
    char values[256];

    alar_tree_build(&tree, name, healthy->n);
    for (uint32_t e = 0; e < healthy->elements; e++) {
        draw_values(&healthy->draw, (enum draw_family)draw_below(&healthy->draw, DRAW_FAMILY_COUNT),
                    healthy->dtype, in[e], healthy->n);
        memcpy(column, in[e], sizeof column);
        out[e] = alar_tree_evaluate(&tree, adder, column, stack);
    }
    for (uint32_t r = 0; r < healthy->n; r++) {
        uint64_t mine[8];
        for (uint32_t e = 0; e < healthy->elements; e++) {
            mine[e] = in[e][r];
        }
        healthy_values(healthy, values, sizeof values, mine);
        char *line = malloc(512);
        snprintf(line, 512,
                 "{\"ev\":\"issue\",\"rank\":%u,\"op\":%u,\"dtype\":\"%s\",\"in\":[%s]}\n", r, op,
                 alar_dtype_name(healthy->dtype), values);
        healthy->line[r * 24 + healthy->lines[r]++] = line;
        healthy_values(healthy, values, sizeof values, out);
        line = malloc(512);
        snprintf(line, 512, "{\"ev\":\"done\",\"rank\":%u,\"op\":%u,\"out\":[%s]}\n", r, op,
                 values);
        healthy->line[r * 24 + healthy->lines[r]++] = line;
    }
}

static void healthy_write(struct healthy *healthy, char *text)
{
    uint32_t next[16] = {0}, left = 2 * healthy->n * healthy->ops;

    while (left > 0) {
        uint32_t r = draw_below(&healthy->draw, healthy->n);

        if (next[r] < healthy->lines[r]) {
            text = stpcpy(text, healthy->line[r * 24 + next[r]]);
            free(healthy->line[r * 24 + next[r]++]);
            left--;
        }
    }
}

/* Whatever tree, dtype, values and interleaving: a legal history is never reported. Beyond the
   hull's reachable a value may stay undecided, when some order overflows; it is never convicted.
   spec: O-05, O-31 */
Test(judge_value, never_reports_a_healthy_history, .timeout = 100)
{
    static char text[1 << 17];
    uint32_t passed = 0;

    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct healthy healthy = {.draw = {seed}};
        struct told judged;

        healthy.n = 1 + draw_below(&healthy.draw, 16);
        healthy.ops = 1 + draw_below(&healthy.draw, 4);
        healthy.elements = 1 + draw_below(&healthy.draw, 4);
        healthy.dtype = (enum alar_dtype)draw_below(&healthy.draw, ALAR_I32);
        for (uint32_t op = 0; op < healthy.ops; op++) {
            healthy_op(&healthy, op,
                       (struct alar_tree_name){
                           (enum alar_tree_kind)draw_below(&healthy.draw, ALAR_TREE_KIND_COUNT),
                           draw_below(&healthy.draw, healthy.n)});
        }
        healthy_write(&healthy, text);
        told(&judged, text);

        cr_assert_neq(told_verdict(&judged)->kind, ALAR_FAIL, "seed %llu: %s",
                      (unsigned long long)seed, told_reason(&judged));
        passed += told_verdict(&judged)->kind == ALAR_PASS;
        told_free(&judged);
    }
    cr_assert_eq(passed, 400);
}

/* One bit of one result flipped: ranks disagree, always. spec: O-30 */
Test(judge_value, sees_one_flipped_bit_on_one_rank)
{
    static const char *const body = "{\"ev\":\"issue\",\"rank\":0,\"op\":0,\"in\":[\"4534a76d\"]}\n"
                                    "{\"ev\":\"issue\",\"rank\":1,\"op\":0,\"in\":[\"43ff8000\"]}\n"
                                    "{\"ev\":\"done\",\"rank\":0,\"op\":0,\"out\":[\"%08x\"]}\n"
                                    "{\"ev\":\"done\",\"rank\":1,\"op\":0,\"out\":[\"%08x\"]}\n";
    uint32_t sum =
        (uint32_t)alar_fp_add(ALAR_F32, ALAR_NEAREST, UINT32_C(0x4534a76d), UINT32_C(0x43ff8000));

    for (unsigned bit = 0; bit < 32; bit++) {
        char text[512];
        struct told judged;
        snprintf(text, sizeof text, body, sum, sum ^ (UINT32_C(1) << bit));
        told(&judged, text);

        cr_assert_eq(told_verdict(&judged)->finding[0].anomaly, ALAR_ANOMALY_RANKS_DISAGREE,
                     "bit %u: %s", bit, told_reason(&judged));
        told_free(&judged);
    }
}

static const struct {
    const char *contract, *red, *dtype, *in0, *in1, *out;
    enum alar_anomaly expected; /* COUNT: PASS */
} reductions[] = {
    {"", "sum", "i32", "2147483647", "1", "-2147483648", ALAR_ANOMALY_COUNT},
    {"", "sum", "u8", "200", "100", "44", ALAR_ANOMALY_COUNT},
    {"", "sum", "u8", "200", "100", "255", ALAR_ANOMALY_ILLEGAL_VALUE},
    {"", "sum", "i64", "9007199254740993", "0", "9007199254740993", ALAR_ANOMALY_COUNT},
    {"", "product", "u8", "16", "17", "16", ALAR_ANOMALY_COUNT},
    {"", "avg", "i32", "-3", "0", "-1", ALAR_ANOMALY_COUNT},
    {"", "avg", "i32", "-3", "0", "-2", ALAR_ANOMALY_ILLEGAL_VALUE},
    {"", "max", "f32", "1", "2", "2", ALAR_ANOMALY_COUNT},
    {"", "max", "f32", "1", "2", "1", ALAR_ANOMALY_ILLEGAL_VALUE},
    {"", "min", "i32", "-1", "2", "-1", ALAR_ANOMALY_COUNT},
    {"", "max", "f32", "\"nan\"", "2", "2", ALAR_ANOMALY_COUNT},
    {"\"nan\":\"propagate\"", "max", "f32", "\"nan\"", "2", "2", ALAR_ANOMALY_NAN_LOST},
    {"\"nan\":\"propagate\"", "max", "f32", "\"nan\"", "2", "\"nan\"", ALAR_ANOMALY_COUNT},
    {"\"nan\":\"ignore\"", "max", "f32", "\"nan\"", "2", "2", ALAR_ANOMALY_COUNT},
    {"\"nan\":\"ignore\"", "max", "f32", "\"nan\"", "2", "\"nan\"", ALAR_ANOMALY_ILLEGAL_VALUE},
    {"", "avg", "f32", "1", "2", "1.5", ALAR_ANOMALY_COUNT},
    {"", "avg", "f32", "1", "2", "3", ALAR_ANOMALY_ILLEGAL_VALUE},
    {"", "avg", "f16", "60000", "60000", "60000", ALAR_ANOMALY_COUNT},
    {"\"avg\":\"sum-divide\",\"adder\":\"nearest\"", "avg", "f16", "60000", "60000", "60000",
     ALAR_ANOMALY_ILLEGAL_VALUE},
    {"\"avg\":\"sum-divide\"", "avg", "f16", "60000", "60000", "\"inf\"", ALAR_ANOMALY_COUNT},
    {"\"avg\":\"sum-divide\"", "avg", "f16", "60000", "60000", "60000", ALAR_ANOMALY_COUNT},
    {"\"avg\":\"sum-divide\"", "avg", "f16", "60000", "60000", "59968", ALAR_ANOMALY_ILLEGAL_VALUE},
    {"", "product", "f32", "3", "0.5", "1.5", ALAR_ANOMALY_COUNT},
    {"", "product", "f32", "3", "0.5", "2", ALAR_ANOMALY_ILLEGAL_VALUE},
    {"", "sum", "f32", "-0.0", "-0.0", "-0.0", ALAR_ANOMALY_COUNT},
    {"", "sum", "f32", "-0.0", "0.0", "-0.0", ALAR_ANOMALY_ILLEGAL_VALUE},
    {"", "sum", "f32", "\"inf\"", "\"-inf\"", "\"nan\"", ALAR_ANOMALY_COUNT},
    {"", "sum", "f32", "\"inf\"", "\"-inf\"", "0", ALAR_ANOMALY_ILLEGAL_VALUE},
};

/* Integers have one legal value, modulo 2^w; averages of floats follow the promised convention.
   spec: N-04, O-31 */
Test(judge_value, reduces_integers_extremes_and_averages)
{
    for (size_t k = 0; k < sizeof reductions / sizeof *reductions; k++) {
        char text[1024];
        struct told judged;
        snprintf(
            text, sizeof text,
            "{\"ev\":\"contract\"%s%s}\n"
            "{\"ev\":\"issue\",\"rank\":0,\"op\":0,\"red\":\"%s\",\"dtype\":\"%s\",\"in\":[%s]}\n"
            "{\"ev\":\"issue\",\"rank\":1,\"op\":0,\"red\":\"%s\",\"dtype\":\"%s\",\"in\":[%s]}\n"
            "{\"ev\":\"done\",\"rank\":0,\"op\":0,\"out\":[%s]}\n"
            "{\"ev\":\"done\",\"rank\":1,\"op\":0,\"out\":[%s]}\n",
            reductions[k].contract[0] ? "," : "", reductions[k].contract, reductions[k].red,
            reductions[k].dtype, reductions[k].in0, reductions[k].red, reductions[k].dtype,
            reductions[k].in1, reductions[k].out, reductions[k].out);
        told(&judged, text);

        const struct alar_verdict *verdict = told_verdict(&judged);
        if (reductions[k].expected == ALAR_ANOMALY_COUNT) {
            cr_assert_eq(verdict->kind, ALAR_PASS, "row %zu: %s", k, told_reason(&judged));
        } else {
            cr_assert_eq(verdict->kind, ALAR_FAIL, "row %zu: %s", k, told_reason(&judged));
            cr_assert_eq(verdict->finding[0].anomaly, reductions[k].expected, "row %zu: %s", k,
                         told_reason(&judged));
        }
        told_free(&judged);
    }
}

/* Without a promise a 16-bit sum may be kept in fp32; with one it may not. spec: O-36 */
Test(judge_value, lets_16_bit_sums_be_wide_unless_promised_otherwise)
{
    static const struct {
        const char *contract, *out;
        enum alar_verdict_kind expected;
    } rows[] = {
        {"", "258", ALAR_PASS},
        {"", "256", ALAR_PASS},
        {"", "260", ALAR_FAIL},
        {",\"width\":\"f32\"", "258", ALAR_PASS},
        {",\"width\":\"f32\"", "256", ALAR_FAIL},
        {",\"adder\":\"nearest\"", "256", ALAR_PASS},
        {",\"adder\":\"nearest\"", "258", ALAR_FAIL},
    };

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char text[2048];
        struct told judged;
        int at = snprintf(text, sizeof text, "{\"ev\":\"contract\"%s}\n", rows[k].contract);

        /* Each addition alone ends in a tie that rounds down; the exact sum is above the tie. */
        for (int r = 0; r < 3; r++) {
            static const char *const in[] = {"256", "1", "0.00390625"};

            at +=
                snprintf(text + at, sizeof text - (size_t)at,
                         "{\"ev\":\"issue\",\"rank\":%d,\"op\":0,\"dtype\":\"bf16\",\"in\":[%s]}\n"
                         "{\"ev\":\"done\",\"rank\":%d,\"op\":0,\"out\":[%s]}\n",
                         r, in[r], r, rows[k].out);
        }
        told(&judged, text);

        cr_assert_eq(told_verdict(&judged)->kind, rows[k].expected, "row %zu: %s", k,
                     told_reason(&judged));
        told_free(&judged);
    }
}

/* Log lines of the exact encoding: recomputed bit for bit from integer elements. */
#include "engine/payload.h"
#include "tests/lib/run_rig.h"
#include "tests/lib/scratch.h"
#include "tests/lib/told.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(judge_report_exact, .init = scratch_make, .fini = scratch_remove);

enum {
    RANKS = 4,
    FILE_BYTES = 1 << 20
};

static struct alar_run_options exact(int variant)
{
    struct alar_run_options options = run_rig_gloo("tests/data/gpt-losses/train");

    options.config.encoding = ALAR_EXACT;
    options.config.normalization =
        (enum alar_normalization)(variant % ALAR_SEED_UNDIVIDED); /* it has no exact form of NaN */
    options.config.over = (enum alar_over)(variant / 3 % ALAR_OVER_COUNT);
    options.config.placement = (enum alar_placement)(variant / 6 % ALAR_PLACEMENT_COUNT);
    options.has_extremes = variant / 18 != 0;
    options.config.log_interval = 2;
    options.steps = "59:63"; /* step 60 has a microbatch without a token */
    return options;
}

/* Runs the `number`-th of a test; its history is in `directory`. */
static void record(struct alar_run_options *options, int number, char *directory)
{
    char error_line[ALAR_ERROR_LINE_BYTES] = "";
    char name[16];

    snprintf(name, sizeof(name), "h%d", number);
    snprintf(directory, SCRATCH_PATH_BYTES, "%s", scratch_path(name));
    options->config.history = directory;
    run_rig_count = 0;
    cr_assert_eq(alar_run(options, error_line), ALAR_CLASS_GOOD, "%s", error_line);
}

/* What the engine logs under every normalization, interval rule and placement is what its elements
   give; with extremes beside them as well. spec: N-54, O-62 */
Test(judge_report_exact, every_engine_run_passes)
{
    for (int variant = 0; variant < 36; variant++) {
        struct alar_run_options options = exact(variant);
        struct told told = {0};
        char directory[SCRATCH_PATH_BYTES];

        record(&options, variant, directory);
        told_ranks(&told, directory, RANKS);
        cr_expect_eq(told_verdict(&told)->kind, ALAR_PASS, "variant %d: %s", variant,
                     told_reason(&told));
        told_free(&told);
    }
}

/* Changes, in rank 0's file, the last hex digit of the bits of the `skip`-th report from 0. */
static void tamper(const char *directory, int skip)
{
    static char text[FILE_BYTES];
    char path[SCRATCH_PATH_BYTES + 16];

    snprintf(path, sizeof(path), "%s/rank0.jsonl", directory);
    FILE *file = fopen(path, "r+");
    cr_assert_not_null(file);
    size_t length = fread(text, 1, sizeof(text) - 1, file);
    text[length] = '\0';
    char *report = strstr(text, "\"ev\":\"report\"");
    for (int i = 0; i < skip && report != NULL; i++) {
        report = strstr(report + 1, "\"ev\":\"report\"");
    }
    cr_assert_not_null(report);
    char *bits = strstr(report, "\"bits\":\"");
    cr_assert_not_null(bits);
    char *digit = bits + strlen("\"bits\":\"") + 15;
    *digit = *digit == '0' ? '1' : '0';
    rewind(file);
    cr_assert_eq(fwrite(text, 1, length, file), length);
    cr_assert_eq(fclose(file), 0);
}

/* No rounding is left to explain a difference, so one bit is one too many: of a mean, an extreme or
   a sum. spec: N-54, O-62 */
Test(judge_report_exact, one_changed_bit_is_illegal)
{
    for (int metric = 0; metric < RUN_METRICS; metric++) {
        struct alar_run_options options = exact(18);
        struct told told = {0};
        char directory[SCRATCH_PATH_BYTES];

        record(&options, metric, directory);
        tamper(directory, metric);

        told_ranks(&told, directory, RANKS);

        cr_assert_eq(told_verdict(&told)->kind, ALAR_FAIL, "metric %d: %s", metric,
                     told_reason(&told));
        cr_assert_eq(told_verdict(&told)->finding[0].anomaly, ALAR_ANOMALY_ILLEGAL_REPORT);
        told_free(&told);
    }
}

/* ---- one microbatch of two ranks, written by the engine's own elements
 * ----------------------------
 */

enum {
    PAIR_RANKS = 2,
    ELEMENTS =
        ALAR_PAYLOAD_EXACT_ELEMENTS + 1 + ALAR_PARTICIPATION_ELEMENTS /* one element of flags */
};

/* What is done to the contributions on their way into the history. */
enum harm {
    HARMLESS,
    NO_SUM,         /* reduced by max */
    CUT,            /* not all of the participation is there */
    BROKEN_DIGIT,   /* a digit no contributions can make */
    NEGATIVE_WEIGHT /* a weight below zero */
};

struct exact_row {
    const char *name;
    double sum[PAIR_RANKS];
    int64_t tokens[PAIR_RANKS];
    const char *report; /* its fields after the metric and the step */
    enum harm harm;
    enum alar_verdict_kind kind;
    const char *says;
};

static char *exact_elements(char *at, const char *end, const int64_t *elements, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        at += snprintf(at, (size_t)(end - at), "%s\"%016llx\"", i ? "," : "",
                       (unsigned long long)elements[i]);
    }
    return at;
}

static void exact_text(const struct exact_row *row, char *text, size_t size)
{
    const struct alar_layout layout = {.metrics = 1,
                                       .cp = 1,
                                       .encoding = ALAR_EXACT,
                                       .placement = ALAR_PLACEMENT_MICROBATCH,
                                       .ranks = PAIR_RANKS,
                                       .microbatches = 1,
                                       .has_flags = true};
    size_t count = row->harm == CUT ? ELEMENTS - 2 : ELEMENTS;
    const char *red = row->harm == NO_SUM ? "max" : "sum", *end = text + size;
    int64_t elements[PAIR_RANKS][ELEMENTS], sum[ELEMENTS] = {0};

    cr_assert_eq(alar_payload_elements(&layout, 1), ELEMENTS);
    for (uint32_t r = 0; r < PAIR_RANKS; r++) {
        struct alar_local local = {.sum = row->sum[r], .tokens = row->tokens[r]};

        local.nonfinite = isfinite(row->sum[r]) ? 0U : 1U;
        alar_payload_write(&layout, r, 0, &local, 1, elements[r]);
        elements[r][ALAR_EXACT_WIRE_DIGITS] += row->harm == BROKEN_DIGIT ? INT64_C(1) << 61 : 0;
        elements[r][ALAR_EXACT_WIRE_F64] -= row->harm == NEGATIVE_WEIGHT ? 100 : 0;
        for (size_t i = 0; i < ELEMENTS; i++) {
            sum[i] = row->harm != NO_SUM || elements[r][i] > sum[i]
                         ? elements[r][i] + (row->harm != NO_SUM ? sum[i] : 0)
                         : sum[i];
        }
        text += snprintf(text, (size_t)(end - text),
                         "{\"ev\":\"issue\",\"rank\":%u,\"op\":0,\"step\":1,\"mb\":0,\"key\":\"l\","
                         "\"dtype\":\"i64\",\"red\":\"%s\",\"pairs\":1,\"in\":[",
                         r, red);
        text = exact_elements(text, end, elements[r], count);
        text += snprintf(text, (size_t)(end - text), "]}\n");
    }
    for (uint32_t r = 0; r < PAIR_RANKS; r++) {
        text += snprintf(text, (size_t)(end - text),
                         "{\"ev\":\"done\",\"rank\":%u,\"op\":0,\"out\":[", r);
        text = exact_elements(text, end, sum, count);
        text += snprintf(text, (size_t)(end - text), "]}\n");
    }
    snprintf(text, (size_t)(end - text),
             "{\"ev\":\"report\",\"rank\":0,\"metric\":\"l\",\"step\":1,%s}\n", row->report);
}

#define MEAN "'normalization':'token-weighted','over':'steps',"
#define BITS(bits) MEAN "'bits':'" bits "'"

static const struct exact_row exact_table[] = {
    {"the value", {6, 4}, {3, 1}, BITS("4004000000000000"), HARMLESS, ALAR_PASS, "1 of 1"},
    {"one bit off",
     {6, 4},
     {3, 1},
     BITS("4004000000000001"),
     HARMLESS,
     ALAR_FAIL,
     "illegal-report"},
    {"its tokens",
     {6, 4},
     {3, 1},
     BITS("4004000000000000") ",'tokens':4",
     HARMLESS,
     ALAR_PASS,
     "1 of 1"},
    {"fewer tokens",
     {6, 4},
     {3, 1},
     BITS("4004000000000000") ",'tokens':3",
     HARMLESS,
     ALAR_FAIL,
     "wrong-count"},
    {"more tokens",
     {6, 4},
     {3, 1},
     BITS("4004000000000000") ",'tokens':5",
     HARMLESS,
     ALAR_FAIL,
     "wrong-count"},
    {"a mean of own means counts ranks, not tokens",
     {6, 4},
     {3, 1},
     "'normalization':'rank-mean','over':'steps','bits':'4004000000000000','tokens':7",
     HARMLESS,
     ALAR_UNKNOWN,
     "counts that no operation carries"},
    {"undivided, as declared",
     {6, 4},
     {3, 1},
     "'normalization':'seed-undivided','over':'steps','bits':'4024000000000000'",
     HARMLESS,
     ALAR_PASS,
     "note: undivided"},
    {"no step is empty",
     {6, 4},
     {3, 1},
     BITS("4004000000000000") ",'empty':0",
     HARMLESS,
     ALAR_PASS,
     "1 of 1"},
    {"and one is said to be",
     {6, 4},
     {3, 1},
     BITS("4004000000000000") ",'empty':1",
     HARMLESS,
     ALAR_FAIL,
     "wrong-count"},
    {"nothing", {0, 0}, {0, 0}, MEAN "'loss':null", HARMLESS, ALAR_PASS, "1 of 1"},
    {"nothing, shown as a number",
     {0, 0},
     {0, 0},
     MEAN "'loss':0",
     HARMLESS,
     ALAR_FAIL,
     "empty-as-number"},
    {"a NaN", {NAN, 4}, {3, 1}, MEAN "'loss':'nan','nonfinite':1", HARMLESS, ALAR_PASS, "1 of 1"},
    {"a NaN that was left out",
     {NAN, 4},
     {3, 1},
     MEAN "'loss':4",
     HARMLESS,
     ALAR_FAIL,
     "nonfinite-dropped"},
    {"a NaN counted twice",
     {NAN, 4},
     {3, 1},
     MEAN "'loss':'nan','nonfinite':2",
     HARMLESS,
     ALAR_FAIL,
     "wrong-count"},
    {"no NaN, and one is counted",
     {6, 4},
     {3, 1},
     BITS("4004000000000000") ",'nonfinite':1",
     HARMLESS,
     ALAR_FAIL,
     "wrong-count"},
    {"no normalization",
     {6, 4},
     {3, 1},
     "'over':'steps','loss':2.5",
     HARMLESS,
     ALAR_UNKNOWN,
     "could not be recomputed"},
    {"no rule for intervals",
     {6, 4},
     {3, 1},
     "'normalization':'token-weighted','loss':2.5",
     HARMLESS,
     ALAR_UNKNOWN,
     "could not be recomputed"},
    {"the sum needs neither",
     {6, 4},
     {3, 1},
     "'kind':'sum','loss':10",
     HARMLESS,
     ALAR_PASS,
     "1 of 1"},
    {"no sums",
     {6, 4},
     {3, 1},
     BITS("4004000000000000"),
     NO_SUM,
     ALAR_UNKNOWN,
     "could not be recomputed"},
    {"no whole census",
     {6, 4},
     {3, 1},
     BITS("4004000000000000"),
     CUT,
     ALAR_UNKNOWN,
     "could not be recomputed"},
    {"a broken digit",
     {6, 4},
     {3, 1},
     BITS("4004000000000000"),
     BROKEN_DIGIT,
     ALAR_UNKNOWN,
     "could not be recomputed"},
    {"a negative weight",
     {6, 4},
     {3, 1},
     BITS("4004000000000000"),
     NEGATIVE_WEIGHT,
     ALAR_UNKNOWN,
     "could not be recomputed"},
};

/* One value is legal and no other; the counts beside it are those of the contributions; what is no
   such contribution is not recomputed. spec: N-53, O-50, O-55, O-56, O-59 */
Test(judge_report_exact, judges_values_and_counts)
{
    static char text[1 << 15];

    for (size_t k = 0; k < sizeof exact_table / sizeof *exact_table; k++) {
        struct told_row row = {exact_table[k].name, text, exact_table[k].kind, exact_table[k].says};

        exact_text(&exact_table[k], text, sizeof text);
        told_rows(&row, 1);
    }
}

/* What a logged loss means: hand values, cases from the field, and fp32 operation by operation. */
#include "engine/loss.h"
#include "tests/lib/demand.h"
#include "tests/lib/draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    SEED = 33107,
    RANKS_MAX = 4,
    MICROBATCHES_MAX = 4
};

#define NONE (-1.0) /* the expected value is EMPTY */

static uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/* Same bits, or both NaN: the payload of a NaN is nobody's promise. */
static bool is_same(double a, double b)
{
    return isnan(a) ? isnan(b) != 0 : bits_of(a) == bits_of(b);
}

/* Pairs [rank][microbatch] of one step, as in a case. */
struct step {
    uint32_t ranks;
    uint32_t microbatches;
    struct {
        double sum;
        double tokens;
    } pair[RANKS_MAX][MICROBATCHES_MAX];
};

/* Reduces each microbatch from rank 0 on and adds it to a tally, as a healthy back end would. */
static struct alar_tally step_tally(const struct step *step, enum alar_encoding encoding,
                                    enum alar_normalization normalization)
{
    struct alar_tally tally = {0};

    for (uint32_t m = 0; m < step->microbatches; m++) {
        struct alar_ratio sum = {0};

        for (uint32_t r = 0; r < step->ranks; r++) {
            struct alar_local local = {0};
            enum alar_status status =
                alar_loss_recorded(step->pair[r][m].sum, step->pair[r][m].tokens, &local);

            cr_assert_eq(status, ALAR_OK);
            struct alar_ratio pair = alar_loss_pair(encoding, normalization, &local);
            sum.numerator =
                r == 0 ? pair.numerator : alar_loss_add(encoding, sum.numerator, pair.numerator);
            sum.denominator = r == 0 ? pair.denominator
                                     : alar_loss_add(encoding, sum.denominator, pair.denominator);
        }
        alar_loss_add_pair(&tally, encoding, normalization, step->ranks, sum);
    }
    return tally;
}

static void check_value(const char *name, const struct alar_tally *tally,
                        enum alar_encoding encoding, double expected)
{
    double value = 77.0;
    bool has_value = alar_loss_value(tally, encoding, &value);
    double rounded = encoding == ALAR_PAIR32 ? (double)(float)expected : expected;

    if (bits_of(expected) == bits_of(NONE)) {
        cr_assert_not(has_value, "%s: expected EMPTY, found %.9g", name, value);
        cr_assert_eq(bits_of(value), bits_of(77.0), "%s: EMPTY wrote a value", name);
        return;
    }
    cr_assert(has_value, "%s: expected %.9g, found EMPTY", name, expected);
    cr_assert(is_same(value, rounded), "%s: expected %.9g, found %.9g", name, rounded, value);
}

/* ---- the four normalizations -------------------------------------------------------------------
 */

/* The numbers of the field's defects and of their fixes, in the order of the normalizations:
   token-weighted, rank-mean, microbatch-mean, seed-undivided. */
static const struct {
    const char *name;
    struct step step;
    double expected[ALAR_NORMALIZATION_COUNT];
} cases[] = {
    {"B16 few tokens weigh too much", {2, 1, {{{4, 4}}, {{5, 1}}}}, {1.8, 3.0, 1.8, 6.0}},
    {"B17 a sum over ranks", {4, 1, {{{6, 3}}, {{6, 3}}, {{6, 3}}, {{6, 3}}}}, {2, 2, 2, 8}},
    {"B17 with power", {4, 1, {{{2, 1}}, {{9, 2}}, {{6, 3}}, {{8, 4}}}}, {2.5, 2.625, 2.5, 10.5}},
    {"B18 4 x 1", {4, 1, {{{2, 1}}, {{4, 2}}, {{6, 3}}, {{8, 4}}}}, {2, 2, 2, 8}},
    {"B18 2 x 2", {2, 2, {{{2, 1}, {4, 2}}, {{6, 3}, {8, 4}}}}, {2, 2, 2, 4}},
    {"B18 1 x 4", {1, 4, {{{2, 1}, {4, 2}, {6, 3}, {8, 4}}}}, {2, 2, 2, 2}},
    {"B19 one rank", {1, 2, {{{4, 1}, {3, 3}}}}, {1.75, 2.5, 2.5, 2.5}},
    {"B19 two ranks", {2, 1, {{{4, 1}}, {{3, 3}}}}, {1.75, 2.5, 1.75, 5.0}},
    {"B21 unequal counts", {2, 3, {{{1, 1}, {1, 1}, {1, 1}}, {{1, 1}, {1, 1}}}}, {1, 1, 1, NAN}},
    {"B23 accumulation", {1, 4, {{{2, 2}, {4, 2}, {6, 2}, {12, 2}}}}, {3, 3, 3, 3}},
    {"B29 an empty rank", {2, 1, {{{0, 0}}, {{6, 3}}}}, {2, 2, 2, NAN}},
    {"B30 no token anywhere", {3, 1, {{{0, 0}}, {{0, 0}}, {{0, 0}}}}, {NONE, NONE, NONE, NAN}},
    {"one microbatch empty everywhere",
     {2, 2, {{{2, 1}, {0, 0}}, {{6, 1}, {0, 0}}}},
     {4, 4, 4, NAN}},
    {"a NaN loss", {2, 1, {{{NAN, 3}}, {{6, 3}}}}, {NAN, NAN, NAN, NAN}},
    {"an infinite loss",
     {2, 1, {{{INFINITY, 3}}, {{6, 3}}}},
     {INFINITY, INFINITY, INFINITY, INFINITY}},
};

/* Each normalization gives its own number, in both encodings; the original's undivided sum is
   reproduced, NaN of an empty rank included. spec: L-02, L-05, L-10 */
Test(loss, normalizations_give_the_numbers_of_the_field)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (int n = 0; n < ALAR_NORMALIZATION_COUNT; n++) {
            for (int e = 0; e <= ALAR_PAIR64; e++) {
                enum alar_normalization normalization = (enum alar_normalization)n;
                struct alar_tally tally =
                    step_tally(&cases[i].step, (enum alar_encoding)e, normalization);
                char name[128];

                snprintf(name, sizeof(name), "%s, %s, %s", cases[i].name,
                         alar_normalization_names[n], alar_encoding_names[e]);
                check_value(name, &tally, (enum alar_encoding)e, cases[i].expected[n]);
            }
        }
    }
}

/* The original's other branch, which indexes one number as if it were the pair, has no name here:
   it never ran there either. spec: L-11 */
Test(loss, there_are_four_normalizations_and_no_fifth)
{
    static const char *const names[] = {"token-weighted", "rank-mean", "microbatch-mean",
                                        "seed-undivided"};

    cr_assert_eq(ALAR_NORMALIZATION_COUNT, 4);
    for (size_t i = 0; i < 4; i++) {
        cr_assert_str_eq(alar_normalization_names[i], names[i]);
    }
    cr_assert_null(alar_normalization_names[4]);
}

/* Empty ranks are counted where their absence changes the divisor; a count that no ranks can have
   is a back end's lie and changes nothing. spec: L-05 */
Test(loss, rank_mean_counts_empty_microbatches)
{
    static const struct {
        double denominator;
        uint64_t empty;
    } table[] = {{0, 4}, {1, 3}, {4, 0}, {5, 0}, {-1, 0}, {NAN, 0}, {INFINITY, 0}, {1e300, 0}};

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct alar_tally tally = {0};

        alar_loss_add_pair(&tally, ALAR_PAIR64, ALAR_RANK_MEAN, 4,
                           (struct alar_ratio){6.0, table[i].denominator});
        cr_assert_eq(tally.empty, table[i].empty, "denominator %g", table[i].denominator);
    }
}

/* Tokens are summed where they travel, and are 0 where they don't. spec: L-12 */
Test(loss, tokens_are_counted_where_they_travel)
{
    static const double expected[ALAR_NORMALIZATION_COUNT] = {10, 0, 10, 0};

    for (int n = 0; n < ALAR_NORMALIZATION_COUNT; n++) {
        struct alar_tally tally =
            step_tally(&cases[4].step, ALAR_PAIR32, (enum alar_normalization)n);

        cr_assert_eq(bits_of(tally.tokens), bits_of(expected[n]), "%s",
                     alar_normalization_names[n]);
    }
}

/* ---- log intervals -----------------------------------------------------------------------------
 */

static const struct step b51[] = {
    {2, 2, {{{2, 1}, {4, 2}}, {{3, 1}, {3, 1}}}},
    {2, 2, {{{6, 3}, {8, 4}}, {{5, 5}, {1, 1}}}},
};

static struct alar_tally interval(const struct step *step, size_t count,
                                  enum alar_encoding encoding,
                                  enum alar_normalization normalization, enum alar_over over)
{
    struct alar_tally tally = {0};

    for (size_t i = 0; i < count; i++) {
        struct alar_tally one = step_tally(&step[i], encoding, normalization);

        alar_loss_add_step(&tally, encoding, over, &one);
    }
    return tally;
}

/* Mean of the step values and one pooled ratio are two numbers. spec: L-04 */
Test(loss, an_interval_is_a_mean_of_steps_or_one_ratio)
{
    for (int e = 0; e <= ALAR_PAIR64; e++) {
        enum alar_encoding encoding = (enum alar_encoding)e;
        double first = alar_loss_divide(encoding, 12, 5);
        double second = alar_loss_divide(encoding, 20, 13);
        double mean = alar_loss_divide(encoding, alar_loss_add(encoding, first, second), 2);
        struct alar_tally one = step_tally(&b51[0], encoding, ALAR_TOKEN_WEIGHTED);
        struct alar_tally steps = interval(b51, 2, encoding, ALAR_TOKEN_WEIGHTED, ALAR_OVER_STEPS);
        struct alar_tally pooled =
            interval(b51, 2, encoding, ALAR_TOKEN_WEIGHTED, ALAR_OVER_POOLED);

        check_value("B51 step", &one, encoding, 2.4);
        check_value("B51 steps", &steps, encoding, mean);
        check_value("B51 pooled", &pooled, encoding, 32.0 / 18.0);
        cr_assert(fabs(mean - 1.969231) < 1e-6);
        cr_assert_eq(bits_of(steps.tokens), bits_of(18.0));
    }
}

/* B53: 100 steps, a log line every 10: 5.5, 15.5 ... 95.5, over steps or pooled. spec: L-04 */
Test(loss, ten_log_lines_of_ten_steps)
{
    for (int over = 0; over < ALAR_OVER_COUNT; over++) {
        for (int line = 0; line < 10; line++) {
            struct step step[10] = {{0}};

            for (int i = 0; i < 10; i++) {
                double loss = line * 10 + i + 1;

                step[i] = (struct step){2, 1, {{{loss, 1}}, {{loss, 1}}}};
            }
            struct alar_tally tally =
                interval(step, 10, ALAR_PAIR32, ALAR_TOKEN_WEIGHTED, (enum alar_over)over);
            check_value("B53", &tally, ALAR_PAIR32, line * 10 + 5.5);
        }
    }
}

/* B31: a NaN step is never averaged away, nor dropped. An empty step is neither NaN nor 0: it is
   left out and counted. spec: L-04, L-05, L-06 */
Test(loss, a_nan_step_shows_and_an_empty_one_is_left_out)
{
    static const struct step nan_inside[] = {
        {1, 1, {{{2, 1}}}}, {1, 1, {{{NAN, 1}}}}, {1, 1, {{{2, 1}}}}};
    static const struct step empty_inside[] = {
        {1, 1, {{{2, 1}}}}, {1, 1, {{{0, 0}}}}, {1, 1, {{{4, 1}}}}};

    for (int over = 0; over < ALAR_OVER_COUNT; over++) {
        struct alar_tally with_nan =
            interval(nan_inside, 3, ALAR_PAIR32, ALAR_TOKEN_WEIGHTED, (enum alar_over)over);
        struct alar_tally with_empty =
            interval(empty_inside, 3, ALAR_PAIR32, ALAR_TOKEN_WEIGHTED, (enum alar_over)over);
        struct alar_tally nothing =
            interval(&empty_inside[1], 1, ALAR_PAIR32, ALAR_TOKEN_WEIGHTED, (enum alar_over)over);

        check_value("B31", &with_nan, ALAR_PAIR32, NAN);
        cr_assert_eq(with_nan.empty, 0);
        check_value("an empty step", &with_empty, ALAR_PAIR32, 3.0);
        cr_assert_eq(with_empty.empty, 1);
        check_value("nothing but an empty step", &nothing, ALAR_PAIR32, NONE);
        cr_assert_eq(nothing.empty, 1);
    }
}

/* The count of non-finite microbatches goes from steps to their interval; microbatches of an empty
   rank-mean step are not counted twice. spec: L-06 */
Test(loss, an_interval_adds_up_what_its_steps_counted)
{
    struct alar_tally step = {.ratio = {2, 1}, .tokens = 1, .nonfinite = 2};
    struct alar_tally empty = {.empty = 4};
    struct alar_tally sum = {0};

    alar_loss_add_step(&sum, ALAR_PAIR64, ALAR_OVER_STEPS, &step);
    alar_loss_add_step(&sum, ALAR_PAIR64, ALAR_OVER_STEPS, &step);
    alar_loss_add_step(&sum, ALAR_PAIR64, ALAR_OVER_STEPS, &empty);
    cr_assert_eq(sum.nonfinite, 4);
    cr_assert_eq(sum.empty, 4);
    cr_assert_eq(bits_of(sum.tokens), bits_of(2.0));
}

/* ---- local sums --------------------------------------------------------------------------------
 */

/* B34: what a mask leaves out is never looked at; what it keeps is never hidden. spec: L-01 */
Test(loss, masks_select)
{
    const float losses[] = {1.0F, NAN, 3.0F, INFINITY, 0.5F};
    static const struct {
        uint8_t mask[5];
        struct alar_local expected;
    } table[] = {
        {{1, 0, 1, 0, 0}, {4.0, 2, 0, 0, NULL}},
        {{1, 0, 255, 0, 2}, {4.5, 3, 0, 0, NULL}},
        {{0, 0, 0, 0, 0}, {0.0, 0, 0, 0, NULL}},
        {{1, 1, 1, 0, 0}, {(double)NAN, 3, 1, 0, NULL}},
        {{0, 0, 0, 1, 0}, {(double)INFINITY, 1, 1, 0, NULL}},
        {{1, 1, 1, 1, 1}, {(double)NAN, 5, 2, 0, NULL}},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct alar_local local = alar_loss_select(losses, table[i].mask, 5);

        cr_assert(is_same(local.sum, table[i].expected.sum), "row %zu: sum %g", i, local.sum);
        cr_assert_eq(local.tokens, table[i].expected.tokens, "row %zu", i);
        cr_assert_eq(local.nonfinite, table[i].expected.nonfinite, "row %zu", i);
    }
    cr_assert_eq(alar_loss_select(losses, table[0].mask, 0).tokens, 0);
}

/* A recorded pair has a whole number of tokens, as a double can hold it. spec: L-12 */
Test(loss, recorded_counts_are_whole_numbers)
{
    static const double good[] = {0.0, -0.0, 1.0, 512.0, 0x1p53};
    static const double bad[] = {-1.0, 0.5, 511.999, 0x1p53 + 2.0, 1e300, INFINITY, -INFINITY, NAN};
    struct alar_local local = {.sum = 5.0, .tokens = 6, .nonfinite = 7};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cr_assert_eq(alar_loss_recorded(1.0, bad[i], &local), ALAR_E_INPUT, "%g", bad[i]);
        cr_assert_eq(local.tokens, 6, "a refusal wrote");
    }
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        cr_assert_eq(alar_loss_recorded(1.5, good[i], &local), ALAR_OK, "%g", good[i]);
        cr_assert_eq(local.tokens, (int64_t)good[i]);
        cr_assert_eq(local.nonfinite, 0);
    }
    cr_assert_eq(alar_loss_recorded((double)NAN, 1.0, &local), ALAR_OK);
    cr_assert_eq(local.nonfinite, 1);
}

/* ---- arithmetic --------------------------------------------------------------------------------
 */

/* In pair32 every operation rounds once to fp32. A double holds a sum or quotient of two floats
   well enough to be rounded again without harm, which is another way to the same bits. spec: L-03
 */
Test(loss, each_operation_rounds_once)
{
    struct draw draw = {SEED};
    uint64_t bits[2];

    cr_log_info("seed %d", SEED);
    for (int i = 0; i < 200000; i++) {
        draw_values(&draw, (enum draw_family)(i % DRAW_FAMILY_COUNT), ALAR_F32, bits, 2);
        double a = alar_fp_to_double(ALAR_F32, bits[0]);
        double b = alar_fp_to_double(ALAR_F32, bits[1]);

        demand(is_same(alar_loss_add(ALAR_PAIR32, a, b), (double)(float)(a + b)), "%a + %a", a, b);
        demand(is_same(alar_loss_add(ALAR_PAIR64, a, b), a + b), "%a + %a", a, b);
        demand(is_same(alar_loss_divide(ALAR_PAIR32, a, b), (double)(float)(a / b)), "%a / %a", a,
               b);
        demand(is_same(alar_loss_divide(ALAR_PAIR64, a, b), a / b), "%a / %a", a, b);
    }
}

/* A count beyond 2^24 no longer fits fp32; pair64 keeps it to 2^53. spec: L-12 */
Test(loss, pair32_counts_to_2_to_the_24)
{
    const struct alar_local local = {.sum = 1.0, .tokens = (1 << 24) + 1};
    struct alar_ratio narrow = alar_loss_pair(ALAR_PAIR32, ALAR_TOKEN_WEIGHTED, &local);
    struct alar_ratio wide = alar_loss_pair(ALAR_PAIR64, ALAR_TOKEN_WEIGHTED, &local);

    cr_assert_eq(bits_of(narrow.denominator), bits_of(0x1p24));
    cr_assert_eq(bits_of(wide.denominator), bits_of(0x1p24 + 1.0));
}

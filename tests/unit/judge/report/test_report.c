/* Log lines: what is right passes in whatever arithmetic it was computed, what is wrong is named.
 */
#include "tests/lib/draw.h"
#include "tests/lib/scratch.h"
#include "tests/lib/told.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(report, .init = scratch_make, .fini = scratch_remove);

enum {
    RANKS = 4,
    MICROBATCHES = 3,
    STEPS = 3,
    TEXT = 1 << 16
};

/* What four ranks contribute over three steps of three microbatches. */
struct losses {
    double sum[STEPS][MICROBATCHES][RANKS];
    double tokens[STEPS][MICROBATCHES][RANKS];
};

static struct losses losses_draw(struct draw *draw)
{
    struct losses losses;

    for (int s = 0; s < STEPS; s++) {
        for (int c = 0; c < MICROBATCHES; c++) {
            for (int r = 0; r < RANKS; r++) {
                double tokens = 1 + (double)draw_below(draw, 500);

                losses.tokens[s][c][r] = tokens;
                losses.sum[s][c][r] =
                    (double)(float)(tokens * (0.5 + (double)draw_below(draw, 5000) / 1024.0));
            }
        }
    }
    return losses;
}

static char *text_op(char *at, const struct losses *losses, int s, int c)
{
    float sum = 0, tokens = 0;

    for (int r = 0; r < RANKS; r++) {
        sum += (float)losses->sum[s][c][r];
        tokens += (float)losses->tokens[s][c][r];
        at += snprintf(at, 512,
                       "{\"ev\":\"issue\",\"rank\":%d,\"op\":%d,\"step\":%d,\"mb\":%d,"
                       "\"key\":\"lm loss\",\"pairs\":1,\"in\":[%.17g,%.17g]}\n",
                       r, s * MICROBATCHES + c, s + 1, c, losses->sum[s][c][r],
                       losses->tokens[s][c][r]);
    }
    for (int r = 0; r < RANKS; r++) {
        at += snprintf(at, 512, "{\"ev\":\"done\",\"rank\":%d,\"op\":%d,\"out\":[%.17g,%.17g]}\n",
                       r, s * MICROBATCHES + c, (double)sum, (double)tokens);
    }
    return at;
}

/* All nine operations and one report of the three steps, shown as `bits`. */
static void text_history(char *text, const struct losses *losses, const char *over,
                         const char *bits)
{
    char *at = text;

    for (int s = 0; s < STEPS; s++) {
        for (int c = 0; c < MICROBATCHES; c++) {
            at = text_op(at, losses, s, c);
        }
    }
    snprintf(at, 512,
             "{\"ev\":\"report\",\"rank\":0,\"metric\":\"lm loss\",\"first_step\":1,\"step\":3,"
             "\"normalization\":\"token-weighted\",\"over\":\"%s\",\"bits\":\"%s\"}\n",
             over, bits);
}

static const char *bits_of(double value)
{
    static char text[32];
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    snprintf(text, sizeof text, "%016llx", (unsigned long long)bits);
    return text;
}

static const char *bits_of_float(float value)
{
    static char text[32];
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    snprintf(text, sizeof text, "%08x", bits);
    return text;
}

/* The reduced numerator of a microbatch as the ranks hold it, and its weight. */
static double microbatch_sum(const struct losses *losses, int s, int c)
{
    float sum = 0;

    for (int r = 0; r < RANKS; r++) {
        sum += (float)losses->sum[s][c][r];
    }
    return (double)sum;
}

static double microbatch_tokens(const struct losses *losses, int s, int c)
{
    double tokens = 0;

    for (int r = 0; r < RANKS; r++) {
        tokens += losses->tokens[s][c][r];
    }
    return tokens;
}

static double right_double(const struct losses *losses)
{
    double total = 0;

    for (int s = 0; s < STEPS; s++) {
        double sum = 0, tokens = 0;

        for (int c = 0; c < MICROBATCHES; c++) {
            sum += microbatch_sum(losses, s, c);
            tokens += microbatch_tokens(losses, s, c);
        }
        total += sum / tokens;
    }
    return total / STEPS;
}

/* In fp32, from the right or from the left. */
static float right_float(const struct losses *losses, bool is_reversed)
{
    float total = 0;

    for (int s = 0; s < STEPS; s++) {
        float sum = 0, tokens = 0;

        for (int k = 0; k < MICROBATCHES; k++) {
            int c = is_reversed ? MICROBATCHES - 1 - k : k;

            sum += (float)microbatch_sum(losses, s, c);
            tokens += (float)microbatch_tokens(losses, s, c);
        }
        total += sum / tokens;
    }
    return total / STEPS;
}

/* A right mean passes, be it computed in fp32 from either end or in fp64: which of them a training
   loop uses is nobody's business until it declares it. spec: O-50, O-52 */
Test(report, passes_right_means_in_any_arithmetic)
{
    static char text[TEXT];
    struct draw draw = {20};

    for (int k = 0; k < 40; k++) {
        struct losses losses = losses_draw(&draw);

        for (int way = 0; way < 3; way++) {
            struct told judged;

            text_history(text, &losses, "steps",
                         way == 0   ? bits_of(right_double(&losses))
                         : way == 1 ? bits_of_float(right_float(&losses, false))
                                    : bits_of_float(right_float(&losses, true)));
            told(&judged, text);
            cr_assert_eq(told_verdict(&judged)->kind, ALAR_PASS, "draw %d, way %d: %s", k, way,
                         told_reason(&judged));
            cr_assert_eq(told_verdict(&judged)->reports_judged, 1);
            told_free(&judged);
        }
    }
}

/* Sixteen places beyond the interval is outside of it: an interval that passed everything would
   pass the test above as well. spec: O-50 */
Test(report, refuses_means_a_little_off)
{
    static char text[TEXT];
    struct draw draw = {21};

    for (int k = 0; k < 20; k++) {
        struct losses losses = losses_draw(&draw);
        float off = right_float(&losses, false);
        struct told judged;

        for (int ulp = 0; ulp < 16; ulp++) {
            off = nextafterf(off, k % 2 ? 0 : HUGE_VALF);
        }
        text_history(text, &losses, "steps", bits_of_float(off));
        told(&judged, text);
        cr_assert_eq(told_verdict(&judged)->kind, ALAR_FAIL, "draw %d", k);
        cr_assert_eq(told_verdict(&judged)->finding[0].anomaly, ALAR_ANOMALY_ILLEGAL_REPORT,
                     "draw %d: %s", k, told_reason(&judged));
        told_free(&judged);
    }
}

/* Known mistakes, each computed here from the definition, in fp64. */
enum mistake {
    RANK_MEANS,
    SUM_OF_RANK_MEANS,
    SUM_OF_MICROBATCHES,
    CELL_MEANS,
    POOLED,
    LAST,
    FLOORED,
    OWN,
    LEFT_OUT,
    TWICE,
    SCALED,
    SUMMED_STEPS,
    MISTAKES
};

static double mean_of_ranks(const struct losses *losses, int s, int c)
{
    double mean = 0;

    for (int r = 0; r < RANKS; r++) {
        mean += losses->sum[s][c][r] / losses->tokens[s][c][r] / RANKS;
    }
    return mean;
}

/* Sums over the microbatches of a step of the ranks from `first` to `last`. */
static double some_ranks(const struct losses *losses, int s, int first, int last)
{
    double sum = 0, tokens = 0;

    for (int c = 0; c < MICROBATCHES; c++) {
        for (int r = first; r <= last; r++) {
            sum += losses->sum[s][c][r];
            tokens += losses->tokens[s][c][r];
        }
    }
    return sum / tokens;
}

static double floored(const struct losses *losses, int s)
{
    double sum = 0, tokens = 0;

    for (int c = 0; c < MICROBATCHES; c++) {
        sum += microbatch_sum(losses, s, c);
        tokens += microbatch_tokens(losses, s, c);
    }
    return sum / RANKS / floor(tokens / RANKS);
}

static double wrong_step(const struct losses *losses, int s, enum mistake mistake)
{
    double ranks = 0, microbatches = 0;

    for (int c = 0; c < MICROBATCHES; c++) {
        ranks += mean_of_ranks(losses, s, c);
        microbatches += microbatch_sum(losses, s, c) / microbatch_tokens(losses, s, c);
    }
    switch (mistake) {
    case RANK_MEANS:
        return ranks / MICROBATCHES;
    case SUM_OF_RANK_MEANS:
        return RANKS * ranks / MICROBATCHES;
    case SUM_OF_MICROBATCHES:
        return microbatches;
    case CELL_MEANS:
        return microbatches / MICROBATCHES;
    case LAST:
        return microbatch_sum(losses, s, MICROBATCHES - 1) /
               microbatch_tokens(losses, s, MICROBATCHES - 1);
    case FLOORED:
        return floored(losses, s);
    case OWN:
        return some_ranks(losses, s, 0, 0);
    default: /* LEFT_OUT */
        return some_ranks(losses, s, 0, RANKS - 2);
    }
}

static double wrong(const struct losses *losses, enum mistake mistake)
{
    double total = 0, tokens = 0;

    switch (mistake) {
    case TWICE:
        return right_double(losses) / RANKS;
    case SCALED:
        return right_double(losses) * RANKS;
    case SUMMED_STEPS:
        return right_double(losses) * STEPS;
    case POOLED:
        for (int k = 0; k < STEPS * MICROBATCHES; k++) {
            total += microbatch_sum(losses, k / MICROBATCHES, k % MICROBATCHES);
            tokens += microbatch_tokens(losses, k / MICROBATCHES, k % MICROBATCHES);
        }
        return total / tokens;
    default:
        for (int s = 0; s < STEPS; s++) {
            total += wrong_step(losses, s, mistake) / STEPS;
        }
        return total;
    }
}

/* Each mistake is named for what it is, on losses nobody chose for it. spec: O-57 */
Test(report, names_each_mistake_on_drawn_losses)
{
    static const enum alar_anomaly names[MISTAKES] = {
        [RANK_MEANS] = ALAR_ANOMALY_MEAN_OF_RANK_MEANS,
        [SUM_OF_RANK_MEANS] = ALAR_ANOMALY_NEVER_DIVIDED,
        [SUM_OF_MICROBATCHES] = ALAR_ANOMALY_NEVER_DIVIDED,
        [CELL_MEANS] = ALAR_ANOMALY_MEAN_OF_MB_MEANS,
        [POOLED] = ALAR_ANOMALY_WRONG_OVER,
        [LAST] = ALAR_ANOMALY_LAST_MICROBATCH,
        [FLOORED] = ALAR_ANOMALY_FLOORED_WEIGHTS,
        [OWN] = ALAR_ANOMALY_OWN_ONLY,
        [LEFT_OUT] = ALAR_ANOMALY_WRONG_GROUP,
        [TWICE] = ALAR_ANOMALY_DIVIDED_TWICE,
        [SCALED] = ALAR_ANOMALY_SCALING_LEAKED,
        [SUMMED_STEPS] = ALAR_ANOMALY_NEVER_DIVIDED,
    };
    static char text[TEXT];
    struct draw draw = {22};

    for (int k = 0; k < 15; k++) {
        struct losses losses = losses_draw(&draw);

        for (int mistake = 0; mistake < MISTAKES; mistake++) {
            struct told judged;

            text_history(text, &losses, "steps", bits_of(wrong(&losses, (enum mistake)mistake)));
            told(&judged, text);
            const struct alar_verdict *verdict = told_verdict(&judged);
            cr_assert_eq(verdict->kind, ALAR_FAIL, "draw %d, mistake %d", k, mistake);
            cr_assert_eq(verdict->finding[0].anomaly, names[mistake], "draw %d, mistake %d: %s", k,
                         mistake, told_reason(&judged));
            told_free(&judged);
        }
    }
}

/* Log lines of least and greatest values: what is right passes, to the bit and the rank; anything
   else is named. The histories are written out here, by the letter of spec/history.md. */
#include "numbers/fp.h"
#include "tests/lib/draw.h"
#include "tests/lib/scratch.h"
#include "tests/lib/told.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(judge_report_extreme, .init = scratch_make, .fini = scratch_remove);

enum {
    SEED = 5107,
    RANKS = 27, /* more than one fp32 element of a set can name */
    ROUNDS = 60,
    PIECE = 64,
    TEXT = 1 << 18
};

/* One operation: what each rank holds, and who holds the greatest. */
struct witness {
    uint32_t ranks;
    bool is_min;
    bool has_value[RANKS];
    float value[RANKS];
    int best;  /* -1: nobody */
    int other; /* a rank with another value than the best one's; -1: there is none */
};

static uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/* A place among the numbers, -0 below +0, NaN above all for MAX and below all for MIN. */
static double place_of(const struct witness *witness, int rank)
{
    float value = witness->value[rank];
    double sign = witness->is_min ? -1.0 : 1.0;

    if (isnan(value)) {
        return 1e300;
    }
    if (isinf(value)) {
        return sign * (value > 0 ? 1e200 : -1e200);
    }
    return sign * (fabsf(value) <= 0 ? (signbit(value) ? -1e-60 : 1e-60) : (double)value);
}

static struct witness witness_draw(struct draw *draw)
{
    static const float corners[] = {NAN, INFINITY, -INFINITY, 0.0F, -0.0F, 1e-44F};
    struct witness witness = {.ranks = 1 + draw_below(draw, RANKS),
                              .is_min = draw_below(draw, 2) == 0,
                              .best = -1,
                              .other = -1};
    uint32_t corner = draw_below(draw, 30); /* most witnesss have none of them */

    for (uint32_t r = 0; r < witness.ranks; r++) {
        witness.has_value[r] = draw_below(draw, 6) != 0;
        witness.value[r] = corner < 6 && draw_below(draw, 4) == 0
                               ? corners[corner]
                               : ((float)draw_below(draw, 21) - 10.0F) / 4.0F;
        bool is_better =
            witness.best < 0 || place_of(&witness, (int)r) > place_of(&witness, witness.best);

        witness.best = witness.has_value[r] && is_better ? (int)r : witness.best;
    }
    for (uint32_t r = 0; r < witness.ranks; r++) {
        bool is_other = witness.best >= 0 && witness.has_value[r] &&
                        bits_of(witness.value[r]) != bits_of(witness.value[witness.best]);

        witness.other = is_other ? (int)r : witness.other;
    }
    return witness;
}

/* What the ranks from `first` on contribute together: one of them, or all for the result. */
static char *text_elements(char *at, const struct witness *witness, uint32_t first, uint32_t end)
{
    uint32_t sets[2] = {0, 0};
    uint32_t tokens = 0;

    for (uint32_t r = first; r < end; r++) {
        tokens += witness->has_value[r];
        sets[r / 24] |= (uint32_t)witness->has_value[r] << r % 24;
    }
    at += snprintf(at, PIECE, "[0,%u", tokens);
    for (uint32_t r = 0; r < witness->ranks; r++) {
        bool is_own = r >= first && r < end && witness->has_value[r];

        at += snprintf(at, PIECE, ",\"%08x\"", is_own ? bits_of(witness->value[r]) : 0x80000000U);
    }
    at += snprintf(at, PIECE, ",%u", sets[0]);
    return at +
           (witness->ranks > 24 ? snprintf(at, PIECE, ",%u]", sets[1]) : snprintf(at, PIECE, "]"));
}

/* One operation, and a report that shows the value and names the holder of a rank; -1: EMPTY. */
static void text_history(char *text, const struct witness *witness, int shown, int holder)
{
    char *at = text;

    at += snprintf(at, 96, "{\"ev\":\"declare\",\"key\":\"x\",\"kind\":\"%s\"}\n",
                   witness->is_min ? "min" : "max");
    for (uint32_t r = 0; r < witness->ranks; r++) {
        at +=
            snprintf(at, 96,
                     "{\"ev\":\"issue\",\"rank\":%u,\"op\":0,\"step\":4,\"key\":\"x\",\"pairs\":1,"
                     "\"in\":",
                     r);
        at = text_elements(at, witness, r, r + 1);
        at += snprintf(at, PIECE, "}\n");
    }
    for (uint32_t r = 0; r < witness->ranks; r++) {
        at += snprintf(at, PIECE, "{\"ev\":\"done\",\"rank\":%u,\"op\":0,\"out\":", r);
        at = text_elements(at, witness, 0, witness->ranks);
        at += snprintf(at, PIECE, "}\n");
    }
    at += snprintf(at, 96, "{\"ev\":\"report\",\"rank\":0,\"metric\":\"x\",\"step\":4,");
    if (shown < 0) {
        snprintf(at, PIECE, "\"loss\":null}\n");
    } else {
        snprintf(at, PIECE, "\"holder\":%d,\"bits\":\"%08x\"}\n", holder,
                 bits_of(witness->value[shown]));
    }
}

static void check(const struct witness *witness, int shown, int holder, enum alar_anomaly anomaly,
                  int round)
{
    static char text[TEXT];
    struct told judged = {0};

    text_history(text, witness, shown, holder);
    told(&judged, text);
    const struct alar_verdict *verdict = told_verdict(&judged);

    cr_assert_eq(verdict->kind, anomaly == ALAR_ANOMALY_COUNT ? ALAR_PASS : ALAR_FAIL,
                 "seed %d, round %d: %s\n%s", SEED, round, told_reason(&judged), text);
    cr_assert(anomaly == ALAR_ANOMALY_COUNT || verdict->finding[0].anomaly == anomaly,
              "seed %d, round %d: %s", SEED, round, told_reason(&judged));
    told_free(&judged);
}

/* The right value and rank pass, and only they: a value of another rank, a value for EMPTY, EMPTY
   for a value, and the right value under another rank's name are told apart. spec: O-62, O-63 */
Test(judge_report_extreme, one_value_and_one_rank_are_right)
{
    struct draw draw = {SEED};

    for (int round = 0; round < ROUNDS; round++) {
        struct witness witness = witness_draw(&draw);

        check(&witness, witness.best, witness.best, ALAR_ANOMALY_COUNT, round);
        if (witness.best < 0) {
            check(&witness, 0, 0, ALAR_ANOMALY_EMPTY_AS_NUMBER, round);
            continue;
        }
        float best = witness.value[witness.best];

        check(&witness, -1, 0, ALAR_ANOMALY_ILLEGAL_REPORT, round);
        check(&witness, witness.best, witness.best + 1, ALAR_ANOMALY_WRONG_HOLDER, round);
        if (witness.other >= 0) {
            bool is_hidden = !isfinite(best) && isfinite(witness.value[witness.other]);

            check(&witness, witness.other, witness.other,
                  is_hidden ? ALAR_ANOMALY_NONFINITE_DROPPED : ALAR_ANOMALY_ILLEGAL_REPORT, round);
        }
    }
}

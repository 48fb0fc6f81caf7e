/* The encoding `exact`: the same bits for every split of the same tokens, and what its elements say
   of themselves. */
#include "engine/payload.h"
#include "numbers/fp.h"
#include "tests/lib/demand.h"
#include "tests/lib/draw.h"
#include "tests/lib/means.h"

#include <math.h>
#include <string.h>

enum {
    SEED = 77031,
    RANKS_MAX = 8,
    MICROBATCHES_MAX = 8,
    TOKENS_MAX = 96,
    ELEMENTS_MAX =
        MICROBATCHES_MAX * (ALAR_PAYLOAD_EXACT_ELEMENTS + 1) + ALAR_PARTICIPATION_ELEMENTS
};

static uint64_t bits_of(double value)
{
    return alar_fp_from_double(ALAR_F64, value);
}

static struct alar_layout layout_of(enum alar_normalization normalization, uint32_t ranks,
                                    uint32_t microbatches)
{
    return (struct alar_layout){.metrics = 1,
                                .cp = 1,
                                .encoding = ALAR_EXACT,
                                .normalization = normalization,
                                .placement = ALAR_PLACEMENT_STEP,
                                .ranks = ranks,
                                .microbatches = microbatches,
                                .has_flags = true,
                                .schema = 5};
}

/* What integer SUM does; unsigned, so that hostile elements wrap as they do in libraries. */
static void elements_add(int64_t *sum, const int64_t *elements, size_t count, uint64_t times)
{
    for (size_t i = 0; i < count; i++) {
        sum[i] = (int64_t)((uint64_t)sum[i] + times * (uint64_t)elements[i]);
    }
}

/* One step reduced: locals are [rank][microbatch]; ranks are added in the order given. */
static struct alar_tally step_reduce(const struct alar_layout *layout,
                                     const struct alar_local *local, const uint32_t *order)
{
    size_t microbatches = layout->placement == ALAR_PLACEMENT_MICROBATCH ? 1 : layout->microbatches;
    struct alar_tally tally = {.tokens = 0};

    for (size_t at = 0; at < layout->microbatches; at += microbatches) {
        size_t count = alar_payload_elements(layout, microbatches);
        int64_t sum[ELEMENTS_MAX] = {0};
        int64_t elements[ELEMENTS_MAX];

        for (uint32_t i = 0; i < layout->ranks; i++) {
            alar_payload_write(layout, order[i], 4, &local[order[i] * layout->microbatches + at],
                               microbatches, elements);
            elements_add(sum, elements, count, 1);
        }
        demand(alar_payload_check(layout, order[0], 4, sum, microbatches).kind ==
                   ALAR_PARTICIPATION_WHOLE,
               "a whole reduction is not called so");
        for (size_t i = 0; i < alar_payload_pairs(layout, microbatches); i++) {
            alar_payload_add(layout, sum, i, &tally);
        }
    }
    return tally;
}

/* ---- splits -----------------------------------------------------------------------------------
 */

struct tokens {
    float loss[TOKENS_MAX];
    uint8_t mask[TOKENS_MAX];
    uint32_t count;
};

static struct tokens draw_tokens(struct draw *draw)
{
    struct tokens tokens = {.count = 1 + draw_below(draw, TOKENS_MAX)};
    uint64_t bits[TOKENS_MAX];

    draw_values(draw, (enum draw_family)draw_below(draw, DRAW_FAMILY_COUNT), ALAR_F32, bits,
                tokens.count);
    for (uint32_t i = 0; i < tokens.count; i++) {
        uint32_t narrow = (uint32_t)bits[i];

        memcpy(&tokens.loss[i], &narrow, sizeof(narrow));
        tokens.mask[i] = draw_below(draw, 5) > 0;
    }
    return tokens;
}

/* The value of a drawn split of the tokens, in a drawn order, at a drawn placement. */
static bool split_value(const struct tokens *tokens, struct draw *draw, double *value)
{
    uint32_t ranks = 1 + draw_below(draw, RANKS_MAX);
    uint32_t microbatches = 1 + draw_below(draw, MICROBATCHES_MAX);
    struct alar_layout layout = layout_of(ALAR_TOKEN_WEIGHTED, ranks, microbatches);
    struct alar_exact exact[RANKS_MAX * MICROBATCHES_MAX];
    struct alar_local local[RANKS_MAX * MICROBATCHES_MAX];
    uint32_t order[RANKS_MAX];
    uint32_t from = 0;

    layout.placement = draw_below(draw, 2) ? ALAR_PLACEMENT_STEP : ALAR_PLACEMENT_MICROBATCH;
    for (uint32_t i = 0; i < ranks * microbatches; i++) {
        bool is_last = i + 1 == ranks * microbatches;
        uint32_t left = tokens->count - from;
        uint32_t count = is_last ? left : draw_below(draw, left + 1);

        local[i] =
            alar_loss_select_exact(tokens->loss + from, tokens->mask + from, count, &exact[i]);
        from += count;
    }
    draw_order(draw, order, ranks);
    struct alar_tally tally = step_reduce(&layout, local, order);
    return alar_loss_value(&tally, ALAR_EXACT, value);
}

/* Tokens of all families, hostile ones included, split over 1 to 8 ranks and 1 to 8 microbatches,
   added in any order: one value, the sum of all of them over their number, rounded once.
   spec: N-50, N-53, N-54 */
Test(payload_exact, every_split_of_the_same_tokens_gives_the_same_bits)
{
    struct draw draw = {SEED};

    for (int round = 0; round < 600; round++) {
        struct tokens tokens = draw_tokens(&draw);
        uint64_t chosen[TOKENS_MAX];
        uint32_t n = 0;

        for (uint32_t i = 0; i < tokens.count; i++) {
            if (tokens.mask[i]) {
                chosen[n++] = bits_of((double)tokens.loss[i]);
            }
        }
        for (int split = 0; split < 8; split++) {
            double value = 77.0;
            bool has_value = split_value(&tokens, &draw, &value);

            demand(has_value == (n > 0), "seed %d, round %d: EMPTY", SEED, round);
            demand(n == 0 || bits_of(value) == exact_mean(ALAR_F64, chosen, n),
                   "seed %d, round %d, split %d: %a", SEED, round, split, value);
        }
    }
}

/* The mean of rank means depends on the split, as it should, and not on orders or placements; own
   means and microbatch means are rounded once to fp64, and their sums are exact. spec: N-53 */
Test(payload_exact, rank_means_are_rounded_once_each)
{
    struct draw draw = {SEED + 1};

    for (int round = 0; round < 400; round++) {
        uint32_t ranks = 1 + draw_below(&draw, RANKS_MAX);
        uint32_t microbatches = 1 + draw_below(&draw, MICROBATCHES_MAX);
        struct alar_layout layout = layout_of(ALAR_RANK_MEAN, ranks, microbatches);
        struct alar_local local[RANKS_MAX * MICROBATCHES_MAX];
        uint64_t microbatch_mean[MICROBATCHES_MAX];
        uint32_t order[RANKS_MAX];

        layout.placement = round % 2 ? ALAR_PLACEMENT_STEP : ALAR_PLACEMENT_MICROBATCH;
        for (uint32_t m = 0; m < microbatches; m++) {
            uint64_t mean[RANKS_MAX];

            for (uint32_t r = 0; r < ranks; r++) {
                double sum = (double)draw_below(&draw, 1000000) / 7.0;
                int64_t tokens = 1 + draw_below(&draw, 500);

                local[r * microbatches + m] = (struct alar_local){sum, tokens, 0, 0, NULL};
                mean[r] = bits_of(sum / (double)tokens);
            }
            microbatch_mean[m] = exact_mean(ALAR_F64, mean, ranks);
        }
        draw_order(&draw, order, ranks);
        struct alar_tally tally = step_reduce(&layout, local, order);
        double value = 0.0;

        demand(alar_loss_value(&tally, ALAR_EXACT, &value), "EMPTY");
        demand(bits_of(value) == exact_mean(ALAR_F64, microbatch_mean, microbatches),
               "seed %d, round %d: %a", SEED + 1, round, value);
    }
}

/* ---- special values ----------------------------------------------------------------------------
 */

/* One microbatch of two ranks with these sums of one token each, or of none where it is EMPTY. */
static double pair_of(double a, double b, bool is_b_empty)
{
    struct alar_layout layout = layout_of(ALAR_TOKEN_WEIGHTED, 2, 1);
    const struct alar_local local[2] = {{.sum = a, .tokens = 1},
                                        {.sum = b, .tokens = is_b_empty ? 0 : 1}};
    static const uint32_t order[2] = {1, 0};
    struct alar_tally tally = step_reduce(&layout, local, order);
    double value = 77.0;

    cr_assert(alar_loss_value(&tally, ALAR_EXACT, &value));
    return value;
}

/* -0 only when every term is -0; an empty rank is no term. Inf stays, Inf - Inf and NaN are NaN;
   the largest values meet without overflow. spec: N-53, L-05 */
Test(payload_exact, special_values_follow_the_rules_of_exact_sums)
{
    cr_assert_eq(bits_of(pair_of(-0.0, -0.0, false)), bits_of(-0.0));
    cr_assert_eq(bits_of(pair_of(-0.0, 0.0, true)), bits_of(-0.0));
    cr_assert_eq(bits_of(pair_of(-0.0, 0.0, false)), bits_of(0.0));
    cr_assert_eq(bits_of(pair_of(1.5, -1.5, false)), bits_of(0.0));
    cr_assert(isinf(pair_of((double)INFINITY, 3.0, false)));
    cr_assert(isnan(pair_of((double)INFINITY, -(double)INFINITY, false)));
    cr_assert(isnan(pair_of((double)NAN, 3.0, false)));
    cr_assert_eq(bits_of(pair_of(0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023, false)),
                 bits_of(0x1.fffffffffffffp1023));
    cr_assert_eq(bits_of(pair_of(0x1p-1074, 0x1p-1074, false)), bits_of(0x1p-1074));
}

/* No token anywhere is EMPTY, neither NaN nor 0, and the report counts it. spec: L-05 */
Test(payload_exact, no_token_anywhere_is_empty)
{
    struct alar_layout layout = layout_of(ALAR_TOKEN_WEIGHTED, 2, 1);
    const struct alar_local none[2] = {{.sum = 0.0}, {.sum = 0.0}};
    static const uint32_t order[2] = {0, 1};
    struct alar_tally interval = {.tokens = 0};
    struct alar_tally tally = step_reduce(&layout, none, order);
    double value = 77.0;

    cr_assert_not(alar_loss_value(&tally, ALAR_EXACT, &value));
    alar_loss_add_step(&interval, ALAR_EXACT, ALAR_OVER_STEPS, &tally);
    cr_assert_not(alar_loss_value(&interval, ALAR_EXACT, &value));
    cr_assert_eq(bits_of(value), bits_of(77.0));
    cr_assert_eq(interval.empty, 1);
}

/* ---- over an interval --------------------------------------------------------------------------
 */

/* Three steps: the mean of their values, and the one ratio of their sums. spec: L-04, N-53 */
Test(payload_exact, intervals_are_means_of_steps_or_pooled)
{
    struct alar_layout layout = layout_of(ALAR_TOKEN_WEIGHTED, 1, 1);
    static const double sum[3] = {1.0, 2.0, 10.0};
    static const int64_t tokens[3] = {3, 7, 11};
    static const uint32_t order[1] = {0};
    struct alar_tally steps = {.tokens = 0};
    struct alar_tally pooled = {.tokens = 0};
    uint64_t value[3];
    double found = 0.0;

    for (int i = 0; i < 3; i++) {
        const struct alar_local local = {.sum = sum[i], .tokens = tokens[i]};
        struct alar_tally step = step_reduce(&layout, &local, order);

        alar_loss_add_step(&steps, ALAR_EXACT, ALAR_OVER_STEPS, &step);
        alar_loss_add_step(&pooled, ALAR_EXACT, ALAR_OVER_POOLED, &step);
        value[i] = bits_of(sum[i] / (double)tokens[i]);
    }
    cr_assert(alar_loss_value(&steps, ALAR_EXACT, &found));
    cr_assert_eq(bits_of(found), exact_mean(ALAR_F64, value, 3));
    cr_assert(alar_loss_value(&pooled, ALAR_EXACT, &found));
    cr_assert_eq(bits_of(found), bits_of(13.0 / 21.0));
    cr_assert_eq(bits_of(pooled.tokens), bits_of(21.0));
}

/* ---- elements
 * -------------------------------------------------------------------------------------
 */

/* Pairs first, then 62 ranks of a set a element, then the participation; typed. spec: N-50 */
Test(payload_exact, layouts_are_as_typed)
{
    struct alar_layout layout = layout_of(ALAR_RANK_MEAN, 62, 2);

    cr_assert_eq(alar_payload_dtype(&layout), ALAR_I64);
    cr_assert_eq(alar_payload_element_bytes(&layout), 8);
    cr_assert_eq(ALAR_PAYLOAD_EXACT_ELEMENTS, 74);
    cr_assert_eq(alar_payload_elements(&layout, 2), 2 * 74 + 2 + 8);
    layout.ranks = 63;
    cr_assert_eq(alar_payload_elements(&layout, 2), 2 * 74 + 4 + 8);
    layout.has_flags = false;
    layout.normalization = ALAR_TOKEN_WEIGHTED;
    cr_assert_eq(alar_payload_elements(&layout, 2), 74 + 8);
}

/* Any set of 100 ranks is read as it was written. spec: L-07 */
Test(payload_exact, sets_of_ranks_are_whole_numbers)
{
    struct alar_layout layout = layout_of(ALAR_TOKEN_WEIGHTED, 100, 1);
    struct draw draw = {SEED + 2};

    for (int round = 0; round < 50; round++) {
        int64_t sum[ELEMENTS_MAX] = {0};
        bool is_in[100];
        uint64_t named = 0;

        for (uint32_t r = 0; r < 100; r++) {
            const struct alar_local local = {
                .sum = 1.0, .tokens = 1, .nonfinite = draw_below(&draw, 3) == 0};
            int64_t elements[ELEMENTS_MAX];

            is_in[r] = local.nonfinite > 0;
            named += local.nonfinite;
            alar_payload_write(&layout, r, 4, &local, 1, elements);
            elements_add(sum, elements, alar_payload_elements(&layout, 1), 1);
        }
        demand(alar_payload_flag_count(&layout, sum, 1) == named, "seed %d", SEED + 2);
        for (uint32_t r = 0; r < 100; r++) {
            demand(alar_payload_flag(&layout, sum, 1, 0, r) == is_in[r], "rank %u", r);
        }
    }
}

/* The most that elements are made for: 2^20 ranks that add the most negative sum of 2^42 tokens.
   spec: N-50 */
Test(payload_exact, a_million_ranks_of_the_largest_sums_fit)
{
    struct alar_layout layout = layout_of(ALAR_TOKEN_WEIGHTED, 1 << 20, 1);
    struct alar_exact exact = {.terms = (uint64_t)ALAR_LOSS_EXACT_TOKENS_MAX};
    const struct alar_local local = {
        .tokens = ALAR_LOSS_EXACT_TOKENS_MAX, .nonfinite = 0, .exact = &exact};
    int64_t elements[ELEMENTS_MAX];
    int64_t sum[ELEMENTS_MAX] = {0};
    struct alar_tally tally = {.tokens = 0};
    double value = 0.0;

    layout.has_flags = false;
    for (int i = 3; i < 65; i++) { /* every digit at its largest */
        exact.digit[i] = -INT64_C(0xffffffff);
    }
    alar_payload_write(&layout, 3, 4, &local, 1, elements);
    elements_add(sum, elements, ALAR_PAYLOAD_EXACT_ELEMENTS, UINT64_C(1) << 20);
    for (size_t i = 0; i < ALAR_PAYLOAD_EXACT_ELEMENTS; i++) {
        cr_assert_eq(sum[i] / (1 << 20), elements[i], "lane %zu overflowed", i);
    }
    alar_payload_add(&layout, sum, 0, &tally);
    cr_assert(alar_loss_value(&tally, ALAR_EXACT, &value));
    cr_assert_eq(bits_of(value), alar_exact_round(&exact, (uint64_t)ALAR_LOSS_EXACT_TOKENS_MAX,
                                                  ALAR_F64, ALAR_NEAREST));
}

/* A whole participation beside elements that no contributions make, and the reverse. spec: N-51 */
Test(payload_exact, damaged_lanes_are_no_value)
{
    struct alar_layout layout = layout_of(ALAR_TOKEN_WEIGHTED, 1, 1);
    const struct alar_local local = {.sum = 2.5, .tokens = 2};
    static const int64_t hostile[] = {INT64_MIN, INT64_MIN + 1, INT64_MAX, INT64_MAX - 1};
    int64_t elements[ELEMENTS_MAX];

    layout.has_flags = false;
    for (size_t at = 0; at < ALAR_PAYLOAD_EXACT_ELEMENTS + ALAR_PARTICIPATION_ELEMENTS; at++) {
        for (size_t i = 0; i < 4; i++) {
            alar_payload_write(&layout, 0, 4, &local, 1, elements);
            cr_assert_eq(alar_payload_check(&layout, 0, 4, elements, 1).kind,
                         ALAR_PARTICIPATION_WHOLE);
            elements[at] = hostile[i];
            enum alar_participation_kind kind = alar_payload_check(&layout, 0, 4, elements, 1).kind;

            cr_assert_eq(kind,
                         at < ALAR_PAYLOAD_EXACT_ELEMENTS ? ALAR_PARTICIPATION_DAMAGED
                                                          : ALAR_PARTICIPATION_MISCOUNT,
                         "lane %zu, value %zu: kind %d", at, i, (int)kind);
        }
    }
}

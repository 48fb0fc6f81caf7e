/* Several metrics side by side, of any kind, are the same as each of them alone. */
#include "engine/payload.h"
#include "engine/schema.h"
#include "tests/lib/demand.h"
#include "tests/lib/draw.h"

#include <string.h>

enum {
    SEED = 61124,
    RANKS = 3,
    METRICS = 3,
    MICROBATCHES = 4,
    BLOCK = RANKS + 1,
    ELEMENTS_MAX = MICROBATCHES * METRICS * (ALAR_PAYLOAD_EXACT_ELEMENTS + BLOCK + 1) +
                   ALAR_PARTICIPATION_ELEMENTS
};

union elements {
    float narrow[ELEMENTS_MAX];
    double wide[ELEMENTS_MAX];
    int64_t whole[ELEMENTS_MAX];
};

static void elements_add(const struct alar_layout *layout, union elements *sum,
                         const union elements *elements, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (layout->encoding == ALAR_EXACT) {
            sum->whole[i] += elements->whole[i];
        } else if (layout->encoding == ALAR_PAIR64) {
            sum->wide[i] += elements->wide[i];
        } else {
            sum->narrow[i] += elements->narrow[i];
        }
    }
}

/* What is known of one metric's step. */
struct known {
    struct alar_tally tally;
    struct alar_extreme extreme;
};

/* Reduces one step of [rank][microbatch][metric] local losses, `metrics` of them side by side. */
static void reduce(const struct alar_layout *layout, const struct alar_local *local,
                   union elements *sum, struct known *known)
{
    uint32_t metrics = layout->metrics;
    size_t count = alar_payload_elements(layout, MICROBATCHES);

    memset(sum, 0, sizeof(*sum));
    for (uint32_t r = 0; r < RANKS; r++) {
        union elements elements;

        alar_payload_write(layout, r, 4, &local[r * MICROBATCHES * metrics], MICROBATCHES,
                           &elements);
        elements_add(layout, sum, &elements, count);
    }
    cr_assert_eq(alar_payload_check(layout, 1, 4, sum, MICROBATCHES).kind,
                 ALAR_PARTICIPATION_WHOLE);
    for (size_t i = 0; i < alar_payload_pairs(layout, MICROBATCHES); i++) {
        alar_payload_add(layout, sum, i, &known[i % metrics].tally);
        alar_payload_add_extreme(layout, sum, MICROBATCHES, i, &known[i % metrics].extreme);
    }
}

static void draw_locals(struct draw *draw, struct alar_local *local, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t tokens = draw_below(draw, 4);

        local[i] = (struct alar_local){.sum = (double)tokens * draw_below(draw, 1000) / 8.0,
                                       .tokens = tokens,
                                       .nonfinite = draw_below(draw, 5) == 0};
    }
}

static bool known_value(const struct alar_layout *layout, enum alar_metric_kind kind,
                        const struct known *known, double *value)
{
    *value = 77.0;
    switch (kind) {
    case ALAR_METRIC_MEAN:
        return alar_loss_value(&known->tally, layout->encoding, value);
    case ALAR_METRIC_SUM:
        return alar_loss_total(&known->tally, layout->encoding, value);
    default:
        *value = known->extreme.has_value ? known->extreme.value : *value;
        return known->extreme.has_value;
    }
}

static void check_metric(const struct alar_layout *layout, const struct alar_local *local,
                         uint32_t metric, const union elements *together, const struct known *known)
{
    enum alar_metric_kind kind = alar_kinds_get(layout->kinds, metric);
    struct alar_layout alone = *layout;
    struct alar_local own[RANKS * MICROBATCHES];
    struct known expected;
    union elements sum;
    double a = 0.0;
    double b = 0.0;

    memset(&expected, 0, sizeof(expected));
    alone.metrics = 1;
    alone.kinds = alar_kinds_put(0, 0, kind);
    for (size_t i = 0; i < RANKS * MICROBATCHES; i++) {
        own[i] = local[i * METRICS + metric];
    }
    reduce(&alone, own, &sum, &expected);
    demand(known_value(layout, kind, known, &a) == known_value(&alone, kind, &expected, &b),
           "seed %d: EMPTY", SEED);
    demand(memcmp(&a, &b, sizeof(a)) == 0, "seed %d: metric %u: %a, alone %a", SEED, metric, a, b);
    demand(known->extreme.rank == expected.extreme.rank, "seed %d: metric %u", SEED, metric);
    demand(memcmp(&known->tally.tokens, &expected.tally.tokens, sizeof(double)) == 0,
           "seed %d: metric %u: tokens", SEED, metric);
    for (size_t i = 0; i < (size_t)MICROBATCHES * RANKS; i++) {
        demand(alar_payload_flag(layout, together, MICROBATCHES, i / RANKS * METRICS + metric,
                                 (uint32_t)(i % RANKS)) ==
                   alar_payload_flag(&alone, &sum, MICROBATCHES, i / RANKS, (uint32_t)(i % RANKS)),
               "seed %d: metric %u, flag %zu", SEED, metric, i);
    }
}

static uint32_t draw_kinds(struct draw *draw)
{
    uint32_t kinds = 0;

    for (uint32_t m = 0; m < METRICS; m++) {
        kinds =
            alar_kinds_put(kinds, m, (enum alar_metric_kind)draw_below(draw, ALAR_METRIC_KINDS));
    }
    return kinds;
}

/* In all encodings and normalizations and of all kinds, a step placed as a whole. spec: L-02, L-14,
   N-52 */
Test(payload_metrics, each_metric_is_what_it_is_alone)
{
    struct draw draw = {SEED};

    for (int round = 0; round < 120 * ALAR_ENCODING_COUNT * ALAR_SEED_UNDIVIDED; round++) {
        const struct alar_layout layout = {
            .cp = 1,
            .encoding = (enum alar_encoding)(round % ALAR_ENCODING_COUNT),
            .normalization =
                (enum alar_normalization)(round / ALAR_ENCODING_COUNT % ALAR_SEED_UNDIVIDED),
            .placement = ALAR_PLACEMENT_STEP,
            .ranks = RANKS,
            .microbatches = MICROBATCHES,
            .metrics = METRICS,
            .kinds = draw_kinds(&draw),
            .has_flags = true};
        struct alar_local local[RANKS * MICROBATCHES * METRICS];
        struct known known[METRICS];
        union elements sum;

        memset(known, 0, sizeof(known));
        draw_locals(&draw, local, RANKS * MICROBATCHES * METRICS);
        reduce(&layout, local, &sum, known);
        for (uint32_t m = 0; m < METRICS; m++) {
            check_metric(&layout, local, m, &sum, &known[m]);
        }
    }
}

/* A sum is that of all samples and no quotient, an extreme one of the samples with tokens; neither
   asks what a mean would be. spec: L-14, L-15 */
Test(payload_metrics, sums_and_extremes_ignore_the_normalization)
{
    static const struct alar_local local[RANKS * 2] = {
        {.sum = 3.0, .tokens = 2},  {.sum = 5.0, .tokens = 1}, {.sum = 0.0, .tokens = 0},
        {.sum = -0.5, .tokens = 4}, {.sum = 9.0, .tokens = 0}, {.sum = 1.0, .tokens = 1}};

    for (int i = 0; i < ALAR_METRIC_KINDS * ALAR_NORMALIZATION_COUNT * ALAR_ENCODING_COUNT; i++) {
        enum alar_metric_kind kind = (enum alar_metric_kind)(i % ALAR_METRIC_KINDS);
        static const double expected[] = {0.0, 17.5, -0.5, 5.0}; /* 9 of no token is added */
        struct alar_layout layout = {
            .metrics = 1,
            .cp = 1,
            .encoding = (enum alar_encoding)(i / ALAR_METRIC_KINDS % ALAR_ENCODING_COUNT),
            .normalization = (enum alar_normalization)(i / ALAR_METRIC_KINDS / ALAR_ENCODING_COUNT),
            .placement = ALAR_PLACEMENT_STEP,
            .ranks = RANKS,
            .microbatches = 2,
            .kinds = alar_kinds_put(0, 0, kind)};
        struct known known;
        union elements sum;
        double value = 0.0;

        if (kind == ALAR_METRIC_MEAN) {
            continue;
        }
        memset(&known, 0, sizeof(known));
        memset(&sum, 0, sizeof(sum));
        for (uint32_t r = 0; r < RANKS; r++) {
            union elements elements;

            alar_payload_write(&layout, r, 0, &local[2 * r], 2, &elements);
            elements_add(&layout, &sum, &elements, alar_payload_elements(&layout, 2));
        }
        for (size_t p = 0; p < alar_payload_pairs(&layout, 2); p++) {
            alar_payload_add(&layout, &sum, p, &known.tally);
            alar_payload_add_extreme(&layout, &sum, 2, p, &known.extreme);
        }
        cr_assert(known_value(&layout, kind, &known, &value));
        cr_assert_eq(memcmp(&value, &expected[kind], sizeof(value)), 0, "%d: %s is %g", i,
                     alar_metric_kind_names[kind], value);
        cr_assert_eq((int)known.tally.tokens, 8);
    }
}

/* Under `exact` a element that only a broken back end can have made is refused, be it in a block or
   in the set behind it. spec: N-13 */
Test(payload_metrics, a_damaged_block_is_found)
{
    const struct alar_layout layout = {.metrics = 1,
                                       .cp = 1,
                                       .encoding = ALAR_EXACT,
                                       .placement = ALAR_PLACEMENT_STEP,
                                       .ranks = RANKS,
                                       .microbatches = MICROBATCHES,
                                       .kinds = alar_kinds_put(0, 0, ALAR_METRIC_MIN)};
    struct alar_local local[RANKS * MICROBATCHES] = {
        {.sum = 2.0, .tokens = 1}}; /* of rank 0 alone */
    struct known known;
    union elements sum;

    memset(&known, 0, sizeof(known));
    reduce(&layout, local, &sum, &known);
    for (int element = 0; element < BLOCK; element++) {
        union elements damaged = sum;

        damaged.whole[ALAR_PAYLOAD_EXACT_ELEMENTS + element] ^= element == RANKS ? 8 : 1;
        cr_assert_eq(alar_payload_check(&layout, 1, 4, &damaged, MICROBATCHES).kind,
                     element == 0 ? ALAR_PARTICIPATION_WHOLE : ALAR_PARTICIPATION_DAMAGED,
                     "lane %d", element);
    }
}

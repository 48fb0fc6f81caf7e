/* Several metrics side by side are the same as each of them alone. */
#include "payload.h"
#include "tests/lib/demand.h"
#include "tests/lib/draw.h"

#include <string.h>

enum {
    SEED = 61124,
    RANKS = 3,
    METRICS = 3,
    CELLS = 4,
    LANES_MAX = CELLS * METRICS * (ALAR_PAYLOAD_EXACT_LANES + 1) + ALAR_CENSUS_LANES
};

union lanes {
    float narrow[LANES_MAX];
    double wide[LANES_MAX];
    int64_t whole[LANES_MAX];
};

static void lanes_add(const struct alar_layout *layout, union lanes *sum, const union lanes *lanes,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (layout->encoding == ALAR_EXACT) {
            sum->whole[i] += lanes->whole[i];
        } else if (layout->encoding == ALAR_PAIR64) {
            sum->wide[i] += lanes->wide[i];
        } else {
            sum->narrow[i] += lanes->narrow[i];
        }
    }
}

/* Reduces one step of [rank][cell][metric] local losses, `metrics` of them side by side. */
static void reduce(const struct alar_layout *layout, const struct alar_local *local,
                   union lanes *sum, struct alar_tally *tally)
{
    uint32_t metrics = alar_payload_metrics(layout);
    size_t count = alar_payload_lanes(layout, CELLS);

    memset(sum, 0, sizeof(*sum));
    for (uint32_t r = 0; r < RANKS; r++) {
        union lanes lanes;

        alar_payload_write(layout, r, 4, &local[r * CELLS * metrics], CELLS, &lanes);
        lanes_add(layout, sum, &lanes, count);
    }
    cr_assert_eq(alar_payload_check(layout, 1, 4, sum, CELLS).kind, ALAR_CENSUS_WHOLE);
    for (size_t i = 0; i < alar_payload_pairs(layout, CELLS); i++) {
        alar_payload_add(layout, sum, i, &tally[i % metrics]);
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

static void check_metric(const struct alar_layout *layout, const struct alar_local *local,
                         uint32_t metric, const union lanes *together, struct alar_tally *tally)
{
    struct alar_layout alone = *layout;
    struct alar_local own[RANKS * CELLS];
    struct alar_tally expected = {.tokens = 0};
    union lanes sum;
    double a = 77.0;
    double b = 77.0;

    alone.metrics = 1;
    for (size_t i = 0; i < RANKS * CELLS; i++) {
        own[i] = local[i * METRICS + metric];
    }
    reduce(&alone, own, &sum, &expected);
    demand(alar_loss_value(tally, layout->encoding, &a) ==
               alar_loss_value(&expected, layout->encoding, &b),
           "seed %d: EMPTY", SEED);
    demand(memcmp(&a, &b, sizeof(a)) == 0, "seed %d: metric %u: %a, alone %a", SEED, metric, a, b);
    for (size_t i = 0; i < (size_t)CELLS * RANKS; i++) {
        demand(alar_payload_flag(layout, together, CELLS, i / RANKS * METRICS + metric,
                                 (uint32_t)(i % RANKS)) ==
                   alar_payload_flag(&alone, &sum, CELLS, i / RANKS, (uint32_t)(i % RANKS)),
               "seed %d: metric %u, flag %zu", SEED, metric, i);
    }
}

/* In all encodings and normalizations, at a step's and at single placements. spec: L-02, N-52 */
Test(payload_metrics, each_metric_is_what_it_is_alone)
{
    struct draw draw = {SEED};

    for (int round = 0; round < 60 * ALAR_ENCODING_COUNT * ALAR_SEED_UNDIVIDED; round++) {
        const struct alar_layout layout = {
            .encoding = (enum alar_encoding)(round % ALAR_ENCODING_COUNT),
            .normalization =
                (enum alar_normalization)(round / ALAR_ENCODING_COUNT % ALAR_SEED_UNDIVIDED),
            .placement = ALAR_PLACEMENT_STEP,
            .ranks = RANKS,
            .microbatches = CELLS,
            .metrics = METRICS,
            .has_flags = true};
        struct alar_local local[RANKS * CELLS * METRICS];
        struct alar_tally tally[METRICS];
        union lanes sum;

        memset(tally, 0, sizeof(tally));
        draw_locals(&draw, local, RANKS * CELLS * METRICS);
        reduce(&layout, local, &sum, tally);
        for (uint32_t m = 0; m < METRICS; m++) {
            check_metric(&layout, local, m, &sum, &tally[m]);
        }
    }
}

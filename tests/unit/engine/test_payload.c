/* Lanes: their layout in every combination, and sets of ranks that survive any order of addition.
 */
#include "engine/payload.h"
#include "tests/lib/demand.h"
#include "tests/lib/draw.h"

#include <math.h>
#include <signal.h>
#include <string.h>

enum {
    RANKS_MAX = 60,
    MICROBATCHES_MAX = 8,
    ELEMENTS_MAX = 2 * MICROBATCHES_MAX + MICROBATCHES_MAX * 3,
    SEED = 58309
};

union elements {
    float narrow[ELEMENTS_MAX];
    double wide[ELEMENTS_MAX];
};

static double element(const struct alar_layout *layout, const union elements *elements, size_t i)
{
    return layout->encoding == ALAR_PAIR32 ? (double)elements->narrow[i] : elements->wide[i];
}

static void element_set(const struct alar_layout *layout, union elements *elements, size_t i,
                        double value)
{
    if (layout->encoding == ALAR_PAIR32) {
        elements->narrow[i] = (float)value;
    } else {
        elements->wide[i] = value;
    }
}

/* What a SUM over ranks does, element by element. */
static void elements_add(const struct alar_layout *layout, union elements *sum,
                         const union elements *elements, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        element_set(
            layout, sum, i,
            alar_loss_add(layout->encoding, element(layout, sum, i), element(layout, elements, i)));
    }
}

/* Pairs and elements of 1 step of 4 microbatches and of a window of 2 such steps, 30 ranks; typed,
   not computed. Flags take 2 elements a microbatch in fp32 (24 ranks a element) and 1 in fp64 (53).
   spec: L-03 */
Test(payload, layouts_are_as_typed)
{
    static const struct {
        enum alar_normalization normalization;
        enum alar_placement placement;
        size_t microbatches;
        size_t pairs;
        size_t bare, narrow, wide; /* elements without flags, with them in fp32, in fp64 */
    } table[] = {
        {ALAR_TOKEN_WEIGHTED, ALAR_PLACEMENT_MICROBATCH, 1, 1, 2, 4, 3},
        {ALAR_TOKEN_WEIGHTED, ALAR_PLACEMENT_STEP, 4, 1, 2, 10, 6},
        {ALAR_TOKEN_WEIGHTED, ALAR_PLACEMENT_WINDOW, 8, 2, 4, 20, 12},
        {ALAR_RANK_MEAN, ALAR_PLACEMENT_MICROBATCH, 1, 1, 2, 4, 3},
        {ALAR_RANK_MEAN, ALAR_PLACEMENT_STEP, 4, 4, 8, 16, 12},
        {ALAR_RANK_MEAN, ALAR_PLACEMENT_WINDOW, 8, 8, 16, 32, 24},
        {ALAR_MICROBATCH_MEAN, ALAR_PLACEMENT_MICROBATCH, 1, 1, 2, 4, 3},
        {ALAR_MICROBATCH_MEAN, ALAR_PLACEMENT_STEP, 4, 4, 8, 16, 12},
        {ALAR_MICROBATCH_MEAN, ALAR_PLACEMENT_WINDOW, 8, 8, 16, 32, 24},
        {ALAR_SEED_UNDIVIDED, ALAR_PLACEMENT_MICROBATCH, 1, 1, 2, 4, 3},
        {ALAR_SEED_UNDIVIDED, ALAR_PLACEMENT_STEP, 4, 4, 8, 16, 12},
        {ALAR_SEED_UNDIVIDED, ALAR_PLACEMENT_WINDOW, 8, 8, 16, 32, 24},
    };

    cr_assert_eq(sizeof(table) / sizeof(table[0]), ALAR_NORMALIZATION_COUNT * ALAR_PLACEMENT_COUNT);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct alar_layout layout = {.metrics = 1,
                                     .cp = 1,
                                     .normalization = table[i].normalization,
                                     .placement = table[i].placement,
                                     .ranks = 30,
                                     .microbatches = 4};

        cr_assert_eq(alar_payload_element_bytes(&layout), 4);
        cr_assert_eq(alar_payload_pairs(&layout, table[i].microbatches), table[i].pairs, "row %zu",
                     i);
        cr_assert_eq(alar_payload_elements(&layout, table[i].microbatches), table[i].bare,
                     "row %zu", i);
        layout.has_flags = true;
        cr_assert_eq(alar_payload_elements(&layout, table[i].microbatches), table[i].narrow,
                     "row %zu", i);
        layout.encoding = ALAR_PAIR64;
        cr_assert_eq(alar_payload_element_bytes(&layout), 8);
        cr_assert_eq(alar_payload_elements(&layout, table[i].microbatches), table[i].wide,
                     "row %zu", i);
    }
}

/* B51's local losses, [rank][step and microbatch]. */
static const struct alar_local b51[2][4] = {
    {{2, 1, 0, 0, NULL}, {4, 2, 0, 0, NULL}, {6, 3, 0, 0, NULL}, {8, 4, 0, 0, NULL}},
    {{3, 1, 0, 0, NULL}, {3, 1, 0, 0, NULL}, {5, 5, 0, 0, NULL}, {1, 1, 0, 0, NULL}},
};

/* The tallies of both steps after reducing them at a placement. */
static void reduce_b51(const struct alar_layout *layout, struct alar_tally tally[2])
{
    size_t microbatches = layout->placement == ALAR_PLACEMENT_MICROBATCH ? 1
                          : layout->placement == ALAR_PLACEMENT_STEP     ? 2
                                                                         : 4;

    for (size_t at = 0; at < 4; at += microbatches) {
        size_t pairs = alar_payload_pairs(layout, microbatches);
        union elements sum;
        union elements other;

        alar_payload_write(layout, 0, 4, &b51[0][at], microbatches, &sum);
        alar_payload_write(layout, 1, 4, &b51[1][at], microbatches, &other);
        elements_add(layout, &sum, &other, alar_payload_elements(layout, microbatches));
        for (size_t i = 0; i < pairs; i++) {
            size_t microbatch = at + i * (microbatches / pairs);

            alar_loss_add_pair(&tally[microbatch / 2], layout->encoding, layout->normalization, 2,
                               alar_payload_pair(layout, &sum, i));
        }
        cr_assert_eq(alar_payload_flag_count(layout, &sum, microbatches), 0);
    }
}

/* One definition, one number, wherever it is reduced: these sums are exact, so the bits are the
   same at all placements. spec: L-02, L-03 */
Test(payload, all_placements_carry_the_same_number)
{
    for (int n = 0; n < ALAR_NORMALIZATION_COUNT; n++) {
        double first[2] = {0};

        for (int i = 0; i < ALAR_PLACEMENT_COUNT * 4; i++) {
            struct alar_layout layout = {.metrics = 1,
                                         .cp = 1,
                                         .encoding = ALAR_PAIR64,
                                         .normalization = (enum alar_normalization)n,
                                         .placement = (enum alar_placement)(i % 3),
                                         .ranks = 2,
                                         .microbatches = 2,
                                         .has_flags = i / 3 % 2 == 0};
            struct alar_tally tally[2] = {{.tokens = 0}};

            reduce_b51(&layout, tally);
            for (int step = 0; step < 2; step++) {
                double value = 0.0;

                cr_assert(alar_loss_value(&tally[step], ALAR_PAIR64, &value));
                first[step] = i == 0 ? value : first[step];
                cr_assert_eq(memcmp(&value, &first[step], sizeof(value)), 0,
                             "%s at %s: %.17g, %.17g", alar_normalization_names[n],
                             alar_placement_names[i % 3], value, first[step]);
            }
        }
    }
}

/* ---- sets of ranks -----------------------------------------------------------------------------
 */

static uint64_t draw_set(struct draw *draw, uint32_t ranks)
{
    uint64_t all = (UINT64_C(1) << ranks) - 1;

    switch (draw_below(draw, 4)) {
    case 0:
        return all;
    case 1:
        return UINT64_C(1) << draw_below(draw, ranks);
    case 2:
        return draw_bits(draw) & draw_bits(draw) & draw_bits(draw) & all;
    default:
        return draw_bits(draw) & all;
    }
}

static void check_sets(const struct alar_layout *layout, struct draw *draw)
{
    size_t microbatches = 3;
    size_t count = alar_payload_elements(layout, microbatches);
    uint64_t set[3] = {draw_set(draw, layout->ranks), 0, draw_set(draw, layout->ranks)};
    uint32_t order[RANKS_MAX];
    uint64_t named = 0;
    union elements sum;

    memset(&sum, 0, sizeof(sum));
    draw_order(draw, order, layout->ranks);
    for (uint32_t i = 0; i < layout->ranks; i++) {
        struct alar_local local[3] = {
            {1.0, 1, 0, 0, NULL}, {1.0, 1, 0, 0, NULL}, {1.0, 1, 0, 0, NULL}};
        union elements elements;

        for (size_t microbatch = 0; microbatch < microbatches; microbatch++) {
            local[microbatch].nonfinite = set[microbatch] >> order[i] & 1;
        }
        alar_payload_write(layout, order[i], 4, local, microbatches, &elements);
        elements_add(layout, &sum, &elements, count);
    }
    for (size_t i = 0; i < microbatches * layout->ranks; i++) {
        size_t microbatch = i / layout->ranks;
        uint32_t rank = (uint32_t)(i % layout->ranks);
        bool is_in = (set[microbatch] >> rank & 1) != 0;

        named += is_in;
        demand(alar_payload_flag(layout, &sum, microbatches, microbatch, rank) == is_in,
               "%u ranks, cell %zu, rank %u: expected %d", layout->ranks, microbatch, rank, is_in);
    }
    demand(alar_payload_flag_count(layout, &sum, microbatches) == named, "%u ranks: %llu named",
           layout->ranks, (unsigned long long)named);
}

/* For 1 to 60 ranks, both encodings, and sums taken in a drawn order, the set read is the set of
   ranks that were not finite. spec: L-07 */
Test(payload, sets_of_ranks_survive_any_order)
{
    struct draw draw = {SEED};

    cr_log_info("seed %d", SEED);
    for (uint32_t ranks = 1; ranks <= RANKS_MAX; ranks++) {
        for (int i = 0; i < 40; i++) {
            struct alar_layout layout = {.metrics = 1,
                                         .cp = 1,
                                         .encoding = (enum alar_encoding)(i % 2),
                                         .normalization = ALAR_RANK_MEAN,
                                         .placement = ALAR_PLACEMENT_STEP,
                                         .ranks = ranks,
                                         .microbatches = 3,
                                         .has_flags = true};

            check_sets(&layout, &draw);
        }
    }
}

/* A back end may deliver anything; what is no set of this group's ranks names nobody. spec: L-07 */
Test(payload, a_lane_that_is_no_set_names_nobody)
{
    static const double hostile[] = {NAN,  -1.0,   -0.5,   0.5,    2.5,    8.0,      12.0,
                                     -8.0, 0x1p24, 0x1p53, 0x1p63, 0x1p64, INFINITY, -INFINITY};
    static const double healthy[] = {0.0, -0.0, 1.0, 5.0, 7.0};
    static const uint64_t named[] = {0, 0, 1, 2, 3};

    for (int e = 0; e <= ALAR_PAIR64; e++) {
        struct alar_layout layout = {.metrics = 1,
                                     .cp = 1,
                                     .encoding = (enum alar_encoding)e,
                                     .ranks = 3,
                                     .microbatches = 1,
                                     .has_flags = true};
        union elements elements;

        memset(&elements, 0, sizeof(elements));
        for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
            element_set(&layout, &elements, 2, hostile[i]);
            cr_assert_eq(alar_payload_flag_count(&layout, &elements, 1), 0, "%g", hostile[i]);
            for (uint32_t rank = 0; rank < 3; rank++) {
                cr_assert_not(alar_payload_flag(&layout, &elements, 1, 0, rank), "%g", hostile[i]);
            }
        }
        for (size_t i = 0; i < sizeof(healthy) / sizeof(healthy[0]); i++) {
            element_set(&layout, &elements, 2, healthy[i]);
            cr_assert_eq(alar_payload_flag_count(&layout, &elements, 1), named[i], "%g",
                         healthy[i]);
        }
    }
}

/* With the check off nothing but the original feature's two elements travels. spec: L-08 */
Test(payload, without_the_check_two_lanes_travel)
{
    struct alar_layout layout = {.metrics = 1, .cp = 1, .ranks = 4, .microbatches = 1};
    struct alar_local local = {.sum = (double)NAN, .tokens = 3, .nonfinite = 1};
    union elements elements;

    memset(&elements, 0, sizeof(elements));
    alar_payload_write(&layout, 2, 4, &local, 1, &elements);
    cr_assert_eq(alar_payload_elements(&layout, 1), 2);
    cr_assert_not(alar_payload_flag(&layout, &elements, 1, 0, 2));
    cr_assert_eq(alar_payload_flag_count(&layout, &elements, 1), 0);
    cr_assert(isnan(alar_payload_pair(&layout, &elements, 0).numerator));
}

/* What a group that shares a microbatch hands to the next reduction counts each of its ranks that
   was not finite once, and says which; a weight that is no count is refused, and nothing is
   written. spec: N-55 */
Test(payload, what_is_handed_on_counts_every_share_once)
{
    for (int i = 0; i < 2 << 4; i++) {
        struct alar_layout layout = {.metrics = 1,
                                     .cp = 1,
                                     .encoding = (enum alar_encoding)(i % 2),
                                     .ranks = 4,
                                     .microbatches = 1,
                                     .has_flags = true};
        uint64_t set = (uint64_t)i / 2;
        union elements sum;
        struct alar_local made = {.tokens = -7};

        memset(&sum, 0, sizeof(sum));
        for (uint32_t rank = 0; rank < 4; rank++) {
            bool is_bad = (set >> rank & 1) != 0;
            struct alar_local own = {is_bad ? (double)NAN : 2.5, 1 + rank, is_bad ? 3 : 0, 0, NULL};
            union elements elements;

            alar_payload_write(&layout, rank, 4, &own, 1, &elements);
            elements_add(&layout, &sum, &elements, alar_payload_elements(&layout, 1));
        }

        cr_assert(alar_payload_local(&layout, &sum, NULL, &made));
        cr_assert_eq(made.tokens, 10);
        cr_assert_eq(made.shares, set);
        cr_assert_eq(made.nonfinite, (set & 1) + (set >> 1 & 1) + (set >> 2 & 1) + (set >> 3));
        cr_assert(set != 0 ? isnan(made.sum) : made.sum >= 10.0 && made.sum <= 10.0);
        cr_assert_null(made.exact);

        element_set(&layout, &sum, 1, 9.5);
        made.tokens = -7;
        cr_assert_not(alar_payload_local(&layout, &sum, NULL, &made));
        cr_assert_eq(made.tokens, -7);
    }
}

/* Callers' duties. */
Test(payload, half_a_step_is_a_defect_of_the_caller, .signal = SIGABRT)
{
    struct alar_layout layout = {
        .metrics = 1, .cp = 1, .placement = ALAR_PLACEMENT_STEP, .ranks = 2, .microbatches = 2};

    cr_log_error("%zu", alar_payload_pairs(&layout, 3));
}

Test(payload, a_rank_outside_the_group_is_a_defect_of_the_caller, .signal = SIGABRT)
{
    struct alar_layout layout = {
        .metrics = 1, .cp = 1, .ranks = 2, .microbatches = 1, .has_flags = true};
    union elements elements = {{0}};

    cr_log_error("%d", alar_payload_flag(&layout, &elements, 1, 0, 2));
}

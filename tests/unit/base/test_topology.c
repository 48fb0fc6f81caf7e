/* Seats and ranks, and runs whose worlds are laid out in all ways over the same tokens. */
#include "base/topology.h"
#include "tests/lib/run_rig.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* Every rank has one coordinates and every coordinates one rank; context parallel ranks sit side by
   side, stages far apart. spec: N-55 */
Test(topology, seats_and_ranks_are_the_same_thing)
{
    for (uint32_t code = 0; code < 125; code++) {
        const struct alar_topology topology = {1 + code / 25, 1 + code / 5 % 5, 1 + code % 5};
        uint32_t rank = 0;

        cr_assert_eq(alar_topology_is_flat(&topology), topology.pp == 1 && topology.cp == 1);
        for (uint32_t pp = 0; pp < topology.pp; pp++) {
            for (uint32_t dp = 0; dp < topology.dp; dp++) {
                for (uint32_t cp = 0; cp < topology.cp; cp++, rank++) {
                    const struct alar_coordinates coordinates = {pp, dp, cp};
                    struct alar_coordinates found = alar_topology_coordinates(&topology, rank);

                    cr_assert_eq(memcmp(&found, &coordinates, sizeof(coordinates)), 0);
                    cr_assert_eq(alar_topology_is_last(&topology, rank), pp == topology.pp - 1);
                }
            }
        }
        cr_assert_eq(alar_topology_ranks(&topology), rank);
    }
}

/* 4 x 1, 2 x 2, 1 x 4, alone and behind another stage. */
static const struct alar_topology layouts[] = {{1, 4, 1}, {1, 2, 2}, {1, 1, 4},
                                               {2, 4, 1}, {2, 2, 2}, {3, 1, 4}};

static struct alar_run_options options_of(enum alar_encoding encoding)
{
    struct alar_run_options options = run_rig_gloo("tests/data/gpt-losses/train");

    options.input = ALAR_INPUT_TOKENS;
    options.steps = "27:62";
    options.config.encoding = encoding;
    options.config.check = ALAR_CHECK_AGREE;
    options.config.log_interval = 2;
    options.has_twin = true;
    options.order = ALAR_SIM_LEFT_FOLD;
    options.twin_order = ALAR_SIM_RIGHT_FOLD;
    return options;
}

/* B18: the same tokens, however the world is laid out: under `exact` one log, bit for bit. spec:
   N-54, N-55 */
Test(topology, the_same_tokens_log_the_same_bits)
{
    struct alar_report first[RUN_RIG_REPORTS_MAX];
    char error_line[ALAR_ERROR_LINE_BYTES] = "";

    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        struct alar_run_options options = options_of(ALAR_EXACT);

        options.topology = layouts[i];
        run_rig_count = 0;
        cr_assert_eq(alar_run(&options, error_line), ALAR_CLASS_GOOD, "%zu: %s", i, error_line);
        cr_assert_gt(run_rig_count, 2);
        if (i == 0) {
            memcpy(first, run_rig_seen, sizeof(first));
        }
        for (size_t k = 0; k < run_rig_count; k++) {
            cr_assert_eq(memcmp(&run_rig_seen[k].loss, &first[k].loss, sizeof(double)), 0,
                         "layout %zu, report %zu: %a, %a", i, k, run_rig_seen[k].loss,
                         first[k].loss);
            cr_assert_eq((int64_t)run_rig_seen[k].tokens, (int64_t)first[k].tokens);
        }
    }
}

/* The pairs may differ in bits from their twin, which adds in another order, and from each other;
   every difference must be one that orders explain, or the run is WRONG. spec: L-10 */
Test(topology, pairs_differ_legally)
{
    char error_line[ALAR_ERROR_LINE_BYTES] = "";

    for (size_t i = 0; i < 2 * sizeof(layouts) / sizeof(layouts[0]); i++) {
        struct alar_run_options options = options_of(i % 2 ? ALAR_PAIR64 : ALAR_PAIR32);

        options.topology = layouts[i / 2];
        run_rig_count = 0;
        cr_assert_eq(alar_run(&options, error_line), ALAR_CLASS_GOOD, "%zu: %s", i, error_line);
        cr_assert_gt(run_rig_count, 2);
    }
}

/* B25: context parallel ranks that hold the full value are not summed: 2 x 2 of two recorded ranks
   logs what 2 x 1 does. */
Test(topology, replicated_losses_count_once)
{
    struct alar_report first[RUN_RIG_REPORTS_MAX];
    char error_line[ALAR_ERROR_LINE_BYTES] = "";

    for (uint32_t cp = 1; cp <= 3; cp++) {
        struct alar_run_options options = options_of(ALAR_EXACT);

        options.topology = (struct alar_topology){1, 2, cp};
        options.is_replicated = true;
        run_rig_count = 0;
        cr_assert_eq(alar_run(&options, error_line), ALAR_CLASS_GOOD, "%s", error_line);
        if (cp == 1) {
            memcpy(first, run_rig_seen, sizeof(first));
        }
        for (size_t k = 0; k < run_rig_count; k++) {
            cr_assert_eq(memcmp(&run_rig_seen[k].loss, &first[k].loss, sizeof(double)), 0);
            cr_assert_eq((int64_t)run_rig_seen[k].tokens, (int64_t)first[k].tokens);
        }
    }
}

/* A loss that is not finite is found by all ranks of the last stage, whichever context parallel
   rank had it, and by none of the others. */
Test(topology, a_nan_behind_a_share_is_found)
{
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        struct alar_run_options options = options_of(i % 2 ? ALAR_EXACT : ALAR_PAIR32);
        char error_line[ALAR_ERROR_LINE_BYTES] = "";

        options.losses = "tests/data/gpt-losses/diverge";
        options.steps = NULL;
        options.config.log_interval = 1;
        options.topology = layouts[i];
        run_rig_count = 0;
        cr_assert_eq(alar_run(&options, error_line), ALAR_CLASS_WRONG, "%zu: %s", i, error_line);
        cr_assert_eq(run_rig_seen[run_rig_count - 1].step, 15);
        cr_assert_gt(run_rig_seen[run_rig_count - 1].nonfinite, 0);
    }
}

/* Numbers of ranks that are no product are refused. */
Test(topology, ranks_are_a_product)
{
    struct alar_run_options options = options_of(ALAR_PAIR32);
    char error_line[ALAR_ERROR_LINE_BYTES] = "";

    options.ranks = 4;
    options.topology = (struct alar_topology){2, 4, 1};
    cr_assert_eq(alar_run(&options, error_line), ALAR_CLASS_UNUSABLE);
    cr_assert_str_eq(error_line, "expected ranks = pp x dp x cp, found 4 ranks and 2 x 4 x 1");
}

/* Truth from elsewhere: what torch and gloo made of the same losses, bit for bit. */
#include "api/dtype.h"
#include "run/npy.h"
#include "tests/lib/run_rig.h"
#include "tests/lib/scratch.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(golden, .init = scratch_make, .fini = scratch_remove);

enum {
    MICROBATCHES = 4,
    RANKS = 4
};

static void run_it(const struct alar_run_options *options, int expected)
{
    char error_line[ALAR_ERROR_LINE_BYTES] = "";

    run_rig_count = 0;
    cr_assert_eq(alar_run(options, error_line), expected, "%s", error_line);
}

static const float *npy_floats(struct alar_npy *npy, const char *path, uint32_t dimensions)
{
    const struct alar_npy_wanted wanted = {
        .dtype = ALAR_F32, .dimensions = dimensions, .axes = "as in the README"};
    char error_line[ALAR_ERROR_LINE_BYTES] = "";

    cr_assert_eq(alar_npy_open(path, &wanted, npy, error_line), ALAR_OK, "%s", error_line);
    return npy->data;
}

static uint32_t bits_of(double value)
{
    float narrow = (float)value;
    uint32_t bits = 0;

    memcpy(&bits, &narrow, sizeof(bits));
    return bits;
}

/* Holds every report against a column of logged.npy; returns how many were EMPTY. */
static size_t hold_against(const char *losses, int column, bool skips_nan)
{
    char path[256];
    struct alar_npy npy = {0};
    size_t empty = 0;

    snprintf(path, sizeof(path), "%s/logged.npy", losses);
    const float *logged = npy_floats(&npy, path, 3);
    cr_assert_eq(run_rig_count, npy.shape[1]);
    for (size_t step = 0; step < run_rig_count; step++) {
        float torch = logged[step * 4 + (size_t)column];

        if (isnan(torch) && (skips_nan || run_rig_seen[step].is_empty)) {
            empty += run_rig_seen[step].is_empty;
            continue;
        }
        cr_assert_not(run_rig_seen[step].is_empty, "step %zu", step);
        cr_assert(
            alar_fp_is_same(ALAR_F32, bits_of(run_rig_seen[step].loss), bits_of((double)torch)),
            "step %zu: torch %08x, alar %08x", step, bits_of((double)torch),
            bits_of(run_rig_seen[step].loss));
    }
    alar_npy_close(&npy);
    return empty;
}

/* The log of 200 healthy steps is torch's; its NaN at step 150, where no rank has a token, is
   EMPTY. spec: L-02, L-05 */
Test(golden, token_weighted_log_is_torchs)
{
    struct alar_run_options options = run_rig_gloo("tests/data/gpt-losses/train");

    run_it(&options, ALAR_CLASS_GOOD);

    cr_assert_eq(hold_against(options.losses, 0, false), 1);
    cr_assert(run_rig_seen[150].is_empty);
}

/* The run that diverges: Inf and NaN where torch has them. */
Test(golden, diverging_log_is_torchs)
{
    struct alar_run_options options = run_rig_gloo("tests/data/gpt-losses/diverge");

    run_it(&options, ALAR_CLASS_GOOD);

    cr_assert_eq(hold_against(options.losses, 0, false), 0);
}

/* One reduction a step: rule 4 of the data. */
Test(golden, step_placement_is_torchs)
{
    struct alar_run_options options = run_rig_gloo("tests/data/gpt-losses/train");

    options.config.placement = ALAR_PLACEMENT_STEP;
    run_it(&options, ALAR_CLASS_GOOD);

    cr_assert_eq(hold_against(options.losses, 3, false), 1);
}

/* Where no rank is empty, the mean of rank means is torch's; where one is, torch has NaN. */
Test(golden, rank_mean_log_is_torchs)
{
    struct alar_run_options options = run_rig_gloo("tests/data/gpt-losses/train");

    options.config.normalization = ALAR_RANK_MEAN;
    run_it(&options, ALAR_CLASS_GOOD);

    hold_against(options.losses, 1, true);
    cr_assert_eq(run_rig_seen[7].empty, 1, "one rank has no token in one microbatch of step 7");
}

/* The original's defect, kept: means summed and never divided, NaN included. */
Test(golden, seed_undivided_log_is_torchs)
{
    struct alar_run_options options = run_rig_gloo("tests/data/gpt-losses/train");

    options.config.normalization = ALAR_SEED_UNDIVIDED;
    run_it(&options, ALAR_CLASS_GOOD);

    cr_assert_eq(hold_against(options.losses, 2, false), 0);
}

/* The values of "out" in a history's next `done` record; false at the end of the file. */
static bool next_done(FILE *file, uint32_t out[2])
{
    char line[1024];

    while (fgets(line, sizeof(line), file) != NULL) {
        const char *values = strstr(line, "\"out\":[\"");

        if (strstr(line, "\"ev\":\"done\"") != NULL) {
            cr_assert_not_null(values);
            cr_assert_eq(sscanf(values, "\"out\":[\"%8x\",\"%8x\"]", &out[0], &out[1]), 2);
            return true;
        }
    }
    return false;
}

/* Every single all-reduce, on every rank, as gloo's asynchronous one delivered it. */
static void hold_reductions(const char *losses)
{
    struct alar_run_options options = run_rig_gloo(losses);
    char path[512];
    struct alar_npy npy = {0};

    options.config.history = scratch_path("history");
    run_it(&options, ALAR_CLASS_GOOD);
    snprintf(path, sizeof(path), "%s/reduced_async.npy", losses);
    const float *reduced = npy_floats(&npy, path, 4);
    size_t per_rank = npy.count / RANKS;
    for (int rank = 0; rank < RANKS; rank++) {
        uint32_t out[2];
        size_t held = 0;

        snprintf(path, sizeof(path), "%s/rank%d.jsonl", options.config.history, rank);
        FILE *file = fopen(path, "r");
        cr_assert_not_null(file);
        for (; next_done(file, out); held += 2) {
            for (size_t element = 0; element < 2; element++) {
                uint32_t torch = bits_of((double)reduced[(size_t)rank * per_rank + held + element]);

                cr_assert(alar_fp_is_same(ALAR_F32, out[element], torch), "rank %d, value %zu",
                          rank, held + element);
            }
        }
        fclose(file);
        cr_assert_eq(held, per_rank);
    }
    alar_npy_close(&npy);
}

Test(golden, reductions_of_train_are_gloos)
{
    hold_reductions("tests/data/gpt-losses/train");
}

Test(golden, reductions_of_diverge_are_gloos)
{
    hold_reductions("tests/data/gpt-losses/diverge");
}

/* Step 19 of the diverging run: a masked-out token of rank 0 is Inf. torch multiplies by the mask
   and gets NaN; a selection does not look at it. spec: L-01 */
Test(golden, masked_inf_does_not_poison_the_sum)
{
    struct alar_run_options options = run_rig_gloo("tests/data/gpt-losses/diverge");
    struct alar_npy npy = {0};

    options.input = ALAR_INPUT_TOKENS;
    options.steps = "19";
    run_it(&options, ALAR_CLASS_GOOD);

    const float *sums = npy_floats(&npy, "tests/data/gpt-losses/diverge/local_sum_tokens.npy", 4);
    cr_assert(isnan(sums[(19 * MICROBATCHES + 2) * 2]), "torch's own sum is NaN there");
    alar_npy_close(&npy);
    cr_assert_eq(run_rig_count, 1);
    cr_assert_not(isnan(run_rig_seen[0].loss));
}

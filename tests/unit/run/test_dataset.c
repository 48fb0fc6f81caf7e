/* Recorded losses: what a directory gives, and every way in which it can be unusable. */
#include "run/dataset.h"
#include "sys/error_line.h"
#include "tests/lib/scratch.h"

#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(dataset, .init = scratch_make, .fini = scratch_remove);

enum {
    STEPS = 3,
    MICROBATCHES = 2,
    TOKENS = 4,
    LOSSES = STEPS * MICROBATCHES
};

/* Losses that tell where they stand: rank 100s, microbatch 10s, token 1s. */
static void write_rank(unsigned rank)
{
    float losses[LOSSES * TOKENS];
    uint8_t mask[LOSSES * TOKENS];
    char name[64];

    for (unsigned i = 0; i < LOSSES * TOKENS; i++) {
        losses[i] = (float)(100 * rank + 10 * (i / TOKENS) + i % TOKENS);
        mask[i] = i % TOKENS < rank + 1;
    }
    snprintf(name, sizeof(name), "losses.rank%u.npy", rank);
    scratch_npy(name, "<f4", "(3, 2, 4)", losses, sizeof(losses));
    snprintf(name, sizeof(name), "mask.rank%u.npy", rank);
    scratch_npy(name, "|u1", "(3, 2, 4)", mask, sizeof(mask));
}

/* Two ranks whose sums also tell where they stand. */
static void write_all(void)
{
    static const int64_t steps[STEPS] = {5, 7, 20};
    float sums[2 * LOSSES * 2];

    for (unsigned i = 0; i < 2 * LOSSES; i++) {
        sums[2 * i] = (float)i + 0.5F;
        sums[2 * i + 1] = (float)i;
    }
    write_rank(0);
    write_rank(1);
    scratch_npy("steps.npy", "<i8", "(3,)", steps, sizeof(steps));
    scratch_npy("local_sum_tokens.npy", "<f4", "(2, 3, 2, 2)", sums, sizeof(sums));
}

static struct alar_dataset opened(const char *directory, enum alar_input input, uint32_t ranks,
                                  int32_t rank)
{
    const struct alar_dataset_source source = {directory, input, ranks, rank};
    struct alar_dataset dataset = {0};
    char error_line[ALAR_ERROR_LINE_BYTES] = "";

    cr_assert_eq(alar_dataset_open(&source, &dataset, error_line), ALAR_OK, "%s", error_line);
    return dataset;
}

static void assert_refused(enum alar_input input, uint32_t ranks, const char *expected)
{
    const char *directory = scratch_path("");
    const struct alar_dataset_source source = {directory, input, ranks, ALAR_EVERY_RANK};
    struct alar_dataset dataset = {.ranks = 77};
    char error_line[ALAR_ERROR_LINE_BYTES] = "";

    cr_assert_eq(alar_dataset_open(&source, &dataset, error_line), ALAR_E_INPUT, "%s", expected);
    cr_assert_eq(strncmp(error_line, directory, strlen(directory)), 0, "%s", error_line);
    cr_assert_not_null(strstr(error_line, expected), "'%s' lacks '%s'", error_line, expected);
    cr_assert_not_null(strstr(error_line, "expected"), "%s", error_line);
    cr_assert_not_null(strstr(error_line, "found"), "%s", error_line);
    cr_assert_eq(dataset.ranks, 77, "an output changed");
}

Test(dataset, tokens_are_selected_by_rank_step_and_microbatch)
{
    write_all();
    struct alar_dataset dataset = opened(scratch_path(""), ALAR_INPUT_TOKENS, 0, ALAR_EVERY_RANK);

    cr_assert_eq(dataset.ranks, 2);
    cr_assert_eq(dataset.steps, STEPS);
    cr_assert_eq(dataset.microbatches, MICROBATCHES);
    cr_assert_eq(dataset.tokens, TOKENS);
    for (uint32_t rank = 0; rank < 2; rank++) {
        for (uint32_t microbatch = 0; microbatch < LOSSES; microbatch++) {
            struct alar_local local;
            double first = 100.0 * rank + 10.0 * microbatch;

            alar_dataset_local(&dataset, rank, microbatch / MICROBATCHES, microbatch % MICROBATCHES,
                               &local);
            cr_assert_eq(local.tokens, (int64_t)rank + 1);
            cr_assert_eq(local.sum, rank == 0 ? first : 2.0 * first + 1.0);
            cr_assert_eq(local.nonfinite, 0);
        }
    }
    alar_dataset_close(&dataset);
    cr_assert_null(dataset.losses);
}

Test(dataset, sums_are_selected_by_rank_step_and_microbatch)
{
    write_all();
    struct alar_dataset dataset = opened(scratch_path(""), ALAR_INPUT_SUMS, 0, ALAR_EVERY_RANK);

    cr_assert_eq(dataset.ranks, 2);
    cr_assert_eq(dataset.tokens, 0);
    for (uint32_t i = 0; i < 2 * LOSSES; i++) {
        struct alar_local local;
        uint32_t microbatch = i % LOSSES;

        alar_dataset_local(&dataset, i / LOSSES, microbatch / MICROBATCHES,
                           microbatch % MICROBATCHES, &local);
        cr_assert_eq(local.sum, i + 0.5);
        cr_assert_eq(local.tokens, i);
    }
    alar_dataset_close(&dataset);
}

/* steps.npy speaks of the tokens alone: the sums beside a cut of the tokens are whole. */
Test(dataset, step_numbers_belong_to_the_tokens_alone)
{
    write_all();
    struct alar_dataset tokens = opened(scratch_path(""), ALAR_INPUT_TOKENS, 0, ALAR_EVERY_RANK);
    struct alar_dataset sums = opened(scratch_path(""), ALAR_INPUT_SUMS, 0, ALAR_EVERY_RANK);

    cr_assert_eq(alar_dataset_step(&tokens, 0), 5);
    cr_assert_eq(alar_dataset_step(&tokens, 2), 20);
    cr_assert_eq(alar_dataset_step(&sums, 2), 2);
    alar_dataset_close(&tokens);
    alar_dataset_close(&sums);

    cr_assert_eq(unlink(scratch_path("steps.npy")), 0);
    tokens = opened(scratch_path(""), ALAR_INPUT_TOKENS, 0, ALAR_EVERY_RANK);
    cr_assert_eq(alar_dataset_step(&tokens, 2), 2);
    alar_dataset_close(&tokens);
}

/* A rank of a job reads its own losses, yet sees the faults of all files. */
Test(dataset, a_single_rank_holds_its_own_files_alone)
{
    write_all();
    struct alar_dataset dataset = opened(scratch_path(""), ALAR_INPUT_TOKENS, 2, 1);
    struct alar_local local;

    cr_assert_null(dataset.losses[0].map);
    cr_assert_null(dataset.masks[0].map);
    alar_dataset_local(&dataset, 1, 0, 0, &local);
    cr_assert_eq(local.sum, 201.0);
    alar_dataset_close(&dataset);
    cr_assert_eq(truncate(scratch_path("losses.rank0.npy"), 200), 0);
    assert_refused(ALAR_INPUT_TOKENS, 2, "losses.rank0.npy");
}

Test(dataset, a_rank_that_is_not_held_is_a_broken_duty, .signal = SIGABRT)
{
    write_all();
    struct alar_dataset dataset = opened(scratch_path(""), ALAR_INPUT_TOKENS, 2, 1);
    struct alar_local local;

    scratch_remove();
    alar_dataset_local(&dataset, 0, 0, 0, &local);
}

Test(dataset, fewer_ranks_than_files_are_the_first_ones)
{
    write_all();
    struct alar_dataset dataset = opened(scratch_path(""), ALAR_INPUT_TOKENS, 1, ALAR_EVERY_RANK);

    cr_assert_eq(dataset.ranks, 1);
    alar_dataset_close(&dataset);
}

Test(dataset, refuses_a_directory_that_is_not_there)
{
    const struct alar_dataset_source source = {scratch_path("none"), ALAR_INPUT_TOKENS, 0, -1};
    struct alar_dataset_source sums = source;
    struct alar_dataset dataset = {0};
    char error_line[ALAR_ERROR_LINE_BYTES] = "";

    sums.input = ALAR_INPUT_SUMS;
    cr_assert_eq(alar_dataset_open(&source, &dataset, error_line), ALAR_E_INPUT);
    cr_assert_not_null(strstr(error_line, "/none: expected a directory of losses, found: No such"),
                       "%s", error_line);
    cr_assert_eq(alar_dataset_open(&sums, &dataset, error_line), ALAR_E_INPUT);
    cr_assert_not_null(strstr(error_line, "/none: expected a directory of losses, found: No such"),
                       "%s", error_line);
}

Test(dataset, refuses_a_directory_without_the_input)
{
    assert_refused(ALAR_INPUT_TOKENS, 0, "expected losses.rank0.npy");
    assert_refused(ALAR_INPUT_SUMS, 0, "local_sum_tokens.npy: expected a NumPy file");
}

Test(dataset, refuses_more_ranks_than_files)
{
    write_all();
    assert_refused(ALAR_INPUT_TOKENS, 3, "expected losses of 3 ranks, found those of 2");
    assert_refused(ALAR_INPUT_SUMS, 3, "expected losses of 3 ranks, found those of 2");
}

/* A gap would silently make a smaller group. */
Test(dataset, refuses_a_gap_in_the_ranks)
{
    write_all();
    write_rank(3);
    assert_refused(ALAR_INPUT_TOKENS, 0, "losses.rank2.npy: expected a NumPy file");
    cr_assert_eq(unlink(scratch_path("mask.rank1.npy")), 0);
    assert_refused(ALAR_INPUT_TOKENS, 2, "mask.rank1.npy: expected a NumPy file");
}

/* Each row replaces one good file by a bad one. */
Test(dataset, refuses_every_bad_file)
{
    static const float data[64] = {0};
    static const int64_t falling[STEPS] = {5, 5, 20};
    static const int64_t negative[STEPS] = {-1, 0, 1};
    static const int64_t last[STEPS] = {0, 1, INT64_MAX};
    static const float half[8] = {1, 1, 1, 1, 1, 2.5F, 1, 1};
    static const struct {
        const char *name, *descr, *shape;
        const void *data;
        size_t size;
        enum alar_input input;
        const char *error_line;
    } rows[] = {
        {"losses.rank0.npy", "<f8", "(3, 2, 4)", data, 192, ALAR_INPUT_TOKENS,
         "losses.rank0.npy: expected dtype '<f4' (f32), found '<f8'"},
        {"losses.rank1.npy", "<f4", "(2, 2, 4)", data, 64, ALAR_INPUT_TOKENS,
         "losses.rank1.npy: expected shape [3, 2, 4] (as the files before it), found [2, 2, 4]"},
        {"losses.rank0.npy", "<f4", "(6, 4)", data, 96, ALAR_INPUT_TOKENS,
         "expected shape [any, any, any] (steps, microbatches, tokens), found [6, 4]"},
        {"mask.rank0.npy", "<f4", "(3, 2, 4)", data, 96, ALAR_INPUT_TOKENS,
         "mask.rank0.npy: expected dtype '|u1' (u8), found '<f4'"},
        {"mask.rank1.npy", "|u1", "(3, 2, 5)", data, 30, ALAR_INPUT_TOKENS,
         "mask.rank1.npy: expected shape [3, 2, 4] (as the losses), found [3, 2, 5]"},
        {"mask.rank1.npy", "|u1", "(3, 2, 4)", data, 23, ALAR_INPUT_TOKENS,
         "found 23 bytes of data"},
        {"steps.npy", "<i8", "(4,)", data, 32, ALAR_INPUT_TOKENS,
         "steps.npy: expected shape [3] (steps of the losses), found [4]"},
        {"steps.npy", "<f4", "(3,)", data, 12, ALAR_INPUT_TOKENS, "expected dtype '<i8'"},
        {"steps.npy", "<i8", "(3,)", falling, 24, ALAR_INPUT_TOKENS,
         "expected increasing step numbers, at least 6 at index 1, found 5"},
        {"steps.npy", "<i8", "(3,)", negative, 24, ALAR_INPUT_TOKENS,
         "at least 0 at index 0, found -1"},
        {"steps.npy", "<i8", "(3,)", last, 24, ALAR_INPUT_TOKENS, "at index 2, found"},
        {"local_sum_tokens.npy", "<f4", "(2, 3, 2)", data, 48, ALAR_INPUT_SUMS,
         "expected shape [any, any, any, 2] (ranks, steps, microbatches, [sum, tokens])"},
        {"local_sum_tokens.npy", "<f4", "(2, 3, 2, 3)", data, 144, ALAR_INPUT_SUMS,
         "found [2, 3, 2, 3]"},
        {"local_sum_tokens.npy", "<f4", "(1, 2, 2, 2)", half, 32, ALAR_INPUT_SUMS,
         "expected a whole number of tokens at [0, 1, 0, 1], found 2.5"},
        {"local_sum_tokens.npy", "<f4", "(140000, 1, 1, 2)", NULL, 1120000, ALAR_INPUT_SUMS,
         "expected at most 131072 ranks, found 140000"},
    };
    static const char zeros[1120000];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        write_all();
        scratch_npy(rows[i].name, rows[i].descr, rows[i].shape,
                    rows[i].data != NULL ? rows[i].data : zeros, rows[i].size);
        assert_refused(rows[i].input, 0, rows[i].error_line);
    }
}

/* Original numbers, from A to before B, as a Python slice. */
Test(dataset, a_slice_of_steps_goes_by_original_numbers)
{
    static const struct {
        const char *text;
        uint64_t begin, end; /* equal: refused */
    } rows[] = {
        {NULL, 0, 3},
        {"5:21", 0, 3},
        {"0:21", 0, 3},
        {":", 0, 3},
        {"5:20", 0, 2},
        {"6:8", 1, 2},
        {":6", 0, 1},
        {"7:", 1, 3},
        {"20", 2, 3},
        {"6:7", 0, 0},
        {"7:7", 0, 0},
        {"8:7", 0, 0},
        {"0:22", 0, 0},
        {"21:", 0, 0},
        {"6", 0, 0},
        {"", 0, 0},
        {"a:b", 0, 0},
        {"-1:7", 0, 0},
        {"5:20:2", 0, 0},
        {"5: 20", 0, 0},
        {"99999999999999999999:", 0, 0},
        {"00000000000000000000000000000000000005:7", 0, 0},
        {":9223372036854775808", 0, 0},
    };
    write_all();
    struct alar_dataset dataset = opened(scratch_path(""), ALAR_INPUT_TOKENS, 0, ALAR_EVERY_RANK);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct alar_step_range range = {77, 77};
        char error_line[ALAR_ERROR_LINE_BYTES] = "";
        enum alar_status status = alar_dataset_select(&dataset, rows[i].text, &range, error_line);
        const char *text = rows[i].text != NULL ? rows[i].text : "(null)";

        if (rows[i].begin == rows[i].end) {
            cr_assert_eq(status, ALAR_E_INPUT, "%s", text);
            cr_assert_eq(strncmp(error_line, "--steps: expected ", 18), 0, "%s", error_line);
            cr_assert_not_null(strstr(error_line, "found"), "%s", error_line);
            cr_assert_eq(range.begin, 77);
        } else {
            cr_assert_eq(status, ALAR_OK, "%s: %s", text, error_line);
            cr_assert_eq(range.begin, rows[i].begin, "%s", text);
            cr_assert_eq(range.end, rows[i].end, "%s", text);
        }
    }
    alar_dataset_close(&dataset);
}

/* What is shipped: the tokens and the recorded sums agree on every step they share, to the count. A
   recorded sum was rounded at each addition in fp32, so it is held within 512 roundings. */
static void assert_shipped(const char *directory, uint64_t steps, uint64_t whole)
{
    struct alar_dataset tokens = opened(directory, ALAR_INPUT_TOKENS, 0, ALAR_EVERY_RANK);
    struct alar_dataset sums = opened(directory, ALAR_INPUT_SUMS, 0, ALAR_EVERY_RANK);
    uint64_t finite = 0;

    cr_assert_eq(tokens.ranks, 4);
    cr_assert_eq(tokens.steps, steps);
    cr_assert_eq(sums.steps, whole);
    for (uint64_t i = 0; i < 4 * 4 * steps; i++) {
        uint32_t rank = (uint32_t)(i % 4);
        uint32_t microbatch = (uint32_t)(i / 4 % 4);
        uint64_t step = i / 16;
        struct alar_local of_tokens;
        struct alar_local of_sums;

        alar_dataset_local(&tokens, rank, step, microbatch, &of_tokens);
        alar_dataset_local(&sums, rank, (uint64_t)alar_dataset_step(&tokens, step), microbatch,
                           &of_sums);
        cr_assert_eq(of_tokens.tokens, of_sums.tokens, "step index %d", (int)step);
        if (isfinite(of_sums.sum)) {
            cr_assert_leq(fabs(of_tokens.sum - of_sums.sum), of_tokens.sum * 512 * 0x1p-24);
            finite++;
        }
    }
    cr_assert_gt(finite, 4 * 4 * 10);
    alar_dataset_close(&tokens);
    alar_dataset_close(&sums);
}

Test(dataset, the_shipped_tokens_and_sums_agree)
{
    assert_shipped("tests/data/gpt-losses/train", 40, 200);
    assert_shipped("tests/data/gpt-losses/diverge", 40, 40);
}

/* The events that later tests lean on are in the cut. spec: L-01 */
Test(dataset, the_shipped_cut_holds_its_events)
{
    struct alar_dataset train =
        opened("tests/data/gpt-losses/train", ALAR_INPUT_TOKENS, 0, ALAR_EVERY_RANK);
    struct alar_dataset diverge =
        opened("tests/data/gpt-losses/diverge", ALAR_INPUT_TOKENS, 0, ALAR_EVERY_RANK);
    struct alar_step_range range;
    char error_line[ALAR_ERROR_LINE_BYTES] = "";
    struct alar_local local;

    cr_assert_eq(alar_dataset_select(&train, "150", &range, error_line), ALAR_OK, "%s", error_line);
    for (uint32_t i = 0; i < 16; i++) {
        alar_dataset_local(&train, i / 4, range.begin, i % 4, &local);
        cr_assert_eq(local.tokens, 0);
    }
    cr_assert_eq(alar_dataset_select(&train, "33", &range, error_line), ALAR_OK, "%s", error_line);
    alar_dataset_local(&train, 1, range.begin, 0, &local);
    cr_assert_eq(local.tokens, 1);

    /* 23 valid infinities and a masked one: the recorded product made NaN of the latter, the
       selection leaves the sum what it is. */
    alar_dataset_local(&diverge, 0, 19, 2, &local);
    cr_assert_eq(local.sum, (double)INFINITY);
    cr_assert_eq(local.nonfinite, 23);
    alar_dataset_close(&train);
    alar_dataset_close(&diverge);
}

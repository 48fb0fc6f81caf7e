/* The engine sees by itself when a reduction is not one of each rank: a back end that counts ranks
   as often as the test says, under whole drivers. */
#include "driver/driver.h"
#include "tests/lib/demand.h"

#include <stdlib.h>
#include <string.h>

enum {
    RANKS = 5,
    ELEMENTS_MAX = 512
};

/* All ranks of one world; an all-reduce is complete when its last rank has come. */
static struct {
    const int64_t *send[RANKS];
    int64_t *receive[RANKS];
    size_t count;
    uint32_t here; /* ranks that came to the current all-reduce */
    uint64_t done; /* all-reduces completed */
    uint64_t posted[RANKS];
    int times[RANKS]; /* how often each rank counts, from all-reduce `from` on */
    uint64_t from;
    int64_t damage; /* added to the first element */
} world;

static uint32_t rank_number[RANKS] = {0, 1, 2, 3, 4};

static int fake_caps(void *context, struct alar_caps *caps)
{
    (void)context;
    *caps = (struct alar_caps){.dtypes = 1U << ALAR_I64, .reductions = 1U << ALAR_SUM};
    return 0;
}

static int fake_comm_create(void *context, const int32_t *ranks, int32_t count, uint64_t epoch,
                            void **comm)
{
    (void)ranks;
    (void)count;
    (void)epoch;
    *comm = context;
    return 0;
}

static int fake_comm_free(void *comm)
{
    (void)comm;
    return 0;
}

static void world_complete(void)
{
    for (size_t element = 0; element < world.count; element++) {
        int64_t sum = element == 0 && world.done >= world.from ? world.damage : 0;

        for (uint32_t r = 0; r < RANKS; r++) {
            sum += world.send[r][element] * (world.done >= world.from ? world.times[r] : 1);
        }
        for (uint32_t r = 0; r < RANKS; r++) {
            world.receive[r][element] = sum;
        }
    }
    world.done++;
    world.here = 0;
}

static int fake_allreduce(void *comm, const void *send, void *receive, uint64_t count,
                          enum alar_dtype dtype, enum alar_reduction reduction, void *stream,
                          const struct alar_op *op, void **request)
{
    uint32_t rank = *(uint32_t *)comm;

    (void)stream;
    (void)op;
    cr_assert_eq(dtype, ALAR_I64);
    cr_assert_eq(reduction, ALAR_SUM);
    world.send[rank] = send;
    world.receive[rank] = receive;
    world.count = count;
    world.posted[rank]++;
    *request = comm;
    if (++world.here == RANKS) {
        world_complete();
    }
    return 0;
}

static int fake_test(void *request, int *done, int *error)
{
    *done = world.done >= world.posted[*(uint32_t *)request];
    *error = 0;
    return 0;
}

static int fake_request_free(void *request)
{
    (void)request;
    return 0;
}

static const struct alar_backend fake = {
    .size = sizeof(struct alar_backend),
    .abi = ALAR_BACKEND_ABI,
    .name = "fake",
    .caps = fake_caps,
    .comm_create = fake_comm_create,
    .comm_free = fake_comm_free,
    .allreduce = fake_allreduce,
    .test = fake_test,
    .request_free = fake_request_free,
};

static uint64_t no_time(void *clock)
{
    (void)clock;
    return 0;
}

static size_t report_count;

static void report_see(void *sink, const struct alar_report *report)
{
    (void)sink;
    (void)report;
    report_count++;
}

static const struct alar_metric metrics[] = {{"lm loss", ALAR_METRIC_MEAN},
                                             {"loss", ALAR_METRIC_MEAN}};

static struct alar_driver *driver_of(uint32_t rank, const struct alar_metric *metric)
{
    const struct alar_driver_options options = {
        .backend = &fake,
        .context = &rank_number[rank],
        .now_us = no_time,
        .config = {.encoding = ALAR_EXACT,
                   .check = ALAR_CHECK_OFF,
                   .microbatches = 2,
                   .log_interval = 1,
                   .window = 4,
                   .metrics = metric,
                   .metric_count = 1},
        .place = {.rank = rank, .ranks = RANKS},
        .on_report = report_see,
    };
    struct alar_driver *driver = NULL;

    cr_assert_eq(alar_driver_open(&driver, &options), ALAR_OK);
    return driver;
}

/* Runs up to 3 steps of 2 microbatches, rank 3 perhaps with other metrics; each rank must end with
   `expected`, and say `text`, or finish when it is ALAR_OK. */
static void world_run(bool is_odd, enum alar_status expected, const char *text)
{
    struct alar_driver *driver[RANKS];
    char said[ALAR_PARTICIPATION_TEXT_BYTES];

    for (uint32_t r = 0; r < RANKS; r++) {
        driver[r] = driver_of(r, &metrics[is_odd && r == 3]);
    }
    for (int step = 0; step < 3; step++) {
        for (uint32_t i = 0; i < 2 * RANKS; i++) {
            const struct alar_local local = {.sum = 1.0 + i % RANKS, .tokens = 2};

            if (alar_driver_need(driver[i % RANKS]) == ALAR_NEED_NOTHING) {
                alar_driver_microbatch(driver[i % RANKS], 10 + step, &local);
            }
        }
        for (uint32_t r = 0; r < RANKS; r++) {
            if (alar_driver_need(driver[r]) == ALAR_NEED_NOTHING) {
                alar_driver_step_end(driver[r]);
            }
        }
    }
    for (uint32_t r = 0; r < RANKS; r++) {
        if (expected == ALAR_OK) {
            cr_assert_eq(alar_driver_need(driver[r]), ALAR_NEED_NOTHING);
            cr_assert_null(alar_driver_participation_error(driver[r]));
            alar_driver_free(driver[r]);
            continue;
        }
        cr_assert_eq(alar_driver_need(driver[r]), ALAR_NEED_END, "rank %u", r);
        cr_assert_eq(alar_driver_status(driver[r]), expected, "rank %u", r);
        alar_participation_print(alar_driver_participation_error(driver[r]), said);
        cr_assert_str_eq(said, text, "rank %u", r);
        alar_driver_tear_down(driver[r]);
        alar_driver_free(driver[r]);
    }
}

static void world_set(uint64_t from, int r0, int r1, int r2, int r3, int r4)
{
    const int times[RANKS] = {r0, r1, r2, r3, r4};

    memset(&world, 0, sizeof(world));
    memcpy(world.times, times, sizeof(times));
    world.from = from;
    report_count = 0;
}

Test(driver_exact, a_whole_world_logs)
{
    world_set(0, 1, 1, 1, 1, 1);
    world_run(false, ALAR_OK, NULL);

    cr_assert_eq(report_count, 3 * RANKS);
}

/* Whoever is missing, doubled or replaced is named by every rank, with step and microbatch, and the
   wrong value is never logged. spec: N-51 */
Test(driver_exact, who_breaks_a_reduction_is_named_by_all_and_nothing_is_logged)
{
    world_set(3, 1, 1, 0, 1, 1);
    world_run(false, ALAR_E_MISCOUNT,
              "rank 2 is missing from all-reduce 3 (step 11, microbatch 1)");
    cr_assert_eq(report_count, RANKS, "one line a rank, of the step before");

    world_set(2, 1, 1, 1, 1, 2);
    world_run(false, ALAR_E_MISCOUNT,
              "rank 4 counts twice in all-reduce 2 (step 11, microbatch 0)");
    cr_assert_eq(report_count, RANKS);

    world_set(0, 2, 0, 1, 1, 1);
    world_run(false, ALAR_E_MISCOUNT,
              "rank 1 is missing from, and rank 0 counts twice in, all-reduce 0 "
              "(step 10, microbatch 0)");
    cr_assert_eq(report_count, 0);
}

/* Several at once are counted, not guessed at; a back end that delivers only zeros too. */
Test(driver_exact, what_can_not_be_named_is_counted)
{
    world_set(1, 1, 0, 0, 1, 1);
    world_run(false, ALAR_E_MISCOUNT,
              "3 contributions, not one of each rank, are in all-reduce 1 (step 10, microbatch 1)");

    world_set(1, 0, 0, 0, 0, 0);
    world_run(false, ALAR_E_MISCOUNT,
              "0 contributions, not one of each rank, are in all-reduce 1 (step 10, microbatch 1)");

    world_set(1, 1, 1, 1, 1, 1);
    world.damage = INT64_MIN / 2;
    world_run(false, ALAR_E_MISCOUNT,
              "what no contributions can add up to came out of all-reduce 1 "
              "(step 10, microbatch 1)");
}

/* A rank that reduces other metrics is found in the first all-reduce. spec: N-52 */
Test(driver_exact, other_metrics_are_found_at_once)
{
    world_set(0, 1, 1, 1, 1, 1);
    world_run(true, ALAR_E_SCHEMA,
              "rank 3 has other metrics than the others in all-reduce 0 (step 10, microbatch 0)");

    cr_assert_eq(report_count, 0);
}

/* More tokens than elements can count are refused before anything is posted. */
Test(driver_exact, too_many_tokens_end_the_run)
{
    const struct alar_local half = {.sum = 1.0, .tokens = ALAR_LOSS_EXACT_TOKENS_MAX / 2 + 1};

    world_set(0, 1, 1, 1, 1, 1);
    struct alar_driver *driver = driver_of(0, &metrics[0]);

    cr_assert_eq(alar_driver_microbatch(driver, 0, &half), ALAR_NEED_NOTHING);
    cr_assert_eq(alar_driver_microbatch(driver, 0, &half), ALAR_NEED_END);
    cr_assert_eq(alar_driver_status(driver), ALAR_E_RANGE);
    cr_assert_eq(world.posted[0], 1);
    alar_driver_free(driver);
}

/* A back end without 64-bit integers is told from one that breaks them. */
Test(driver_exact, a_back_end_without_integers_is_refused)
{
    const struct alar_driver_options options = {
        .backend = &fake,
        .context = &rank_number[0],
        .now_us = no_time,
        .config = {.encoding = ALAR_PAIR32},
        .place = {.ranks = RANKS},
    };
    struct alar_driver *driver = NULL;

    cr_assert_eq(alar_driver_open(&driver, &options), ALAR_E_UNSUPPORTED);
    cr_assert_null(driver);
}

/* Extremes have a element a rank, so their ranks have a bound; means and sums have none. spec: L-15
 */
Test(driver_exact, extremes_of_too_many_ranks_are_refused)
{
    for (int kind = 0; kind < ALAR_METRIC_KINDS; kind++) {
        for (uint32_t more = 0; more < 2; more++) {
            const struct alar_metric metric = {"loss", (enum alar_metric_kind)kind};
            const struct alar_driver_options options = {
                .backend = &fake,
                .context = &rank_number[0],
                .now_us = no_time,
                .config = {.encoding = ALAR_EXACT, .metrics = &metric, .metric_count = 1},
                .place = {.ranks = ALAR_EXTREME_RANKS_MAX + more},
            };
            bool is_refused = more > 0 && alar_metric_is_extreme((enum alar_metric_kind)kind);
            struct alar_driver *driver = NULL;

            cr_assert_eq(alar_driver_open(&driver, &options), is_refused ? ALAR_E_RANGE : ALAR_OK,
                         "%s over %u ranks", alar_metric_kind_names[kind], options.place.ranks);
            cr_assert_eq(driver == NULL, is_refused);
            alar_driver_free(driver);
        }
    }
}

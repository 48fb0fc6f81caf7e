/* How long the driver stands in a back end's own wait: a slice at a time, and never past its
   deadline. The clock is one that only waits move. */
#include "driver/driver.h"

#include <criterion/criterion.h>
#include <string.h>

enum {
    WAITS_MAX = 32
};

/* The only request there is, and the waits for it. */
static struct {
    uint64_t now;
    uint64_t over; /* the time at which the all-reduce is complete */
    uint64_t waited[WAITS_MAX];
    size_t waits;
} world;

static int fake_caps(void *context, struct alar_caps *caps)
{
    (void)context;
    *caps = (struct alar_caps){.dtypes = 1U << ALAR_F32, .reductions = 1U << ALAR_SUM};
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

static int fake_free(void *what)
{
    (void)what;
    return 0;
}

static int fake_allreduce(void *comm, const void *send, void *receive, uint64_t count,
                          enum alar_dtype dtype, enum alar_reduction reduction, void *stream,
                          const struct alar_op *op, void **request)
{
    (void)dtype;
    (void)reduction;
    (void)stream;
    (void)op;
    memcpy(receive, send, count * sizeof(float));
    *request = comm;
    return 0;
}

static int fake_test(void *request, int *done, int *error)
{
    (void)request;
    *done = world.now >= world.over;
    *error = 0;
    return 0;
}

static int fake_wait(void *request, void *stream, uint64_t timeout_us, int *error)
{
    (void)request;
    (void)stream;
    cr_assert_lt(world.waits, WAITS_MAX);
    world.waited[world.waits++] = timeout_us;
    *error = 0;
    if (world.over > world.now && world.over - world.now > timeout_us) {
        world.now += timeout_us;
        return -ALAR_E_TIMEOUT;
    }
    world.now = world.over > world.now ? world.over : world.now;
    return 0;
}

static uint64_t fake_now(void *clock)
{
    (void)clock;
    return world.now;
}

static void report_see(void *sink, const struct alar_report *report)
{
    cr_assert(!report->is_empty && report->loss >= 2.0 && report->loss <= 2.0);
    (*(size_t *)sink)++;
}

/* Posts one microbatch that is over after `over`, and waits in slices of `slice`; its reports. */
static size_t run(uint64_t over, uint64_t deadline, uint64_t slice, enum alar_status expected)
{
    static const struct alar_backend fake = {.size = sizeof(struct alar_backend),
                                             .abi = ALAR_BACKEND_ABI,
                                             .name = "fake",
                                             .caps = fake_caps,
                                             .comm_create = fake_comm_create,
                                             .comm_free = fake_free,
                                             .allreduce = fake_allreduce,
                                             .test = fake_test,
                                             .wait = fake_wait,
                                             .request_free = fake_free};
    static const struct alar_metric metric = {"loss", ALAR_METRIC_MEAN};
    size_t reports = 0;
    const struct alar_driver_options options = {
        .backend = &fake,
        .context = &world,
        .now_us = fake_now,
        .deadline_us = deadline,
        .config = {.check = ALAR_CHECK_OFF,
                   .microbatches = 1,
                   .log_interval = 1,
                   .window = 1,
                   .metrics = &metric,
                   .metric_count = 1},
        .place = {.rank = 0, .ranks = 1},
        .on_report = report_see,
        .sink = &reports,
    };
    const struct alar_local local = {.sum = 6.0, .tokens = 3};
    struct alar_driver *driver = NULL;

    memset(&world, 0, sizeof(world));
    world.now = 1000;
    world.over = 1000 + over;
    cr_assert_eq(alar_driver_open(&driver, &options), ALAR_OK);
    enum alar_need need = alar_driver_microbatch(driver, 1, &local);
    if (need == ALAR_NEED_NOTHING) {
        need = alar_driver_step_end(driver);
    }
    while (need == ALAR_NEED_POLL) {
        need = alar_driver_wait(driver, slice);
    }
    cr_assert_eq(alar_driver_status(driver), expected);
    cr_assert_eq(alar_driver_blocked_us(driver), world.now - 1000);
    if (expected != ALAR_OK) {
        world.over = 0; /* what was given up must still come to its end */
        alar_driver_tear_down(driver);
    }
    alar_driver_free(driver);
    return reports;
}

/* Whole slices, then what is left until the deadline, and no wait after it; without a deadline
   slices alone. What comes in time is logged. spec: F-04 */
Test(driver_wait, stands_for_a_slice_or_what_is_left_of_its_deadline)
{
    for (uint64_t over = 1; over < 60; over++) {
        for (uint64_t deadline = 0; deadline < 60; deadline += 5) {
            bool is_in_time = deadline == 0 || over <= deadline;
            uint64_t left = deadline == 0 ? UINT64_MAX : deadline;

            cr_assert_eq(run(over, deadline, 10, is_in_time ? ALAR_OK : ALAR_E_TIMEOUT),
                         is_in_time);
            cr_assert_eq(world.waits, ((is_in_time ? over : deadline) + 9) / 10);
            for (size_t i = 0; i < world.waits; i++) {
                cr_assert_eq(world.waited[i], left < 10 ? left : 10,
                             "over %u, deadline %u, wait %zu", (unsigned)over, (unsigned)deadline,
                             i);
                left -= world.waited[i];
            }
        }
    }
}

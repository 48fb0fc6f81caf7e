/* The embedding interface as a host sees it: two ranks in one process, an all-reduce that is a
 * loop. */
#include "api/embed.h"
#include "tests/lib/demand.h"

#include <math.h>

#include <stdlib.h>
#include <string.h>

enum {
    RANKS = 2,
    LINES_MAX = 64
};

struct host {
    struct alar_embed *log[RANKS];
    struct alar_action action[RANKS];
    void *memory[RANKS];
    struct alar_report line[LINES_MAX]; /* of rank 1 */
    size_t lines;
    int waits;
};

static void host_open(struct host *host, const struct alar_config *config)
{
    memset(host, 0, sizeof(*host));
    for (uint32_t r = 0; r < RANKS; r++) {
        const struct alar_embed_place place = {.rank = r, .ranks = RANKS};
        size_t bytes = alar_embed_bytes(config, &place);

        host->memory[r] = malloc(bytes);
        memset(host->memory[r], 0xa5, bytes);
        demand(alar_embed_init(&host->log[r], config, &place, host->memory[r], bytes) == ALAR_OK,
               "init");
    }
}

static void host_close(struct host *host)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        free(host->memory[r]);
    }
}

static void tell(struct host *host, uint32_t r, struct alar_embed_event event)
{
    demand(alar_embed_step(host->log[r], &event, &host->action[r]) == ALAR_OK, "event %d",
           (int)event.kind);
}

static struct alar_embed_op op_of(const struct host *host, uint32_t r, uint16_t slot)
{
    struct alar_embed_op op;

    demand(alar_embed_op(host->log[r], slot, &op) == ALAR_OK, "slot %d", slot);
    return op;
}

static void all_reduce(struct host *host, uint16_t slot)
{
    const struct alar_embed_op a = op_of(host, 0, slot), b = op_of(host, 1, slot);

    demand(a.number == b.number && a.elements == b.elements && a.dtype == ALAR_F64, "other ops");
    for (size_t i = 0; i < a.elements; i++) {
        ((double *)a.receive)[i] = ((double *)b.receive)[i] =
            ((const double *)a.send)[i] + ((const double *)b.send)[i];
    }
}

/* Carries out one action; false when the program goes on, or both ranks stand still. */
static bool host_serve_one(struct host *host, uint32_t r)
{
    struct alar_report report;

    switch (host->action[r].kind) {
    case ALAR_ACTION_POST:
        tell(host, r, (struct alar_embed_event){.kind = ALAR_EMBED_POSTED});
        return true;
    case ALAR_ACTION_RETIRE:
        tell(host, r, (struct alar_embed_event){.kind = ALAR_EMBED_RETIRED});
        return true;
    case ALAR_ACTION_REPORT:
        for (uint32_t i = 0; alar_embed_report(host->log[r], i, &report) == ALAR_OK; i++) {
            host->line[host->lines] = report;
            host->lines += r;
        }
        tell(host, r, (struct alar_embed_event){.kind = ALAR_EMBED_REPORTED});
        return true;
    default:
        return false;
    }
}

static void host_serve(struct host *host)
{
    for (;;) {
        for (uint32_t r = 0; r < RANKS; r++) {
            while (host_serve_one(host, r)) {
            }
        }
        if (host->action[0].kind != ALAR_ACTION_AWAIT) {
            demand(host->action[0].kind == host->action[1].kind, "ranks part");
            return;
        }
        uint16_t slot = host->action[0].slot;
        host->waits++;
        all_reduce(host, slot);
        for (uint32_t r = 0; r < RANKS; r++) {
            tell(host, r, (struct alar_embed_event){.kind = ALAR_EMBED_COMPLETE, .slot = slot});
        }
    }
}

static void host_all(struct host *host, struct alar_embed_event event)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        tell(host, r, event);
    }
    host_serve(host);
}

/* `steps` steps of two microbatches; the loss of step n is n a token, over 4 tokens a rank. */
static void host_run(struct host *host, int steps, int nan_step)
{
    for (int step = 0; step < steps && host->action[0].kind == ALAR_ACTION_READY; step++) {
        for (int m = 0; m < 2 && host->action[0].kind == ALAR_ACTION_READY; m++) {
            struct alar_sample samples[2] = {{.sum = 2.0 * step, .tokens = 2},
                                             {.sum = step * 10 + m, .tokens = 1}};

            samples[0].sum = step == nan_step ? NAN : samples[0].sum;
            host_all(host, (struct alar_embed_event){
                               .kind = ALAR_EMBED_CONTRIBUTE, .step = step, .samples = samples});
        }
        if (host->action[0].kind == ALAR_ACTION_READY) {
            host_all(host, (struct alar_embed_event){.kind = ALAR_EMBED_STEP_END});
        }
    }
    if (host->action[0].kind == ALAR_ACTION_READY) {
        host_all(host, (struct alar_embed_event){.kind = ALAR_EMBED_FINISH});
    }
    demand(host->action[0].kind == ALAR_ACTION_STOP, "no stop");
}

static const struct alar_metric metrics[] = {{"loss", ALAR_METRIC_MEAN}, {"grad", ALAR_METRIC_MAX}};

static struct alar_config config_of(enum alar_placement placement, uint32_t interval, uint32_t lag)
{
    return (struct alar_config){.placement = placement,
                                .encoding = ALAR_PAIR64,
                                .microbatches = 2,
                                .log_interval = interval,
                                .waits_at_log = true,
                                .lag = lag,
                                .metrics = metrics,
                                .metric_count = 2};
}

/* For all placements, intervals and lags: each step is logged once, with its own value, at the step
   that the lag says, or at the end. spec: L-13 */
Test(embed, every_step_is_logged_once_and_late_by_the_lag)
{
    enum {
        STEPS = 7
    };

    for (uint32_t n = 0; n < 3 * 4 * 5; n++) {
        enum alar_placement placement = (enum alar_placement)(n % 3);
        uint32_t interval = 1 + n / 3 % 4, lag = n / 12;
        struct alar_config config = config_of(placement, interval, lag);
        struct host host;
        int64_t next = 0;

        if (lag > interval) {
            continue;
        }
        host_open(&host, &config);
        host_run(&host, STEPS, -1);
        for (size_t i = 0; i < host.lines; i += 2) {
            const struct alar_report *grad = &host.line[i], *loss = &host.line[i + 1];
            int64_t due = loss->step + lag < STEPS ? loss->step + lag : STEPS - 1;

            demand(loss->first_step == next, "step %d is missing", (int)next);
            demand(loss->loss == (double)(loss->first_step + loss->step) / 2, "%g", loss->loss);
            demand(loss->tokens == 8.0 * loss->steps, "%g tokens", loss->tokens);
            demand(grad->loss == (double)loss->step * 10 + 1, "max %g", grad->loss);
            demand(loss->logged_at_step == due, "logged at %d", (int)loss->logged_at_step);
            next = loss->step + 1;
        }
        demand(next == STEPS, "%d steps logged", (int)next);
        host_close(&host);
    }
}

/* A NaN stops all ranks with the step at which it is taken, and all steps until then are logged.
   spec: L-09 */
Test(embed, a_late_line_shows_a_nan_and_what_came_after_it)
{
    for (int placement = 0; placement < ALAR_PLACEMENT_COUNT; placement++) {
        struct alar_config config = config_of((enum alar_placement)placement, 2, 1);
        struct alar_finding finding;
        struct host host;

        host_open(&host, &config);
        host_run(&host, 9, 3);
        cr_assert_eq(host.action[1].status, ALAR_E_NONFINITE);
        cr_assert_eq(alar_embed_finding(host.log[1], 0, &finding), ALAR_OK);
        cr_assert(finding.step == 3 && finding.rank == 0 && finding.microbatch == 0);
        cr_assert_eq(host.line[host.lines - 1].step, 4, "the line of step 3 is written at step 4");
        cr_assert_eq(host.lines, 6);
        host_close(&host);
    }
}

/* What a host must not do is refused and changes nothing. spec: W-08 */
Test(embed, wrong_calls_are_refused)
{
    const struct alar_config config = config_of(ALAR_PLACEMENT_STEP, 1, 0);
    const struct alar_sample half[2] = {{.sum = 1.0, .tokens = 0.5}, {.sum = 1.0, .tokens = 1}};
    const struct alar_sample good[2] = {{.sum = 1.0, .tokens = 1}, {.sum = 1.0, .tokens = 1}};
    struct alar_embed_event event = {.kind = ALAR_EMBED_CONTRIBUTE, .samples = half};
    struct alar_report report;
    struct alar_action action;
    struct host host;

    host_open(&host, &config);
    cr_assert_eq(alar_embed_step(host.log[0], &event, &action), ALAR_E_INPUT);
    event.kind = ALAR_EMBED_STEP_END;
    cr_assert_eq(alar_embed_step(host.log[0], &event, &action), ALAR_E_RANGE);
    event.kind = ALAR_EMBED_POSTED;
    cr_assert_eq(alar_embed_step(host.log[0], &event, &action), ALAR_E_ILLEGAL);
    event.kind = ALAR_EMBED_REPORTED;
    cr_assert_eq(alar_embed_step(host.log[0], &event, &action), ALAR_E_ILLEGAL);
    event.kind = ALAR_EMBED_RETIRED;
    cr_assert_eq(alar_embed_step(host.log[0], &event, &action), ALAR_E_ILLEGAL);
    event.kind = (enum alar_embed_event_kind)99;
    cr_assert_eq(alar_embed_step(host.log[0], &event, &action), ALAR_E_ILLEGAL);
    cr_assert_eq(alar_embed_report(host.log[0], 0, &report), ALAR_E_EMPTY);
    event = (struct alar_embed_event){.kind = ALAR_EMBED_CONTRIBUTE, .samples = good};
    for (int m = 0; m < 2; m++) {
        cr_assert_eq(alar_embed_step(host.log[0], &event, &action), ALAR_OK);
    }
    cr_assert_eq(alar_embed_step(host.log[0], &event, &action), ALAR_E_RANGE, "a third microbatch");
    host_close(&host);
}

Test(embed, configurations_out_of_range_are_refused)
{
    const struct alar_embed_place place = {.rank = 1, .ranks = 2},
                                  outside = {.rank = 2, .ranks = 2};
    struct alar_config config = config_of(ALAR_PLACEMENT_STEP, 2, 3);

    cr_assert_eq(alar_embed_bytes(&config, &place), 0, "a lag above the interval");
    config.lag = 1;
    cr_assert_gt(alar_embed_bytes(&config, &place), 0);
    cr_assert_eq(alar_embed_bytes(&config, &outside), 0, "a rank that is none");
    config.waits_at_log = false;
    cr_assert_eq(alar_embed_bytes(&config, &place), 0, "a lag where each step waits");
    config = config_of(ALAR_PLACEMENT_STEP, UINT32_MAX, 0);
    cr_assert_eq(alar_embed_bytes(&config, &place), 0, "more than can be counted");
    config = config_of(ALAR_PLACEMENT_COUNT, 1, 0);
    cr_assert_eq(alar_embed_bytes(&config, &place), 0, "no placement");
    config = config_of(ALAR_PLACEMENT_STEP, 1, 0);
    config.metric_count = 17;
    cr_assert_eq(alar_embed_bytes(&config, &place), 0, "too many metrics");
}

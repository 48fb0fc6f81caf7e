/* One pass: a driver and a loop for every rank of this process, run side by side to their end.
 */
#include "faults/point.h"
#include "run/run_state.h"
#include "sys/clock.h"
#include "sys/guard.h"

#include <stdlib.h>
#include <string.h>

enum {
    WAIT_SLICE_US = 10000,
    REFUSE_US = 100000
};

static enum alar_status source_local(void *data, uint32_t rank, size_t index, uint32_t microbatch,
                                     struct alar_local *local)
{
    struct run *run = data;
    struct run_rank *own = &run->rank[rank - run->rank[0].rank];
    struct alar_exact *exact = run->config.encoding == ALAR_EXACT ? &own->exact : NULL;

    alar_dataset_local_exact(&run->dataset, run_losses_rank(run, rank), run->range.begin + index,
                             microbatch, exact, local);
    alar_fault_local(own->faults, index * run->config.microbatches + microbatch, local);
    if (local->nonfinite > 0) {
        local->shares = UINT64_C(1) << alar_topology_coordinates(&run->topology, rank).cp;
    }
    return ALAR_OK;
}

static int64_t source_step(void *data, size_t index)
{
    const struct run *run = data;

    return (int64_t)alar_dataset_step(&run->dataset, run->range.begin + index);
}

static uint64_t world_now(void *world)
{
    return alar_sim_now(world);
}

/* The twin waits for each all-reduce at once, in the library's own blocking call. */
static struct alar_driver_options driver_options(const struct run *run, struct run_rank *rank)
{
    struct alar_driver_options driver = alar_config_driver(&run->config, run->ranks);

    driver.backend = run->backend;
    driver.context = rank->context;
    driver.now_us = run->is_simulated ? world_now : alar_clock_now;
    driver.clock = run->world;
    driver.config.is_sync |= run->is_twin;
    driver.is_blocking |= run->is_twin;
    driver.comm_epoch = run->is_twin ? 3 : 1;
    driver.history = run->is_twin ? NULL : rank->history;
    driver.history_since_us = run->history_since_us;
    driver.history_units_per_us = run->is_simulated ? 1 : 1000;
    driver.on_report = run_report;
    driver.sink = rank;
    return driver;
}

static enum alar_status rank_open(struct run *run, struct run_rank *rank)
{
    static const struct alar_pace no_pace = {.straggler = ALAR_STRAGGLER_NONE};
    struct alar_driver_options driver = driver_options(run, rank);
    const struct alar_fault_pass pass = {
        .is_twin = run->is_twin,
        .now_us = driver.now_us,
        .clock = driver.clock,
        .history = driver.history,
        .group = alar_topology_is_flat(&run->topology) ? NULL : rank->group,
        .history_since_us = driver.history_since_us,
        .history_units_per_us = driver.history_units_per_us,
    };

    alar_fault_pass_begin(rank->faults, &pass);
    if (run->options->wrap != NULL && !run->is_twin) {
        ALAR_TRY(run->options->wrap->open(run->options->wrap->data, rank, &driver.backend,
                                          &driver.context, &rank->wrapped));
    }
    alar_fault_wrap(rank->faults, &driver.backend, &driver.context);
    ALAR_TRY(run_groups_open(run, driver.backend, driver.context, &rank->groups));
    run_coordinates_driver(run, rank, &driver);
    ALAR_TRY(alar_driver_open(&rank->driver, &driver));
    rank->groups.log = NULL;
    struct alar_training_loop_options loop = {
        .driver = rank->driver,
        .source = {.data = run,
                   .local = source_local,
                   .step = source_step,
                   .metrics = run->options->has_extremes ? run_metrics_local : NULL},
        .backend = driver.backend,
        .context = driver.context,
        .rank = rank->rank,
        .ranks = run->ranks,
        .microbatches = (uint32_t)run->dataset.microbatches,
        .steps = run->range.end - run->range.begin,
        .pace = run->is_twin ? no_pace : run->options->pace,
        .deadline_us = driver.deadline_us,
        .comm_epoch = 2,
        .faults = rank->faults,
        .gradient_comm = rank->groups.gradient,
        .sharing = run_coordinates_sharing(run, rank),
    };
    loop.pace.is_unlogged |= driver.is_spectator;
    ALAR_TRY(alar_training_loop_open(&rank->loop, &loop));
    rank->groups.gradient = rank->groups.sharing = NULL;
    rank->turn = ALAR_TURN_AT;
    rank->wake_us = rank->since_us = rank->start_us = driver.now_us(driver.clock);
    return ALAR_OK;
}

/* The simulated world of this pass; the real one lasts for both. */
static enum alar_status world_open(struct run *run)
{
    const struct alar_run_options *options = run->options;
    struct alar_sim_options sim = alar_sim_options_default((int32_t)run->ranks, options->seed);

    if (options->sim != NULL) {
        sim = *options->sim;
        sim.ranks = (int32_t)run->ranks;
        sim.seed = options->seed;
    }
    sim.order = run->is_twin ? options->twin_order : options->order;
    run->world = alar_sim_world_create(&sim);
    if (run->world == NULL) {
        return ALAR_E_NOMEM;
    }
    for (uint32_t i = 0; i < run->rank_count; i++) {
        struct alar_boot boot = {
            .rank = (int32_t)i, .ranks = (int32_t)run->ranks, .config = "", .world = run->world};

        if (run->backend->init(&run->rank[i].context, &boot) != 0) {
            return ALAR_E_BACKEND;
        }
    }
    return ALAR_OK;
}

static bool is_done(const struct run_rank *rank)
{
    return rank->turn == ALAR_TURN_OVER || rank->turn == ALAR_TURN_GONE;
}

/* When this rank has something to do; UINT64_MAX: never, unless another rank moves first. */
static uint64_t rank_wake(const struct run *run, const struct run_rank *rank)
{
    if (is_done(rank)) {
        return UINT64_MAX;
    }
    if (rank->turn == ALAR_TURN_AT || run->world == NULL) {
        return rank->wake_us;
    }
    uint64_t next = alar_fault_next(rank->faults, alar_sim_next(run->world, (int32_t)rank->rank));
    uint64_t expiry = alar_training_loop_expiry(rank->loop);

    return next < expiry ? next : expiry;
}

/* The moment at which some rank is due first, and the lowest such rank; NULL when all are over. */
static struct run_rank *rank_due(struct run *run, uint64_t *wake_us)
{
    struct run_rank *due = NULL;

    *wake_us = UINT64_MAX;
    for (uint32_t i = 0; i < run->rank_count; i++) {
        uint64_t wake = rank_wake(run, &run->rank[i]);

        if (!is_done(&run->rank[i]) && (due == NULL || wake < *wake_us)) {
            due = &run->rank[i];
            *wake_us = wake;
        }
    }
    return due;
}

/* Lets time pass until `rank` is due. */
static void run_time_to(const struct run *run, struct run_rank *rank, uint64_t wake_us)
{
    if (run->world != NULL) {
        alar_sim_now_set(run->world, wake_us);
    } else if (rank->turn == ALAR_TURN_BLOCKED) {
        alar_training_loop_wait(rank->loop, WAIT_SLICE_US);
    } else {
        alar_clock_sleep(wake_us);
    }
}

/* A rank that stands still says where, should another call the roll. */
static void rank_note(const struct run *run, const struct run_rank *rank)
{
    struct alar_note note = alar_driver_note(rank->driver);

    if (run->backend->note_set != NULL) {
        run->backend->note_set(rank->context, &note);
    }
}

/* Lets the rank do what it can now. */
static void rank_turn(struct run *run, struct run_rank *rank)
{
    if (run->is_twin) { /* whose calls block */
        run_guard(run, "the twin");
    }
    rank->turn = alar_training_loop_advance(rank->loop, &rank->wake_us);
    if (run->is_twin) {
        alar_guard_clear();
    }
    run->options->view->progress(run, alar_training_loop_steps(rank->loop));
    if (rank->turn == ALAR_TURN_BLOCKED) {
        rank_note(run, rank);
    } else if (rank->turn == ALAR_TURN_OVER) {
        rank->elapsed_us = alar_driver_now(rank->driver) - rank->start_us;
        run_rank_over(rank);
    } else if (rank->turn == ALAR_TURN_GONE) {
        run_rank_gone(rank);
    }
}

/* One look at all ranks finds the next moment at which any is due, and all that are due then have
   their turns, from the lowest up: so the looks grow with moments and not with turns. */
static void run_loop(struct run *run)
{
    uint64_t wake_us = 0;
    struct run_rank *first = rank_due(run, &wake_us);

    while (first != NULL) {
        if (wake_us == UINT64_MAX) {
            /* Nothing can move any more, and no deadline will say so. */
            alar_driver_abandon(first->driver, ALAR_E_TIMEOUT);
            rank_turn(run, first);
        } else {
            run_time_to(run, first, wake_us);
            rank_turn(run, first);
            for (uint32_t i = (uint32_t)(first - run->rank) + 1; i < run->rank_count; i++) {
                if (!is_done(&run->rank[i]) && rank_wake(run, &run->rank[i]) <= wake_us) {
                    rank_turn(run, &run->rank[i]);
                }
            }
        }
        first = rank_due(run, &wake_us);
    }
}

/* The others may already wait for this rank without a bound, so it ends the job. */
static void rank_refuse(const struct run *run, const struct run_rank *rank, enum alar_status status)
{
    if (run->context == NULL || run->backend->leave == NULL) {
        return;
    }
    run->options->view->ending(rank, alar_status_text(status));
    memset(rank->presence, ALAR_HERE, run->ranks);
    run->backend->leave(run->context, (int)alar_status_class(status), rank->presence, REFUSE_US);
}

enum alar_status run_pass(struct run *run)
{
    const char *what = run->is_twin ? "the start of the twin" : "the start";
    int64_t start = 0;

    if (run->is_simulated) {
        ALAR_TRY(world_open(run));
    } else {
        run_guard(run, what);
    }
    for (uint32_t i = 0; i < run->rank_count; i++) {
        enum alar_status status = rank_open(run, &run->rank[i]);

        if ((status == ALAR_E_TIMEOUT || status == ALAR_E_LOST) && !run->is_simulated) {
            run_absent(run, status, what);
        }
        if (status != ALAR_OK) {
            rank_refuse(run, &run->rank[i], status);
            return status;
        }
    }
    /* All ranks start together, so that nobody's start-up counts as somebody's step. */
    ALAR_TRY(run_sum(run, run->is_twin ? 32 : 31, what, &start, 1));
    run->is_started = true;
    for (uint32_t i = 0; i < run->rank_count && !run->is_simulated; i++) {
        run->rank[i].wake_us = run->rank[i].since_us = run->rank[i].start_us = alar_clock_now(NULL);
    }
    run_loop(run);
    return ALAR_OK;
}

void run_pass_free(struct run *run)
{
    for (uint32_t i = 0; i < run->rank_count; i++) {
        struct run_rank *rank = &run->rank[i];

        alar_training_loop_free(rank->loop);
        alar_driver_free(rank->driver);
        rank->loop = NULL;
        rank->driver = NULL;
        run_groups_free(&rank->groups);
        if (run->world != NULL && rank->context != NULL) {
            run->backend->fini(rank->context);
            rank->context = NULL;
        }
    }
    alar_sim_world_free(run->world);
    run->world = NULL;
}

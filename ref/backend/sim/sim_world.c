/* The simulated world: its options, its clock, and the faults its ranks can have. */
#include "backend/sim/sim_state.h"

#include "base/check.h"

#include <stdlib.h>
#include <string.h>

struct alar_sim_options alar_sim_options_default(int32_t ranks, uint64_t seed)
{
    return (struct alar_sim_options){
        .ranks = ranks,
        .seed = seed,
        .order = ALAR_SIM_RECURSIVE_DOUBLING,
        .latency_us = 10,
        .jitter_us = 5,
        .outstanding = 64,
        .payload_bytes = 64,
    };
}

struct alar_sim_world *alar_sim_world_create(const struct alar_sim_options *options)
{
    struct alar_sim_world *world = NULL;

    if (options->ranks < 1 || options->outstanding < 1) {
        return NULL;
    }
    world = calloc(1, sizeof *world);
    if (world == NULL) {
        return NULL;
    }
    world->options = *options;
    world->options.has_progress_thread |= options->is_stream_ordered;
    world->ranks = calloc((size_t)options->ranks, sizeof world->ranks[0]);
    if (world->ranks == NULL ||
        sim_requests_grow(world, (size_t)options->ranks * options->outstanding) != 0) {
        alar_sim_world_free(world);
        return NULL;
    }
    for (int32_t i = 0; i < options->ranks; i++) {
        world->ranks[i].world = world;
        world->ranks[i].number = i;
        world->ranks[i].due = SIM_NEVER;
        world->ranks[i].silent_from = SIM_NEVER;
    }
    return world;
}

void alar_sim_world_free(struct alar_sim_world *world)
{
    if (world == NULL) {
        return;
    }
    while (world->comms != NULL) {
        struct sim_comm *comm = world->comms;

        world->comms = comm->next;
        sim_comm_destroy(comm);
    }
    while (world->streams != NULL) {
        struct sim_stream *stream = world->streams;

        world->streams = stream->next;
        free(stream);
    }
    while (world->chunks != NULL) {
        struct sim_chunk *chunk = world->chunks;

        world->chunks = chunk->next;
        free(chunk);
    }
    free(world->scratch);
    free(world->ranks);
    free(world);
}

void alar_sim_now_set(struct alar_sim_world *world, uint64_t tick)
{
    if (world->options.has_progress_thread) {
        sim_threads_run(world, tick);
    }
    if (tick > world->now) {
        world->now = tick;
    }
}

uint64_t alar_sim_now(const struct alar_sim_world *world)
{
    return world->now;
}

static struct sim_rank *rank_at(const struct alar_sim_world *world, int32_t rank)
{
    PRE(rank >= 0);
    PRE(rank < world->options.ranks);
    return &world->ranks[rank];
}

bool sim_rank_is_silent(const struct sim_rank *rank)
{
    return rank->has_exited || rank->world->now >= rank->silent_from;
}

/* Is there a leave of another rank to hear of? */
static bool leave_is_known(const struct sim_rank *rank)
{
    return rank->world->leaves > (rank->has_left ? 1 : 0);
}

bool sim_rank_hears_leave(struct sim_rank *rank)
{
    bool is_known = leave_is_known(rank) && !sim_rank_is_silent(rank);

    rank->heard_leave |= is_known;
    return is_known;
}

uint64_t alar_sim_next(const struct alar_sim_world *world, int32_t rank)
{
    const struct sim_rank *self = rank_at(world, rank);
    uint64_t due = self->due > world->now ? self->due : world->now;
    bool farewell_is_over =
        self->said_farewell && !self->heard_farewell && world->farewells == world->options.ranks;

    if (self->has_news || farewell_is_over || (leave_is_known(self) && !self->heard_leave)) {
        due = world->now;
    }
    return due >= self->silent_from || self->has_exited ? SIM_NEVER : due;
}

void alar_sim_mute(struct alar_sim_world *world, int32_t rank, uint64_t tick)
{
    rank_at(world, rank)->silent_from = tick;
}

void alar_sim_exit(struct alar_sim_world *world, int32_t rank)
{
    rank_at(world, rank)->has_exited = 1;
}

const char *const alar_sim_order_names[] = {
    [ALAR_SIM_LEFT_FOLD] = "left-fold",
    [ALAR_SIM_RIGHT_FOLD] = "right-fold",
    [ALAR_SIM_RECURSIVE_DOUBLING] = "recursive-doubling",
    [ALAR_SIM_BINOMIAL] = "binomial",
    [ALAR_SIM_RING] = "ring",
    [ALAR_SIM_ARRIVAL] = "arrival",
    [ALAR_SIM_ORDER_COUNT] = NULL,
};

/* What the simulator draws: how long links, single messages and whole operations take. */
#include "backend/sim/sim_state.h"

#include "base/rng.h"

/* Purposes of draws under the world's seed. */
enum {
    DRAW_LINK = 1,
    DRAW_JITTER,
    DRAW_SPREAD
};

/* 0 .. greatest, from 32 of 64 random bits. */
static uint64_t draw(uint64_t bits, uint32_t greatest)
{
    return ((bits >> 32) * ((uint64_t)greatest + 1)) >> 32;
}

uint64_t sim_spread_draw(const struct sim_comm *comm, uint64_t sequence)
{
    const struct alar_sim_options *options = &comm->world->options;
    uint64_t seed = alar_rng_fold(options->seed, DRAW_SPREAD);

    return draw(alar_rng_fold(alar_rng_fold(seed, comm->number), sequence), options->spread_us);
}

/* Drawn from what the message is, not from when it is asked, so that polling more changes no
   latency. */
uint64_t sim_latency_draw(const struct sim_operation *operation, uint64_t link, uint64_t round)
{
    const struct alar_sim_options *options = &operation->comm->world->options;
    uint64_t latency = options->latency_us + operation->spread;

    if (options->link_us > 0) {
        uint64_t seed = alar_rng_fold(options->seed, DRAW_LINK);

        latency += draw(alar_rng_fold(seed, link), options->link_us);
    }
    if (options->jitter_us > 0) {
        uint64_t seed = alar_rng_fold(options->seed, DRAW_JITTER);

        seed = alar_rng_fold(seed, operation->comm->number);
        seed = alar_rng_fold(seed, operation->sequence);
        seed = alar_rng_fold(seed, link);
        latency += draw(alar_rng_fold(seed, round), options->jitter_us);
    }
    return latency;
}

/* A simulated world with every rank opened, for tests: small fp32 all-reduces on all ranks, one
   tick after the other. */
#ifndef SIM_RIG_H
#define SIM_RIG_H

#include "backend/sim/sim_state.h"

#define SIM_RIG_RANKS 17

struct sim_rig {
    const struct alar_backend *backend;
    struct alar_sim_world *world;
    int32_t ranks;
    void *context[SIM_RIG_RANKS];
    void *comm[SIM_RIG_RANKS]; /* of all ranks */
};

/* Options of a plain world: latency 10, no jitter, left fold. */
struct alar_sim_options sim_rig_plain(int32_t ranks);

void sim_rig_open(struct sim_rig *rig, const struct alar_sim_options *options);

/* Fails the test when a request or an operation is still live. */
void sim_rig_close(struct sim_rig *rig);

/* Frees the world with whatever is pending in it. */
void sim_rig_abandon(struct sim_rig *rig);

/* Issues `count` floats on the rank's comm; fails the test when it is refused. */
void *sim_rig_post(struct sim_rig *rig, int32_t rank, const float *send, float *recv,
                   uint64_t count);

/* Is it over? Fails the test on any error. */
bool sim_rig_is_done(struct sim_rig *rig, void *request);

/* Polls every request (NULL: none) of every rank whenever that can change something, until all are
   over or nothing can change; over[i] becomes the tick at which requests[i] was, or UINT64_MAX. */
void sim_rig_run(struct sim_rig *rig, void *const *requests, uint64_t *over);

#endif

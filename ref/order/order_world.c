/* All-reduces on whatever back end, one after the other. */
#include "order/order_world.h"

#include "backend/plugin.h"
#include "base/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WAIT_US = 30000000,
    FAREWELL_US = 10000000
};

static bool world_allocate(struct alar_order_world *world)
{
    world->context = calloc(world->local, sizeof(*world->context));
    world->comm = calloc(world->local, sizeof(*world->comm));
    world->request = calloc(world->local, sizeof(*world->request));
    world->turn = calloc(world->local, sizeof(*world->turn));
    return world->context != NULL && world->comm != NULL && world->request != NULL &&
           world->turn != NULL;
}

static void world_release(struct alar_order_world *world)
{
    alar_sim_world_free(world->sim);
    free(world->context);
    free(world->comm);
    free(world->request);
    free(world->turn);
}

/* All ranks of the simulator. */
static enum alar_status sim_open(struct alar_order_world *world,
                                 const struct alar_order_place *place)
{
    struct alar_sim_options options = alar_sim_options_default((int32_t)place->ranks, place->seed);

    options.order = place->sim_order;
    world->ranks = place->ranks;
    world->local = place->ranks;
    world->sim = alar_sim_world_create(&options);
    if (world->sim == NULL || !world_allocate(world)) {
        return ALAR_E_NOMEM;
    }
    for (uint32_t k = 0; k < world->local; k++) {
        struct alar_boot boot = {
            .rank = (int32_t)k, .ranks = -1, .config = "", .world = world->sim};

        if (world->backend.init(&world->context[k], &boot) != 0) {
            return ALAR_E_BACKEND;
        }
    }
    return ALAR_OK;
}

static enum alar_status launched_open(struct alar_order_world *world)
{
    struct alar_boot boot = {.rank = -1, .ranks = -1, .config = ""};

    world->local = 1;
    if (!world_allocate(world)) {
        return ALAR_E_NOMEM;
    }
    if (world->backend.init(&world->context[0], &boot) != 0) {
        return ALAR_E_BACKEND;
    }
    world->ranks = (uint32_t)boot.ranks;
    world->first = (uint32_t)boot.rank;
    return ALAR_OK;
}

static enum alar_status world_start(struct alar_order_world *world,
                                    const struct alar_order_place *place, char *error_line)
{
    bool is_simulated = strcmp(place->backend, "sim") == 0;

    snprintf(error_line, ALAR_ERROR_LINE_BYTES, "the back end '%.200s' does not start",
             place->backend);
    ALAR_TRY(is_simulated ? sim_open(world, place) : launched_open(world));
    for (uint32_t k = 0; k < world->local; k++) {
        world->turn[k] = k;
        if (world->backend.caps(world->context[k], &world->caps) != 0 ||
            world->backend.comm_create(world->context[k], NULL, 0, 1 /* epoch */,
                                       &world->comm[k]) != 0) {
            return ALAR_E_BACKEND;
        }
    }
    return ALAR_OK;
}

enum alar_status alar_order_world_open(struct alar_order_world *world,
                                       const struct alar_order_place *place, char *error_line)
{
    const struct alar_backend *const builtin[] = {alar_sim_backend(), NULL};

    *world = (struct alar_order_world){.seed = place->seed};
    ALAR_TRY(alar_plugin_load(place->backend, builtin, &world->backend, error_line));
    enum alar_status status = world_start(world, place, error_line);
    if (status != ALAR_OK) {
        world_release(world);
    }
    return status;
}

void alar_order_world_close(struct alar_order_world *world)
{
    for (uint32_t k = 0; k < world->local; k++) {
        world->backend.comm_free(world->comm[k]);
    }
    if (world->sim == NULL && world->backend.farewell != NULL) {
        (void)world->backend.farewell(world->context[0], FAREWELL_US);
    }
    for (uint32_t k = 0; k < world->local; k++) {
        (void)world->backend.fini(world->context[k]);
    }
    world_release(world);
}

static enum alar_status minus(int code)
{
    return code == 0 ? ALAR_OK : (enum alar_status) - code;
}

/* The order in which ranks come is not one to rely on, so it is another each time. */
static void turn_shuffle(struct alar_order_world *world)
{
    struct alar_rng rng = alar_rng_stream(world->seed, world->calls++);

    for (uint32_t k = world->local; k > 1; k--) {
        uint32_t other = (uint32_t)alar_rng_below(&rng, k);
        uint32_t swap = world->turn[k - 1];

        world->turn[k - 1] = world->turn[other];
        world->turn[other] = swap;
    }
}

/* Polls all requests until they are over; on the simulator, time moves to where something can
   happen. */
static enum alar_status requests_finish(struct alar_order_world *world)
{
    uint32_t left = world->local;

    while (left > 0) {
        uint64_t next = UINT64_MAX;

        for (uint32_t k = 0; k < world->local; k++) {
            int done = 0;
            int error = 0;

            if (world->request[k] == NULL) {
                continue;
            }
            ALAR_TRY(minus(world->backend.test(world->request[k], &done, &error)));
            ALAR_TRY(minus(error));
            if (done) {
                ALAR_TRY(minus(world->backend.request_free(world->request[k])));
                world->request[k] = NULL;
                left--;
            }
        }
        for (uint32_t k = 0; k < world->local && left > 0; k++) {
            uint64_t tick = alar_sim_next(world->sim, (int32_t)k);

            next = tick < next ? tick : next;
        }
        if (left > 0 && next == UINT64_MAX) {
            return ALAR_E_TIMEOUT;
        }
        if (left > 0) {
            alar_sim_now_set(world->sim, next);
        }
    }
    return ALAR_OK;
}

/* The one request of a launched rank. */
static enum alar_status request_finish(struct alar_order_world *world)
{
    int error = 0;

    ALAR_TRY(minus(world->backend.wait(world->request[0], NULL, WAIT_US, &error)));
    ALAR_TRY(minus(world->backend.request_free(world->request[0])));
    return minus(error);
}

enum alar_status alar_order_world_reduce(struct alar_order_world *world,
                                         const struct alar_order_call *call, const void *send,
                                         void *recv)
{
    uint64_t bytes = call->count * alar_dtype_bytes(call->dtype);

    if (world->progress != NULL) {
        world->progress(world->data, world->calls);
    }
    turn_shuffle(world);
    for (uint32_t k = 0; k < world->local; k++) {
        const struct alar_op op = {.tag = 1, .scale = 1.0};
        uint32_t at = world->turn[k];

        ALAR_TRY(minus(world->backend.allreduce(world->comm[at], (const char *)send + at * bytes,
                                                (char *)recv + at * bytes, call->count, call->dtype,
                                                call->reduction, NULL, &op,
                                                call->is_blocking ? NULL : &world->request[at])));
    }
    if (call->is_blocking) {
        return ALAR_OK;
    }
    return world->sim != NULL ? requests_finish(world) : request_finish(world);
}

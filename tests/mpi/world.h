/* What the programs of tests/mpi share: a world of ranks reached through the back end's table
   alone, and a list of claims. Each rank prints what failed on it; rank 0 prints "ok NAME" for the
   rest. */
#ifndef ALAR_TESTS_MPI_WORLD_H
#define ALAR_TESTS_MPI_WORLD_H

#include "api/dtype.h"
#include "backend/plugin.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOREVER UINT64_MAX
#define SECONDS(n) (UINT64_C(1000000) * (n))

struct world {
    struct alar_backend backend;
    void *context;
    void *comm; /* of all ranks */
    int32_t rank;
    int32_t ranks;
    int failures;                       /* on this rank */
    char logged[ALAR_ERROR_LINE_BYTES]; /* the back end's last line */
};

struct claim {
    const char *name;
    void (*run)(struct world *world);
};

#define CLAIM(world, truth) claim_check(world, (truth), #truth, __FILE__, __LINE__)

static inline void claim_check(struct world *world, bool truth, const char *text, const char *file,
                               int line)
{
    if (!truth) {
        world->failures++;
        fprintf(stderr, "FAIL rank %d: %s:%d: %s\n", world->rank, file, line, text);
    }
}

static inline void world_log(void *peers, const char *line)
{
    struct world *world = peers;

    snprintf(world->logged, sizeof(world->logged), "%s", line);
}

/* Loads the plug-in; a test without it can't go on. */
static inline void world_load(struct world *world, const char *plugin)
{
    const struct alar_backend *const none[] = {NULL};
    char error_line[ALAR_ERROR_LINE_BYTES];

    memset(world, 0, sizeof(*world));
    if (alar_plugin_load(plugin, none, &world->backend, error_line) != ALAR_OK) {
        fprintf(stderr, "%s\n", error_line);
        exit(ALAR_CLASS_UNUSABLE);
    }
}

static inline int world_init(struct world *world, const char *config)
{
    struct alar_boot boot = {
        .rank = -1, .ranks = -1, .config = config, .peers = world, .log = world_log};
    int status = world->backend.init(&world->context, &boot);

    if (status == 0) {
        world->rank = boot.rank;
        world->ranks = boot.ranks;
        status = world->backend.comm_create(world->context, NULL, 0, 0, &world->comm);
    }
    return status;
}

static inline void world_start(struct world *world, const char *plugin, const char *config)
{
    world_load(world, plugin);
    int status = world_init(world, config);
    if (status != 0) {
        fprintf(stderr, "init: %s: %s\n", alar_status_name((enum alar_status) - status),
                world->logged);
        exit(ALAR_CLASS_UNUSABLE);
    }
}

/* The orderly end; returns the exit code. */
static inline int world_stop(struct world *world)
{
    CLAIM(world, world->backend.farewell(world->context, SECONDS(20)) == 0);
    CLAIM(world, world->backend.comm_free(world->comm) == 0);
    CLAIM(world, world->backend.fini(world->context) == 0);
    return world->failures > 0;
}

static inline void claims_run(struct world *world, const struct claim *claims, int count)
{
    for (int i = 0; i < count; i++) {
        int before = world->failures;

        claims[i].run(world);
        if (world->failures == before && world->rank == 0) {
            printf("ok n=%d: %s\n", world->ranks, claims[i].name);
            fflush(stdout);
        }
    }
}

/* An all-reduce of the world's communicator with the usual options. */
static inline int world_post(struct world *world, void *comm, const void *send, void *recv,
                             uint64_t count, enum alar_dtype dtype, enum alar_reduction reduction,
                             void **request)
{
    static uint64_t tag;
    struct alar_op op = {.tag = tag++, .scale = 1.0};

    return world->backend.allreduce(comm, send, recv, count, dtype, reduction, NULL, &op, request);
}

/* Waits for a request and gives it back. */
static inline bool world_finish(struct world *world, void *request)
{
    int error = 1;

    return world->backend.wait(request, NULL, SECONDS(20), &error) == 0 && error == 0 &&
           world->backend.request_free(request) == 0;
}

/* Nobody returns before everybody has called, and all poll meanwhile. */
static inline void world_meet(struct world *world)
{
    int32_t one = 1;
    int32_t all = 0;
    void *request = NULL;

    CLAIM(world, world_post(world, world->comm, &one, &all, 1, ALAR_I32, ALAR_SUM, &request) == 0);
    CLAIM(world, world_finish(world, request));
    CLAIM(world, all == world->ranks);
}

#endif

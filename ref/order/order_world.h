/* The ranks of this process on one back end, for code that needs nothing but all-reduces: one rank
   under a launcher, or all of them on the simulator. */
#ifndef ALAR_ORDER_WORLD_H
#define ALAR_ORDER_WORLD_H

#include "backend/sim/sim.h"
#include "sys/error_line.h"

struct alar_order_world {
    struct alar_backend backend;
    struct alar_caps caps;
    uint32_t ranks; /* in all */
    uint32_t first; /* rank of this process's first one */
    uint32_t local; /* ranks of this process */
    void **context; /* one a local rank, as the next three */
    void **comm;
    void **request;
    uint32_t *turn;             /* in which order local ranks post */
    struct alar_sim_world *sim; /* NULL under a launcher */
    uint64_t seed;              /* with `calls`: the shuffle of `turn` */
    uint64_t calls;
    void (*progress)(void *data, uint64_t calls); /* NULL, or told before each all-reduce */
    void *data;
};

struct alar_order_place {
    const char *backend; /* name or path */
    uint32_t ranks;      /* of the simulator */
    enum alar_sim_order sim_order;
    uint64_t seed;
};

/* Starts the back end and one communicator over all ranks.
   Errors: ALAR_E_INPUT, ALAR_E_BACKEND or ALAR_E_NOMEM, with one line in `error_line`; nothing is
   to be closed then. */
ALAR_MUST_USE enum alar_status alar_order_world_open(struct alar_order_world *world,
                                                     const struct alar_order_place *place,
                                                     char *error_line);

void alar_order_world_close(struct alar_order_world *world);

/* What is reduced, and how it is called. */
struct alar_order_call {
    enum alar_dtype dtype;
    enum alar_reduction reduction;
    uint64_t count;
    bool is_blocking;
};

/* One all-reduce on all ranks. `send` and `recv` have `count` elements for each local rank, one
   after the other.
   Errors: ALAR_E_BACKEND, ALAR_E_UNSUPPORTED; ALAR_E_TIMEOUT after 30 s. */
ALAR_MUST_USE enum alar_status alar_order_world_reduce(struct alar_order_world *world,
                                                       const struct alar_order_call *call,
                                                       const void *send, void *recv);

#endif

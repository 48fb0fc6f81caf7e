/* The simulator's memory: requests, operations and communicators, taken from pools. */
#include "backend/sim/sim_state.h"

#include "base/check.h"

#include <stdlib.h>
#include <string.h>

int sim_requests_grow(struct alar_sim_world *world, size_t count)
{
    struct sim_chunk *chunk = NULL;

    if (count > (SIZE_MAX - sizeof *chunk) / sizeof chunk->requests[0]) {
        return -ALAR_E_NOMEM;
    }
    chunk = calloc(1, sizeof *chunk + count * sizeof chunk->requests[0]);
    if (chunk == NULL) {
        return -ALAR_E_NOMEM;
    }
    chunk->next = world->chunks;
    chunk->count = count;
    world->chunks = chunk;
    for (size_t i = count; i > 0; i--) {
        chunk->requests[i - 1].next = world->pool;
        world->pool = &chunk->requests[i - 1];
    }
    return 0;
}

struct sim_request *sim_request_take(struct alar_sim_world *world)
{
    struct sim_request *request = NULL;

    if (world->pool == NULL) {
        /* As many again as there were last. */
        if (world->options.is_bounded || sim_requests_grow(world, 2 * world->chunks->count) != 0) {
            return NULL;
        }
        world->stats.grown++;
    }
    request = world->pool;
    world->pool = request->next;
    world->stats.requests_live++;
    *request = (struct sim_request){.stage = SIM_QUEUED};
    return request;
}

void sim_request_give(struct alar_sim_world *world, struct sim_request *request)
{
    request->stage = SIM_FREE;
    request->next = world->pool;
    world->pool = request;
    world->stats.requests_live--;
}

static void operation_destroy(struct sim_operation *operation)
{
    if (operation != NULL) {
        free(operation->rows);
        free(operation->requests);
        free(operation->arrivals);
        free(operation);
    }
}

static struct sim_operation *operation_create(struct sim_comm *comm)
{
    const struct alar_sim_options *options = &comm->world->options;
    struct sim_operation *operation = calloc(1, sizeof *operation);
    size_t count = (size_t)comm->count;

    if (operation == NULL) {
        return NULL;
    }
    operation->comm = comm;
    operation->rows_capacity = count * options->payload_bytes;
    operation->rows = calloc(operation->rows_capacity + 1, 1);
    operation->requests = calloc(count, sizeof operation->requests[0]);
    operation->arrivals = calloc(count, sizeof operation->arrivals[0]);
    if (operation->rows == NULL || operation->requests == NULL || operation->arrivals == NULL) {
        operation_destroy(operation);
        return NULL;
    }
    return operation;
}

static int ring_grow(struct sim_comm *comm)
{
    uint64_t capacity = 2 * comm->capacity;
    struct sim_operation **ring = calloc(capacity, sizeof ring[0]);

    if (ring == NULL) {
        return -ALAR_E_NOMEM;
    }
    for (uint64_t i = comm->oldest; i < comm->newest; i++) {
        ring[i & (capacity - 1)] = comm->ring[i & (comm->capacity - 1)];
    }
    free(comm->ring);
    comm->ring = ring;
    comm->capacity = capacity;
    comm->world->stats.grown++;
    return 0;
}

/* Room for a contribution of each member; what was there before stays as it is. */
static int rows_reserve(struct sim_operation *operation, size_t row_bytes)
{
    size_t count = (size_t)operation->comm->count;
    unsigned char *rows = NULL;

    if (row_bytes > (SIZE_MAX - 1) / count) {
        return -ALAR_E_NOMEM;
    }
    if (count * row_bytes <= operation->rows_capacity) {
        return 0;
    }
    rows = calloc(count * row_bytes, 1);
    if (rows == NULL) {
        return -ALAR_E_NOMEM;
    }
    free(operation->rows);
    operation->rows = rows;
    operation->rows_capacity = count * row_bytes;
    operation->comm->world->stats.grown++;
    return 0;
}

struct sim_operation *sim_operation_take(struct sim_comm *comm, uint64_t sequence, size_t row_bytes)
{
    bool may_grow = !comm->world->options.is_bounded;
    struct sim_operation *operation = NULL;

    if (sequence - comm->oldest == comm->capacity && (!may_grow || ring_grow(comm) != 0)) {
        return NULL;
    }
    if (comm->pool == NULL) {
        comm->pool = may_grow ? operation_create(comm) : NULL;
        if (comm->pool == NULL) {
            return NULL;
        }
        comm->world->stats.grown++;
    }
    operation = comm->pool;
    if (rows_reserve(operation, row_bytes) != 0) {
        return NULL;
    }
    comm->pool = operation->next;
    operation->sequence = sequence;
    operation->row_bytes = row_bytes;
    operation->spread = sim_spread_draw(comm, sequence);
    operation->value = NULL;
    operation->issued = 0;
    operation->taken = 0;
    operation->closed = 0;
    operation->is_mismatched = 0;
    comm->ring[sequence & (comm->capacity - 1)] = operation;
    comm->newest = sequence + 1;
    comm->world->stats.operations_live++;
    return operation;
}

/* Requests that members gave up were kept for the others' sake. */
static void operation_forget(struct sim_operation *operation)
{
    for (int32_t i = 0; i < operation->comm->count; i++) {
        if (operation->requests[i] != NULL) {
            sim_request_give(operation->comm->world, operation->requests[i]);
            operation->requests[i] = NULL;
        }
    }
}

void sim_operation_give(struct sim_operation *operation)
{
    struct sim_comm *comm = operation->comm;

    operation_forget(operation);
    comm->ring[operation->sequence & (comm->capacity - 1)] = NULL;
    while (comm->oldest < comm->newest && comm->ring[comm->oldest & (comm->capacity - 1)] == NULL) {
        comm->oldest++;
    }
    operation->next = comm->pool;
    comm->pool = operation;
    comm->world->stats.operations_live--;
}

int sim_scratch_reserve(struct alar_sim_world *world, size_t bytes)
{
    unsigned char *scratch = NULL;

    if (bytes <= world->scratch_capacity) {
        return 0;
    }
    scratch = malloc(bytes);
    if (scratch == NULL) {
        return -ALAR_E_NOMEM;
    }
    free(world->scratch);
    world->scratch = scratch;
    world->scratch_capacity = bytes;
    world->stats.grown++;
    return 0;
}

/* Members are ranks[0 .. count-1], or all ranks when `ranks` is NULL. */
static void comm_members(struct sim_comm *comm, const int32_t *ranks)
{
    for (int32_t i = 0; i < comm->count; i++) {
        int32_t rank = ranks == NULL ? i : ranks[i];

        comm->members[i].comm = comm;
        comm->members[i].index = i;
        comm->members[i].rank = &comm->world->ranks[rank];
    }
    while (INT64_C(2) << comm->depth <= comm->count) {
        comm->depth++;
    }
    comm->remainder = (int32_t)(comm->count - (INT64_C(1) << comm->depth));
}

struct sim_comm *sim_comm_create(struct alar_sim_world *world, uint64_t number, uint64_t epoch,
                                 const int32_t *ranks, int32_t count)
{
    struct sim_comm *comm = calloc(1, sizeof *comm);

    if (comm == NULL) {
        return NULL;
    }
    comm->world = world;
    comm->number = number;
    comm->epoch = epoch;
    comm->count = count;
    comm->capacity = 1;
    while (comm->capacity < world->options.outstanding) {
        comm->capacity *= 2;
    }
    comm->members = calloc((size_t)count, sizeof comm->members[0]);
    comm->ring = calloc(comm->capacity, sizeof comm->ring[0]);
    if (comm->members == NULL || comm->ring == NULL) {
        sim_comm_destroy(comm);
        return NULL;
    }
    comm_members(comm, ranks);
    for (uint32_t i = 0; i < world->options.outstanding; i++) {
        struct sim_operation *operation = operation_create(comm);

        if (operation == NULL) {
            sim_comm_destroy(comm);
            return NULL;
        }
        operation->next = comm->pool;
        comm->pool = operation;
    }
    return comm;
}

void sim_comm_destroy(struct sim_comm *comm)
{
    struct sim_operation *next = NULL;

    for (uint64_t i = comm->oldest; i < comm->newest; i++) {
        struct sim_operation *operation = comm->ring[i & (comm->capacity - 1)];

        if (operation != NULL) {
            sim_operation_give(operation);
        }
    }
    for (struct sim_operation *operation = comm->pool; operation != NULL; operation = next) {
        next = operation->next;
        operation_destroy(operation);
    }
    free(comm->members);
    free(comm->ring);
    free(comm);
}

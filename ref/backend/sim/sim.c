/* The simulated back end's table: checks what callers pass, then hands on. */
#include "backend/sim/sim_state.h"

#include "base/check.h"

#include <stdlib.h>

static int sim_init(void **context, struct alar_boot *boot)
{
    struct alar_sim_world *world = boot->world;

    if (world == NULL) {
        return -ALAR_E_UNSUPPORTED;
    }
    if (boot->rank < 0 || boot->rank >= world->options.ranks ||
        (boot->ranks != -1 && boot->ranks != world->options.ranks)) {
        return -ALAR_E_RANGE;
    }
    boot->ranks = world->options.ranks;
    boot->local_rank = boot->rank;
    *context = &world->ranks[boot->rank];
    return 0;
}

static int sim_caps(void *context, struct alar_caps *caps)
{
    const struct sim_rank *rank = context;
    const struct alar_sim_options *options = &rank->world->options;

    *caps = (struct alar_caps){
        .dtypes = (UINT32_C(1) << ALAR_DTYPE_COUNT) - 1,
        .reductions = (UINT32_C(1) << ALAR_REDUCTION_COUNT) - 1,
        .wait_kind = options->is_stream_ordered ? ALAR_WAIT_STREAM : ALAR_WAIT_HOST,
        .outstanding_max = options->is_bounded ? options->outstanding : 0,
        .tree_height = sim_order_height(options->order, options->ranks),
        .is_in_place = 1,
        .allows_empty = 1,
        .needs_progress = !options->has_progress_thread,
        .has_fixed_order = options->order != ALAR_SIM_ARRIVAL,
    };
    return 0;
}

static int sim_fini(void *context)
{
    (void)context;
    return 0;
}

/* The world's own communicator of a comm_create call, created by the first rank that makes it. */
static struct sim_comm *comm_find(struct alar_sim_world *world, uint64_t number, uint64_t epoch,
                                  const int32_t *ranks, int32_t count)
{
    struct sim_comm *comm = world->comms;

    while (comm != NULL && comm->number != number) {
        comm = comm->next;
    }
    if (comm == NULL) {
        comm = sim_comm_create(world, number, epoch, ranks, count);
        if (comm != NULL) {
            comm->next = world->comms;
            world->comms = comm;
        }
    }
    return comm;
}

/* Own place among the ranks, -1 when there is none; -2 when they aren't a list of ranks. */
static int32_t place_find(const struct sim_rank *rank, const int32_t *ranks, int32_t count)
{
    int32_t place = -1;

    if (ranks == NULL) {
        return rank->number;
    }
    for (int32_t i = 0; i < count; i++) {
        if (ranks[i] < 0 || ranks[i] >= rank->world->options.ranks ||
            (ranks[i] == rank->number && place >= 0)) {
            return -2;
        }
        if (ranks[i] == rank->number) {
            place = i;
        }
    }
    return place;
}

static int sim_comm_make(void *context, const int32_t *ranks, int32_t count, uint64_t epoch,
                         void **comm)
{
    struct sim_rank *rank = context;
    struct sim_comm *shared = NULL;
    int32_t place = 0;

    if (sim_rank_is_silent(rank)) {
        return -ALAR_E_BACKEND;
    }
    count = ranks == NULL ? rank->world->options.ranks : count;
    place = count < 1 ? -2 : place_find(rank, ranks, count);
    if (place < -1) {
        return -ALAR_E_RANGE;
    }
    if (place < 0) {
        rank->comms++;
        *comm = NULL;
        return 0;
    }
    shared = comm_find(rank->world, rank->comms, epoch, ranks, count);
    if (shared == NULL) {
        return -ALAR_E_NOMEM;
    }
    if (shared->count != count || shared->epoch != epoch || shared->members[place].rank != rank) {
        return -ALAR_E_BACKEND;
    }
    rank->comms++;
    *comm = &shared->members[place];
    return 0;
}

static int sim_comm_free(void *comm)
{
    struct sim_member *member = comm;
    struct sim_comm *shared = member->comm;
    struct sim_comm **link = &shared->world->comms;

    if (member->is_freed) {
        return -ALAR_E_ILLEGAL;
    }
    sim_member_abandon(member);
    member->is_freed = 1;
    shared->freed++;
    if (shared->freed == shared->count) {
        while (*link != shared) {
            link = &(*link)->next;
        }
        *link = shared->next;
        sim_comm_destroy(shared);
    }
    return 0;
}

static int arguments_check(const struct sim_request *call)
{
    const struct sim_rank *rank = call->rank;
    const struct alar_sim_options *options = &rank->world->options;

    if (call->dtype >= ALAR_DTYPE_COUNT || call->reduction >= ALAR_REDUCTION_COUNT ||
        (call->stream != NULL && !options->is_stream_ordered) ||
        (call->scale != 1.0 && !alar_dtype_is_float((enum alar_dtype)call->dtype))) {
        return -ALAR_E_UNSUPPORTED;
    }
    if (call->member->is_freed || (call->stream != NULL && call->stream->rank != rank)) {
        return -ALAR_E_ILLEGAL;
    }
    if (call->count > (SIZE_MAX >> 4) ||
        (call->count > 0 && (call->send == NULL || call->recv == NULL))) {
        return -ALAR_E_RANGE;
    }
    if (sim_rank_is_silent(rank)) {
        return -ALAR_E_BACKEND;
    }
    return options->is_bounded && rank->pending >= options->outstanding ? -ALAR_E_FULL : 0;
}

/* The operation the member's next all-reduce belongs to; the first to issue says what it is. */
static struct sim_operation *operation_join(struct sim_request *request)
{
    struct sim_member *member = request->member;
    struct sim_comm *comm = member->comm;
    size_t bytes = (size_t)request->count * alar_dtype_bytes((enum alar_dtype)request->dtype);
    struct sim_operation *operation = NULL;

    if (request->sequence < comm->newest) {
        operation = comm->ring[request->sequence & (comm->capacity - 1)];
    } else {
        operation = sim_operation_take(comm, request->sequence, bytes);
        if (operation == NULL) {
            return NULL;
        }
        operation->count = request->count;
        operation->dtype = request->dtype;
        operation->reduction = request->reduction;
    }
    INV("an operation lives until all its members have closed it", operation != NULL);
    if (operation->count != request->count || operation->dtype != request->dtype ||
        operation->reduction != request->reduction) {
        operation->is_mismatched = 1;
    }
    operation->requests[member->index] = request;
    operation->arrivals[operation->issued] = member->index;
    operation->issued++;
    return operation;
}

static int sim_allreduce(void *comm, const void *send, void *recv, uint64_t count,
                         enum alar_dtype dtype, enum alar_reduction reduction, void *stream,
                         const struct alar_op *op, void **request)
{
    struct sim_member *member = comm;
    struct alar_sim_world *world = member->comm->world;
    bool is_full = world->options.is_bounded;
    struct sim_request *created = NULL;
    struct sim_request call = {
        .member = member,
        .rank = member->rank,
        .stream = stream,
        .send = send,
        .recv = recv,
        .sequence = member->issued,
        .count = count,
        .scale = op == NULL ? 1.0 : op->scale,
        .dtype = (uint8_t)dtype,
        .reduction = (uint8_t)reduction,
        .stage = SIM_QUEUED,
    };
    int status = request == NULL ? -ALAR_E_UNSUPPORTED : arguments_check(&call);

    if (status != 0) {
        return status;
    }
    created = sim_request_take(world);
    if (created == NULL) {
        return is_full ? -ALAR_E_FULL : -ALAR_E_NOMEM;
    }
    *created = call;
    created->operation = operation_join(created);
    if (created->operation == NULL) {
        sim_request_give(world, created);
        return is_full ? -ALAR_E_FULL : -ALAR_E_NOMEM;
    }
    member->issued++;
    *request = created;
    sim_request_start(created);
    return 0;
}

/* A call of the rank's. Is the request over? */
static bool request_poll(struct sim_request *request)
{
    struct sim_rank *rank = request->rank;

    if (sim_rank_is_silent(rank)) {
        return false;
    }
    rank->has_news = 0;
    sim_rank_advance(rank);
    return request->stage == SIM_COMPLETE;
}

/* May the caller still use it? */
static bool request_is_live(const struct sim_request *request)
{
    return request->stage != SIM_FREE && !request->is_abandoned;
}

static int sim_test(void *request, int *done, int *error)
{
    struct sim_request *self = request;

    if (!request_is_live(self)) {
        return -ALAR_E_ILLEGAL;
    }
    *done = request_poll(self) ? 1 : 0;
    *error = *done ? self->error : 0;
    return 0;
}

/* Puts the stream behind the request. One stream for each request. */
static int stream_order(struct sim_request *request, struct sim_stream *stream)
{
    if (stream == NULL || request->stage == SIM_COMPLETE || request->waiter == stream) {
        return 0;
    }
    if (request->waiter != NULL) {
        return -ALAR_E_UNSUPPORTED;
    }
    request->waiter = stream;
    stream->waiting++;
    return 0;
}

static int sim_wait(void *request, void *stream, uint64_t timeout_us, int *error)
{
    struct sim_request *self = request;

    (void)timeout_us;
    if (!request_is_live(self)) {
        return -ALAR_E_ILLEGAL;
    }
    if (self->rank->world->options.is_stream_ordered) {
        *error = 0;
        return stream_order(self, stream);
    }
    if (!request_poll(self)) {
        return sim_rank_hears_leave(self->rank) ? -ALAR_E_LOST : -ALAR_E_TIMEOUT;
    }
    *error = self->error;
    return 0;
}

static int sim_request_free(void *request)
{
    struct sim_request *self = request;

    if (self->stage != SIM_COMPLETE) {
        return -ALAR_E_ILLEGAL;
    }
    sim_request_give(self->rank->world, self);
    return 0;
}

static int sim_progress(void *context)
{
    struct sim_rank *rank = context;

    if (!sim_rank_is_silent(rank)) {
        rank->has_news = 0;
        sim_rank_advance(rank);
    }
    return sim_rank_hears_leave(rank) ? -ALAR_E_LOST : 0;
}

static const struct alar_backend sim_backend = {
    .size = sizeof(struct alar_backend),
    .abi = ALAR_BACKEND_ABI,
    .name = "sim",
    .init = sim_init,
    .caps = sim_caps,
    .fini = sim_fini,
    .comm_create = sim_comm_make,
    .comm_free = sim_comm_free,
    .allreduce = sim_allreduce,
    .test = sim_test,
    .wait = sim_wait,
    .request_free = sim_request_free,
    .progress = sim_progress,
    .stream_create = sim_stream_create,
    .stream_sync = sim_stream_sync,
    .stream_destroy = sim_stream_destroy,
    .stream_stall = sim_stream_stall,
    .note_set = sim_note_set,
    .roll_call = sim_roll_call,
    .farewell = sim_farewell,
    .leave = sim_leave,
};

const struct alar_backend *alar_sim_backend(void)
{
    return &sim_backend;
}

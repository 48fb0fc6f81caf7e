/* The simulator's messages: who waits for whom, what leaves when, and when an operation is over.

   A waiting request needs one tick only. A partner that has sent but not yet been met can't get
   further, so its last departure is still there when the other comes; then both know when their
   messages arrive, and are "paired". */
#include "backend/sim/sim_state.h"

#include "base/check.h"

/* Messages that belong to no round. */
enum {
    TO_PREFOLD = 64,
    TO_RESULT
};

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void rank_due(struct sim_rank *rank, uint64_t tick)
{
    rank->due = earlier(rank->due, tick);
}

/* Sends a message of `from` to `to` at tick `departure`; returns when it arrives. */
static uint64_t message_send(struct sim_operation *operation, const struct sim_request *from,
                             const struct sim_request *to, uint64_t round, uint64_t departure)
{
    uint64_t link = ((uint64_t)from->rank->number << 32) | (uint64_t)to->rank->number;

    operation->comm->world->stats.messages++;
    return departure + sim_latency_draw(operation, link, round);
}

/* What `request` awaits arrives at `tick`. */
static void request_pair(struct sim_request *request, uint64_t tick)
{
    request->tick = tick;
    request->is_paired = 1;
    if (!request->is_abandoned) {
        rank_due(request->rank, tick);
    }
}

/* Changes what the request waits for; its own message leaves now. */
static void request_await(struct sim_request *request, enum sim_stage stage, uint64_t now)
{
    request->stage = (uint8_t)stage;
    request->tick = now;
    request->is_paired = 0;
}

/* The request is over: it leaves its rank's list, and lets a stream go on. */
static void request_close(struct sim_request *request)
{
    struct sim_rank *rank = request->rank;
    struct sim_stream *waiter = request->waiter;

    if (request->previous != NULL) {
        request->previous->next = request->next;
    } else {
        rank->oldest = request->next;
    }
    if (request->next != NULL) {
        request->next->previous = request->previous;
    } else {
        rank->newest = request->previous;
    }
    rank->pending--;
    if (waiter != NULL) {
        waiter->waiting--;
        if (waiter->busy_until < rank->world->now) {
            waiter->busy_until = rank->world->now;
        }
        request->waiter = NULL;
    }
}

/* One rank less takes part; with the last the operation has gone. */
static void operation_close(struct sim_operation *operation)
{
    operation->closed++;
    if (operation->closed == (uint32_t)operation->comm->count) {
        sim_operation_give(operation);
    }
}

/* All messages are there. Writes the value, unless something is in the way. */
static void request_complete(struct sim_request *request)
{
    struct sim_operation *operation = request->operation;
    struct sim_member *member = request->member;
    struct alar_sim_world *world = operation->comm->world;

    INV("complete only after all contributed", operation->taken == (uint32_t)member->comm->count);
    if ((operation->is_mismatched && world->options.mismatch == ALAR_SIM_HANG) ||
        (world->options.is_fifo && request->sequence != member->completed)) {
        request->stage = SIM_HELD;
        return;
    }
    sim_request_deliver(request);
    request->stage = SIM_COMPLETE;
    request->operation = NULL;
    member->completed++;
    world->stats.completed++;
    operation->requests[member->index] = NULL;
    request_close(request);
    operation_close(operation);
}

/* Is this member folded into its neighbour, or the neighbour of such a one? */
static bool is_folded(const struct sim_request *request)
{
    return request->member->index < 2 * request->member->comm->remainder;
}

/* Who takes part in the rounds: the upper ones of the folded pairs, and those beyond them. */
static int32_t node_of(const struct sim_request *request)
{
    return is_folded(request) ? request->member->index / 2
                              : request->member->index - request->member->comm->remainder;
}

static int32_t member_of(const struct sim_comm *comm, int32_t node)
{
    return node < comm->remainder ? 2 * node + 1 : node + comm->remainder;
}

/* The receive buffer shows what has reached this rank: contributions of a block of neighbours. */
static void partial_show(struct sim_request *request)
{
    struct sim_comm *comm = request->operation->comm;
    int32_t block = node_of(request) >> request->round;
    int32_t first = block << request->round;
    int32_t last = (block + 1) << request->round;

    first = first < comm->remainder ? 2 * first : first + comm->remainder;
    last = last < comm->remainder ? 2 * last : last + comm->remainder;
    sim_request_show(request, first, last);
}

/* Sends the message of a round, or, after the last, the result to the folded neighbour. */
static void round_begin(struct sim_request *request, uint8_t round)
{
    struct sim_operation *operation = request->operation;
    struct sim_comm *comm = operation->comm;
    uint64_t now = comm->world->now;
    struct sim_request *partner = NULL;

    if (round == comm->depth) {
        if (is_folded(request)) {
            partner = operation->requests[request->member->index - 1];
            request_pair(partner, message_send(operation, request, partner, TO_RESULT, now));
        }
        request_complete(request);
        return;
    }
    request_await(request, SIM_ROUND, now);
    request->round = round;
    partner = operation->requests[member_of(comm, node_of(request) ^ (1 << round))];
    if (partner != NULL && partner->stage == SIM_ROUND && partner->round == round) {
        request_pair(request, message_send(operation, partner, request, round, partner->tick));
        request_pair(partner, message_send(operation, request, partner, round, now));
    }
    if (comm->world->options.pending == ALAR_SIM_SHOWS_PARTIAL) {
        partial_show(request);
    }
}

/* Without rounds: the last contribution sets everybody's completion. */
static void skip_begin(struct sim_request *request, uint64_t now)
{
    struct sim_operation *operation = request->operation;

    request_await(request, SIM_RESULT, now);
    if (operation->taken < (uint32_t)operation->comm->count) {
        return;
    }
    for (int32_t i = 0; i < operation->comm->count; i++) {
        struct sim_request *other = operation->requests[i];

        request_pair(other, message_send(operation, request, other, TO_RESULT, now));
    }
}

/* A pair that is folded: the lower sends to the upper, and gets the result in the end. */
static void prefold_begin(struct sim_request *request, uint64_t now)
{
    struct sim_operation *operation = request->operation;
    int32_t index = request->member->index;
    struct sim_request *partner = operation->requests[index ^ 1];

    request_await(request, index % 2 == 0 ? SIM_RESULT : SIM_PREFOLD, now);
    if (partner == NULL || partner->stage == SIM_QUEUED) {
        return;
    }
    if (index % 2 == 0) {
        request_pair(partner, message_send(operation, request, partner, TO_PREFOLD, now));
    } else {
        request_pair(request, message_send(operation, partner, request, TO_PREFOLD, partner->tick));
    }
}

/* Reads the send buffer, and sends the first message. */
static void request_contribute(struct sim_request *request)
{
    struct sim_operation *operation = request->operation;
    struct sim_comm *comm = operation->comm;

    sim_request_capture(request);
    operation->taken++;
    if (comm->world->options.skips_rounds && comm->count > 1) {
        skip_begin(request, comm->world->now);
    } else if (is_folded(request)) {
        prefold_begin(request, comm->world->now);
    } else {
        round_begin(request, 0);
    }
}

/* When a call can advance the request if nobody else calls. */
static uint64_t request_due(const struct sim_request *request)
{
    const struct sim_stream *stream = request->stream;

    switch ((enum sim_stage)request->stage) {
    case SIM_QUEUED:
        return stream != NULL && stream->waiting > 0 ? SIM_NEVER : request->tick;
    case SIM_PREFOLD:
    case SIM_ROUND:
    case SIM_RESULT:
        return request->is_paired ? request->tick : SIM_NEVER;
    case SIM_FREE:
    case SIM_HELD:
    case SIM_COMPLETE:
        break;
    }
    return SIM_NEVER;
}

/* Takes all steps that are due, at most one for each round and three more. */
static void request_advance(struct sim_request *request, uint64_t now)
{
    if (request->stage == SIM_HELD) {
        request_complete(request);
    }
    while (request_due(request) <= now) {
        switch ((enum sim_stage)request->stage) {
        case SIM_QUEUED:
            request_contribute(request);
            break;
        case SIM_PREFOLD:
            round_begin(request, 0);
            break;
        case SIM_ROUND:
            round_begin(request, (uint8_t)(request->round + 1));
            break;
        case SIM_RESULT:
            request_complete(request);
            break;
        case SIM_FREE:
        case SIM_HELD:
        case SIM_COMPLETE:
            return;
        }
    }
}

void sim_request_start(struct sim_request *request)
{
    struct sim_rank *rank = request->rank;
    const struct alar_sim_options *options = &rank->world->options;

    request->previous = rank->newest;
    request->next = NULL;
    if (rank->newest != NULL) {
        rank->newest->next = request;
    } else {
        rank->oldest = request;
    }
    rank->newest = request;
    rank->pending++;
    request_await(request, SIM_QUEUED, rank->world->now);
    if (request->stream != NULL && request->stream->busy_until > request->tick) {
        request->tick = request->stream->busy_until;
    }
    if (options->capture == ALAR_SIM_LATE || request_due(request) > rank->world->now) {
        rank_due(rank, request_due(request));
    } else {
        request_contribute(request);
        rank->has_news |= request->stage == SIM_COMPLETE;
    }
}

/* One pass in issue order is enough: a request is held up by earlier ones only. */
void sim_rank_advance(struct sim_rank *rank)
{
    uint64_t now = rank->world->now;
    uint64_t due = SIM_NEVER;
    struct sim_request *next = NULL;

    if (rank->due > now || rank->has_exited) {
        return;
    }
    for (struct sim_request *request = rank->oldest; request != NULL; request = next) {
        next = request->next;
        request_advance(request, now);
        due = earlier(due, request_due(request));
    }
    rank->due = due;
}

void sim_member_abandon(struct sim_member *member)
{
    struct sim_request *next = NULL;

    for (struct sim_request *request = member->rank->oldest; request != NULL; request = next) {
        next = request->next;
        if (request->member == member) {
            request->is_abandoned = 1;
            request->error = -ALAR_E_BACKEND;
            request_close(request);
            operation_close(request->operation);
        }
    }
}

void sim_threads_run(struct alar_sim_world *world, uint64_t tick)
{
    for (;;) {
        struct sim_rank *first = NULL;
        uint64_t completed = world->stats.completed;

        for (int32_t i = 0; i < world->options.ranks; i++) {
            struct sim_rank *rank = &world->ranks[i];

            if (!rank->has_exited && rank->due <= tick &&
                (first == NULL || rank->due < first->due)) {
                first = rank;
            }
        }
        if (first == NULL) {
            return;
        }
        if (world->now < first->due) {
            world->now = first->due;
        }
        sim_rank_advance(first);
        if (world->stats.completed != completed) {
            first->has_news = 1;
        }
    }
}

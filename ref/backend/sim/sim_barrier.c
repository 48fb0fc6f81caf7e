/* The simulator's optional functions: streams, and the monitored barrier. */
#include "backend/sim/sim_state.h"

#include <stdlib.h>

int sim_stream_create(void *context, void **stream)
{
    struct sim_rank *rank = context;
    struct sim_stream *created = NULL;

    if (!rank->world->options.is_stream_ordered) {
        return -ALAR_E_UNSUPPORTED;
    }
    created = calloc(1, sizeof *created);
    if (created == NULL) {
        return -ALAR_E_NOMEM;
    }
    created->rank = rank;
    created->next = rank->world->streams;
    rank->world->streams = created;
    *stream = created;
    return 0;
}

int sim_stream_sync(void *stream)
{
    const struct sim_stream *self = stream;
    bool is_idle = self->waiting == 0 && self->busy_until <= self->rank->world->now;

    self->rank->has_news = 0;
    return is_idle && !sim_rank_is_silent(self->rank) ? 0 : -ALAR_E_TIMEOUT;
}

/* Refused while requests or the stream's own time are outstanding: they would refer to nothing. */
int sim_stream_destroy(void *stream)
{
    struct sim_stream *self = stream;
    struct sim_stream **link = &self->rank->world->streams;

    for (const struct sim_request *request = self->rank->oldest; request != NULL;
         request = request->next) {
        if (request->stream == self || request->waiter == self) {
            return -ALAR_E_ILLEGAL;
        }
    }
    while (*link != self) {
        link = &(*link)->next;
    }
    *link = self->next;
    free(self);
    return 0;
}

int sim_stream_stall(void *context, void *stream, uint64_t duration_us)
{
    struct sim_stream *self = stream;
    uint64_t now = self->rank->world->now;

    (void)context;
    if (self->busy_until < now) {
        self->busy_until = now;
    }
    if (duration_us >= SIM_NEVER - self->busy_until) {
        return -ALAR_E_RANGE;
    }
    self->busy_until += duration_us;
    return 0;
}

int sim_note_set(void *context, const struct alar_note *note)
{
    struct sim_rank *rank = context;

    if (sim_rank_is_silent(rank)) {
        return -ALAR_E_BACKEND;
    }
    rank->note = *note;
    return 0;
}

int sim_roll_call(void *context, uint64_t grace_us, uint8_t *presence, struct alar_note *note)
{
    const struct sim_rank *rank = context;
    const struct alar_sim_world *world = rank->world;

    (void)grace_us;
    if (sim_rank_is_silent(rank)) {
        return -ALAR_E_BACKEND;
    }
    for (int32_t i = 0; i < world->options.ranks; i++) {
        bool is_silent = sim_rank_is_silent(&world->ranks[i]);

        presence[i] = is_silent ? ALAR_SILENT : ALAR_HERE;
        note[i] = is_silent ? (struct alar_note){0} : world->ranks[i].note;
    }
    return 0;
}

int sim_farewell(void *context, uint64_t timeout_us)
{
    struct sim_rank *rank = context;

    (void)timeout_us;
    if (sim_rank_is_silent(rank)) {
        return -ALAR_E_TIMEOUT;
    }
    if (!rank->said_farewell) {
        rank->said_farewell = 1;
        rank->world->farewells++;
    }
    if (rank->world->farewells < rank->world->options.ranks) {
        return sim_rank_hears_leave(rank) ? -ALAR_E_LOST : -ALAR_E_TIMEOUT;
    }
    rank->heard_farewell = 1;
    return 0;
}

void sim_leave(void *context, int code, const uint8_t *presence, uint64_t grace_us)
{
    struct sim_rank *rank = context;

    (void)presence;
    (void)grace_us;
    if (!rank->has_left && !sim_rank_is_silent(rank)) {
        rank->has_left = 1;
        rank->world->leaves++;
        rank->code = code;
    }
}

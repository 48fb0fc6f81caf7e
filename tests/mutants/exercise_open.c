/* The beginning and the end of an exercise: everything is allocated here, once. */
#include "tests/mutants/exercise_state.h"

#include "base/check.h"

#include <stdlib.h>

enum {
    SPARE_SLOTS = 4 /* beside the window, for those that are lost or looked at again */
};

uint64_t exercise_now(const struct alar_exercise *exercise)
{
    return exercise->options.now_us(exercise->options.clock);
}

const char *exercise_group(uint32_t comm)
{
    static const char *const names[EXERCISE_COMMS] = {"world", "half0", "half1"};

    return names[comm];
}

uint32_t exercise_first(const struct alar_exercise *exercise, uint32_t comm)
{
    return comm == 2 ? exercise->options.ranks / 2 : 0;
}

uint32_t exercise_members(const struct alar_exercise *exercise, uint32_t comm)
{
    uint32_t ranks = exercise->options.ranks;

    return comm == 0 ? ranks : comm == 1 ? ranks / 2 : ranks - ranks / 2;
}

static enum alar_status comms_create(const struct alar_exercise *exercise,
                                     const struct alar_backend *backend, void *context,
                                     uint64_t epoch, void **comm)
{
    uint32_t comms = exercise->options.has_halves ? EXERCISE_COMMS : 1;

    for (uint32_t c = 0; c < comms; c++) {
        int32_t count = (int32_t)exercise_members(exercise, c);
        int32_t *ranks = c == 0 ? NULL : calloc((size_t)count, sizeof(*ranks));

        if (c > 0 && ranks == NULL) {
            return ALAR_E_NOMEM;
        }
        for (int32_t i = 0; c > 0 && i < count; i++) {
            ranks[i] = (int32_t)exercise_first(exercise, c) + i;
        }
        int error = backend->comm_create(context, ranks, c == 0 ? 0 : count, epoch + c, &comm[c]);
        free(ranks);
        if (error != 0) {
            return ALAR_E_BACKEND;
        }
    }
    return ALAR_OK;
}

static enum alar_status exercise_start(struct alar_exercise *exercise)
{
    const struct alar_exercise_options *options = &exercise->options;

    if (options->backend->caps(options->context, &exercise->caps) != 0) {
        return ALAR_E_BACKEND;
    }
    ALAR_TRY(
        comms_create(exercise, options->backend, options->context, options->epoch, exercise->comm));
    if (options->twin != NULL) {
        struct alar_caps caps = {0};

        if (options->twin->caps(options->twin_context, &caps) != 0) {
            return ALAR_E_BACKEND;
        }
        exercise->caps.dtypes &= caps.dtypes;
        exercise->caps.reductions &= caps.reductions;
        ALAR_TRY(comms_create(exercise, options->twin, options->twin_context,
                              options->epoch + EXERCISE_COMMS, exercise->twin));
    }
    return ALAR_OK;
}

enum alar_status alar_exercise_open(struct alar_exercise **exercise,
                                    const struct alar_exercise_options *options)
{
    uint32_t slots = (uint32_t)options->window + SPARE_SLOTS;
    struct alar_exercise *made = calloc(1, sizeof(*made) + slots * sizeof(made->slot[0]));

    if (made == NULL) {
        return ALAR_E_NOMEM;
    }
    PRE(options->window >= 1);
    PRE(options->pace_us >= 1);
    PRE(options->stride >= 1);
    made->options = *options;
    made->slots = slots;
    made->rng = alar_rng_stream(options->seed, options->rank);
    enum alar_status status = exercise_start(made);
    if (status != ALAR_OK) {
        alar_exercise_free(made);
        return status;
    }
    exercise_record_start(made);
    *exercise = made;
    return ALAR_OK;
}

static void comms_free(const struct alar_backend *backend, void **comm)
{
    for (uint32_t c = 0; backend != NULL && c < EXERCISE_COMMS; c++) {
        if (comm[c] != NULL) {
            backend->comm_free(comm[c]);
        }
    }
}

void alar_exercise_close(struct alar_exercise *exercise)
{
    if (exercise == NULL || exercise->is_closed) {
        return;
    }
    exercise->is_closed = true;
    exercise_record_end(exercise);
    comms_free(exercise->options.backend, exercise->comm);
    comms_free(exercise->options.twin, exercise->twin);
}

void alar_exercise_free(struct alar_exercise *exercise)
{
    free(exercise);
}

uint64_t alar_exercise_posted(const struct alar_exercise *exercise)
{
    return exercise->posted;
}

uint64_t alar_exercise_done(const struct alar_exercise *exercise)
{
    return exercise->done;
}

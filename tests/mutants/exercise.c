/* The exercise of one rank: one small action at a time. */
#include "tests/mutants/exercise_state.h"

#include <string.h>

enum {
    IDLE_ACTIONS = 4 /* after the last value, before the last look */
};

/* Can the back end, and the twin's, do it? */
static bool op_is_served(const struct alar_exercise *exercise, const struct alar_exercise_op *op)
{
    return (exercise->caps.dtypes >> op->dtype & 1U) != 0 &&
           (exercise->caps.reductions >> op->red & 1U) != 0 && op->red != ALAR_PRODUCT &&
           op->elements * alar_dtype_bytes(op->dtype) <= ALAR_EXERCISE_BYTES_MAX;
}

static size_t slot_bytes(const struct exercise_slot *slot)
{
    return slot->op.elements * alar_dtype_bytes(slot->op.dtype);
}

/* Storage that the back end handed out twice is given back once. */
static bool is_shared(const struct alar_exercise *exercise, const struct exercise_slot *slot)
{
    for (uint32_t i = 0; i < exercise->slots; i++) {
        const struct exercise_slot *other = &exercise->slot[i];

        if (other != slot && other->stage == SLOT_LIVE && other->receive == slot->receive) {
            return true;
        }
    }
    return false;
}

/* Looks at a value again: nobody may have written to it. */
static void slot_review(struct alar_exercise *exercise, struct exercise_slot *slot)
{
    if (memcmp(slot->receive, slot->kept, slot_bytes(slot)) != 0) {
        exercise_record_rewritten(exercise, slot);
    }
    if (slot->receive != slot->recv && !is_shared(exercise, slot)) {
        exercise_record_free(exercise, slot);
        exercise->options.backend->memory_free(exercise->options.context, slot->receive);
    }
    slot->stage = SLOT_FREE;
}

/* The one that was over first, so that every value is looked at again as late as can be. */
static struct exercise_slot *slot_take(struct alar_exercise *exercise)
{
    struct exercise_slot *found = NULL;

    for (uint32_t i = 0; i < exercise->slots; i++) {
        struct exercise_slot *slot = &exercise->slot[i];

        if (slot->stage != SLOT_LIVE && slot->stage != SLOT_LOST &&
            (found == NULL || slot->since_us < found->since_us)) {
            found = slot;
        }
    }
    if (found != NULL && found->stage == SLOT_SPENT) {
        slot_review(exercise, found);
    }
    return found;
}

/* The receive buffer: the slot's own, or the back end's where it has storage. */
static void slot_store(struct alar_exercise *exercise, struct exercise_slot *slot)
{
    const struct alar_exercise_options *options = &exercise->options;

    slot->receive = slot->recv;
    if (options->backend->memory_allocate != NULL) {
        void *memory = NULL;

        if (options->backend->memory_allocate(options->context, slot_bytes(slot), &memory) == 0) {
            slot->receive = memory;
            exercise_record_alloc(exercise, slot);
        }
    }
    memset(slot->receive, 0, slot_bytes(slot));
}

static void slot_over(struct alar_exercise *exercise, struct exercise_slot *slot, int error)
{
    if (error != 0) {
        exercise_record_fail(exercise, slot, error);
        slot->stage = SLOT_LOST;
        return;
    }
    memcpy(slot->kept, slot->receive, slot_bytes(slot));
    exercise_record_value(exercise, slot);
    exercise->done++;
    slot->stage = SLOT_SPENT;
}

static int slot_issue(struct alar_exercise *exercise, struct exercise_slot *slot)
{
    const struct alar_exercise_options *options = &exercise->options;
    const struct alar_op op = {.tag = exercise->posted, .scale = 1.0};
    int error = options->backend->allreduce(exercise->comm[slot->comm], slot->send, slot->receive,
                                            slot->op.elements, slot->op.dtype, slot->op.red, NULL,
                                            &op, &slot->request);

    if (error == 0 && options->twin != NULL) {
        error = options->twin->allreduce(exercise->twin[slot->comm], slot->send, slot->twin,
                                         slot->op.elements, slot->op.dtype, slot->op.red, NULL, &op,
                                         &slot->twin_request);
    }
    return error;
}

/* Posts the next all-reduce that the back end can do; false when there is no room. */
static bool exercise_post(struct alar_exercise *exercise)
{
    const struct alar_exercise_options *options = &exercise->options;
    struct alar_exercise_op op = {.step = -1, .microbatch = -1};

    options->source.op(options->source.data, exercise->next, &op);
    if (!op_is_served(exercise, &op)) {
        exercise->next++;
        return true;
    }
    struct exercise_slot *slot = slot_take(exercise);
    if (slot == NULL) {
        return false;
    }
    memset(slot, 0, sizeof(*slot));
    slot->op = op;
    slot->comm = !op.is_split || !options->has_halves          ? 0
                 : options->rank < exercise_first(exercise, 2) ? 1
                                                               : 2;
    slot->number = exercise->number[slot->comm]++;
    slot->since_us = exercise_now(exercise);
    slot->stage = SLOT_LIVE;
    slot->is_twin_done = options->twin == NULL;
    options->source.fill(options->source.data, exercise->next, options->rank, slot->send);
    exercise->next++;
    slot_store(exercise, slot);
    exercise_record_issue(exercise, slot);
    exercise->posted++;
    int error = slot_issue(exercise, slot);
    if (error != 0) {
        slot_over(exercise, slot, error);
    }
    return true;
}

/* ---- polling -----------------------------------------------------------------------------------
 */

static void twin_poll(struct alar_exercise *exercise, struct exercise_slot *slot)
{
    const struct alar_backend *twin = exercise->options.twin;
    int done = 0;
    int error = 0;

    if (slot->is_twin_done) {
        return;
    }
    twin->test(slot->twin_request, &done, &error);
    if (done || error != 0) {
        twin->request_free(slot->twin_request);
        slot->is_twin_done = true;
    }
}

static void slot_poll(struct alar_exercise *exercise, struct exercise_slot *slot)
{
    const struct alar_exercise_options *options = &exercise->options;
    int done = 0;
    int error = 0;

    /* The twin's value stands before the end of its operation, so it is asked for first. */
    twin_poll(exercise, slot);
    int failed = slot->is_twin_done ? options->backend->test(slot->request, &done, &error) : 0;
    error = failed != 0 ? failed : error;
    if (done || error != 0) {
        slot_over(exercise, slot, error);
        options->backend->request_free(slot->request);
    } else if (exercise_now(exercise) - slot->since_us > options->deadline_us) {
        slot_over(exercise, slot, -ALAR_E_TIMEOUT);
    }
}

static uint32_t exercise_poll(struct alar_exercise *exercise)
{
    uint32_t live = 0;

    for (uint32_t i = 0; i < exercise->slots; i++) {
        struct exercise_slot *slot = &exercise->slot[i];

        if (slot->stage == SLOT_LIVE) {
            slot_poll(exercise, slot);
        }
        live += slot->stage == SLOT_LIVE;
    }
    return live;
}

/* Begins to stand still for one of the pending ones, not always the oldest. */
static void exercise_wait(struct alar_exercise *exercise)
{
    uint32_t at = (uint32_t)alar_rng_below(&exercise->rng, exercise->slots);
    struct exercise_slot *slot = &exercise->slot[at];

    if (slot->stage == SLOT_LIVE && !slot->is_waited) {
        exercise_record_wait(exercise, slot, false);
    }
}

static void exercise_finish(struct alar_exercise *exercise)
{
    const struct alar_exercise_options *options = &exercise->options;

    if (options->backend->progress != NULL) {
        options->backend->progress(options->context);
    }
    if (++exercise->idle < IDLE_ACTIONS || exercise->is_over) {
        return;
    }
    for (uint32_t i = 0; i < exercise->slots; i++) {
        if (exercise->slot[i].stage == SLOT_SPENT) {
            slot_review(exercise, &exercise->slot[i]);
        }
    }
    exercise->is_over = true;
}

/* The next moment at which this rank may act. */
static uint64_t wake_next(struct alar_exercise *exercise)
{
    const struct alar_exercise_options *options = &exercise->options;
    uint64_t steps = 1 + alar_rng_below(&exercise->rng, options->pace_us);

    return (exercise_now(exercise) / options->stride + steps) * options->stride + options->phase;
}

bool alar_exercise_advance(struct alar_exercise *exercise, uint64_t *wake_us)
{
    const struct alar_exercise_options *options = &exercise->options;

    uint32_t live = exercise_poll(exercise);
    bool has_more = exercise->next < options->ops;

    if (has_more && live < options->window && alar_rng_below(&exercise->rng, 4) > 0) {
        has_more = exercise_post(exercise);
        live = exercise_poll(exercise);
    } else if (live > 0) {
        exercise_wait(exercise);
    }
    if (live == 0 && !has_more) {
        exercise_finish(exercise);
    }
    *wake_us = wake_next(exercise);
    return exercise->is_over;
}

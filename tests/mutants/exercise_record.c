/* What the exercise writes into its history. */
#include "tests/mutants/exercise_state.h"

#include <stdio.h>

static uint64_t record_time(const struct alar_exercise *exercise)
{
    const struct alar_exercise_options *options = &exercise->options;

    return (exercise_now(exercise) - options->history_since_us) * options->history_units_per_us;
}

static struct alar_history_op record_op(const struct exercise_slot *slot)
{
    return (struct alar_history_op){exercise_group(slot->comm), slot->number};
}

static struct alar_elements record_elements(const struct exercise_slot *slot, const void *values)
{
    return (struct alar_elements){values, slot->op.elements, slot->op.dtype};
}

/* Storage of the back end's is named by its address, so that one that comes back is known again. */
static void buffer_name(struct alar_exercise *exercise, const struct exercise_slot *slot,
                        char name[16])
{
    uint32_t i = 0;

    while (i < exercise->addresses && exercise->address[i] != slot->receive) {
        i++;
    }
    if (i == exercise->addresses && exercise->addresses < EXERCISE_ADDRESSES) {
        exercise->address[exercise->addresses++] = slot->receive;
    }
    snprintf(name, 16, "r%u", i);
}

void exercise_record_start(struct alar_exercise *exercise)
{
    const struct alar_exercise_options *options = &exercise->options;

    if (options->contract != NULL) {
        alar_history_contract(options->history, record_time(exercise), options->contract);
    }
    for (uint32_t c = 1; options->has_halves && c < EXERCISE_COMMS; c++) {
        uint32_t members[256];
        uint32_t count = exercise_members(exercise, c);

        for (uint32_t i = 0; i < count && i < 256; i++) {
            members[i] = exercise_first(exercise, c) + i;
        }
        const struct alar_history_declare record = {
            .group = exercise_group(c), .members = members, .count = count};

        alar_history_declare(options->history, record_time(exercise), &record);
    }
}

void exercise_record_alloc(struct alar_exercise *exercise, const struct exercise_slot *slot)
{
    char name[16];

    buffer_name(exercise, slot, name);
    alar_history_alloc(exercise->options.history, record_time(exercise), name);
}

void exercise_record_free(struct alar_exercise *exercise, const struct exercise_slot *slot)
{
    char name[16];

    buffer_name(exercise, slot, name);
    alar_history_free(exercise->options.history, record_time(exercise), name);
}

void exercise_record_issue(struct alar_exercise *exercise, const struct exercise_slot *slot)
{
    char name[16];

    buffer_name(exercise, slot, name);
    const struct alar_history_issue record = {
        .op = record_op(slot),
        .reduction = alar_reduction_names[slot->op.red],
        .buffer = name,
        .in = record_elements(slot, slot->send),
        .key = slot->op.key,
        .has_step = slot->op.step >= 0,
        .step = slot->op.step,
        .has_microbatch = slot->op.microbatch >= 0,
        .microbatch = (uint32_t)slot->op.microbatch,
        .pairs = slot->op.pairs,
    };
    alar_history_issue(exercise->options.history, record_time(exercise), &record);
}

void exercise_record_wait(struct alar_exercise *exercise, struct exercise_slot *slot, bool is_done)
{
    const struct alar_history_wait record = {.op = record_op(slot), .is_done = is_done};

    alar_history_wait(exercise->options.history, record_time(exercise), &record);
    slot->is_waited = true;
}

void exercise_record_value(struct alar_exercise *exercise, struct exercise_slot *slot)
{
    struct alar_history *history = exercise->options.history;
    const struct alar_history_done done = {.op = record_op(slot),
                                           .out = record_elements(slot, slot->kept)};
    const struct alar_history_done twin = {.op = done.op, .out = record_elements(slot, slot->twin)};
    const struct alar_history_read read = {.op = done.op, .bits = done.out};

    if (!slot->is_waited) {
        exercise_record_wait(exercise, slot, true);
    }
    if (exercise->options.twin != NULL) {
        alar_history_twin(history, record_time(exercise), &twin);
    }
    alar_history_done(history, record_time(exercise), &done);
    alar_history_read(history, record_time(exercise), &read);
}

void exercise_record_fail(struct alar_exercise *exercise, const struct exercise_slot *slot,
                          int error)
{
    const struct alar_history_fail record = {
        .op = record_op(slot),
        .error = error == -ALAR_E_TIMEOUT ? "timeout" : "backend",
        .text = alar_status_text((enum alar_status) - error),
    };

    alar_history_fail(exercise->options.history, record_time(exercise), &record);
}

void exercise_record_rewritten(struct alar_exercise *exercise, const struct exercise_slot *slot)
{
    const struct alar_history_read record = {.op = record_op(slot),
                                             .bits = record_elements(slot, slot->receive)};

    alar_history_write(exercise->options.history, record_time(exercise), &record);
}

void exercise_record_end(struct alar_exercise *exercise)
{
    alar_history_end(exercise->options.history, record_time(exercise));
}

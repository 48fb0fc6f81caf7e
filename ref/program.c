/* The phases of a step, each left as soon as it can be. */
#include "program.h"

#include "check.h"
#include "faults/point.h"

#include <stdlib.h>

enum phase {
    PHASE_COMPUTE,    /* until busy_until */
    PHASE_CONTRIBUTE, /* hand over the microbatch's loss */
    PHASE_GRADIENT,   /* issue the gradient all-reduce, if there is one */
    PHASE_GRADIENT_WAIT,
    PHASE_STEP_END,
    PHASE_FINISH, /* nothing is left but what is pending */
};

struct alar_program {
    struct alar_program_options options;
    enum phase phase;
    size_t index;        /* of the current step */
    uint32_t microbatch; /* of the current step */
    bool is_computing;   /* busy_until was set */
    bool is_gone;        /* a fault took this rank away */
    uint64_t busy_until;
    void *comm; /* of the gradients; NULL when there are none */
    void *request;
    float *send;
    float *receive;
    struct alar_deadline deadline; /* of the gradient wait */
};

enum alar_status alar_program_open(struct alar_program **program,
                                   const struct alar_program_options *options)
{
    struct alar_program *made = calloc(1, sizeof(*made));
    uint64_t bytes = options->pace.grad_bytes;

    if (made == NULL) {
        return ALAR_E_NOMEM;
    }
    made->options = *options;
    if (bytes > 0) {
        made->send = calloc(1, bytes);
        made->receive = calloc(1, bytes);
        int error = options->backend->comm_create(options->context, NULL, 0, options->comm_epoch,
                                                  &made->comm);
        if (made->send == NULL || made->receive == NULL || error != 0) {
            alar_program_free(made);
            return error != 0 ? ALAR_E_BACKEND : ALAR_E_NOMEM;
        }
    }
    *program = made;
    return ALAR_OK;
}

/* This rank's compute time for the current microbatch; the straggler is late in a step's first one.
 */
static uint64_t compute_us(const struct alar_program *program)
{
    const struct alar_pace *pace = &program->options.pace;
    int64_t late = pace->straggler == ALAR_STRAGGLER_ROTATE
                       ? (int64_t)(program->index % program->options.ranks)
                       : pace->straggler;
    bool is_late = program->microbatch == 0 && late == (int64_t)program->options.rank;

    return pace->compute_us + (is_late ? pace->late_us : 0);
}

/* Computes until busy_until, polling on the way; false while there is time left. */
static bool compute(struct alar_program *program, uint64_t now_us, uint64_t *wake_us)
{
    uint64_t poll_us = program->options.pace.poll_us;
    enum alar_need need = ALAR_NEED_NOTHING;

    if (!program->is_computing) {
        program->is_computing = true;
        program->busy_until =
            now_us + compute_us(program) + alar_fault_delay_us(program->options.faults);
    } else {
        need = alar_driver_poll(program->options.driver);
    }
    if (now_us < program->busy_until && need == ALAR_NEED_NOTHING) {
        uint64_t left = program->busy_until - now_us;

        *wake_us = now_us + (poll_us > 0 && poll_us < left ? poll_us : left);
        return false;
    }
    program->is_computing = false;
    program->phase = PHASE_CONTRIBUTE;
    return true;
}

static void contribute(struct alar_program *program)
{
    const struct alar_program_options *options = &program->options;
    const struct alar_source *source = &options->source;
    struct alar_local local = {0};

    program->is_gone = alar_fault_departs(options->faults, false /* before it contributes */);
    if (program->is_gone) {
        return;
    }
    enum alar_status status =
        source->local(source->data, options->rank, program->index, program->microbatch, &local);

    if (status != ALAR_OK) {
        alar_driver_abandon(options->driver, status);
        return;
    }
    if (!options->pace.is_unlogged) {
        alar_driver_microbatch(options->driver, source->step(source->data, program->index), &local);
    }
    program->is_gone = alar_fault_departs(options->faults, true /* it has contributed */);
    program->microbatch++;
    program->phase = program->microbatch < options->microbatches ? PHASE_COMPUTE : PHASE_GRADIENT;
}

static void gradient_issue(struct alar_program *program, uint64_t now_us)
{
    const struct alar_program_options *options = &program->options;
    struct alar_op op = {.tag = program->index, .timeout_us = options->deadline_us, .scale = 1.0};

    program->phase = PHASE_STEP_END;
    if (program->comm == NULL) {
        return;
    }
    if (options->backend->allreduce(program->comm, program->send, program->receive,
                                    options->pace.grad_bytes / sizeof(float), ALAR_F32, ALAR_SUM,
                                    NULL, &op, &program->request) != 0) {
        alar_driver_abandon(options->driver, ALAR_E_BACKEND);
        return;
    }
    program->deadline = (struct alar_deadline){.since = now_us, .limit = options->deadline_us};
    program->phase = PHASE_GRADIENT_WAIT;
}

/* Asks about the gradient all-reduce; false while it is pending. */
static bool gradient_test(struct alar_program *program, uint64_t now_us)
{
    const struct alar_program_options *options = &program->options;
    int done = 0;
    int error = 0;
    int failed = options->backend->test(program->request, &done, &error);

    if (failed != 0 || error != 0) {
        alar_driver_abandon(options->driver, ALAR_E_BACKEND);
        return true;
    }
    if (!done) {
        if (alar_deadline_passed(&program->deadline, now_us)) {
            alar_driver_abandon(options->driver, ALAR_E_TIMEOUT);
        }
        alar_driver_poll(options->driver);
        return false;
    }
    options->backend->request_free(program->request);
    program->request = NULL;
    program->phase = PHASE_STEP_END;
    return true;
}

static void step_end(struct alar_program *program)
{
    if (!program->options.pace.is_unlogged) {
        alar_driver_step_end(program->options.driver);
    }
    program->microbatch = 0;
    program->index++;
    program->phase = program->index < program->options.steps ? PHASE_COMPUTE : PHASE_FINISH;
}

enum alar_turn alar_program_advance(struct alar_program *program, uint64_t now_us,
                                    uint64_t *wake_us)
{
    struct alar_driver *driver = program->options.driver;

    if (alar_driver_need(driver) == ALAR_NEED_POLL) {
        alar_driver_poll(driver);
    }
    while (alar_driver_need(driver) == ALAR_NEED_NOTHING && !program->is_gone) {
        switch (program->phase) {
        case PHASE_COMPUTE:
            if (!compute(program, now_us, wake_us)) {
                return ALAR_TURN_AT;
            }
            break;
        case PHASE_CONTRIBUTE:
            contribute(program);
            break;
        case PHASE_GRADIENT:
            gradient_issue(program, now_us);
            break;
        case PHASE_GRADIENT_WAIT:
            if (!gradient_test(program, now_us)) {
                return ALAR_TURN_BLOCKED;
            }
            break;
        case PHASE_STEP_END:
            step_end(program);
            break;
        case PHASE_FINISH:
            alar_driver_finish(driver);
            break;
        }
    }
    if (program->is_gone) {
        return ALAR_TURN_GONE;
    }
    return alar_driver_need(driver) == ALAR_NEED_POLL ? ALAR_TURN_BLOCKED : ALAR_TURN_OVER;
}

void alar_program_wait(struct alar_program *program, uint64_t slice_us)
{
    int error = 0;

    if (alar_driver_need(program->options.driver) == ALAR_NEED_POLL) {
        alar_driver_wait(program->options.driver, slice_us);
    } else {
        /* What it says is asked again by the next advance. */
        program->options.backend->wait(program->request, NULL, slice_us, &error);
    }
}

uint64_t alar_program_expiry(const struct alar_program *program)
{
    const struct alar_deadline *deadline =
        alar_driver_need(program->options.driver) == ALAR_NEED_POLL
            ? alar_driver_deadline(program->options.driver)
            : &program->deadline;

    return deadline->limit == 0 ? UINT64_MAX : deadline->since + deadline->limit;
}

size_t alar_program_steps(const struct alar_program *program)
{
    return program->index;
}

void alar_program_free(struct alar_program *program)
{
    if (program == NULL) {
        return;
    }
    if (program->comm != NULL) {
        program->options.backend->comm_free(program->comm);
    }
    free(program->send);
    free(program->receive);
    free(program);
}

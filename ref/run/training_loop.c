/* The phases of a step, each left as soon as it can be. */
#include "run/training_loop.h"

#include "base/check.h"
#include "faults/point.h"

#include <stdlib.h>

enum phase {
    PHASE_COMPUTE,    /* until busy_until */
    PHASE_CONTRIBUTE, /* take the microbatch's loss */
    PHASE_SHARE_WAIT, /* it is reduced over the ranks that share the microbatch */
    PHASE_POST,       /* hand it over */
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
    struct alar_deadline deadline; /* of the wait for `request` */
    struct alar_local local;       /* of the current microbatch */
    struct alar_share share;       /* of it; unused when nothing is shared */
    struct alar_mishap mishap;
};

static enum alar_status buffers_open(struct alar_program *program)
{
    const struct alar_program_options *options = &program->options;
    uint64_t bytes = options->pace.grad_bytes;

    if (bytes > 0) {
        program->send = calloc(1, bytes);
        program->receive = calloc(1, bytes);
    }
    if (options->sharing.comm != NULL) {
        ALAR_TRY(alar_share_open(&program->share, &options->sharing, options->driver));
    }
    return bytes > 0 && (program->send == NULL || program->receive == NULL) ? ALAR_E_NOMEM
                                                                            : ALAR_OK;
}

enum alar_status alar_program_open(struct alar_program **program,
                                   const struct alar_program_options *options)
{
    struct alar_program *made = calloc(1, sizeof(*made));
    uint64_t bytes = options->pace.grad_bytes;

    if (made == NULL) {
        return ALAR_E_NOMEM;
    }
    made->options = *options;
    enum alar_status status = buffers_open(made);
    if (status == ALAR_OK && bytes > 0 && options->gradient_comm == NULL &&
        options->backend->comm_create(options->context, NULL, 0, options->comm_epoch,
                                      &made->comm) != 0) {
        status = ALAR_E_BACKEND;
    }
    if (status != ALAR_OK) {
        made->options.sharing.comm = NULL; /* still the caller's */
        alar_program_free(made);
        return status;
    }
    made->comm = options->gradient_comm != NULL ? options->gradient_comm : made->comm;
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

/* One all-reduce that the program stands still for. */
struct standstill {
    void *comm;
    const void *send;
    void *receive;
    uint64_t count;
    enum alar_dtype dtype;
    uint64_t tag;
    enum phase phase; /* in which it waits */
};

static void standstill_issue(struct alar_program *program, const struct standstill *still,
                             uint64_t now_us)
{
    const struct alar_program_options *options = &program->options;
    struct alar_op op = {.tag = still->tag, .timeout_us = options->deadline_us, .scale = 1.0};

    program->phase = still->phase;
    if (options->backend->allreduce(still->comm, still->send, still->receive, still->count,
                                    still->dtype, ALAR_SUM, NULL, &op, &program->request) != 0) {
        alar_driver_abandon(options->driver, ALAR_E_BACKEND);
        return;
    }
    program->deadline = (struct alar_deadline){.since = now_us, .limit = options->deadline_us};
}

/* Asks about the all-reduce that is waited for; false while it is pending. When it fails the driver
   is told, and no phase follows. */
static bool standstill_test(struct alar_program *program, uint64_t now_us)
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
    return true;
}

static void share_issue(struct alar_program *program, uint64_t now_us)
{
    const struct alar_program_options *options = &program->options;
    struct alar_share *share = &program->share;

    alar_share_write(share, options->source.step(options->source.data, program->index),
                     program->microbatch, &program->local);
    const struct standstill still = {
        .comm = options->sharing.comm,
        .send = share->send,
        .receive = share->receive,
        .count = share->lanes,
        .dtype = alar_payload_dtype(&options->sharing.layout),
        .tag = share->number,
        .phase = PHASE_SHARE_WAIT,
    };
    standstill_issue(program, &still, now_us);
}

static void share_take(struct alar_program *program)
{
    enum alar_status status = alar_share_take(&program->share, &program->local, &program->mishap);

    program->phase = PHASE_POST;
    if (status != ALAR_OK) {
        alar_driver_abandon(program->options.driver, status);
    }
}

/* Takes the local loss; hands it over at once, unless other ranks share the microbatch. */
static void contribute(struct alar_program *program, uint64_t now_us)
{
    const struct alar_program_options *options = &program->options;
    const struct alar_source *source = &options->source;

    program->is_gone = alar_fault_departs(options->faults, false /* before it contributes */);
    if (program->is_gone) {
        return;
    }
    program->local = (struct alar_local){.sum = 0.0};
    enum alar_status status = source->local(source->data, options->rank, program->index,
                                            program->microbatch, &program->local);

    if (status != ALAR_OK) {
        alar_driver_abandon(options->driver, status);
        return;
    }
    program->phase = PHASE_POST;
    if (options->sharing.comm != NULL && !options->pace.is_unlogged) {
        share_issue(program, now_us);
    }
}

static void post(struct alar_program *program)
{
    const struct alar_program_options *options = &program->options;
    const struct alar_source *source = &options->source;

    if (!options->pace.is_unlogged) {
        alar_driver_microbatch(options->driver, source->step(source->data, program->index),
                               source->metrics == NULL
                                   ? &program->local
                                   : source->metrics(source->data, options->rank, &program->local));
    }
    program->is_gone = alar_fault_departs(options->faults, true /* it has contributed */);
    program->microbatch++;
    program->phase = program->microbatch < options->microbatches ? PHASE_COMPUTE : PHASE_GRADIENT;
}

static void gradient_issue(struct alar_program *program, uint64_t now_us)
{
    const struct standstill still = {
        .comm = program->comm,
        .send = program->send,
        .receive = program->receive,
        .count = program->options.pace.grad_bytes / sizeof(float),
        .dtype = ALAR_F32,
        .tag = program->index,
        .phase = PHASE_GRADIENT_WAIT,
    };

    program->phase = PHASE_STEP_END;
    if (program->comm != NULL) {
        standstill_issue(program, &still, now_us);
    }
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

enum alar_turn alar_program_advance(struct alar_program *program, uint64_t *wake_us)
{
    struct alar_driver *driver = program->options.driver;

    if (alar_driver_need(driver) == ALAR_NEED_POLL) {
        alar_driver_poll(driver);
    }
    while (alar_driver_need(driver) == ALAR_NEED_NOTHING && !program->is_gone) {
        /* Asked anew each time: a blocking call may have taken long, and is no part of a compute.
         */
        uint64_t now_us = alar_driver_now(driver);

        switch (program->phase) {
        case PHASE_COMPUTE:
            if (!compute(program, now_us, wake_us)) {
                return ALAR_TURN_AT;
            }
            break;
        case PHASE_CONTRIBUTE:
            contribute(program, now_us);
            break;
        case PHASE_SHARE_WAIT:
            if (!standstill_test(program, now_us)) {
                return ALAR_TURN_BLOCKED;
            }
            if (program->request == NULL) {
                share_take(program);
            }
            break;
        case PHASE_POST:
            post(program);
            break;
        case PHASE_GRADIENT:
            gradient_issue(program, now_us);
            break;
        case PHASE_GRADIENT_WAIT:
            if (!standstill_test(program, now_us)) {
                return ALAR_TURN_BLOCKED;
            }
            program->phase = PHASE_STEP_END;
            break;
        case PHASE_STEP_END:
            step_end(program);
            break;
        case PHASE_FINISH:
            alar_driver_finish(driver);
            break;
        }
    }
    if (program->phase == PHASE_SHARE_WAIT && alar_driver_need(driver) == ALAR_NEED_END) {
        alar_share_give_up(&program->share, alar_driver_status(driver));
        program->phase = PHASE_POST;
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

const struct alar_mishap *alar_program_mishap(const struct alar_program *program)
{
    return program->mishap.finding.kind == ALAR_CENSUS_WHOLE ? NULL : &program->mishap;
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
    if (program->options.sharing.comm != NULL) {
        program->options.backend->comm_free(program->options.sharing.comm);
    }
    alar_share_close(&program->share);
    free(program->send);
    free(program->receive);
    free(program);
}

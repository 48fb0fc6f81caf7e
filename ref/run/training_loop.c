/* The phases of a step, each left as soon as it can be. */
#include "run/training_loop.h"
#include "driver/config.h"

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

struct alar_training_loop {
    struct alar_training_loop_options options;
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
    struct alar_cp_reduce share;   /* of it; unused when nothing is shared */
    struct alar_participation_error participation_error;
};

static enum alar_status buffers_open(struct alar_training_loop *loop)
{
    const struct alar_training_loop_options *options = &loop->options;
    uint64_t bytes = options->pace.grad_bytes;

    if (bytes > 0) {
        loop->send = calloc(1, bytes);
        loop->receive = calloc(1, bytes);
    }
    if (options->sharing.comm != NULL) {
        ALAR_TRY(alar_cp_reduce_open(&loop->share, &options->sharing, options->driver));
    }
    return bytes > 0 && (loop->send == NULL || loop->receive == NULL) ? ALAR_E_NOMEM : ALAR_OK;
}

enum alar_status alar_training_loop_open(struct alar_training_loop **loop,
                                         const struct alar_training_loop_options *options)
{
    struct alar_training_loop *made = calloc(1, sizeof(*made));
    uint64_t bytes = options->pace.grad_bytes;

    if (made == NULL) {
        return ALAR_E_NOMEM;
    }
    made->options = *options;
    enum alar_status status = buffers_open(made);
    if (status == ALAR_OK && bytes > 0 && options->gradient_comm == NULL) {
        status = alar_comm_status(options->backend->comm_create(options->context, NULL, 0,
                                                                options->comm_epoch, &made->comm));
    }
    if (status != ALAR_OK) {
        made->options.sharing.comm = NULL; /* still the caller's */
        alar_training_loop_free(made);
        return status;
    }
    made->comm = options->gradient_comm != NULL ? options->gradient_comm : made->comm;
    *loop = made;
    return ALAR_OK;
}

/* This rank's compute time for the current microbatch; the straggler is late in a step's first one.
 */
static uint64_t compute_us(const struct alar_training_loop *loop)
{
    const struct alar_pace *pace = &loop->options.pace;
    int64_t late = pace->straggler == ALAR_STRAGGLER_ROTATE
                       ? (int64_t)(loop->index % loop->options.ranks)
                       : pace->straggler;
    bool is_late = loop->microbatch == 0 && late == (int64_t)loop->options.rank;

    return pace->compute_us + (is_late ? pace->late_us : 0);
}

/* Computes until busy_until, polling on the way; false while there is time left. */
static bool compute(struct alar_training_loop *loop, uint64_t now_us, uint64_t *wake_us)
{
    uint64_t poll_us = loop->options.pace.poll_us;
    enum alar_need need = ALAR_NEED_NOTHING;

    if (!loop->is_computing) {
        loop->is_computing = true;
        loop->busy_until = now_us + compute_us(loop) + alar_fault_delay_us(loop->options.faults);
    } else {
        need = alar_driver_poll(loop->options.driver);
    }
    if (now_us < loop->busy_until && need == ALAR_NEED_NOTHING) {
        uint64_t left = loop->busy_until - now_us;

        *wake_us = now_us + (poll_us > 0 && poll_us < left ? poll_us : left);
        return false;
    }
    loop->is_computing = false;
    loop->phase = PHASE_CONTRIBUTE;
    return true;
}

/* One all-reduce that the loop stands still for. */
struct standstill {
    void *comm;
    const void *send;
    void *receive;
    uint64_t count;
    enum alar_dtype dtype;
    uint64_t tag;
    enum phase phase; /* in which it waits */
};

static void standstill_issue(struct alar_training_loop *loop, const struct standstill *still,
                             uint64_t now_us)
{
    const struct alar_training_loop_options *options = &loop->options;
    struct alar_op op = {.tag = still->tag, .timeout_us = options->deadline_us, .scale = 1.0};

    loop->phase = still->phase;
    if (options->backend->allreduce(still->comm, still->send, still->receive, still->count,
                                    still->dtype, ALAR_SUM, NULL, &op, &loop->request) != 0) {
        alar_driver_abandon(options->driver, ALAR_E_BACKEND);
        return;
    }
    loop->deadline = (struct alar_deadline){.since = now_us, .limit = options->deadline_us};
}

/* Asks about the all-reduce that is waited for; false while it is pending. When it fails the driver
   is told, and no phase follows. */
static bool standstill_test(struct alar_training_loop *loop, uint64_t now_us)
{
    const struct alar_training_loop_options *options = &loop->options;
    int done = 0;
    int error = 0;
    int failed = options->backend->test(loop->request, &done, &error);

    if (failed != 0 || error != 0) {
        alar_driver_abandon(options->driver, ALAR_E_BACKEND);
        return true;
    }
    if (!done) {
        if (alar_deadline_passed(&loop->deadline, now_us)) {
            alar_driver_abandon(options->driver, ALAR_E_TIMEOUT);
        }
        alar_driver_poll(options->driver);
        return false;
    }
    options->backend->request_free(loop->request);
    loop->request = NULL;
    return true;
}

static void share_issue(struct alar_training_loop *loop, uint64_t now_us)
{
    const struct alar_training_loop_options *options = &loop->options;
    struct alar_cp_reduce *share = &loop->share;

    alar_cp_reduce_write(share, options->source.step(options->source.data, loop->index),
                         loop->microbatch, &loop->local);
    const struct standstill still = {
        .comm = options->sharing.comm,
        .send = share->send,
        .receive = share->receive,
        .count = share->elements,
        .dtype = alar_payload_dtype(&options->sharing.layout),
        .tag = share->number,
        .phase = PHASE_SHARE_WAIT,
    };
    standstill_issue(loop, &still, now_us);
}

static void share_take(struct alar_training_loop *loop)
{
    enum alar_status status =
        alar_cp_reduce_retire(&loop->share, &loop->local, &loop->participation_error);

    loop->phase = PHASE_POST;
    if (status != ALAR_OK) {
        alar_driver_abandon(loop->options.driver, status);
    }
}

/* Takes the local loss; hands it over at once, unless other ranks share the microbatch. */
static void contribute(struct alar_training_loop *loop, uint64_t now_us)
{
    const struct alar_training_loop_options *options = &loop->options;
    const struct alar_source *source = &options->source;

    loop->is_gone = alar_fault_departs(options->faults, false /* before it contributes */);
    if (loop->is_gone) {
        return;
    }
    loop->local = (struct alar_local){.sum = 0.0};
    enum alar_status status =
        source->local(source->data, options->rank, loop->index, loop->microbatch, &loop->local);

    if (status != ALAR_OK) {
        alar_driver_abandon(options->driver, status);
        return;
    }
    loop->phase = PHASE_POST;
    if (options->sharing.comm != NULL && !options->pace.is_unlogged) {
        share_issue(loop, now_us);
    }
}

static void post(struct alar_training_loop *loop)
{
    const struct alar_training_loop_options *options = &loop->options;
    const struct alar_source *source = &options->source;

    if (!options->pace.is_unlogged) {
        alar_driver_microbatch(options->driver, source->step(source->data, loop->index),
                               source->metrics == NULL
                                   ? &loop->local
                                   : source->metrics(source->data, options->rank, &loop->local));
    }
    loop->is_gone = alar_fault_departs(options->faults, true /* it has contributed */);
    loop->microbatch++;
    loop->phase = loop->microbatch < options->microbatches ? PHASE_COMPUTE : PHASE_GRADIENT;
}

static void gradient_issue(struct alar_training_loop *loop, uint64_t now_us)
{
    const struct standstill still = {
        .comm = loop->comm,
        .send = loop->send,
        .receive = loop->receive,
        .count = loop->options.pace.grad_bytes / sizeof(float),
        .dtype = ALAR_F32,
        .tag = loop->index,
        .phase = PHASE_GRADIENT_WAIT,
    };

    loop->phase = PHASE_STEP_END;
    if (loop->comm != NULL) {
        standstill_issue(loop, &still, now_us);
    }
}

static void step_end(struct alar_training_loop *loop)
{
    if (!loop->options.pace.is_unlogged) {
        alar_driver_step_end(loop->options.driver);
    }
    loop->microbatch = 0;
    loop->index++;
    loop->phase = loop->index < loop->options.steps ? PHASE_COMPUTE : PHASE_FINISH;
}

enum alar_turn alar_training_loop_advance(struct alar_training_loop *loop, uint64_t *wake_us)
{
    struct alar_driver *driver = loop->options.driver;

    if (alar_driver_need(driver) == ALAR_NEED_POLL) {
        alar_driver_poll(driver);
    }
    while (alar_driver_need(driver) == ALAR_NEED_NOTHING && !loop->is_gone) {
        /* Asked anew each time: a blocking call may have taken long, and is no part of a compute.
         */
        uint64_t now_us = alar_driver_now(driver);

        switch (loop->phase) {
        case PHASE_COMPUTE:
            if (!compute(loop, now_us, wake_us)) {
                return ALAR_TURN_AT;
            }
            break;
        case PHASE_CONTRIBUTE:
            contribute(loop, now_us);
            break;
        case PHASE_SHARE_WAIT:
            if (!standstill_test(loop, now_us)) {
                return ALAR_TURN_BLOCKED;
            }
            if (loop->request == NULL) {
                share_take(loop);
            }
            break;
        case PHASE_POST:
            post(loop);
            break;
        case PHASE_GRADIENT:
            gradient_issue(loop, now_us);
            break;
        case PHASE_GRADIENT_WAIT:
            if (!standstill_test(loop, now_us)) {
                return ALAR_TURN_BLOCKED;
            }
            loop->phase = PHASE_STEP_END;
            break;
        case PHASE_STEP_END:
            step_end(loop);
            break;
        case PHASE_FINISH:
            alar_driver_finish(driver);
            break;
        }
    }
    if (loop->phase == PHASE_SHARE_WAIT && alar_driver_need(driver) == ALAR_NEED_END) {
        alar_cp_reduce_give_up(&loop->share, alar_driver_status(driver));
        loop->phase = PHASE_POST;
    }
    if (loop->is_gone) {
        return ALAR_TURN_GONE;
    }
    return alar_driver_need(driver) == ALAR_NEED_POLL ? ALAR_TURN_BLOCKED : ALAR_TURN_OVER;
}

void alar_training_loop_wait(struct alar_training_loop *loop, uint64_t slice_us)
{
    int error = 0;

    if (alar_driver_need(loop->options.driver) == ALAR_NEED_POLL) {
        alar_driver_wait(loop->options.driver, slice_us);
    } else {
        /* What it says is asked again by the next advance. */
        loop->options.backend->wait(loop->request, NULL, slice_us, &error);
    }
}

uint64_t alar_training_loop_expiry(const struct alar_training_loop *loop)
{
    const struct alar_deadline *deadline = alar_driver_need(loop->options.driver) == ALAR_NEED_POLL
                                               ? alar_driver_deadline(loop->options.driver)
                                               : &loop->deadline;

    return deadline->limit == 0 ? UINT64_MAX : deadline->since + deadline->limit;
}

const struct alar_participation_error *
alar_training_loop_participation_error(const struct alar_training_loop *loop)
{
    return loop->participation_error.finding.kind == ALAR_PARTICIPATION_WHOLE
               ? NULL
               : &loop->participation_error;
}

size_t alar_training_loop_steps(const struct alar_training_loop *loop)
{
    return loop->index;
}

void alar_training_loop_free(struct alar_training_loop *loop)
{
    if (loop == NULL) {
        return;
    }
    if (loop->comm != NULL) {
        loop->options.backend->comm_free(loop->comm);
    }
    if (loop->options.sharing.comm != NULL) {
        loop->options.backend->comm_free(loop->options.sharing.comm);
    }
    alar_cp_reduce_close(&loop->share);
    free(loop->send);
    free(loop->receive);
    free(loop);
}

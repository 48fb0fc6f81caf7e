/* The driver's loop: one event to the engine, one action carried out, until the engine has nothing
   to do or the world has to move first. */
#include "driver/driver_state.h"

#include "base/check.h"

#include <stdlib.h>

uint64_t alar_driver_now(const struct alar_driver *driver)
{
    return driver->options.now_us(driver->options.clock);
}

/* Contributed so far, of all steps of the interval. PRE: one was begun. */
static size_t driver_microbatches(const struct alar_driver *driver)
{
    return (driver->steps - 1) * driver->options.layout.microbatches + driver->microbatch;
}

/* What the next all-reduce covers: all that was contributed and not posted yet. */
static struct driver_slot driver_next(const struct alar_driver *driver)
{
    bool is_window = driver->options.layout.placement == ALAR_PLACEMENT_WINDOW;
    bool is_microbatch = driver->options.layout.placement == ALAR_PLACEMENT_MICROBATCH;

    return (struct driver_slot){
        .number = driver->posted,
        .microbatches = driver_microbatches(driver) - driver->posted_microbatches,
        .step = is_window ? 0 : driver->steps - 1,
        .microbatch = is_microbatch ? driver->microbatch - 1 : 0,
    };
}

/* Carries out POST and says how that went. */
static enum alar_engine_event_kind driver_post(struct alar_driver *driver, uint16_t index)
{
    const struct alar_driver_options *options = &driver->options;
    const struct alar_layout *layout = &options->layout;
    struct driver_slot *slot = &driver->slot[index];
    struct alar_op op = {.tag = driver->posted, .timeout_us = options->deadline_us, .scale = 1.0};
    uint64_t start = driver->can_block ? alar_driver_now(driver) : 0;

    *slot = driver_next(driver);
    size_t elements =
        alar_payload_write(layout, options->rank, slot->number,
                           &driver->local[driver->posted_microbatches * layout->metrics],
                           slot->microbatches, driver_send_buffer(driver, index));
    driver_record_issue(driver, index);
    driver->posted++;
    driver->posted_microbatches += slot->microbatches;

    int error = options->backend->allreduce(driver->comm, driver_send_buffer(driver, index),
                                            driver_receive_buffer(driver, index), elements,
                                            alar_payload_dtype(layout), ALAR_SUM, NULL, &op,
                                            driver->can_block ? NULL : &slot->request);
    if (error != 0) {
        driver_record_end(driver, index, error);
        return ALAR_ENGINE_POST_REFUSED;
    }
    slot->is_ended = driver->can_block;
    driver->blocked_us += driver->can_block ? alar_driver_now(driver) - start : 0;
    return ALAR_ENGINE_POSTED;
}

/* Asks the back end about one pending slot; true when it ended, with what to tell the engine. */
static bool driver_test(struct alar_driver *driver, uint16_t index, struct alar_engine_event *event)
{
    struct driver_slot *slot = &driver->slot[index];
    int done = slot->is_ended;
    int error = slot->error;

    if (!done) {
        int failed = driver->options.backend->test(slot->request, &done, &error);

        error = failed != 0 ? failed : error;
        if (!done && error == 0) {
            return false;
        }
        slot->is_ended = true;
        driver->options.backend->request_free(slot->request);
        slot->request = NULL;
    }
    driver_record_end(driver, index, error);
    *event = (struct alar_engine_event){
        .kind = error == 0 ? ALAR_ENGINE_COMPLETE : ALAR_ENGINE_FAIL, .slot = index};
    return true;
}

/* True when the awaited slot has ended; otherwise begins to stand still, or goes on to. What has
   ended by now costs no look at the clock. */
static bool driver_await(struct alar_driver *driver, struct alar_engine_event *event)
{
    if (driver_test(driver, driver->action.slot, event)) {
        return true;
    }
    if (!driver->is_waiting) {
        driver->is_waiting = true;
        driver->looked_us = alar_driver_now(driver);
        driver->deadline = (struct alar_deadline){.since = driver->looked_us,
                                                  .limit = driver->options.deadline_us};
        driver_record_wait(driver, driver->action.slot);
    }
    return false;
}

enum alar_need driver_go(struct alar_driver *driver, struct alar_engine_event event)
{
    for (;;) {
        struct alar_action *action = &driver->action;
        enum alar_status status = alar_engine_step(&driver->engine, &event, action);

        POST(status == ALAR_OK);
        if (driver->is_waiting && action->kind != ALAR_ACTION_AWAIT) {
            driver->is_waiting = false;
            driver->blocked_us += alar_driver_now(driver) - driver->deadline.since;
        }
        if (action->kind == ALAR_ACTION_POST) {
            event.kind = driver_post(driver, action->slot);
        } else if (action->kind == ALAR_ACTION_RETIRE) {
            event.kind = driver_retire(driver, action, &event.status);
        } else if (action->kind == ALAR_ACTION_REPORT) {
            driver_report(driver);
            event.kind = ALAR_ENGINE_REPORTED;
        } else if (action->kind != ALAR_ACTION_AWAIT || !driver_await(driver, &event)) {
            return alar_driver_need(driver);
        }
    }
}

/* Drives progress; true once, when a rank has left and the program could still go on: its value
   will never come, so nobody waits for the deadline. spec: F-06 */
static bool driver_is_left(struct alar_driver *driver)
{
    const struct alar_driver_options *options = &driver->options;
    bool is_running =
        driver->action.kind == ALAR_ACTION_READY || driver->action.kind == ALAR_ACTION_AWAIT;

    if (options->backend->progress == NULL ||
        options->backend->progress(options->context) != -ALAR_E_LOST || !is_running) {
        return false;
    }
    driver->has_lost = true;
    return true;
}

/* Asks about what is pending. Values are taken in post order, so only the oldest pending handle is
   worth asking about; each one that ended uncovers the next. */
static enum alar_need driver_collect(struct alar_driver *driver)
{
    const struct alar_window *window = driver->engine.window;
    struct alar_engine_event event;

    for (uint16_t i = 0; i < alar_window_live(window); i++) {
        uint16_t slot = alar_window_live_slot(window, i);

        if (window->slot[slot].state != ALAR_HANDLE_PENDING) {
            continue;
        }
        if (!driver_test(driver, slot, &event)) {
            break;
        }
        enum alar_need need = driver_go(driver, event);
        if (need != ALAR_NEED_NOTHING) {
            return need;
        }
    }
    return alar_driver_need(driver);
}

/* Nothing has ended: has a rank left, has the deadline passed? */
static enum alar_need driver_look_around(struct alar_driver *driver)
{
    if (driver_is_left(driver)) {
        return alar_driver_abandon(driver, ALAR_E_LOST);
    }
    if (driver->action.kind == ALAR_ACTION_AWAIT) {
        driver->looked_us = alar_driver_now(driver);
        if (alar_deadline_passed(&driver->deadline, driver->looked_us)) {
            return driver_go(driver, (struct alar_engine_event){.kind = ALAR_ENGINE_EXPIRE});
        }
    }
    return alar_driver_need(driver);
}

enum alar_need alar_driver_poll(struct alar_driver *driver)
{
    enum alar_need need = driver_collect(driver);

    return need == ALAR_NEED_NOTHING || need == ALAR_NEED_POLL ? driver_look_around(driver) : need;
}

/* Takes a wait at its word: over, or failed. A time that passed, or a rank that has left, is looked
   into by the poll. */
static void driver_waited(struct alar_driver *driver, uint16_t index, int code, int error)
{
    struct driver_slot *slot = &driver->slot[index];

    if (code == -ALAR_E_TIMEOUT || code == -ALAR_E_LOST) {
        return;
    }
    slot->is_ended = true;
    slot->error = code != 0 ? code : error;
    driver->options.backend->request_free(slot->request);
    slot->request = NULL;
}

enum alar_need alar_driver_wait(struct alar_driver *driver, uint64_t slice_us)
{
    const struct driver_slot *slot = &driver->slot[driver->action.slot];
    int error = 0;

    PRE(driver->action.kind == ALAR_ACTION_AWAIT);
    if (!slot->is_ended) {
        uint64_t waited = driver->looked_us - driver->deadline.since;
        uint64_t limit = driver->deadline.limit;
        uint64_t left = limit == 0 || limit - waited > slice_us ? slice_us : limit - waited;

        if (limit == 0 || waited < limit) {
            driver_waited(driver, driver->action.slot,
                          driver->options.backend->wait(slot->request, NULL, left, &error), error);
        }
    }
    /* The wait itself has looked around. */
    enum alar_need need = driver_collect(driver);
    return need == ALAR_NEED_POLL ? driver_look_around(driver) : need;
}

/* Keeps the newest local losses, and their exact sums until they are posted; false when the
   interval has more tokens than elements can count. */
static bool driver_keep(struct alar_driver *driver, const struct alar_local *local)
{
    size_t metrics = driver->options.layout.metrics;
    size_t microbatches = driver_microbatches(driver);
    struct alar_local *kept = &driver->local[microbatches * metrics];
    struct alar_exact *exact =
        driver->exact != NULL
            ? &driver->exact[(microbatches - driver->posted_microbatches) * metrics]
            : NULL;

    for (size_t i = 0; i < metrics; i++) {
        kept[i] = local[i];
        if (exact == NULL) {
            continue;
        }
        if (local[i].tokens > ALAR_LOSS_EXACT_TOKENS_MAX - driver->tokens) {
            return false;
        }
        driver->tokens += local[i].tokens;
        if (local[i].exact != NULL) {
            exact[i] = *local[i].exact;
            kept[i].exact = &exact[i];
        }
    }
    return true;
}

/* The first local loss that is not finite; NULL when there is none. */
static const struct alar_local *driver_nonfinite(const struct alar_driver *driver,
                                                 const struct alar_local *local)
{
    for (size_t i = 0; i < driver->options.layout.metrics; i++) {
        if (local[i].nonfinite > 0) {
            return &local[i];
        }
    }
    return NULL;
}

enum alar_need alar_driver_microbatch(struct alar_driver *driver, int64_t step,
                                      const struct alar_local *local)
{
    const struct alar_layout *layout = &driver->options.layout;

    PRE(driver->action.kind == ALAR_ACTION_READY);
    if (driver->microbatch == layout->microbatches || driver->steps == 0) {
        PRE(driver->steps < driver->options.rules.log_interval);
        driver->steps++;
        driver->microbatch = 0;
    }
    driver->step[driver->steps - 1] = step;
    const struct alar_local *bad = driver_nonfinite(driver, local);
    if (bad != NULL && driver->options.check == ALAR_CHECK_RAISE) {
        driver->findings[0] = (struct alar_finding){
            .step = step,
            .microbatch = driver->microbatch,
            .rank = driver_culprit(driver, bad),
        };
        driver->finding_count = 1;
        return alar_driver_abandon(driver, ALAR_E_NONFINITE);
    }
    if (!driver_keep(driver, local)) {
        return alar_driver_abandon(driver, ALAR_E_RANGE);
    }
    driver->microbatch++;
    return driver_go(driver, (struct alar_engine_event){.kind = ALAR_ENGINE_CONTRIBUTE});
}

enum alar_need alar_driver_step_end(struct alar_driver *driver)
{
    PRE(driver->steps > 0 && driver->microbatch == driver->options.layout.microbatches);
    enum alar_need need = driver_collect(driver);

    if (need != ALAR_NEED_NOTHING) {
        return need;
    }
    return driver_go(driver, (struct alar_engine_event){.kind = ALAR_ENGINE_STEP_END});
}

enum alar_need alar_driver_finish(struct alar_driver *driver)
{
    return driver_go(driver, (struct alar_engine_event){.kind = ALAR_ENGINE_FINISH});
}

enum alar_need alar_driver_abandon(struct alar_driver *driver, enum alar_status status)
{
    bool is_waiting = driver->action.kind == ALAR_ACTION_AWAIT;

    return driver_go(driver, (struct alar_engine_event){.kind = is_waiting ? ALAR_ENGINE_EXPIRE
                                                                           : ALAR_ENGINE_ABANDON,
                                                        .status = status});
}

enum alar_need alar_driver_need(const struct alar_driver *driver)
{
    switch (driver->action.kind) {
    case ALAR_ACTION_AWAIT:
        return ALAR_NEED_POLL;
    case ALAR_ACTION_STOP:
        return ALAR_NEED_END;
    case ALAR_ACTION_CLOSED:
        return ALAR_NEED_CLOSED;
    default:
        return ALAR_NEED_NOTHING;
    }
}

/* The driver's loop: one event to the engine, one action carried out, until the engine has nothing
   to do or the world has to move first. */
#include "driver/driver_state.h"

#include "base/check.h"

#include <stdlib.h>

uint64_t alar_driver_now(const struct alar_driver *driver)
{
    return driver->options.now_us(driver->options.clock);
}

/* Carries out POST and says how that went. */
static enum alar_embed_event_kind driver_post(struct alar_driver *driver, uint16_t index)
{
    const struct alar_driver_options *options = &driver->options;
    struct driver_slot *slot = &driver->slot[index];
    const struct alar_embed_op posted = driver_op(driver, index);
    struct alar_op op = {.tag = posted.number, .timeout_us = options->deadline_us, .scale = 1.0};
    uint64_t start = driver->can_block ? alar_driver_now(driver) : 0;

    *slot = (struct driver_slot){.request = NULL};
    driver_record_issue(driver, index);
    int error = options->backend->allreduce(driver->comm, posted.send, posted.receive,
                                            posted.elements, posted.dtype, ALAR_SUM, NULL, &op,
                                            driver->can_block ? NULL : &slot->request);
    if (error != 0) {
        driver_record_end(driver, index, error);
        return ALAR_EMBED_POST_REFUSED;
    }
    slot->is_ended = driver->can_block;
    driver->blocked_us += driver->can_block ? alar_driver_now(driver) - start : 0;
    return ALAR_EMBED_POSTED;
}

/* Asks the back end about one pending slot; true when it ended, with what to tell the engine. */
static bool driver_test(struct alar_driver *driver, uint16_t index, struct alar_embed_event *event)
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
    *event = (struct alar_embed_event){.kind = error == 0 ? ALAR_EMBED_COMPLETE : ALAR_EMBED_FAIL,
                                       .slot = index};
    return true;
}

/* True when the awaited slot has ended; otherwise begins to stand still, or goes on to. What has
   ended by now costs no look at the clock. */
static bool driver_await(struct alar_driver *driver, struct alar_embed_event *event)
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

/* Carries out REPORT. */
static void driver_report(struct alar_driver *driver)
{
    struct alar_report report;

    for (uint32_t i = 0; alar_embed_report(driver->log, i, &report) == ALAR_OK; i++) {
        driver_record_report(driver, &report);
        if (driver->options.on_report != NULL) {
            driver->options.on_report(driver->options.sink, &report);
        }
    }
}

/* Carries out all that follows from a word of the log. */
static enum alar_need driver_serve(struct alar_driver *driver)
{
    struct alar_action *action = &driver->action;

    for (;;) {
        struct alar_embed_event event = {.slot = action->slot};

        if (driver->is_waiting && action->kind != ALAR_ACTION_AWAIT) {
            driver->is_waiting = false;
            driver->blocked_us += alar_driver_now(driver) - driver->deadline.since;
        }
        if (action->kind == ALAR_ACTION_POST) {
            event.kind = driver_post(driver, action->slot);
        } else if (action->kind == ALAR_ACTION_RETIRE) {
            driver_record_retire(driver, action->slot, action->outcome);
            event.kind = ALAR_EMBED_RETIRED;
        } else if (action->kind == ALAR_ACTION_REPORT) {
            driver_report(driver);
            event.kind = ALAR_EMBED_REPORTED;
        } else if (action->kind != ALAR_ACTION_AWAIT || !driver_await(driver, &event)) {
            return alar_driver_need(driver);
        }
        enum alar_status status = alar_embed_step(driver->log, &event, action);
        POST(status == ALAR_OK);
    }
}

enum alar_need driver_go(struct alar_driver *driver, struct alar_embed_event event)
{
    enum alar_status status = alar_embed_step(driver->log, &event, &driver->action);

    PRE(status == ALAR_OK);
    return driver_serve(driver);
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
    const struct alar_window *window = driver->log->engine.window;
    struct alar_embed_event event;

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
            return driver_go(driver, (struct alar_embed_event){.kind = ALAR_EMBED_EXPIRE});
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

enum alar_need alar_driver_microbatch(struct alar_driver *driver, int64_t step,
                                      const struct alar_local *local)
{
    enum alar_status status = alar_embed_contribute(driver->log, step, local, &driver->action);

    PRE(status == ALAR_OK);
    return driver_serve(driver);
}

enum alar_need alar_driver_step_end(struct alar_driver *driver)
{
    enum alar_need need = driver_collect(driver);

    if (need != ALAR_NEED_NOTHING) {
        return need;
    }
    return driver_go(driver, (struct alar_embed_event){.kind = ALAR_EMBED_STEP_END});
}

enum alar_need alar_driver_finish(struct alar_driver *driver)
{
    return driver_go(driver, (struct alar_embed_event){.kind = ALAR_EMBED_FINISH});
}

enum alar_need alar_driver_abandon(struct alar_driver *driver, enum alar_status status)
{
    return driver_go(driver,
                     (struct alar_embed_event){.kind = ALAR_EMBED_ABANDON, .status = status});
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

/* The schedule as a step function: wants are set by the program's events and served in a fixed
   order: room, post, drain, report, stop. */
#include "engine/engine.h"

#include "base/check.h"

#include <string.h>

enum alar_status alar_engine_init(struct alar_engine *engine, const struct alar_engine_rules *rules,
                                  struct alar_window *window)
{
    if (rules->log_interval == 0 || rules->lag > rules->log_interval || rules->lag > ALAR_LAG_MAX ||
        (rules->lag > 0 && !rules->waits_at_log)) {
        return ALAR_E_RANGE;
    }
    PRE(alar_window_live(window) == 0);
    PRE(alar_window_quarantined(window) == 0);
    memset(engine, 0, sizeof(*engine));
    engine->rules = *rules;
    engine->window = window;
    return ALAR_OK;
}

bool alar_deadline_passed(const struct alar_deadline *deadline, uint64_t now)
{
    return deadline->limit > 0 && now - deadline->since >= deadline->limit;
}

static void engine_inv(const struct alar_engine *engine)
{
    const struct alar_engine_state *state = &engine->state;

    INV("no more steps than a log line covers", state->steps <= engine->rules.log_interval);
    INV("a closed engine has no live handle",
        IMPLIES(state->phase == ALAR_ACTION_CLOSED, alar_window_live(engine->window) == 0));
    INV("only a stopped engine is torn down",
        IMPLIES(state->is_torn_down, state->stop != ALAR_OK || state->is_finishing));
    INV("only what is owed a line has handles that it waits for",
        IMPLIES(!state->is_owed, state->owed_live == 0 && state->owed_in == 0));
    INV("what is owed a line is live", state->owed_live <= alar_window_live(engine->window));
}

static void engine_post(struct alar_engine *engine, struct alar_action *action)
{
    enum alar_status status = alar_window_post(engine->window, &action->slot);
    uint64_t live = alar_window_live(engine->window);

    POST(status == ALAR_OK);
    action->kind = ALAR_ACTION_POST;
    engine->state.wants_post = 0;
    engine->state.wants_drain |= engine->rules.is_sync;
    engine->stats.posted++;
    engine->stats.peak = live > engine->stats.peak ? live : engine->stats.peak;
}

static void engine_count(struct alar_engine_stats *stats, enum alar_outcome outcome, bool waited)
{
    switch (outcome) {
    case ALAR_OUTCOME_VALUE:
        stats->ready += !waited;
        stats->waited += waited;
        break;
    case ALAR_OUTCOME_FAILED:
        stats->failed++;
        break;
    case ALAR_OUTCOME_TIMED_OUT:
        stats->timed_out++;
        break;
    }
}

/* Takes the oldest live handle, or waits for it. */
static void engine_drain_one(struct alar_engine *engine, struct alar_action *action)
{
    struct alar_engine_state *state = &engine->state;
    enum alar_status status = alar_window_retire(engine->window, &action->slot, &action->outcome);

    if (status == ALAR_E_PENDING) {
        state->is_awaited = 1;
        action->kind = ALAR_ACTION_AWAIT;
        action->slot = alar_window_oldest(engine->window);
        return;
    }
    POST(status == ALAR_OK);
    action->kind = ALAR_ACTION_RETIRE;
    state->owed_live = (uint16_t)(state->owed_live - (state->owed_live > 0));
    engine_count(&engine->stats, action->outcome, state->is_awaited);
    state->is_awaited = 0;
    if (action->outcome != ALAR_OUTCOME_VALUE && state->stop == ALAR_OK) {
        state->stop = action->outcome == ALAR_OUTCOME_FAILED ? ALAR_E_BACKEND : ALAR_E_TIMEOUT;
    }
}

/* A step ended that all ranks know to be the last one. */
static bool must_stop(const struct alar_engine *engine)
{
    return engine->state.saw_nonfinite && engine->rules.stops_on_nonfinite &&
           engine->state.is_step_end;
}

/* Is a line that lags due? */
static bool is_owed_now(const struct alar_engine_state *state)
{
    return state->is_owed && state->owed_in == 0;
}

/* A stopped run: give up the communicator, then tell every handle that is left, then close. */
static void engine_close(struct alar_engine *engine, struct alar_action *action)
{
    if (engine->state.is_torn_down && alar_window_live(engine->window) > 0) {
        engine_drain_one(engine, action);
        return;
    }
    action->kind = engine->state.is_torn_down ? ALAR_ACTION_CLOSED : ALAR_ACTION_STOP;
    action->status = (enum alar_status)engine->state.stop;
}

/* The interval is over; its line comes later. */
static void engine_owe(struct alar_engine *engine)
{
    struct alar_engine_state *state = &engine->state;

    state->is_owed = 1;
    state->owed_in = (uint8_t)engine->rules.lag;
    state->owed_live = alar_window_live(engine->window);
    state->wants_report = 0;
    state->steps = 0;
}

/* Nothing is left to post or drain: the log line, if it is due, and the end, if it has come. */
static void engine_settle(struct alar_engine *engine, struct alar_action *action)
{
    struct alar_engine_state *state = &engine->state;
    bool is_ending = must_stop(engine) || state->is_finishing;

    state->wants_drain = 0;
    if (is_owed_now(state)) {
        state->is_owed = 0;
        action->kind = ALAR_ACTION_REPORT;
        return;
    }
    if (state->wants_report && (engine->rules.lag == 0 || is_ending)) {
        state->wants_report = 0;
        state->steps = 0;
        action->kind = ALAR_ACTION_REPORT;
        return;
    }
    if (state->wants_report) {
        engine_owe(engine);
    }
    if (must_stop(engine)) {
        state->stop = ALAR_E_NONFINITE;
    }
    if (state->stop != ALAR_OK || state->is_finishing) {
        engine_close(engine, action);
        return;
    }
    action->kind = ALAR_ACTION_READY;
}

static void engine_log_line(struct alar_engine *engine)
{
    engine->state.wants_post |= engine->rules.placement == ALAR_PLACEMENT_WINDOW;
    engine->state.wants_drain |= engine->rules.lag == 0 || engine->state.is_finishing;
    engine->state.wants_report = 1;
}

/* The run ends with this step: all that is there is posted, taken and logged now. */
static void engine_hurry(struct alar_engine *engine)
{
    struct alar_engine_state *state = &engine->state;

    state->owed_in = 0;
    state->wants_drain = 1;
    if (state->steps > 0 && !state->wants_report) {
        engine_log_line(engine);
    }
}

static void engine_next(struct alar_engine *engine, struct alar_action *action)
{
    struct alar_engine_state *state = &engine->state;

    if (state->stop == ALAR_OK && must_stop(engine)) {
        engine_hurry(engine);
    }
    bool must_drain = state->wants_drain ? alar_window_live(engine->window) > 0
                                         : is_owed_now(state) && state->owed_live > 0;

    if (state->stop != ALAR_OK) {
        engine_close(engine, action);
    } else if (state->wants_post && alar_window_has_room(engine->window)) {
        engine_post(engine, action);
    } else if (state->wants_post || must_drain) {
        /* A full window holds a live handle: the first one told as timed out stops the run. */
        engine_drain_one(engine, action);
    } else {
        engine_settle(engine, action);
    }
}

static void engine_program(struct alar_engine *engine, const struct alar_engine_event *event)
{
    struct alar_engine_state *state = &engine->state;

    state->is_step_end = event->kind != ALAR_ENGINE_CONTRIBUTE;
    switch (event->kind) {
    case ALAR_ENGINE_CONTRIBUTE:
        state->wants_post = engine->rules.placement == ALAR_PLACEMENT_MICROBATCH;
        break;
    case ALAR_ENGINE_STEP_END:
        state->steps++;
        state->owed_in = (uint8_t)(state->owed_in - state->is_owed);
        state->wants_post = engine->rules.placement == ALAR_PLACEMENT_STEP;
        state->wants_drain |= !engine->rules.waits_at_log;
        if (state->steps == engine->rules.log_interval) {
            engine_log_line(engine);
        }
        break;
    case ALAR_ENGINE_FINISH:
        state->is_finishing = 1;
        state->wants_drain = 1;
        state->owed_in = 0;
        if (state->steps > 0) {
            engine_log_line(engine);
        }
        break;
    default: /* ABANDON */
        PRE(event->status != ALAR_OK);
        state->stop = (uint8_t)event->status;
        break;
    }
}

/* Does the event answer the action that was returned last? */
static bool engine_expects(const struct alar_engine *engine, enum alar_engine_event_kind kind)
{
    uint8_t phase = engine->state.phase;

    switch (kind) {
    case ALAR_ENGINE_CONTRIBUTE:
    case ALAR_ENGINE_STEP_END:
    case ALAR_ENGINE_FINISH:
    case ALAR_ENGINE_ABANDON:
        return phase == ALAR_ACTION_READY;
    case ALAR_ENGINE_POSTED:
    case ALAR_ENGINE_POST_REFUSED:
        return phase == ALAR_ACTION_POST;
    case ALAR_ENGINE_RETIRED:
    case ALAR_ENGINE_RETIRED_NONFINITE:
    case ALAR_ENGINE_RETIRED_WRONG:
        return phase == ALAR_ACTION_RETIRE;
    case ALAR_ENGINE_REPORTED:
        return phase == ALAR_ACTION_REPORT;
    case ALAR_ENGINE_TORN_DOWN:
        return phase == ALAR_ACTION_STOP;
    case ALAR_ENGINE_EXPIRE:
        return phase == ALAR_ACTION_AWAIT;
    case ALAR_ENGINE_COMPLETE:
    case ALAR_ENGINE_FAIL:
        return phase == ALAR_ACTION_READY || phase == ALAR_ACTION_AWAIT ||
               phase == ALAR_ACTION_STOP;
    }
    return false;
}

/* What the world says goes to the handle's table; everything else sets wants. */
static enum alar_status engine_apply(struct alar_engine *engine,
                                     const struct alar_engine_event *event)
{
    struct alar_engine_state *state = &engine->state;

    switch (event->kind) {
    case ALAR_ENGINE_COMPLETE:
        return alar_window_note(engine->window, event->slot, ALAR_EVENT_COMPLETE);
    case ALAR_ENGINE_FAIL:
        return alar_window_note(engine->window, event->slot, ALAR_EVENT_FAIL);
    case ALAR_ENGINE_EXPIRE:
        return alar_window_note(engine->window, alar_window_oldest(engine->window),
                                ALAR_EVENT_EXPIRE);
    case ALAR_ENGINE_POST_REFUSED:
        state->stop = ALAR_E_BACKEND;
        return alar_window_note(engine->window, state->slot, ALAR_EVENT_FAIL);
    case ALAR_ENGINE_RETIRED_NONFINITE:
        state->saw_nonfinite = 1;
        return ALAR_OK;
    case ALAR_ENGINE_RETIRED_WRONG:
        PRE(event->status != ALAR_OK);
        state->stop = state->stop == ALAR_OK ? (uint8_t)event->status : state->stop;
        return ALAR_OK;
    case ALAR_ENGINE_TORN_DOWN:
        state->is_torn_down = 1;
        alar_window_teardown(engine->window);
        return ALAR_OK;
    case ALAR_ENGINE_POSTED:
    case ALAR_ENGINE_RETIRED:
    case ALAR_ENGINE_REPORTED:
        return ALAR_OK;
    default:
        engine_program(engine, event);
        return ALAR_OK;
    }
}

enum alar_status alar_engine_step(struct alar_engine *engine, const struct alar_engine_event *event,
                                  struct alar_action *action)
{
    if (!engine_expects(engine, event->kind)) {
        return ALAR_E_ILLEGAL;
    }
    ALAR_TRY(engine_apply(engine, event));
    engine_next(engine, action);
    engine->state.phase = (uint8_t)action->kind;
    if (action->kind == ALAR_ACTION_POST || action->kind == ALAR_ACTION_RETIRE) {
        engine->state.slot = action->slot;
    }
    engine_inv(engine);
    return ALAR_OK;
}

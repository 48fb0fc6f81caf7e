/* The log's loop: an event of the host, checked, becomes one of the engine; what comes back is
   carried out here as far as it is about numbers, and handed to the host as far as it is about the
   world. */
#include "embed/embed_log.h"

#include "base/check.h"

#include <string.h>

/* ---- memory ------------------------------------------------------------------------------------
 */

/* Takes pieces off a block; without one it only counts. */
struct carver {
    char *base;
    size_t used;
};

static void *carve(struct carver *carver, size_t count, size_t bytes)
{
    size_t at = carver->used;

    carver->used += (count * bytes + 15) / 16 * 16;
    return carver->base != NULL ? carver->base + at : NULL;
}

static void carve_interval(struct carver *carver, const struct alar_embed_plan *plan,
                           struct embed_interval *interval)
{
    size_t steps = plan->rules.log_interval;
    size_t metrics = plan->layout.metrics;

    interval->local =
        carve(carver, steps * plan->layout.microbatches * metrics, sizeof(*interval->local));
    interval->tally = carve(carver, steps * metrics, sizeof(*interval->tally));
    interval->step = carve(carver, steps, sizeof(*interval->step));
    if (alar_payload_has_extremes(&plan->layout)) {
        interval->extreme = carve(carver, steps * metrics, sizeof(*interval->extreme));
    }
}

/* Lays a log out; the first piece is the log itself. */
static struct alar_window *carve_log(struct carver *carver, const struct alar_embed_plan *plan,
                                     struct alar_embed *log)
{
    size_t microbatches = alar_embed_plan_microbatches(plan);
    struct alar_window *window;

    carve(carver, 1, sizeof(*log));
    log->slot_bytes = (alar_payload_elements(&plan->layout, microbatches) *
                           alar_payload_element_bytes(&plan->layout) +
                       15) /
                      16 * 16;
    window = carve(carver, 1, alar_window_bytes(plan->window));
    log->slot = carve(carver, plan->window, sizeof(*log->slot));
    log->send = carve(carver, plan->window, log->slot_bytes);
    log->receive = carve(carver, plan->window, log->slot_bytes);
    carve_interval(carver, plan, &log->interval[0]);
    if (plan->rules.lag > 0) {
        carve_interval(carver, plan, &log->interval[1]);
    }
    if (plan->layout.encoding == ALAR_EXACT) {
        log->exact = carve(carver, microbatches * plan->layout.metrics, sizeof(*log->exact));
    }
    return window;
}

size_t alar_embed_bytes(const struct alar_config *config, const struct alar_embed_place *place)
{
    struct carver carver = {.base = NULL};
    struct alar_embed_plan plan;
    struct alar_embed log = {.slot_bytes = 0};

    if (alar_embed_plan(&plan, config, place) != ALAR_OK) {
        return 0;
    }
    carve_log(&carver, &plan, &log);
    return carver.used;
}

enum alar_status alar_embed_init(struct alar_embed **log, const struct alar_config *config,
                                 const struct alar_embed_place *place, void *memory, size_t bytes)
{
    struct carver carver = {.base = memory};
    struct alar_embed_plan plan;
    struct alar_embed *made = memory;

    ALAR_TRY(alar_embed_plan(&plan, config, place));
    if (memory == NULL || bytes < alar_embed_bytes(config, place)) {
        return ALAR_E_NOMEM;
    }
    memset(memory, 0, alar_embed_bytes(config, place));
    struct alar_window *window = carve_log(&carver, &plan, made);

    made->plan = plan;
    ALAR_TRY(alar_window_init(window, plan.window));
    ALAR_TRY(alar_engine_init(&made->engine, &plan.rules, window));
    made->action.kind = ALAR_ACTION_READY;
    *log = made;
    return ALAR_OK;
}

/* ---- events ------------------------------------------------------------------------------------
 */

/* One event to the engine; what a POST sends is then written. */
static enum alar_status embed_go(struct alar_embed *log, const struct alar_engine_event *event,
                                 struct alar_action *action)
{
    ALAR_TRY(alar_engine_step(&log->engine, event, &log->action));
    if (log->action.kind == ALAR_ACTION_POST) {
        embed_write(log, log->action.slot);
    }
    *action = log->action;
    return ALAR_OK;
}

static enum alar_status embed_abandon(struct alar_embed *log, enum alar_status status,
                                      struct alar_action *action)
{
    bool is_waiting = log->action.kind == ALAR_ACTION_AWAIT;
    const struct alar_engine_event event = {
        .kind = is_waiting ? ALAR_ENGINE_EXPIRE : ALAR_ENGINE_ABANDON, .status = status};

    return status == ALAR_OK ? ALAR_E_ILLEGAL : embed_go(log, &event, action);
}

/* The next microbatch begins a step, and perhaps an interval, when the last one is full. */
static struct embed_interval *embed_begin(struct alar_embed *log, int64_t step)
{
    struct embed_interval *interval = &log->interval[log->current];

    if (!log->is_step_open) {
        if (interval->steps == log->plan.rules.log_interval) {
            PRE(log->plan.rules.lag > 0 && !log->is_lagging);
            log->is_lagging = true;
            log->current ^= 1;
            log->posted_microbatches = 0;
            interval = &log->interval[log->current];
            interval->first_op = log->posted;
        }
        log->is_step_open = true;
        interval->steps++;
        interval->microbatch = 0;
    }
    interval->step[interval->steps - 1] = step;
    return interval;
}

/* The first local loss that is not finite; NULL when there is none. */
static const struct alar_local *embed_nonfinite(const struct alar_embed *log,
                                                const struct alar_local *local)
{
    for (size_t i = 0; i < log->plan.layout.metrics; i++) {
        if (local[i].nonfinite > 0) {
            return &local[i];
        }
    }
    return NULL;
}

enum alar_status alar_embed_contribute(struct alar_embed *log, int64_t step,
                                       const struct alar_local *local, struct alar_action *action)
{
    const struct alar_engine_event event = {.kind = ALAR_ENGINE_CONTRIBUTE};
    const struct alar_local *bad = embed_nonfinite(log, local);

    if (log->action.kind != ALAR_ACTION_READY) {
        return ALAR_E_ILLEGAL;
    }
    if (log->is_step_open &&
        log->interval[log->current].microbatch == log->plan.layout.microbatches) {
        return ALAR_E_RANGE;
    }
    struct embed_interval *interval = embed_begin(log, step);
    if (bad != NULL && log->plan.check == ALAR_CHECK_RAISE) {
        log->findings[0] = (struct alar_finding){
            .step = step, .microbatch = interval->microbatch, .rank = embed_culprit(log, bad)};
        log->finding_count = 1;
        return embed_abandon(log, ALAR_E_NONFINITE, action);
    }
    if (!embed_keep(log, local)) {
        return embed_abandon(log, ALAR_E_RANGE, action);
    }
    interval->microbatch++;
    return embed_go(log, &event, action);
}

enum alar_status alar_embed_locals(const struct alar_schema *schema,
                                   const struct alar_sample *samples, struct alar_local *local)
{
    for (uint32_t i = 0; i < schema->count; i++) {
        const struct alar_sample *sample = &samples[schema->origin[i]];
        bool is_extreme = alar_metric_is_extreme(alar_kinds_get(schema->kinds, i));
        bool is_nothing = is_extreme && sample->tokens <= 0.0; /* then nobody looks at a value */

        ALAR_TRY(alar_loss_recorded(is_nothing ? 0.0 : sample->sum, sample->tokens, &local[i]));
    }
    return ALAR_OK;
}

static enum alar_status embed_samples(struct alar_embed *log, const struct alar_embed_event *event,
                                      struct alar_action *action)
{
    struct alar_local local[ALAR_METRICS_MAX];

    if (event->samples == NULL) {
        return ALAR_E_INPUT;
    }
    ALAR_TRY(alar_embed_locals(&log->plan.schema, event->samples, local));
    return alar_embed_contribute(log, event->step, local, action);
}

static enum alar_status embed_step_end(struct alar_embed *log, struct alar_action *action)
{
    const struct alar_engine_event event = {.kind = ALAR_ENGINE_STEP_END};
    const struct embed_interval *interval = &log->interval[log->current];

    if (log->action.kind != ALAR_ACTION_READY) {
        return ALAR_E_ILLEGAL;
    }
    if (!log->is_step_open || interval->microbatch != log->plan.layout.microbatches) {
        return ALAR_E_RANGE;
    }
    log->is_step_open = false;
    log->last_step = interval->step[interval->steps - 1];
    return embed_go(log, &event, action);
}

/* A told handle: its value is taken. */
static enum alar_status embed_retired(struct alar_embed *log, struct alar_action *action)
{
    struct alar_engine_event event = {.kind = ALAR_ENGINE_RETIRED};

    if (log->action.kind != ALAR_ACTION_RETIRE) {
        return ALAR_E_ILLEGAL;
    }
    if (log->action.outcome == ALAR_OUTCOME_VALUE) {
        event.kind = embed_take(log, &event.status);
    }
    return embed_go(log, &event, action);
}

enum alar_status alar_embed_step(struct alar_embed *log, const struct alar_embed_event *event,
                                 struct alar_action *action)
{
    struct alar_engine_event told = {.slot = event->slot};

    switch (event->kind) {
    case ALAR_EMBED_CONTRIBUTE:
        return embed_samples(log, event, action);
    case ALAR_EMBED_STEP_END:
        return embed_step_end(log, action);
    case ALAR_EMBED_FINISH:
        if (log->is_step_open) {
            return ALAR_E_RANGE;
        }
        told.kind = ALAR_ENGINE_FINISH;
        break;
    case ALAR_EMBED_ABANDON:
        return embed_abandon(log, event->status, action);
    case ALAR_EMBED_RETIRED:
        return embed_retired(log, action);
    case ALAR_EMBED_REPORTED:
        if (log->action.kind != ALAR_ACTION_REPORT) {
            return ALAR_E_ILLEGAL;
        }
        embed_reported(log);
        told.kind = ALAR_ENGINE_REPORTED;
        break;
    case ALAR_EMBED_POSTED:
        told.kind = ALAR_ENGINE_POSTED;
        break;
    case ALAR_EMBED_POST_REFUSED:
        told.kind = ALAR_ENGINE_POST_REFUSED;
        break;
    case ALAR_EMBED_TORN_DOWN:
        told.kind = ALAR_ENGINE_TORN_DOWN;
        break;
    case ALAR_EMBED_COMPLETE:
        told.kind = ALAR_ENGINE_COMPLETE;
        break;
    case ALAR_EMBED_FAIL:
        told.kind = ALAR_ENGINE_FAIL;
        break;
    case ALAR_EMBED_EXPIRE:
        told.kind = ALAR_ENGINE_EXPIRE;
        break;
    default:
        return ALAR_E_ILLEGAL;
    }
    return embed_go(log, &told, action);
}

/* A driver's beginning and end: everything is allocated here, once. */
#include "driver/driver_state.h"

#include "base/check.h"

#include <stdlib.h>
#include <string.h>

/* Microbatches that one all-reduce covers at most. */
static size_t microbatches_max(const struct alar_driver_options *options)
{
    switch (options->rules.placement) {
    case ALAR_PLACEMENT_STEP:
        return options->layout.microbatches;
    case ALAR_PLACEMENT_WINDOW:
        return (size_t)options->layout.microbatches * options->rules.log_interval;
    default:
        return 1;
    }
}

static bool driver_allocate(struct alar_driver *driver)
{
    const struct alar_driver_options *options = &driver->options;
    size_t steps = options->rules.log_interval;
    size_t metrics = options->layout.metrics;
    size_t slots = options->window;

    driver->slot_bytes = alar_payload_elements(&options->layout, microbatches_max(options)) *
                         alar_payload_element_bytes(&options->layout);
    driver->engine.window = calloc(1, alar_window_bytes(options->window));
    driver->slot = calloc(slots, sizeof(*driver->slot));
    driver->send = calloc(slots, driver->slot_bytes);
    driver->receive = calloc(slots, driver->slot_bytes);
    driver->local = calloc(steps * options->layout.microbatches * metrics, sizeof(*driver->local));
    driver->tally = calloc(steps * metrics, sizeof(*driver->tally));
    driver->step = calloc(steps, sizeof(*driver->step));
    if (alar_payload_has_extremes(&options->layout)) {
        driver->extreme = calloc(steps * metrics, sizeof(*driver->extreme));
    }
    if (options->layout.encoding == ALAR_EXACT) {
        driver->exact = calloc(microbatches_max(options) * metrics, sizeof(*driver->exact));
    }
    return driver->engine.window && driver->slot && driver->send && driver->receive &&
           driver->local && driver->tally && driver->step &&
           (driver->extreme || !alar_payload_has_extremes(&options->layout)) &&
           (driver->exact || options->layout.encoding != ALAR_EXACT);
}

static enum alar_status driver_start(struct alar_driver *driver)
{
    const struct alar_driver_options *options = &driver->options;
    struct alar_window *window = driver->engine.window;
    struct alar_caps caps = {0};

    ALAR_TRY(alar_window_init(window, options->window));
    ALAR_TRY(alar_engine_init(&driver->engine, &options->rules, window));
    if (options->backend->caps(options->context, &caps) != 0) {
        return ALAR_E_BACKEND;
    }
    if ((caps.dtypes >> alar_payload_dtype(&options->layout) & 1) == 0) {
        return ALAR_E_UNSUPPORTED;
    }
    driver->comm = options->comm;
    if (driver->comm == NULL && !options->is_spectator &&
        options->backend->comm_create(options->context, NULL, 0, options->comm_epoch,
                                      &driver->comm) != 0) {
        return ALAR_E_BACKEND;
    }
    driver->can_block = options->is_blocking && options->rules.is_sync && caps.can_block;
    return ALAR_OK;
}

/* Never more pending than the back end bears. */
static uint16_t window_of(const struct alar_driver_options *options)
{
    struct alar_caps caps = {0};
    bool is_bounded = options->backend->caps(options->context, &caps) == 0 &&
                      caps.outstanding_max > 0 && caps.outstanding_max < options->window;

    return is_bounded ? (uint16_t)caps.outstanding_max : options->window;
}

enum alar_status alar_driver_open(struct alar_driver **driver,
                                  const struct alar_driver_options *options)
{
    struct alar_driver *made;

    if (alar_payload_has_extremes(&options->layout) &&
        options->layout.ranks > ALAR_EXTREME_RANKS_MAX) {
        return ALAR_E_RANGE;
    }
    made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return ALAR_E_NOMEM;
    }
    made->options = *options;
    made->options.window = window_of(options);
    made->action.kind = ALAR_ACTION_READY;
    enum alar_status status = driver_allocate(made) ? driver_start(made) : ALAR_E_NOMEM;
    if (status != ALAR_OK) {
        made->comm = options->comm != NULL ? NULL : made->comm; /* still the caller's */
        alar_driver_free(made);
        return status;
    }
    *driver = made;
    return ALAR_OK;
}

enum alar_need alar_driver_tear_down(struct alar_driver *driver)
{
    PRE(driver->action.kind == ALAR_ACTION_STOP);
    if (driver->comm != NULL) {
        driver->options.backend->comm_free(driver->comm);
    }
    driver->comm = NULL;
    return driver_go(driver, (struct alar_engine_event){.kind = ALAR_ENGINE_TORN_DOWN});
}

const struct alar_deadline *alar_driver_deadline(const struct alar_driver *driver)
{
    return &driver->deadline;
}

enum alar_status alar_driver_status(const struct alar_driver *driver)
{
    return (enum alar_status)driver->engine.state.stop;
}

uint64_t alar_driver_blocked_us(const struct alar_driver *driver)
{
    return driver->blocked_us;
}

const struct alar_engine_stats *alar_driver_stats(const struct alar_driver *driver)
{
    return &driver->engine.stats;
}

uint32_t alar_driver_leaked(const struct alar_driver *driver)
{
    return alar_window_live(driver->engine.window);
}

const struct alar_finding *alar_driver_findings(const struct alar_driver *driver, uint64_t *count)
{
    *count = driver->finding_count;
    return driver->findings;
}

const struct alar_participation_error *
alar_driver_participation_error(const struct alar_driver *driver)
{
    enum alar_status status = alar_driver_status(driver);

    bool is_why = status == ALAR_E_MISCOUNT || status == ALAR_E_SCHEMA;

    return is_why && driver->participation_error.finding.kind != ALAR_PARTICIPATION_WHOLE
               ? &driver->participation_error
               : NULL;
}

struct alar_note alar_driver_note(const struct alar_driver *driver)
{
    struct alar_note note = {
        .status = (int32_t)alar_driver_status(driver),
        .step = (uint32_t)driver->step[driver->steps > 0 ? driver->steps - 1 : 0],
        .microbatch = driver->microbatch > 0 ? driver->microbatch - 1 : 0,
        .posted = (uint32_t)driver->posted,
    };

    if (note.status == ALAR_E_NONFINITE && driver->finding_count > 0) {
        note.step = (uint32_t)driver->findings[0].step;
        note.microbatch = driver->findings[0].microbatch;
    }
    if (alar_driver_participation_error(driver) != NULL) {
        note.step = (uint32_t)driver->participation_error.step;
        note.microbatch = driver->participation_error.microbatch;
    }
    return note;
}

void alar_driver_free(struct alar_driver *driver)
{
    if (driver == NULL) {
        return;
    }
    if (driver->comm != NULL) {
        driver->options.backend->comm_free(driver->comm);
    }
    free(driver->engine.window);
    free(driver->slot);
    free(driver->send);
    free(driver->receive);
    free(driver->local);
    free(driver->tally);
    free(driver->extreme);
    free(driver->exact);
    free(driver->step);
    free(driver);
}

/* A driver's beginning and end: everything is allocated here, once. */
#include "driver/config.h"
#include "driver/driver_state.h"

#include "base/check.h"

#include <stdlib.h>
#include <string.h>

/* Never more pending than the back end bears. */
static void window_bound(struct alar_config *config, uint16_t window, const struct alar_caps *caps)
{
    if (caps->outstanding_max > 0 && caps->outstanding_max < window) {
        config->window = (uint16_t)caps->outstanding_max;
    }
}

static enum alar_status log_open(struct alar_driver *driver, const struct alar_caps *caps)
{
    struct alar_driver_options *options = &driver->options;
    struct alar_embed_plan plan;

    ALAR_TRY(alar_embed_plan(&plan, &options->config, &options->place));
    window_bound(&options->config, plan.window, caps);
    size_t bytes = alar_embed_bytes(&options->config, &options->place);
    driver->memory = calloc(1, bytes);
    driver->slot = calloc(plan.window, sizeof(*driver->slot));
    if (driver->memory == NULL || driver->slot == NULL) {
        return ALAR_E_NOMEM;
    }
    return alar_embed_init(&driver->log, &options->config, &options->place, driver->memory, bytes);
}

static enum alar_status driver_start(struct alar_driver *driver)
{
    const struct alar_driver_options *options = &driver->options;
    struct alar_caps caps = {0};

    if (options->backend->caps(options->context, &caps) != 0) {
        return ALAR_E_BACKEND;
    }
    ALAR_TRY(log_open(driver, &caps));
    if ((caps.dtypes >> alar_payload_dtype(&driver->log->plan.layout) & 1) == 0) {
        return ALAR_E_UNSUPPORTED;
    }
    driver->comm = options->comm;
    if (driver->comm == NULL && !options->is_spectator) {
        ALAR_TRY(alar_comm_status(options->backend->comm_create(
            options->context, NULL, 0, options->comm_epoch, &driver->comm)));
    }
    driver->can_block = options->is_blocking && options->config.is_sync && caps.can_block;
    driver_record_promises(driver, &caps);
    return ALAR_OK;
}

enum alar_status alar_driver_open(struct alar_driver **driver,
                                  const struct alar_driver_options *options)
{
    struct alar_driver *made = calloc(1, sizeof(*made));

    if (made == NULL) {
        return ALAR_E_NOMEM;
    }
    made->options = *options;
    made->action.kind = ALAR_ACTION_READY;
    enum alar_status status = driver_start(made);
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
    return driver_go(driver, (struct alar_embed_event){.kind = ALAR_EMBED_TORN_DOWN});
}

const struct alar_deadline *alar_driver_deadline(const struct alar_driver *driver)
{
    return &driver->deadline;
}

enum alar_status alar_driver_status(const struct alar_driver *driver)
{
    return alar_embed_status(driver->log);
}

uint64_t alar_driver_blocked_us(const struct alar_driver *driver)
{
    return driver->blocked_us;
}

const struct alar_engine_stats *alar_driver_stats(const struct alar_driver *driver)
{
    return &driver->log->engine.stats;
}

uint32_t alar_driver_leaked(const struct alar_driver *driver)
{
    return alar_window_live(driver->log->engine.window);
}

const struct alar_finding *alar_driver_findings(const struct alar_driver *driver, uint64_t *count)
{
    *count = driver->log->finding_count;
    return driver->log->findings;
}

const struct alar_participation_error *
alar_driver_participation_error(const struct alar_driver *driver)
{
    return alar_embed_participation_error(driver->log);
}

struct alar_note alar_driver_note(const struct alar_driver *driver)
{
    struct alar_note note;

    alar_embed_note(driver->log, &note);
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
    free(driver->slot);
    free(driver->memory);
    free(driver);
}

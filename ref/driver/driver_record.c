/* What the driver writes into its history: each event as it happens, nothing else. */
#include "driver/driver_state.h"

#include <stdio.h>

uint64_t alar_driver_record_time(const struct alar_driver *driver)
{
    const struct alar_driver_options *options = &driver->options;

    return (options->now_us(options->clock) - options->history_since_us) *
           options->history_units_per_us;
}

struct alar_history *alar_driver_history(const struct alar_driver *driver)
{
    return driver->options.history;
}

void driver_record_promises(struct alar_driver *driver, const struct alar_caps *caps)
{
    if (driver->options.history != NULL) {
        alar_history_caps(driver->options.history, alar_driver_record_time(driver), caps);
    }
}

static struct alar_history_op record_op(const struct alar_driver *driver,
                                        const struct alar_embed_op *posted)
{
    return (struct alar_history_op){.group = driver->options.group, .number = posted->number};
}

static struct alar_elements record_elements(const struct alar_embed_op *posted, const void *values)
{
    return (struct alar_elements){
        .values = values, .count = posted->elements, .dtype = posted->dtype};
}

void driver_record_issue(struct alar_driver *driver, uint16_t slot)
{
    const struct alar_embed_op posted = driver_op(driver, slot);
    char buffer[16];

    if (driver->options.history == NULL) {
        return;
    }
    snprintf(buffer, sizeof(buffer), "r%u", slot);
    const struct alar_history_issue record = {
        .op = record_op(driver, &posted),
        .reduction = "sum",
        .is_sync = driver->can_block,
        .buffer = buffer,
        .in = record_elements(&posted, posted.send),
        .key = driver->log->plan.schema.key,
        .has_step = true,
        .step = posted.step,
        .has_microbatch = driver->options.config.placement == ALAR_PLACEMENT_MICROBATCH,
        .microbatch = posted.microbatch,
        .pairs = posted.pairs,
    };
    alar_history_issue(driver->options.history, alar_driver_record_time(driver), &record);
}

static void record_wait(struct alar_driver *driver, uint16_t slot, bool is_done)
{
    const struct alar_embed_op posted = driver_op(driver, slot);
    const struct alar_history_wait record = {.op = record_op(driver, &posted), .is_done = is_done};

    if (driver->options.history != NULL && !driver->can_block) {
        alar_history_wait(driver->options.history, alar_driver_record_time(driver), &record);
        driver->slot[slot].is_waited = true;
    }
}

void driver_record_wait(struct alar_driver *driver, uint16_t slot)
{
    record_wait(driver, slot, false);
}

void driver_record_end(struct alar_driver *driver, uint16_t slot, int error)
{
    if (driver->options.history == NULL || driver->can_block) {
        return;
    }
    const struct alar_embed_op posted = driver_op(driver, slot);
    const struct alar_history_fail record = {
        .op = record_op(driver, &posted),
        .error = "backend",
        .text = alar_status_text((enum alar_status) - error),
    };
    if (error == 0) {
        alar_history_complete(driver->options.history, alar_driver_record_time(driver), record.op);
    } else {
        alar_history_fail(driver->options.history, alar_driver_record_time(driver), &record);
    }
}

/* A value taken: the wait is over, and all elements are read. */
static void record_value(struct alar_driver *driver, uint16_t slot)
{
    struct alar_history *history = driver->options.history;
    const struct alar_embed_op posted = driver_op(driver, slot);
    struct alar_elements elements = record_elements(&posted, posted.receive);
    const struct alar_history_done done = {.op = record_op(driver, &posted), .out = elements};
    const struct alar_history_read read = {.op = done.op, .bits = elements};

    if (!driver->slot[slot].is_waited) {
        record_wait(driver, slot, true);
    }
    alar_history_done(history, alar_driver_record_time(driver), &done);
    alar_history_read(history, alar_driver_record_time(driver), &read);
}

void driver_record_retire(struct alar_driver *driver, uint16_t slot, enum alar_outcome outcome)
{
    if (driver->options.history == NULL) {
        return;
    }
    const struct alar_embed_op posted = driver_op(driver, slot);
    const struct alar_history_fail timeout = {
        .op = record_op(driver, &posted),
        .error = driver->has_lost ? "lost" : "timeout",
        .text = alar_status_text(driver->has_lost ? ALAR_E_LOST : ALAR_E_TIMEOUT),
    };
    /* Once a rank has left, all that is pending is given up. */
    bool is_given_up =
        outcome == ALAR_OUTCOME_FAILED && driver->has_lost && !driver->slot[slot].is_ended;

    if (outcome == ALAR_OUTCOME_VALUE) {
        record_value(driver, slot);
    } else if (outcome == ALAR_OUTCOME_TIMED_OUT || is_given_up) {
        alar_history_fail(driver->options.history, alar_driver_record_time(driver), &timeout);
    }
}

void driver_record_report(struct alar_driver *driver, const struct alar_report *report)
{
    const struct alar_config *config = &driver->options.config;
    struct alar_history_op first = {.group = driver->options.group};
    uint64_t ops = 0;

    alar_embed_line(driver->log, &first.number, &ops);
    const struct alar_history_report record = {
        .report = report,
        .metric = report->metric,
        .counts_nonfinite = driver->log->plan.layout.has_flags,
        .normalization = config->normalization,
        .over = config->over,
        .encoding = config->encoding,
        .sink = "log",
        .first_op = first,
        .ops = ops,
    };

    if (driver->options.history != NULL) {
        alar_history_report(driver->options.history, alar_driver_record_time(driver), &record);
    }
}

void alar_driver_record_close(struct alar_driver *driver)
{
    if (driver->options.history != NULL) {
        alar_history_end(driver->options.history, alar_driver_record_time(driver));
    }
}

void alar_driver_record_exit(struct alar_driver *driver, int code, enum alar_status status,
                             const char *text)
{
    const struct alar_history_exit record = {.code = code, .status = status, .text = text};

    if (driver->options.history != NULL) {
        alar_history_exit(driver->options.history, alar_driver_record_time(driver), &record);
    }
}

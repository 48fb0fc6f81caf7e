/* What becomes of reduced values: taken, checked, added to their steps, reported. */
#include "driver/driver_state.h"

#include <math.h>

/* The world's number of a rank of the group. */
static uint32_t driver_world_rank(const struct alar_driver *driver, uint32_t rank)
{
    uint32_t cp = driver->options.layout.cp;

    return driver->options.first_rank + rank * cp;
}

uint32_t driver_culprit(const struct alar_driver *driver, const struct alar_local *local)
{
    uint32_t own = driver_world_rank(driver, driver->options.rank);
    uint32_t share = 0;

    if (local->shares == 0) {
        return own;
    }
    while ((local->shares >> share & 1) == 0) {
        share++;
    }
    return own - driver->options.cp_rank + share;
}

/* Notes every flag of a taken payload; true when there was one. */
static bool driver_find(struct alar_driver *driver, const struct driver_slot *slot,
                        const void *elements)
{
    const struct alar_layout *layout = &driver->options.layout;

    if (alar_payload_flag_count(layout, elements, slot->microbatches) == 0) {
        return false;
    }
    uint32_t ranks = alar_payload_set_ranks(layout);
    uint32_t first = driver->options.first_rank - driver->options.cp_rank;
    size_t metrics = layout->metrics;

    for (size_t i = 0; i < slot->microbatches * metrics * ranks; i++) {
        size_t offset = i / ranks / metrics;
        size_t metric = i / ranks % metrics;
        uint32_t rank = (uint32_t)(i % ranks);
        size_t microbatch = slot->microbatch + offset; /* counted on over the steps */
        size_t step = slot->step + microbatch / layout->microbatches;

        if (!alar_payload_flag(layout, elements, slot->microbatches, i / ranks, rank)) {
            continue;
        }
        driver->tally[step * metrics + metric].nonfinite++;
        if (driver->finding_count < ALAR_FINDINGS_KEPT) {
            driver->findings[driver->finding_count] = (struct alar_finding){
                .step = driver->step[step],
                .microbatch = (uint32_t)(microbatch % layout->microbatches),
                .rank = first + rank,
            };
        }
        driver->finding_count++;
    }
    return true;
}

/* Did each rank take part once, and with the same metrics? What did not is no value. */
static enum alar_status driver_check(struct alar_driver *driver, const struct driver_slot *slot,
                                     const void *elements)
{
    const struct alar_layout *layout = &driver->options.layout;
    struct alar_participation_error participation_error = {
        .finding = alar_payload_check(layout, driver->options.rank, slot->number, elements,
                                      slot->microbatches),
        .step = driver->step[slot->step],
        .microbatch = slot->microbatch,
        .number = slot->number,
    };

    if (participation_error.finding.kind == ALAR_PARTICIPATION_WHOLE) {
        return ALAR_OK;
    }
    participation_error.finding.rank = driver_world_rank(driver, participation_error.finding.rank);
    participation_error.finding.other =
        driver_world_rank(driver, participation_error.finding.other);
    if (driver->participation_error.finding.kind == ALAR_PARTICIPATION_WHOLE) {
        driver->participation_error = participation_error;
    }
    return participation_error.finding.kind < ALAR_PARTICIPATION_SCHEMA ? ALAR_E_MISCOUNT
                                                                        : ALAR_E_SCHEMA;
}

/* Adds what was reduced to the steps that it covers. */
static void driver_add(struct alar_driver *driver, const struct driver_slot *slot,
                       const void *elements)
{
    const struct alar_layout *layout = &driver->options.layout;
    size_t metrics = layout->metrics;
    size_t each = alar_payload_pair_microbatches(layout);
    size_t at = slot->step * metrics; /* of the step's first metric */
    size_t microbatch = slot->microbatch;
    size_t pair = 0;

    for (size_t done = 0; done < slot->microbatches; done += each) {
        for (size_t metric = 0; metric < metrics; metric++, pair++) {
            alar_payload_add(layout, elements, pair, &driver->tally[at + metric]);
            if (driver->extreme != NULL) {
                alar_payload_add_extreme(layout, elements, slot->microbatches, pair,
                                         &driver->extreme[at + metric]);
            }
        }
        microbatch += each;
        if (microbatch == layout->microbatches) {
            microbatch = 0;
            at += metrics;
        }
    }
}

enum alar_engine_event_kind driver_retire(struct alar_driver *driver,
                                          const struct alar_action *action,
                                          enum alar_status *status)
{
    const struct driver_slot *slot = &driver->slot[action->slot];
    const void *elements = driver_receive_buffer(driver, action->slot);

    driver_record_retire(driver, action->slot, action->outcome);
    if (action->outcome != ALAR_OUTCOME_VALUE) {
        return ALAR_ENGINE_RETIRED;
    }
    *status = driver_check(driver, slot, elements);
    if (*status != ALAR_OK) {
        return ALAR_ENGINE_RETIRED_WRONG;
    }
    driver_add(driver, slot, elements);
    return driver_find(driver, slot, elements) ? ALAR_ENGINE_RETIRED_NONFINITE
                                               : ALAR_ENGINE_RETIRED;
}

/* The value of one metric's step or interval; false when there is none. */
static bool report_value(const struct alar_driver *driver, enum alar_metric_kind kind,
                         const struct alar_tally *tally, const struct alar_extreme *extreme,
                         double *value)
{
    enum alar_encoding encoding = driver->options.layout.encoding;

    switch (kind) {
    case ALAR_METRIC_MEAN:
        return alar_loss_value(tally, encoding, value);
    case ALAR_METRIC_SUM:
        return alar_loss_total(tally, encoding, value);
    default:
        *value = extreme->value;
        return extreme->has_value;
    }
}

/* One metric's value for the steps of the interval, whose tallies are then empty again. */
static void report_metric(struct alar_driver *driver, size_t metric)
{
    const struct alar_driver_options *options = &driver->options;
    size_t steps = driver->steps;
    size_t metrics = options->layout.metrics;
    enum alar_metric_kind kind = alar_kinds_get(options->layout.kinds, (uint32_t)metric);
    enum alar_over over = kind == ALAR_METRIC_MEAN ? options->over : ALAR_OVER_POOLED;
    struct alar_tally interval;
    struct alar_extreme extreme = {.has_value = false};
    struct alar_report report = {
        .metric = options->schema.name[metric], .kind = kind, .steps = (uint32_t)steps};

    alar_tally_clear(&interval, options->layout.encoding);
    for (size_t i = 0; i < steps; i++) {
        struct alar_tally *step = &driver->tally[i * metrics + metric];
        struct alar_extreme one = {.has_value = false};
        double value = 0.0;

        if (alar_metric_is_extreme(kind)) {
            one = driver->extreme[i * metrics + metric];
            alar_extreme_merge(kind, &extreme, &one);
            driver->extreme[i * metrics + metric] = (struct alar_extreme){.has_value = false};
        }
        alar_loss_add_step(&interval, options->layout.encoding, over, step);
        if (report_value(driver, kind, step, &one, &value)) {
            report.nan_steps += !isfinite(value) ? 1U : 0U;
        }
        alar_tally_clear(step, options->layout.encoding);
    }
    report.is_empty = !report_value(driver, kind, &interval, &extreme, &report.loss);
    report.extreme_rank = extreme.has_value ? driver_world_rank(driver, extreme.rank) : 0;
    report.first_step = driver->step[0];
    report.step = report.logged_at_step = driver->step[steps - 1];
    report.tokens = interval.tokens;
    report.nonfinite = interval.nonfinite;
    report.empty = interval.empty;
    driver_record_report(driver, &report);
    if (options->on_report != NULL) {
        options->on_report(options->sink, &report);
    }
}

void driver_report(struct alar_driver *driver)
{
    for (size_t i = 0; i < driver->options.layout.metrics; i++) {
        report_metric(driver, i);
    }
    driver->steps = 0;
    driver->microbatch = 0;
    driver->posted_microbatches = 0;
    driver->tokens = 0;
    driver->first_op = driver->posted;
}

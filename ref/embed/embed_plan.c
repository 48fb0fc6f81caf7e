/* From a configuration to a plan. */
#include "embed/embed_plan.h"

enum {
    DEADLINE_MS = 30000
};

void alar_config_complete(struct alar_config *config)
{
    config->backend = config->backend != NULL ? config->backend : "mpi";
    config->microbatches = config->microbatches > 0 ? config->microbatches : 1;
    config->log_interval = config->log_interval > 0 ? config->log_interval : 1;
    config->deadline_ms = config->deadline_ms > 0 ? config->deadline_ms : DEADLINE_MS;
}

/* All that is pending before a log line is written, unless the configuration says less. */
static uint16_t window_slots(const struct alar_config *config)
{
    uint64_t slots = config->window;

    if (slots == 0) {
        bool is_window = config->placement == ALAR_PLACEMENT_WINDOW;
        uint64_t lines = is_window ? 1 + (config->lag > 0) : config->log_interval + config->lag;

        slots = config->placement == ALAR_PLACEMENT_MICROBATCH ? config->microbatches : 1;
        slots *= config->waits_at_log ? lines : 1;
    }
    return (uint16_t)(slots < ALAR_WINDOW_CAPACITY_MAX ? slots : ALAR_WINDOW_CAPACITY_MAX);
}

/* Does every choice and number lie where it may? The products stay far below 2^64. */
static bool is_in_range(const struct alar_config *config, const struct alar_embed_place *place)
{
    uint64_t cp = place->cp > 0 ? place->cp : 1;

    return (unsigned)config->placement < ALAR_PLACEMENT_COUNT &&
           (unsigned)config->normalization < ALAR_NORMALIZATION_COUNT &&
           (unsigned)config->encoding < ALAR_ENCODING_COUNT &&
           (unsigned)config->over < ALAR_OVER_COUNT &&
           (unsigned)config->check < ALAR_CHECK_CHOICES && place->rank < place->ranks &&
           place->ranks * cp <= ALAR_PARTICIPATION_RANKS_MAX && place->cp_rank < cp &&
           (uint64_t)config->microbatches * config->log_interval <= UINT32_MAX &&
           config->window <= ALAR_WINDOW_CAPACITY_MAX && config->lag <= config->log_interval &&
           config->lag <= ALAR_LAG_MAX && (config->lag == 0 || config->waits_at_log);
}

enum alar_status alar_embed_plan(struct alar_embed_plan *plan, const struct alar_config *given,
                                 const struct alar_embed_place *place)
{
    struct alar_config config = *given;
    struct alar_schema schema;

    alar_config_complete(&config);
    if (!is_in_range(&config, place)) {
        return ALAR_E_RANGE;
    }
    ALAR_TRY(alar_schema_init(&schema, config.metrics, config.metric_count));
    const struct alar_layout layout = {
        .encoding = config.encoding,
        .normalization = config.normalization,
        .placement = config.placement,
        .ranks = place->ranks,
        .cp = place->cp > 0 ? place->cp : 1,
        .microbatches = config.microbatches,
        .metrics = schema.count,
        .kinds = schema.kinds,
        .has_flags = config.check == ALAR_CHECK_AGREE || config.check == ALAR_CHECK_COUNT,
        .schema = schema.hash,
    };
    if (alar_payload_has_extremes(&layout) && layout.ranks > ALAR_EXTREME_RANKS_MAX) {
        return ALAR_E_RANGE;
    }
    *plan = (struct alar_embed_plan){
        .place = *place,
        .rules =
            {
                .placement = config.placement,
                .is_sync = config.is_sync,
                .waits_at_log = config.waits_at_log,
                .stops_on_nonfinite = config.check == ALAR_CHECK_AGREE,
                .log_interval = config.log_interval,
                .lag = config.lag,
            },
        .layout = layout,
        .schema = schema,
        .over = config.over,
        .check = config.check,
        .window = window_slots(&config),
    };
    plan->place.cp = layout.cp;
    return ALAR_OK;
}

size_t alar_embed_plan_microbatches(const struct alar_embed_plan *plan)
{
    switch (plan->rules.placement) {
    case ALAR_PLACEMENT_STEP:
        return plan->layout.microbatches;
    case ALAR_PLACEMENT_WINDOW:
        return (size_t)plan->layout.microbatches * plan->rules.log_interval;
    default:
        return 1;
    }
}

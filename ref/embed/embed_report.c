/* Values out: the log line of an interval, and what is known of the run. */
#include "embed/embed_log.h"

#include "engine/barrier.h"

#include <math.h>

const struct embed_interval *embed_due(const struct alar_embed *log)
{
    return &log->interval[log->current ^ (log->is_lagging ? 1 : 0)];
}

void alar_embed_line(const struct alar_embed *log, uint64_t *first_op, uint64_t *ops)
{
    *first_op = embed_due(log)->first_op;
    *ops = embed_due(log)->ops;
}

/* The value of one metric's step or interval; false when there is none. */
static bool report_value(enum alar_encoding encoding, enum alar_metric_kind kind,
                         const struct alar_tally *tally, const struct alar_extreme *extreme,
                         double *value)
{
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

enum alar_status alar_embed_report(const struct alar_embed *log, uint32_t metric,
                                   struct alar_report *report)
{
    const struct alar_embed_plan *plan = &log->plan;
    const struct embed_interval *interval = embed_due(log);
    enum alar_encoding encoding = plan->layout.encoding;
    size_t metrics = plan->layout.metrics;
    struct alar_tally sum;
    struct alar_extreme extreme = {.has_value = false};

    if (log->action.kind != ALAR_ACTION_REPORT || metric >= metrics) {
        return ALAR_E_EMPTY;
    }
    enum alar_metric_kind kind = alar_kinds_get(plan->layout.kinds, metric);
    enum alar_over over = kind == ALAR_METRIC_MEAN ? plan->over : ALAR_OVER_POOLED;
    *report = (struct alar_report){
        .metric = plan->schema.name[metric], .kind = kind, .steps = (uint32_t)interval->steps};
    alar_tally_clear(&sum, encoding);
    for (size_t i = 0; i < interval->steps; i++) {
        const struct alar_tally *step = &interval->tally[i * metrics + metric];
        struct alar_extreme one = {.has_value = false};
        double value = 0.0;

        if (alar_metric_is_extreme(kind)) {
            one = interval->extreme[i * metrics + metric];
            alar_extreme_merge(kind, &extreme, &one);
        }
        alar_loss_add_step(&sum, encoding, over, step);
        if (report_value(encoding, kind, step, &one, &value)) {
            report->nan_steps += !isfinite(value) ? 1U : 0U;
        }
    }
    report->is_empty = !report_value(encoding, kind, &sum, &extreme, &report->loss);
    report->extreme_rank =
        extreme.has_value ? plan->place.first_rank + extreme.rank * plan->layout.cp : 0;
    report->first_step = interval->step[0];
    report->step = interval->step[interval->steps - 1];
    report->logged_at_step = log->last_step;
    report->tokens = sum.tokens;
    report->nonfinite = sum.nonfinite;
    report->empty = sum.empty;
    return ALAR_OK;
}

void embed_reported(struct alar_embed *log)
{
    struct embed_interval *interval = &log->interval[log->current ^ (log->is_lagging ? 1 : 0)];
    size_t metrics = log->plan.layout.metrics;

    for (size_t i = 0; i < interval->steps * metrics; i++) {
        alar_tally_clear(&interval->tally[i], log->plan.layout.encoding);
        if (interval->extreme != NULL) {
            interval->extreme[i] = (struct alar_extreme){.has_value = false};
        }
    }
    interval->steps = 0;
    interval->microbatch = 0;
    interval->tokens = 0;
    interval->ops = 0;
    interval->first_op = log->posted;
    if (!log->is_lagging) {
        log->posted_microbatches = 0;
    }
    log->is_lagging = false;
}

uint16_t alar_embed_window(const struct alar_embed *log)
{
    return log->plan.window;
}

uint64_t alar_embed_schema(const struct alar_embed *log)
{
    return log->plan.schema.hash;
}

enum alar_status alar_embed_status(const struct alar_embed *log)
{
    return (enum alar_status)log->engine.state.stop;
}

enum alar_status alar_embed_finding(const struct alar_embed *log, uint64_t i,
                                    struct alar_finding *finding)
{
    if (i >= log->finding_count || i >= ALAR_FINDINGS_KEPT) {
        return ALAR_E_EMPTY;
    }
    *finding = log->findings[i];
    return ALAR_OK;
}

const struct alar_participation_error *alar_embed_participation_error(const struct alar_embed *log)
{
    enum alar_status status = alar_embed_status(log);
    bool is_why = status == ALAR_E_MISCOUNT || status == ALAR_E_SCHEMA;

    return is_why && log->participation_error.finding.kind != ALAR_PARTICIPATION_WHOLE
               ? &log->participation_error
               : NULL;
}

void alar_embed_counts(const struct alar_embed *log, struct alar_embed_counts *counts)
{
    const struct alar_engine_stats *stats = &log->engine.stats;

    *counts = (struct alar_embed_counts){
        .posted = stats->posted,
        .ready = stats->ready,
        .waited = stats->waited,
        .failed = stats->failed,
        .timed_out = stats->timed_out,
        .peak = stats->peak,
    };
}

void alar_embed_note(const struct alar_embed *log, struct alar_note *note)
{
    const struct embed_interval *interval = &log->interval[log->current];

    *note = (struct alar_note){
        .status = (int32_t)alar_embed_status(log),
        .step = (uint32_t)interval->step[interval->steps > 0 ? interval->steps - 1 : 0],
        .microbatch = interval->microbatch > 0 ? interval->microbatch - 1 : 0,
        .posted = (uint32_t)log->posted,
    };
    if (note->status == ALAR_E_NONFINITE && log->finding_count > 0) {
        note->step = (uint32_t)log->findings[0].step;
        note->microbatch = log->findings[0].microbatch;
    }
    if (alar_embed_participation_error(log) != NULL) {
        note->step = (uint32_t)log->participation_error.step;
        note->microbatch = log->participation_error.microbatch;
    }
}

enum alar_status alar_embed_judge(const struct alar_embed *log, const uint8_t *presence,
                                  const struct alar_note *note, uint32_t *culprit)
{
    const struct alar_barrier barrier = {.ranks = log->plan.place.ranks,
                                         .rank = log->plan.place.rank,
                                         .presence = presence,
                                         .note = note};
    const struct alar_barrier_outcome ending = alar_barrier_judge(&barrier);

    *culprit = ending.culprit;
    return ending.status;
}

/* What a run logs beside the loss: its least and its greatest value over ranks and microbatches,
   with the rank that has it, and the sum of the tokens. */
#include "engine/schema.h"
#include "run/run_state.h"

#include <math.h>
#include <stdio.h>

static const struct alar_metric metrics[RUN_METRICS] = {
    [RUN_METRIC_LOSS] = {ALAR_METRIC_DEFAULT, ALAR_METRIC_MEAN},
    [RUN_METRIC_MAX] = {ALAR_METRIC_DEFAULT " max", ALAR_METRIC_MAX},
    [RUN_METRIC_MIN] = {ALAR_METRIC_DEFAULT " min", ALAR_METRIC_MIN},
    [RUN_METRIC_TOKENS] = {"tokens", ALAR_METRIC_SUM},
};

uint32_t run_metrics_count(const struct run *run)
{
    return run->options->has_extremes ? RUN_METRICS : 1;
}

/* Context parallel ranks that share a microbatch have one loss together, which nobody but the sum
   over them knows; with replicas each has it. */
enum alar_status run_metrics_open(struct run *run, char *error_line)
{
    const struct alar_topology *topology = &run->topology;

    if (!run->options->has_extremes) {
        return ALAR_OK;
    }
    if (topology->cp > 1 && !run->options->is_replicated) {
        snprintf(error_line, ALAR_ERROR_LINE_BYTES,
                 "--extremes: expected --cp 1, or --scope replicated, found --cp %u", topology->cp);
        return ALAR_E_INPUT;
    }
    if (topology->dp > ALAR_EXTREME_RANKS_MAX) {
        snprintf(error_line, ALAR_ERROR_LINE_BYTES,
                 "--extremes: expected at most %u data parallel ranks, found %u",
                 ALAR_EXTREME_RANKS_MAX, topology->dp);
        return ALAR_E_INPUT;
    }
    run->config.metrics = metrics;
    run->config.metric_count = RUN_METRICS;
    return ALAR_OK;
}

/* The rank's own mean: of its exact sum where there is one. No value when it has no token. */
static struct alar_local own_mean(const struct alar_local *local)
{
    struct alar_local own = {.tokens = local->tokens, .shares = local->shares};
    struct alar_exact_ratio ratio = {.denominator = local->tokens};

    if (local->tokens == 0) {
        return own;
    }
    if (local->exact != NULL) {
        ratio.numerator = *local->exact;
        alar_loss_exact_value(&ratio, &own.sum);
    } else {
        own.sum = local->sum / (double)local->tokens;
    }
    own.nonfinite = isfinite(own.sum) ? 0U : 1U;
    return own;
}

const struct alar_local *run_metrics_local(void *data, uint32_t rank,
                                           const struct alar_local *local)
{
    struct run *run = data;
    struct alar_local *metric = run->rank[rank - run->rank[0].rank].metric;

    metric[RUN_METRIC_LOSS] = *local;
    metric[RUN_METRIC_MIN] = metric[RUN_METRIC_MAX] = own_mean(local);
    metric[RUN_METRIC_TOKENS] =
        (struct alar_local){.sum = (double)local->tokens, .tokens = local->tokens};
    return metric;
}

/* Is a logged value that differs from its twin's still legal? Each reduced element has an exact
   range over all orders of addition; every step from elements to report is monotone in the
   numerators, and denominators are whole numbers that no order changes. So the report computed from
   all least elements and the one from all greatest elements bound every legal report. Losses that a
   fault changed count as changed, on the simulator, where all ranks' faults are known.

   Tokens are summed as they are for a mean, so their report has the range of its denominators.
   Extremes have no order of addition that could explain a difference. */
#include "engine/schema.h"
#include "faults/point.h"
#include "legal/interval.h"
#include "run/run_state.h"

#include <stdlib.h>

struct audit {
    const struct run *run;
    struct alar_layout layout;
    uint64_t *bits;   /* of one microbatch, one element a context parallel rank */
    uint64_t *column; /* of one element, one element a data parallel rank */
    void *elements;   /* one contribution */
    void *scratch;    /* of alar_legal_range */
    struct alar_local *local;
    struct alar_range report;
    bool is_total;  /* of the tokens, rather than of the loss */
    bool is_judged; /* every element had a finite range */
};

/* Of the microbatch at that index of the run, the loss that data parallel rank `dp` contributes:
   its own, or the least and the greatest that its context parallel ranks can make of theirs. */
static void microbatch_range(struct audit *audit, uint32_t dp, size_t microbatch,
                             struct alar_local local[2])
{
    const struct run *run = audit->run;
    enum alar_dtype dtype = alar_payload_dtype(&audit->layout);
    uint32_t cp = run->options->is_replicated ? 1 : run->topology.cp;
    int64_t tokens = 0;

    for (uint32_t c = 0; c < cp; c++) {
        alar_dataset_local(&run->dataset, dp * cp + c,
                           run->range.begin + microbatch / audit->layout.microbatches,
                           (uint32_t)(microbatch % audit->layout.microbatches), &local[0]);
        if (run->is_simulated) {
            uint32_t rank = run->reporter + dp * run->topology.cp + c;

            alar_fault_local(run->rank[rank].faults, microbatch, &local[0]);
        }
        audit->bits[c] = alar_fp_from_double(dtype, local[0].sum);
        tokens += local[0].tokens;
    }
    local[1] = local[0];
    if (cp > 1) {
        struct alar_range range = alar_legal_range(dtype, audit->bits, cp, audit->scratch);

        audit->is_judged &= !range.can_be_nan;
        local[0] = (struct alar_local){.sum = range.low, .tokens = tokens};
        local[1] = (struct alar_local){.sum = range.high, .tokens = tokens};
    }
}

/* The range of one element of the all-reduce whose first microbatch is `microbatch` of the run;
   sums of the least contributions, and of the greatest, bound all others. */
static struct alar_range element_range(struct audit *audit, size_t microbatch, size_t microbatches,
                                       size_t element)
{
    const struct alar_layout *layout = &audit->layout;
    enum alar_dtype dtype = alar_payload_dtype(layout);
    struct alar_range range[2];

    for (int end = 0; end < 2; end++) {
        for (uint32_t rank = 0; rank < layout->ranks; rank++) {
            for (size_t i = 0; i < microbatches; i++) {
                struct alar_local local[2];

                microbatch_range(audit, rank, microbatch + i, local);
                audit->local[i] = local[end];
            }
            alar_payload_write(layout, rank, 0 /* no matter */, audit->local, microbatches,
                               audit->elements);
            struct alar_ratio pair = alar_payload_pair(layout, audit->elements, element / 2);
            audit->column[rank] =
                alar_fp_from_double(dtype, element % 2 == 0 ? pair.numerator : pair.denominator);
        }
        range[end] = alar_legal_range(dtype, audit->column, layout->ranks, audit->scratch);
    }
    range[0].high = range[1].high;
    range[0].can_be_nan |= range[1].can_be_nan;
    return range[0];
}

/* The ranges of a pair that stand for each end of the report's. */
static void audit_pair(struct audit *audit, size_t microbatch, size_t microbatches,
                       struct alar_ratio pair[2])
{
    struct alar_range count = element_range(audit, microbatch, microbatches, 1);
    struct alar_range sum =
        audit->is_total ? count : element_range(audit, microbatch, microbatches, 0);

    audit->is_judged &= !sum.can_be_nan && (audit->is_total || count.low >= count.high);
    pair[0] = (struct alar_ratio){sum.low, count.low};
    pair[1] = (struct alar_ratio){sum.high, count.high};
}

/* Adds the steps of a report, computed once from least and once from greatest numerators. */
static void audit_steps(struct audit *audit, size_t first_step, size_t steps)
{
    const struct alar_layout *layout = &audit->layout;
    enum alar_over over = audit->is_total ? ALAR_OVER_POOLED : audit->run->config.over;
    struct alar_tally interval[2] = {{.tokens = 0}, {.tokens = 0}};
    size_t microbatches =
        alar_payload_pairs(layout, layout->microbatches) == 1 ? layout->microbatches : 1;

    for (size_t step = first_step; step < first_step + steps; step++) {
        struct alar_tally tally[2] = {{.tokens = 0}, {.tokens = 0}};

        for (size_t i = 0; i < layout->microbatches; i += microbatches) {
            struct alar_ratio pair[2];

            audit_pair(audit, step * layout->microbatches + i, microbatches, pair);
            for (int end = 0; end < 2; end++) {
                alar_loss_add_pair(&tally[end], layout->encoding, layout->normalization,
                                   layout->ranks, pair[end]);
            }
        }
        alar_loss_add_step(&interval[0], layout->encoding, over, &tally[0]);
        alar_loss_add_step(&interval[1], layout->encoding, over, &tally[1]);
    }
    bool (*value)(const struct alar_tally *, enum alar_encoding, double *) =
        audit->is_total ? alar_loss_total : alar_loss_value;

    if (!value(&interval[0], layout->encoding, &audit->report.low) ||
        !value(&interval[1], layout->encoding, &audit->report.high)) {
        audit->is_judged = false;
    }
}

static bool audit_open(struct audit *audit, const struct run *run)
{
    const struct alar_embed_place place = {.ranks = run->topology.dp};
    size_t microbatches = run->dataset.microbatches;
    struct alar_embed_plan plan;

    if (alar_embed_plan(&plan, &run->config, &place) != ALAR_OK) {
        return false;
    }
    audit->run = run;
    audit->is_judged = true;
    audit->layout = plan.layout;
    audit->layout.has_flags = false;
    audit->layout.metrics = 1; /* the loss, whose denominators are the tokens */
    audit->layout.kinds = 0;
    if (audit->is_total && audit->layout.normalization != ALAR_TOKEN_WEIGHTED) {
        audit->layout.normalization = ALAR_TOKEN_WEIGHTED;
        audit->layout.placement =
            ALAR_PLACEMENT_MICROBATCH; /* a pair a microbatch, as it travelled */
    }
    audit->bits = calloc(run->ranks, sizeof(*audit->bits));
    audit->column = calloc(run->ranks, sizeof(*audit->column));
    audit->elements = calloc(2 * microbatches, sizeof(double));
    audit->local = calloc(microbatches, sizeof(*audit->local));
    audit->scratch = malloc(alar_legal_scratch_bytes(run->ranks));
    return audit->bits && audit->column && audit->elements && audit->local && audit->scratch;
}

static void audit_close(struct audit *audit)
{
    free(audit->bits);
    free(audit->column);
    free(audit->elements);
    free(audit->local);
    free(audit->scratch);
}

enum alar_status run_audit(const struct run *run, size_t index, const struct alar_report *first,
                           const struct alar_report *twin)
{
    struct audit audit = {.is_total = first->kind == ALAR_METRIC_SUM};
    enum alar_status status = ALAR_E_NOMEM;

    /* Under `exact` no order is left that could explain a difference. */
    if (first->is_empty || twin->is_empty || run->config.encoding == ALAR_EXACT ||
        alar_metric_is_extreme(first->kind)) {
        return ALAR_E_DIFFERS;
    }
    if (audit_open(&audit, run)) {
        size_t line = index / run_metrics_count(run);

        audit_steps(&audit, line * run->config.log_interval, first->steps);
        bool is_legal = first->loss >= audit.report.low && first->loss <= audit.report.high &&
                        twin->loss >= audit.report.low && twin->loss <= audit.report.high;
        status = is_legal || !audit.is_judged ? ALAR_OK : ALAR_E_DIFFERS;
    }
    audit_close(&audit);
    return status;
}

/* Where the elements of an all-reduce lie; private to payload*.c. The parts stand in this order:
   pairs, extremes, flags, participation. */
#ifndef ALAR_PAYLOAD_LAYOUT_H
#define ALAR_PAYLOAD_LAYOUT_H

#include "engine/payload.h"
#include "engine/schema.h"

/* Made once for what is written or read in one go. */
struct payload_plan {
    uint32_t metrics;
    size_t pair_elements;
    size_t pair_microbatches; /* microbatches that a pair covers */
    size_t pairs;
    size_t locals; /* microbatches times metrics */
    size_t extremes;
    size_t flags;
    size_t flag_elements; /* of one microbatch and metric */
    size_t participation;
    size_t elements; /* in all; the three before are the elements at which their parts begin */
};

/* The plan for `microbatches` microbatches. PRE: as alar_payload_pairs. */
struct payload_plan payload_plan(const struct alar_layout *layout, size_t microbatches);

/* The first element of the block beside the i-th pair. PRE: it is one of an extreme. */
size_t payload_extreme_begin(const struct alar_layout *layout, const struct payload_plan *plan,
                             size_t i);

/* What becomes of the i-th pair of so many metrics. */
static inline enum alar_metric_kind payload_pair_kind(const struct alar_layout *layout,
                                                      uint32_t metrics, size_t i)
{
    return layout->kinds == 0 ? ALAR_METRIC_MEAN
                              : alar_kinds_get(layout->kinds, (uint32_t)(i % metrics));
}

/* What its numerator and weight are: those of sums are sums of everything, and so are the tokens
   beside an extreme. spec: L-14, L-15 */
static inline enum alar_normalization payload_normalization(const struct alar_layout *layout,
                                                            enum alar_metric_kind kind)
{
    return kind == ALAR_METRIC_MEAN ? layout->normalization : ALAR_TOKEN_WEIGHTED;
}

#endif

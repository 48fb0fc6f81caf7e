/* How many lanes there are of what, and where they begin. */
#include "engine/payload_layout.h"

#include "base/check.h"
#include "engine/payload_element.h"

enum alar_dtype alar_payload_dtype(const struct alar_layout *layout)
{
    static const enum alar_dtype dtypes[] = {
        [ALAR_PAIR32] = ALAR_F32, [ALAR_PAIR64] = ALAR_F64, [ALAR_EXACT] = ALAR_I64};

    return dtypes[layout->encoding];
}

size_t alar_payload_lane_bytes(const struct alar_layout *layout)
{
    return alar_dtype_bytes(alar_payload_dtype(layout));
}

uint32_t alar_payload_set_ranks(const struct alar_layout *layout)
{
    return layout->ranks * (layout->cp > 1 ? layout->cp : 1);
}

uint32_t alar_payload_metrics(const struct alar_layout *layout)
{
    return layout->metrics > 1 ? layout->metrics : 1;
}

size_t alar_payload_pair_cells(const struct alar_layout *layout)
{
    bool is_folded = layout->normalization == ALAR_TOKEN_WEIGHTED &&
                     layout->placement != ALAR_PLACEMENT_MICROBATCH;

    return is_folded ? layout->microbatches : 1;
}

size_t alar_payload_pairs(const struct alar_layout *layout, size_t cells)
{
    size_t each = alar_payload_pair_cells(layout);

    if (each == 1) { /* no division where a pair is a cell: this is asked for each post */
        return cells * alar_payload_metrics(layout);
    }
    PRE(cells % each == 0);
    return cells / each * alar_payload_metrics(layout);
}

/* How many of the first metrics have a block beside each of their pairs. */
static size_t extremes_before(const struct alar_layout *layout, uint32_t metric)
{
    size_t count = 0;

    for (uint32_t i = 0; i < metric; i++) {
        count += alar_metric_is_extreme(alar_kinds_get(layout->kinds, i));
    }
    return count;
}

bool alar_payload_has_extremes(const struct alar_layout *layout)
{
    return extremes_before(layout, alar_payload_metrics(layout)) > 0;
}

/* Lanes of all blocks. */
static size_t extreme_lanes(const struct alar_layout *layout, size_t groups)
{
    return groups * extremes_before(layout, alar_payload_metrics(layout)) *
           alar_extreme_lanes(layout->encoding, layout->ranks);
}

struct payload_plan payload_plan(const struct alar_layout *layout, size_t cells)
{
    bool is_exact = layout->encoding == ALAR_EXACT;
    struct payload_plan plan;

    plan.metrics = alar_payload_metrics(layout);
    plan.pair_lanes = is_exact ? ALAR_PAYLOAD_EXACT_LANES : 2;
    plan.pair_cells = alar_payload_pair_cells(layout);
    plan.pairs = alar_payload_pairs(layout, cells);
    plan.locals = cells * plan.metrics;
    plan.extremes = plan.pairs * plan.pair_lanes;
    plan.flags = plan.extremes;
    if (layout->kinds != 0) {
        plan.flags += extreme_lanes(layout, plan.pairs / plan.metrics);
    }
    plan.flag_lanes =
        layout->has_flags ? alar_set_lanes(layout->encoding, alar_payload_set_ranks(layout)) : 0;
    plan.census = plan.flags + plan.locals * plan.flag_lanes;
    plan.lanes = plan.census + (is_exact ? ALAR_CENSUS_LANES : 0);
    return plan;
}

size_t alar_payload_lanes(const struct alar_layout *layout, size_t cells)
{
    return payload_plan(layout, cells).lanes;
}

size_t payload_extreme_begin(const struct alar_layout *layout, const struct payload_plan *plan,
                             size_t i)
{
    size_t before = extremes_before(layout, (uint32_t)(i % plan->metrics)) +
                    i / plan->metrics * extremes_before(layout, plan->metrics);

    return plan->extremes + before * alar_extreme_lanes(layout->encoding, layout->ranks);
}

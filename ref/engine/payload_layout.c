/* How many elements there are of what, and where they begin. */
#include "engine/payload_layout.h"

#include "base/check.h"
#include "engine/payload_element.h"

enum alar_dtype alar_payload_dtype(const struct alar_layout *layout)
{
    static const enum alar_dtype dtypes[] = {
        [ALAR_PAIR32] = ALAR_F32, [ALAR_PAIR64] = ALAR_F64, [ALAR_EXACT] = ALAR_I64};

    return dtypes[layout->encoding];
}

size_t alar_payload_element_bytes(const struct alar_layout *layout)
{
    return alar_dtype_bytes(alar_payload_dtype(layout));
}

uint32_t alar_payload_set_ranks(const struct alar_layout *layout)
{
    return layout->ranks * layout->cp;
}

size_t alar_payload_pair_microbatches(const struct alar_layout *layout)
{
    bool is_folded = layout->normalization == ALAR_TOKEN_WEIGHTED &&
                     layout->placement != ALAR_PLACEMENT_MICROBATCH;

    return is_folded ? layout->microbatches : 1;
}

size_t alar_payload_pairs(const struct alar_layout *layout, size_t microbatches)
{
    size_t each = alar_payload_pair_microbatches(layout);

    if (each == 1) { /* no division where a pair is a microbatch: this is asked for each post */
        return microbatches * layout->metrics;
    }
    PRE(microbatches % each == 0);
    return microbatches / each * layout->metrics;
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
    return extremes_before(layout, layout->metrics) > 0;
}

/* Elements of all blocks. */
static size_t extreme_elements(const struct alar_layout *layout, size_t groups)
{
    return groups * extremes_before(layout, layout->metrics) *
           alar_extreme_elements(layout->encoding, layout->ranks);
}

struct payload_plan payload_plan(const struct alar_layout *layout, size_t microbatches)
{
    bool is_exact = layout->encoding == ALAR_EXACT;
    struct payload_plan plan;

    plan.metrics = layout->metrics;
    plan.pair_elements = is_exact ? ALAR_PAYLOAD_EXACT_ELEMENTS : 2;
    plan.pair_microbatches = alar_payload_pair_microbatches(layout);
    plan.pairs = alar_payload_pairs(layout, microbatches);
    plan.locals = microbatches * plan.metrics;
    plan.extremes = plan.pairs * plan.pair_elements;
    plan.flags = plan.extremes;
    if (layout->kinds != 0) {
        plan.flags += extreme_elements(layout, plan.pairs / plan.metrics);
    }
    plan.flag_elements =
        layout->has_flags ? alar_set_elements(layout->encoding, alar_payload_set_ranks(layout)) : 0;
    plan.participation = plan.flags + plan.locals * plan.flag_elements;
    plan.elements = plan.participation + (is_exact ? ALAR_PARTICIPATION_ELEMENTS : 0);
    return plan;
}

size_t alar_payload_elements(const struct alar_layout *layout, size_t microbatches)
{
    return payload_plan(layout, microbatches).elements;
}

size_t payload_extreme_begin(const struct alar_layout *layout, const struct payload_plan *plan,
                             size_t i)
{
    size_t before = extremes_before(layout, (uint32_t)(i % plan->metrics)) +
                    i / plan->metrics * extremes_before(layout, plan->metrics);

    return plan->extremes + before * alar_extreme_elements(layout->encoding, layout->ranks);
}

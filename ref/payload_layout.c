/* How many lanes there are of what, and where they begin. */
#include "payload_layout.h"

#include "check.h"
#include "payload_lane.h"

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

size_t payload_pair_lanes(const struct alar_layout *layout)
{
    return layout->encoding == ALAR_EXACT ? ALAR_PAYLOAD_EXACT_LANES : 2;
}

uint32_t alar_payload_set_ranks(const struct alar_layout *layout)
{
    return layout->ranks * (layout->cp > 1 ? layout->cp : 1);
}

size_t payload_flag_lanes(const struct alar_layout *layout)
{
    return layout->has_flags ? alar_set_lanes(layout->encoding, alar_payload_set_ranks(layout)) : 0;
}

/* Cells that one pair covers. */
size_t payload_pair_cells(const struct alar_layout *layout)
{
    bool is_folded = layout->normalization == ALAR_TOKEN_WEIGHTED &&
                     layout->placement != ALAR_PLACEMENT_MICROBATCH;

    return is_folded ? layout->microbatches : 1;
}

uint32_t alar_payload_metrics(const struct alar_layout *layout)
{
    return layout->metrics > 1 ? layout->metrics : 1;
}

size_t alar_payload_pairs(const struct alar_layout *layout, size_t cells)
{
    PRE(cells % payload_pair_cells(layout) == 0);
    return cells / payload_pair_cells(layout) * alar_payload_metrics(layout);
}

/* How many of the first metrics have a block beside each of their pairs. */
static size_t extremes_before(const struct alar_layout *layout, uint32_t metric)
{
    size_t count = 0;

    for (uint32_t i = 0; i < metric && layout->kinds != 0; i++) {
        count += alar_metric_is_extreme(alar_kinds_get(layout->kinds, i));
    }
    return count;
}

/* The first lane of the block beside the i-th pair, or behind the last block. */
size_t payload_extreme_begin(const struct alar_layout *layout, size_t cells, size_t i)
{
    uint32_t metrics = alar_payload_metrics(layout);
    size_t pairs = payload_pair_lanes(layout) * alar_payload_pairs(layout, cells);

    if (layout->kinds == 0) {
        return pairs;
    }
    return pairs + (i / metrics * extremes_before(layout, metrics) +
                    extremes_before(layout, (uint32_t)(i % metrics))) *
                       alar_extreme_lanes(layout->encoding, layout->ranks);
}

size_t payload_flags_begin(const struct alar_layout *layout, size_t cells)
{
    return payload_extreme_begin(layout, cells, alar_payload_pairs(layout, cells));
}

/* The lane behind the flags. */
size_t payload_census_begin(const struct alar_layout *layout, size_t cells)
{
    return payload_flags_begin(layout, cells) +
           cells * alar_payload_metrics(layout) * payload_flag_lanes(layout);
}

size_t alar_payload_lanes(const struct alar_layout *layout, size_t cells)
{
    return payload_census_begin(layout, cells) +
           (layout->encoding == ALAR_EXACT ? ALAR_CENSUS_LANES : 0);
}

/* What becomes of the pairs of the i-th pair's metric: sums are sums of everything, and so are the
   tokens beside extremes. */
enum alar_normalization payload_pair_normalization(const struct alar_layout *layout, size_t i)
{
    uint32_t metric = (uint32_t)(i % alar_payload_metrics(layout));

    return layout->kinds == 0 || alar_kinds_get(layout->kinds, metric) == ALAR_METRIC_MEAN
               ? layout->normalization
               : ALAR_TOKEN_WEIGHTED;
}

bool payload_pair_is_extreme(const struct alar_layout *layout, size_t i)
{
    uint32_t metric = (uint32_t)(i % alar_payload_metrics(layout));

    return layout->kinds != 0 && alar_metric_is_extreme(alar_kinds_get(layout->kinds, metric));
}

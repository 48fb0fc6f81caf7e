/* Lanes of pairs and of rank sets, in fp32 or fp64. */
#include "payload.h"

#include "check.h"

#include <math.h>
#include <string.h>

static double lane_read(const struct alar_layout *layout, const void *lanes, size_t i)
{
    if (layout->encoding == ALAR_PAIR32) {
        float lane;

        memcpy(&lane, (const char *)lanes + i * sizeof(lane), sizeof(lane));
        return (double)lane;
    }
    double lane;

    memcpy(&lane, (const char *)lanes + i * sizeof(lane), sizeof(lane));
    return lane;
}

static void lane_write(const struct alar_layout *layout, void *lanes, size_t i, double value)
{
    if (layout->encoding == ALAR_PAIR32) {
        float lane = (float)value;

        memcpy((char *)lanes + i * sizeof(lane), &lane, sizeof(lane));
        return;
    }
    memcpy((char *)lanes + i * sizeof(value), &value, sizeof(value));
}

size_t alar_payload_lane_bytes(const struct alar_layout *layout)
{
    return layout->encoding == ALAR_PAIR32 ? sizeof(float) : sizeof(double);
}

/* Ranks a lane can name: the integers it holds exactly. */
static uint32_t lane_ranks(const struct alar_layout *layout)
{
    return layout->encoding == ALAR_PAIR32 ? 24 : 53;
}

static size_t flag_lanes(const struct alar_layout *layout)
{
    uint32_t ranks = lane_ranks(layout);

    return layout->has_flags ? (layout->ranks + ranks - 1) / ranks : 0;
}

/* Cells that one pair covers. */
static size_t pair_cells(const struct alar_layout *layout)
{
    bool is_folded = layout->normalization == ALAR_TOKEN_WEIGHTED &&
                     layout->placement != ALAR_PLACEMENT_MICROBATCH;

    return is_folded ? layout->microbatches : 1;
}

size_t alar_payload_pairs(const struct alar_layout *layout, size_t cells)
{
    PRE(cells % pair_cells(layout) == 0);
    return cells / pair_cells(layout);
}

size_t alar_payload_lanes(const struct alar_layout *layout, size_t cells)
{
    return 2 * alar_payload_pairs(layout, cells) + cells * flag_lanes(layout);
}

/* The pairs of `cells` local losses, added from the left. */
static struct alar_ratio pair_fold(const struct alar_layout *layout, const struct alar_local *local,
                                   size_t cells)
{
    struct alar_ratio sum = alar_loss_pair(layout->encoding, layout->normalization, &local[0]);

    for (size_t i = 1; i < cells; i++) {
        struct alar_ratio pair = alar_loss_pair(layout->encoding, layout->normalization, &local[i]);

        sum.numerator = alar_loss_add(layout->encoding, sum.numerator, pair.numerator);
        sum.denominator = alar_loss_add(layout->encoding, sum.denominator, pair.denominator);
    }
    return sum;
}

void alar_payload_write(const struct alar_layout *layout, uint32_t rank,
                        const struct alar_local *local, size_t cells, void *lanes)
{
    size_t pairs = alar_payload_pairs(layout, cells);
    size_t stride = pair_cells(layout);
    size_t at = 2 * pairs;

    PRE(rank < layout->ranks);
    for (size_t i = 0; i < pairs; i++) {
        struct alar_ratio pair = pair_fold(layout, &local[i * stride], stride);

        lane_write(layout, lanes, 2 * i, pair.numerator);
        lane_write(layout, lanes, 2 * i + 1, pair.denominator);
    }
    for (size_t cell = 0; cell < cells; cell++) {
        for (size_t lane = 0; lane < flag_lanes(layout); lane++) {
            bool is_mine = local[cell].nonfinite > 0 && rank / lane_ranks(layout) == lane;
            double bit = (double)(UINT64_C(1) << (rank % lane_ranks(layout)));

            lane_write(layout, lanes, at++, is_mine ? bit : 0.0);
        }
    }
    POST(at == alar_payload_lanes(layout, cells));
}

struct alar_ratio alar_payload_pair(const struct alar_layout *layout, const void *lanes, size_t i)
{
    return (struct alar_ratio){
        .numerator = lane_read(layout, lanes, 2 * i),
        .denominator = lane_read(layout, lanes, 2 * i + 1),
    };
}

/* The set in flag lane `lane` of `cell`. A broken back end may deliver anything: what is no set of
   this group's ranks reads as the empty one, and the oracle names it. */
static uint64_t flag_set(const struct alar_layout *layout, const void *lanes, size_t cells,
                         size_t cell, size_t lane)
{
    size_t at = 2 * alar_payload_pairs(layout, cells) + cell * flag_lanes(layout) + lane;
    double value = lane_read(layout, lanes, at);
    size_t named = layout->ranks - lane * lane_ranks(layout);
    size_t bits = named < lane_ranks(layout) ? named : lane_ranks(layout);
    bool is_set = value >= 0.0 && value < (double)(UINT64_C(1) << bits) && floor(value) >= value;

    return is_set ? (uint64_t)value : 0;
}

bool alar_payload_flag(const struct alar_layout *layout, const void *lanes, size_t cells,
                       size_t cell, uint32_t rank)
{
    uint32_t per_lane = lane_ranks(layout);

    PRE(cell < cells && rank < layout->ranks);
    return layout->has_flags &&
           (flag_set(layout, lanes, cells, cell, rank / per_lane) >> (rank % per_lane) & 1) != 0;
}

uint64_t alar_payload_flag_count(const struct alar_layout *layout, const void *lanes, size_t cells)
{
    uint64_t count = 0;

    for (size_t cell = 0; cell < cells; cell++) {
        for (size_t lane = 0; lane < flag_lanes(layout); lane++) {
            /* Loop bound: the bits of a set, cleared one a turn. */
            for (uint64_t set = flag_set(layout, lanes, cells, cell, lane); set; set &= set - 1) {
                count++;
            }
        }
    }
    return count;
}

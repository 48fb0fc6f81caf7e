/* Lanes of pairs, of the census and of rank sets. */
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

static void set_write(const struct alar_layout *layout, void *lanes, size_t i, uint64_t set)
{
    if (layout->encoding == ALAR_EXACT) {
        memcpy((char *)lanes + i * sizeof(set), &set, sizeof(set));
    } else {
        lane_write(layout, lanes, i, (double)set);
    }
}

/* False for a lane that holds no set. */
static bool set_read(const struct alar_layout *layout, const void *lanes, size_t i, uint64_t *set)
{
    if (layout->encoding == ALAR_EXACT) {
        memcpy(set, (const char *)lanes + i * sizeof(*set), sizeof(*set));
        return true;
    }
    double value = lane_read(layout, lanes, i);

    if (!(value >= 0.0 && value < 0x1p63) || floor(value) < value) {
        return false;
    }
    *set = (uint64_t)value;
    return true;
}

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

/* Ranks a lane can name: the bits of the whole numbers that it holds and adds exactly. */
static uint32_t lane_ranks(const struct alar_layout *layout)
{
    static const uint32_t ranks[] = {[ALAR_PAIR32] = 24, [ALAR_PAIR64] = 53, [ALAR_EXACT] = 62};

    return ranks[layout->encoding];
}

static size_t pair_lanes(const struct alar_layout *layout)
{
    return layout->encoding == ALAR_EXACT ? ALAR_PAYLOAD_EXACT_LANES : 2;
}

/* The first flag lane of an all-reduce over that many cells. */
static size_t flags_begin(const struct alar_layout *layout, size_t cells)
{
    return pair_lanes(layout) * alar_payload_pairs(layout, cells);
}

uint32_t alar_payload_set_ranks(const struct alar_layout *layout)
{
    return layout->ranks * (layout->cp > 1 ? layout->cp : 1);
}

static size_t flag_lanes(const struct alar_layout *layout)
{
    uint32_t ranks = lane_ranks(layout);

    return layout->has_flags ? (alar_payload_set_ranks(layout) + ranks - 1) / ranks : 0;
}

/* Cells that one pair covers. */
static size_t pair_cells(const struct alar_layout *layout)
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
    PRE(cells % pair_cells(layout) == 0);
    return cells / pair_cells(layout) * alar_payload_metrics(layout);
}

/* The lane behind the flags. */
static size_t census_begin(const struct alar_layout *layout, size_t cells)
{
    return flags_begin(layout, cells) + cells * alar_payload_metrics(layout) * flag_lanes(layout);
}

size_t alar_payload_lanes(const struct alar_layout *layout, size_t cells)
{
    return census_begin(layout, cells) + (layout->encoding == ALAR_EXACT ? ALAR_CENSUS_LANES : 0);
}

/* The first local loss of the i-th pair; those of further cells follow a stride of metrics apart.
 */
static const struct alar_local *pair_locals(const struct alar_layout *layout,
                                            const struct alar_local *local, size_t i)
{
    uint32_t metrics = alar_payload_metrics(layout);

    return &local[i / metrics * pair_cells(layout) * metrics + i % metrics];
}

/* The pairs of one metric over `cells` cells, added from the left. */
static struct alar_ratio pair_fold(const struct alar_layout *layout, const struct alar_local *local,
                                   size_t cells)
{
    struct alar_ratio sum = alar_loss_pair(layout->encoding, layout->normalization, &local[0]);

    uint32_t metrics = alar_payload_metrics(layout);

    for (size_t i = 1; i < cells; i++) {
        struct alar_ratio pair =
            alar_loss_pair(layout->encoding, layout->normalization, &local[i * metrics]);

        sum.numerator = alar_loss_add(layout->encoding, sum.numerator, pair.numerator);
        sum.denominator = alar_loss_add(layout->encoding, sum.denominator, pair.denominator);
    }
    return sum;
}

/* The same under `exact`, into the pair's lanes. */
static void exact_fold(const struct alar_layout *layout, const struct alar_local *local,
                       size_t cells, int64_t *lanes)
{
    uint32_t metrics = alar_payload_metrics(layout);
    struct alar_exact_ratio sum;

    alar_loss_exact_pair(layout->normalization, &local[0], &sum);
    for (size_t i = 1; i < cells; i++) {
        struct alar_exact_ratio pair;

        alar_loss_exact_pair(layout->normalization, &local[i * metrics], &pair);
        alar_loss_exact_merge(&sum, &pair);
    }
    PRE(sum.denominator <= ALAR_LOSS_EXACT_TOKENS_MAX);
    enum alar_status status = alar_lanes_encode(&sum.numerator, ALAR_F64, lanes);
    PRE(status == ALAR_OK);
    lanes[ALAR_LANES_F64] = sum.denominator;
}

static struct alar_census_self census_self(const struct alar_layout *layout, uint32_t rank,
                                           uint64_t number)
{
    return (struct alar_census_self){rank, layout->ranks, layout->schema, number};
}

static void exact_write(const struct alar_layout *layout, const struct alar_census_self *self,
                        const struct alar_local *local, size_t cells, int64_t *lanes)
{
    size_t pairs = alar_payload_pairs(layout, cells);
    uint64_t empty = 0;

    for (size_t i = 0; i < pairs; i++) {
        exact_fold(layout, pair_locals(layout, local, i), pair_cells(layout),
                   &lanes[i * pair_lanes(layout)]);
    }
    for (size_t i = 0; i < cells * alar_payload_metrics(layout); i++) {
        empty += local[i].tokens == 0;
    }
    alar_census_write(self, empty, &lanes[census_begin(layout, cells)]);
}

static void pairs_write(const struct alar_layout *layout, const struct alar_local *local,
                        size_t cells, void *lanes)
{
    for (size_t i = 0; i < alar_payload_pairs(layout, cells); i++) {
        struct alar_ratio pair =
            pair_fold(layout, pair_locals(layout, local, i), pair_cells(layout));

        lane_write(layout, lanes, 2 * i, pair.numerator);
        lane_write(layout, lanes, 2 * i + 1, pair.denominator);
    }
}

/* The part of a cell's set that rank `rank` contributes to flag lane `lane`. */
static uint64_t flag_own(const struct alar_layout *layout, uint32_t rank,
                         const struct alar_local *local, size_t lane)
{
    uint32_t cp = layout->cp > 1 ? layout->cp : 1;
    uint64_t shares = cp > 1 ? local->shares : local->nonfinite > 0;
    uint64_t set = 0;

    for (uint32_t c = 0; c < cp; c++) {
        uint32_t number = rank * cp + c;

        if (number / lane_ranks(layout) == lane) {
            set |= (shares >> c & 1) << (number % lane_ranks(layout));
        }
    }
    return set;
}

void alar_payload_write(const struct alar_layout *layout, uint32_t rank, uint64_t number,
                        const struct alar_local *local, size_t cells, void *lanes)
{
    const struct alar_census_self self = census_self(layout, rank, number);
    size_t at = flags_begin(layout, cells);

    PRE(rank < layout->ranks);
    if (layout->encoding == ALAR_EXACT) {
        exact_write(layout, &self, local, cells, lanes);
    } else {
        pairs_write(layout, local, cells, lanes);
    }
    for (size_t i = 0; i < cells * alar_payload_metrics(layout); i++) {
        for (size_t lane = 0; lane < flag_lanes(layout); lane++) {
            set_write(layout, lanes, at++, flag_own(layout, rank, &local[i], lane));
        }
    }
    POST(at == census_begin(layout, cells));
}

struct alar_ratio alar_payload_pair(const struct alar_layout *layout, const void *lanes, size_t i)
{
    PRE(layout->encoding != ALAR_EXACT);
    return (struct alar_ratio){
        .numerator = lane_read(layout, lanes, 2 * i),
        .denominator = lane_read(layout, lanes, 2 * i + 1),
    };
}

/* The i-th reduced pair under `exact`; false when no contributions can make its lanes. */
static bool exact_read(const struct alar_layout *layout, const void *lanes, size_t i,
                       struct alar_exact_ratio *pair)
{
    const int64_t *lane = (const int64_t *)lanes + i * pair_lanes(layout);

    pair->denominator = lane[ALAR_LANES_F64];
    return pair->denominator >= 0 &&
           pair->denominator <= layout->ranks * ALAR_LOSS_EXACT_TOKENS_MAX &&
           alar_lanes_decode(lane, ALAR_F64, &pair->numerator) == ALAR_OK;
}

struct alar_census_finding alar_payload_check(const struct alar_layout *layout, uint32_t rank,
                                              uint64_t number, const void *lanes, size_t cells)
{
    const struct alar_census_self self = census_self(layout, rank, number);
    struct alar_census_finding finding = {.kind = ALAR_CENSUS_WHOLE};
    size_t pairs = alar_payload_pairs(layout, cells);
    struct alar_exact_ratio pair;

    if (layout->encoding != ALAR_EXACT) {
        return finding;
    }
    finding = alar_census_judge(&self, (const int64_t *)lanes + census_begin(layout, cells));
    for (size_t i = 0; i < pairs && finding.kind == ALAR_CENSUS_WHOLE; i++) {
        if (!exact_read(layout, lanes, i, &pair)) {
            finding.kind = ALAR_CENSUS_DAMAGED;
        }
    }
    return finding;
}

void alar_payload_add(const struct alar_layout *layout, const void *lanes, size_t i,
                      struct alar_tally *step)
{
    struct alar_exact_ratio pair;

    if (layout->encoding != ALAR_EXACT) {
        alar_loss_add_pair(step, layout->encoding, layout->normalization, layout->ranks,
                           alar_payload_pair(layout, lanes, i));
        return;
    }
    bool is_read = exact_read(layout, lanes, i, &pair);
    PRE(is_read);
    alar_loss_exact_add_pair(step, layout->normalization, layout->ranks, &pair);
}

/* The set in flag lane `lane` of the `index`-th local loss. A broken back end may deliver anything:
   what is no set of this group's ranks reads as the empty one, and the oracle names it. */
static uint64_t flag_set(const struct alar_layout *layout, const void *lanes, size_t cells,
                         size_t index, size_t lane)
{
    size_t named = alar_payload_set_ranks(layout) - lane * lane_ranks(layout);
    size_t bits = named < lane_ranks(layout) ? named : lane_ranks(layout);
    uint64_t set = 0;

    return set_read(layout, lanes, flags_begin(layout, cells) + index * flag_lanes(layout) + lane,
                    &set) &&
                   set >> bits == 0
               ? set
               : 0;
}

bool alar_payload_flag(const struct alar_layout *layout, const void *lanes, size_t cells,
                       size_t index, uint32_t rank)
{
    uint32_t per_lane = lane_ranks(layout);

    PRE(index < cells * alar_payload_metrics(layout) && rank < alar_payload_set_ranks(layout));
    return layout->has_flags &&
           (flag_set(layout, lanes, cells, index, rank / per_lane) >> (rank % per_lane) & 1) != 0;
}

uint64_t alar_payload_flag_count(const struct alar_layout *layout, const void *lanes, size_t cells)
{
    uint64_t count = 0;

    for (size_t index = 0; index < cells * alar_payload_metrics(layout); index++) {
        for (size_t lane = 0; lane < flag_lanes(layout); lane++) {
            /* Loop bound: the bits of a set, cleared one a turn. */
            for (uint64_t set = flag_set(layout, lanes, cells, index, lane); set; set &= set - 1) {
                count++;
            }
        }
    }
    return count;
}

bool alar_payload_local(const struct alar_layout *layout, const void *lanes,
                        struct alar_exact *exact, struct alar_local *local)
{
    struct alar_local made = {.sum = 0.0};
    struct alar_exact_ratio pair;

    PRE(layout->normalization == ALAR_TOKEN_WEIGHTED);
    if (layout->encoding == ALAR_EXACT) {
        bool is_read = exact_read(layout, lanes, 0, &pair);
        PRE(is_read);
        *exact = pair.numerator;
        made.exact = exact;
        made.tokens = pair.denominator;
        made.sum = alar_fp_to_double(ALAR_F64, alar_exact_round(exact, 1, ALAR_F64, ALAR_NEAREST));
    } else {
        struct alar_ratio sum = alar_payload_pair(layout, lanes, 0);

        if (alar_loss_recorded(sum.numerator, sum.denominator, &made) != ALAR_OK) {
            return false;
        }
        made.nonfinite = 0;
    }
    for (uint32_t c = 0; c < alar_payload_set_ranks(layout); c++) {
        bool is_flagged = alar_payload_flag(layout, lanes, 1, 0, c);

        made.shares |= (uint64_t)is_flagged << c;
        made.nonfinite += is_flagged;
    }
    *local = made;
    return true;
}

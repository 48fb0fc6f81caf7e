/* Lanes written and read: pairs, extremes, rank sets and the census. */
#include "payload_layout.h"

#include "check.h"
#include "payload_lane.h"

/* The first local loss of the i-th pair; those of further cells follow a stride of metrics apart.
 */
static const struct alar_local *pair_locals(const struct alar_layout *layout,
                                            const struct alar_local *local, size_t i)
{
    uint32_t metrics = alar_payload_metrics(layout);

    return &local[i / metrics * payload_pair_cells(layout) * metrics + i % metrics];
}

/* The pairs behind the i-th pair, from its first local loss on, added from the left. */
static struct alar_ratio pair_fold(const struct alar_layout *layout, size_t i,
                                   const struct alar_local *local)
{
    uint32_t metrics = alar_payload_metrics(layout);
    enum alar_normalization normalization = payload_pair_normalization(layout, i);
    struct alar_ratio sum = alar_loss_pair(layout->encoding, normalization, &local[0]);

    for (size_t cell = 1; cell < payload_pair_cells(layout); cell++) {
        struct alar_ratio pair =
            alar_loss_pair(layout->encoding, normalization, &local[cell * metrics]);

        sum.numerator = alar_loss_add(layout->encoding, sum.numerator, pair.numerator);
        sum.denominator = alar_loss_add(layout->encoding, sum.denominator, pair.denominator);
    }
    if (payload_pair_is_extreme(layout, i)) {
        sum.numerator = 0.0; /* the values have lanes of their own */
    }
    return sum;
}

/* The same under `exact`, into the pair's lanes. */
static void exact_fold(const struct alar_layout *layout, size_t i, const struct alar_local *local,
                       int64_t *lanes)
{
    uint32_t metrics = alar_payload_metrics(layout);
    enum alar_normalization normalization = payload_pair_normalization(layout, i);
    struct alar_exact_ratio sum;

    alar_loss_exact_pair(normalization, &local[0], &sum);
    for (size_t cell = 1; cell < payload_pair_cells(layout); cell++) {
        struct alar_exact_ratio pair;

        alar_loss_exact_pair(normalization, &local[cell * metrics], &pair);
        alar_loss_exact_merge(&sum, &pair);
    }
    if (payload_pair_is_extreme(layout, i)) {
        alar_exact_init(&sum.numerator);
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
        exact_fold(layout, i, pair_locals(layout, local, i),
                   &lanes[i * payload_pair_lanes(layout)]);
    }
    for (size_t i = 0; i < cells * alar_payload_metrics(layout); i++) {
        empty += local[i].tokens == 0;
    }
    alar_census_write(self, empty, &lanes[payload_census_begin(layout, cells)]);
}

static void pairs_write(const struct alar_layout *layout, const struct alar_local *local,
                        size_t cells, void *lanes)
{
    for (size_t i = 0; i < alar_payload_pairs(layout, cells); i++) {
        struct alar_ratio pair = pair_fold(layout, i, pair_locals(layout, local, i));

        alar_lane_write(layout->encoding, lanes, 2 * i, pair.numerator);
        alar_lane_write(layout->encoding, lanes, 2 * i + 1, pair.denominator);
    }
}

/* The part of a cell's set that rank `rank` contributes to flag lane `lane`. */
static uint64_t flag_own(const struct alar_layout *layout, uint32_t rank,
                         const struct alar_local *local, size_t lane)
{
    uint32_t cp = layout->cp > 1 ? layout->cp : 1;
    uint32_t bits = alar_set_bits(layout->encoding);
    uint64_t shares = cp > 1 ? local->shares : local->nonfinite > 0;
    uint64_t set = 0;

    for (uint32_t c = 0; c < cp; c++) {
        uint32_t number = rank * cp + c;

        if (number / bits == lane) {
            set |= (shares >> c & 1) << (number % bits);
        }
    }
    return set;
}

/* A rank's own extreme over the cells of the i-th pair, beside it. */
static void extreme_write(const struct alar_layout *layout, uint32_t rank, size_t i,
                          const struct alar_local *local, size_t cells, void *lanes)
{
    uint32_t metrics = alar_payload_metrics(layout);
    enum alar_metric_kind kind = alar_kinds_get(layout->kinds, (uint32_t)(i % metrics));
    struct alar_extreme own = {.rank = rank};

    for (size_t cell = 0; cell < payload_pair_cells(layout); cell++) {
        const struct alar_local *one = &pair_locals(layout, local, i)[cell * metrics];
        const struct alar_extreme value = {one->tokens > 0, rank, one->sum};

        alar_extreme_merge(kind, &own, &value);
    }
    alar_extreme_write(layout->encoding, layout->ranks, &own, lanes,
                       payload_extreme_begin(layout, cells, i));
}

void alar_payload_write(const struct alar_layout *layout, uint32_t rank, uint64_t number,
                        const struct alar_local *local, size_t cells, void *lanes)
{
    const struct alar_census_self self = census_self(layout, rank, number);
    size_t at = payload_flags_begin(layout, cells);
    size_t flags = payload_flag_lanes(layout);

    PRE(rank < layout->ranks);
    if (layout->encoding == ALAR_EXACT) {
        exact_write(layout, &self, local, cells, lanes);
    } else {
        pairs_write(layout, local, cells, lanes);
    }
    for (size_t i = 0; layout->kinds != 0 && i < alar_payload_pairs(layout, cells); i++) {
        if (payload_pair_is_extreme(layout, i)) {
            extreme_write(layout, rank, i, local, cells, lanes);
        }
    }
    for (size_t i = 0; i < cells * alar_payload_metrics(layout); i++) {
        for (size_t lane = 0; lane < flags; lane++) {
            alar_set_write(layout->encoding, lanes, at++, flag_own(layout, rank, &local[i], lane));
        }
    }
    POST(at == payload_census_begin(layout, cells));
}

struct alar_ratio alar_payload_pair(const struct alar_layout *layout, const void *lanes, size_t i)
{
    PRE(layout->encoding != ALAR_EXACT);
    return (struct alar_ratio){
        .numerator = alar_lane_read(layout->encoding, lanes, 2 * i),
        .denominator = alar_lane_read(layout->encoding, lanes, 2 * i + 1),
    };
}

/* The i-th reduced pair under `exact`; false when no contributions can make its lanes. */
static bool exact_read(const struct alar_layout *layout, const void *lanes, size_t i,
                       struct alar_exact_ratio *pair)
{
    const int64_t *lane = (const int64_t *)lanes + i * payload_pair_lanes(layout);

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
    finding =
        alar_census_judge(&self, (const int64_t *)lanes + payload_census_begin(layout, cells));
    for (size_t i = 0; i < pairs && finding.kind == ALAR_CENSUS_WHOLE; i++) {
        if (!exact_read(layout, lanes, i, &pair) ||
            (payload_pair_is_extreme(layout, i) &&
             !alar_extreme_is_whole(layout->encoding, layout->ranks, lanes,
                                    payload_extreme_begin(layout, cells, i)))) {
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
        alar_loss_add_pair(step, layout->encoding, payload_pair_normalization(layout, i),
                           layout->ranks, alar_payload_pair(layout, lanes, i));
        return;
    }
    bool is_read = exact_read(layout, lanes, i, &pair);
    PRE(is_read);
    alar_loss_exact_add_pair(step, payload_pair_normalization(layout, i), layout->ranks, &pair);
}

void alar_payload_add_extreme(const struct alar_layout *layout, const void *lanes, size_t cells,
                              size_t i, struct alar_extreme *step)
{
    uint32_t metric = (uint32_t)(i % alar_payload_metrics(layout));
    enum alar_metric_kind kind = alar_kinds_get(layout->kinds, metric);

    if (payload_pair_is_extreme(layout, i)) {
        const struct alar_extreme read = alar_extreme_read(
            layout->encoding, layout->ranks, kind, lanes, payload_extreme_begin(layout, cells, i));

        alar_extreme_merge(kind, step, &read);
    }
}

/* The set in flag lane `lane` of the `index`-th local loss. What is no set of this group's ranks
   reads as the empty one, and the oracle names it. */
static uint64_t flag_set(const struct alar_layout *layout, const void *lanes, size_t cells,
                         size_t index, size_t lane)
{
    size_t first = payload_flags_begin(layout, cells) + index * payload_flag_lanes(layout);
    uint64_t set = 0;

    return alar_set_read(layout->encoding, alar_payload_set_ranks(layout), lanes, first, lane, &set)
               ? set
               : 0;
}

bool alar_payload_flag(const struct alar_layout *layout, const void *lanes, size_t cells,
                       size_t index, uint32_t rank)
{
    uint32_t per_lane = alar_set_bits(layout->encoding);

    PRE(index < cells * alar_payload_metrics(layout) && rank < alar_payload_set_ranks(layout));
    return layout->has_flags &&
           (flag_set(layout, lanes, cells, index, rank / per_lane) >> (rank % per_lane) & 1) != 0;
}

uint64_t alar_payload_flag_count(const struct alar_layout *layout, const void *lanes, size_t cells)
{
    size_t flags = payload_flag_lanes(layout);
    uint64_t count = 0;

    for (size_t index = 0; index < cells * alar_payload_metrics(layout); index++) {
        for (size_t lane = 0; lane < flags; lane++) {
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

    PRE(layout->normalization == ALAR_TOKEN_WEIGHTED && layout->kinds == 0);
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

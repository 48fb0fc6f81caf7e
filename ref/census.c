/* Sums of ranks and of their squares, and what is left of them. */
#include "census.h"

#include "check.h"

#include <stdbool.h>

#define SCHEMA_MASK ((UINT64_C(1) << 40) - 1)
#define SCHEMA_MIX_MASK ((UINT64_C(1) << 22) - 1)

/* No lane of a healthy sum reaches it; differences of two below it don't overflow. */
#define LANE_MAX (INT64_C(1) << 62)

static int64_t schema_of(const struct alar_census_self *self)
{
    return (int64_t)(self->schema & SCHEMA_MASK);
}

/* 22 other bits, no sum of which follows from a sum of hashes: so two odd ranks don't look like
 * one.
 */
static int64_t schema_mix(int64_t schema)
{
    uint64_t mixed = (uint64_t)schema;

    mixed = (mixed ^ mixed >> 21) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 29) * UINT64_C(0x94d049bb133111eb);
    return (int64_t)((mixed ^ mixed >> 32) & SCHEMA_MIX_MASK);
}

void alar_census_write(const struct alar_census_self *self, uint64_t empty, int64_t *lanes)
{
    int64_t rank = self->rank;

    PRE(self->ranks <= ALAR_CENSUS_RANKS_MAX);
    PRE(self->rank < self->ranks);
    PRE(empty <= ALAR_CENSUS_CELLS_MAX);
    lanes[ALAR_CENSUS_COUNT] = 1;
    lanes[ALAR_CENSUS_RANKS] = rank;
    lanes[ALAR_CENSUS_SQUARES] = rank * rank;
    lanes[ALAR_CENSUS_SCHEMAS] = schema_of(self);
    lanes[ALAR_CENSUS_SCHEMA_RANKS] = rank * schema_mix(schema_of(self));
    lanes[ALAR_CENSUS_EMPTY] = (int64_t)empty;
}

/* 0 + 1 + ... + (n - 1), and the sum of their squares; below 2^59 for 2^20 ranks. */
static int64_t ranks_sum(int64_t n)
{
    return n * (n - 1) / 2;
}

static int64_t squares_sum(int64_t n)
{
    return n * (n - 1) / 2 * (2 * n - 1) / 3;
}

static bool is_rank(const struct alar_census_self *self, int64_t rank)
{
    return rank >= 0 && rank < (int64_t)self->ranks;
}

static bool is_square(const struct alar_census_self *self, int64_t rank, int64_t square)
{
    return is_rank(self, rank) && rank * rank == square;
}

/* `by`: how far the three sums are off. With one rank missing or doubled it is that rank's own
   lanes; with i replaced by j, the second is j - i and the third (j - i)(j + i). */
static struct alar_census_finding census_count(const struct alar_census_self *self,
                                               const int64_t by[3])
{
    struct alar_census_finding finding = {.kind = ALAR_CENSUS_MISCOUNT,
                                          .count = (int64_t)self->ranks + by[0]};

    if (by[0] == -1 && is_square(self, -by[1], -by[2])) {
        finding.kind = ALAR_CENSUS_MISSING;
        finding.rank = (uint32_t)-by[1];
    } else if (by[0] == 1 && is_square(self, by[1], by[2])) {
        finding.kind = ALAR_CENSUS_DOUBLED;
        finding.rank = (uint32_t)by[1];
    } else if (by[0] == 0 && by[1] != 0 && by[2] % by[1] == 0) {
        int64_t both = by[2] / by[1];
        int64_t gone = (both - by[1]) / 2;

        if (is_rank(self, gone) && is_rank(self, gone + by[1]) && 2 * gone + by[1] == both) {
            finding.kind = ALAR_CENSUS_REPLACED;
            finding.rank = (uint32_t)gone;
            finding.other = (uint32_t)(gone + by[1]);
        }
    } else if (by[0] == 0 && by[1] == 0 && by[2] == 0) {
        finding.kind = ALAR_CENSUS_WHOLE;
    }
    return finding;
}

/* All ranks but `rank` have the hash `common`, that one has `odd`: are these the sums? */
static bool is_odd_one(const struct alar_census_self *self, const int64_t *lanes, int64_t common,
                       int64_t odd, int64_t rank)
{
    int64_t n = self->ranks;

    return is_rank(self, rank) && common >= 0 && common <= (int64_t)SCHEMA_MASK && odd >= 0 &&
           odd <= (int64_t)SCHEMA_MASK && lanes[ALAR_CENSUS_SCHEMAS] == (n - 1) * common + odd &&
           lanes[ALAR_CENSUS_SCHEMA_RANKS] ==
               (ranks_sum(n) - rank) * schema_mix(common) + rank * schema_mix(odd);
}

/* Each rank is there once: do all speak of the same? Either one rank has another hash than all the
   others, this one among them, or this one is the odd one. */
static struct alar_census_finding census_schema(const struct alar_census_self *self,
                                                const int64_t *lanes)
{
    int64_t n = self->ranks;
    int64_t own = schema_of(self);
    int64_t off = lanes[ALAR_CENSUS_SCHEMAS] - n * own;
    int64_t off_ranks = lanes[ALAR_CENSUS_SCHEMA_RANKS] - ranks_sum(n) * schema_mix(own);
    struct alar_census_finding finding = {.kind = ALAR_CENSUS_MIXED};

    if (off == 0 && off_ranks == 0) {
        finding.kind = ALAR_CENSUS_WHOLE;
        return finding;
    }
    int64_t odd = own + off;
    int64_t mix_off = schema_mix(odd) - schema_mix(own);
    int64_t rank = mix_off != 0 ? off_ranks / mix_off : -1;

    if (rank != (int64_t)self->rank && is_odd_one(self, lanes, own, odd, rank)) {
        finding = (struct alar_census_finding){ALAR_CENSUS_SCHEMA, (uint32_t)rank, 0, 0};
    } else if (n > 1 && (lanes[ALAR_CENSUS_SCHEMAS] - own) % (n - 1) == 0 &&
               is_odd_one(self, lanes, (lanes[ALAR_CENSUS_SCHEMAS] - own) / (n - 1), own,
                          self->rank)) {
        finding = (struct alar_census_finding){ALAR_CENSUS_SCHEMA, self->rank, 0, 0};
    }
    return finding;
}

struct alar_census_finding alar_census_judge(const struct alar_census_self *self,
                                             const int64_t *lanes)
{
    int64_t n = self->ranks;

    for (int i = 0; i < ALAR_CENSUS_LANES; i++) {
        if (lanes[i] < 0 || lanes[i] >= LANE_MAX) {
            return (struct alar_census_finding){.kind = ALAR_CENSUS_MISCOUNT, .count = -1};
        }
    }
    const int64_t by[3] = {
        lanes[ALAR_CENSUS_COUNT] - n,
        lanes[ALAR_CENSUS_RANKS] - ranks_sum(n),
        lanes[ALAR_CENSUS_SQUARES] - squares_sum(n),
    };
    struct alar_census_finding finding = census_count(self, by);

    return finding.kind == ALAR_CENSUS_WHOLE ? census_schema(self, lanes) : finding;
}

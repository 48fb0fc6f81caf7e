/* Sums of ranks and of their squares, of hashes, and what is left of them. */
#include "engine/participation.h"

#include "base/check.h"

#include <stdbool.h>

#define VALUE_MASK ((UINT64_C(1) << 40) - 1)
#define MIX_MASK ((UINT64_C(1) << 22) - 1)

/* No element of a healthy sum reaches it; differences of two below it don't overflow. */
#define LANE_MAX (INT64_C(1) << 62)

/* 40 bits on which all ranks have to agree. */
static int64_t value_of(uint64_t bits)
{
    return (int64_t)(bits & VALUE_MASK);
}

/* 22 bits, no sum of which follows from a sum of values: so two odd ranks don't look like one. */
static int64_t value_mix(int64_t value)
{
    uint64_t mixed = (uint64_t)value + UINT64_C(0x9e3779b97f4a7c15);

    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return (int64_t)((mixed ^ mixed >> 31) & MIX_MASK);
}

void alar_participation_write(const struct alar_participation_self *self, uint64_t empty,
                              int64_t *elements)
{
    int64_t number = (int64_t)self->rank + 1;

    PRE(self->ranks <= ALAR_PARTICIPATION_RANKS_MAX);
    PRE(self->rank < self->ranks);
    PRE(empty <= ALAR_PARTICIPATION_EMPTY_MAX);
    elements[ALAR_PARTICIPATION_EMPTY] = (int64_t)empty;
    elements[ALAR_PARTICIPATION_SCHEMAS] = value_of(self->schema);
    elements[ALAR_PARTICIPATION_SCHEMA_RANKS] = number * value_mix(value_of(self->schema));
    elements[ALAR_PARTICIPATION_OPS] = value_of(self->number);
    elements[ALAR_PARTICIPATION_OP_RANKS] = number * value_mix(value_of(self->number));
    elements[ALAR_PARTICIPATION_SQUARES] = number * number;
    elements[ALAR_PARTICIPATION_RANKS] = number;
    elements[ALAR_PARTICIPATION_COUNT] = 1;
}

/* 1 + 2 + ... + n, and the sum of their squares; below 2^59 for 2^20 ranks. */
static int64_t ranks_sum(int64_t n)
{
    return n * (n + 1) / 2;
}

static int64_t squares_sum(int64_t n)
{
    return n * (n + 1) / 2 * (2 * n + 1) / 3;
}

/* From 1. */
static bool is_number(const struct alar_participation_self *self, int64_t number)
{
    return number >= 1 && number <= (int64_t)self->ranks;
}

static bool is_square(const struct alar_participation_self *self, int64_t number, int64_t square)
{
    return is_number(self, number) && number * number == square;
}

static uint32_t rank_of(int64_t number)
{
    return (uint32_t)(number - 1);
}

/* `by`: how far the three sums are off. With one rank missing or doubled it is that rank's own
   elements; with i replaced by j, the second is j - i and the third (j - i)(j + i). */
static struct alar_participation_finding
participation_count(const struct alar_participation_self *self, const int64_t by[3])
{
    struct alar_participation_finding finding = {.kind = ALAR_PARTICIPATION_MISCOUNT,
                                                 .count = (int64_t)self->ranks + by[0]};

    if (by[0] == -1 && is_square(self, -by[1], -by[2])) {
        finding.kind = ALAR_PARTICIPATION_MISSING;
        finding.rank = rank_of(-by[1]);
    } else if (by[0] == 1 && is_square(self, by[1], by[2])) {
        finding.kind = ALAR_PARTICIPATION_DOUBLED;
        finding.rank = rank_of(by[1]);
    } else if (by[0] == 0 && by[1] != 0 && by[2] % by[1] == 0) {
        int64_t both = by[2] / by[1];
        int64_t gone = (both - by[1]) / 2;

        if (is_number(self, gone) && is_number(self, gone + by[1]) && 2 * gone + by[1] == both) {
            finding.kind = ALAR_PARTICIPATION_REPLACED;
            finding.rank = rank_of(gone);
            finding.other = rank_of(gone + by[1]);
        }
    } else if (by[0] == 0 && by[1] == 0 && by[2] == 0) {
        finding.kind = ALAR_PARTICIPATION_WHOLE;
    }
    return finding;
}

/* Two elements on whose value all ranks should agree: its sum, and that of rank times mix. */
struct participation_vote {
    int64_t sum;
    int64_t weighted;
    int64_t own;
};

/* All ranks but that number have the value `common`, that one has `odd`: are these the sums? */
static bool is_odd_one(const struct alar_participation_self *self,
                       const struct participation_vote *vote, int64_t common, int64_t odd,
                       int64_t number)
{
    int64_t n = self->ranks;

    return is_number(self, number) && common == value_of((uint64_t)common) &&
           odd == value_of((uint64_t)odd) && vote->sum == (n - 1) * common + odd &&
           vote->weighted == (ranks_sum(n) - number) * value_mix(common) + number * value_mix(odd);
}

static bool is_unanimous(const struct alar_participation_self *self,
                         const struct participation_vote *vote, int64_t value)
{
    int64_t n = self->ranks;

    return vote->sum == n * value && vote->weighted == ranks_sum(n) * value_mix(value);
}

/* The number of the one rank that has another value than this one and the rest; 0 when there is no
   such rank. `odd` is its value. */
static int64_t vote_odd_one(const struct alar_participation_self *self,
                            const struct participation_vote *vote, int64_t *odd)
{
    int64_t n = self->ranks;

    *odd = vote->own + (vote->sum - n * vote->own);
    int64_t off = vote->weighted - ranks_sum(n) * value_mix(vote->own);
    int64_t mix_off = value_mix(value_of((uint64_t)*odd)) - value_mix(vote->own);
    int64_t number = mix_off != 0 ? off / mix_off : 0;

    return is_odd_one(self, vote, vote->own, *odd, number) ? number : 0;
}

/* Each rank is there once: do all mean this all-reduce? */
static struct alar_participation_finding
participation_op(const struct alar_participation_self *self, const int64_t *elements)
{
    const struct participation_vote vote = {elements[ALAR_PARTICIPATION_OPS],
                                            elements[ALAR_PARTICIPATION_OP_RANKS],
                                            value_of(self->number)};
    struct alar_participation_finding finding = {.kind = ALAR_PARTICIPATION_ANOTHER, .count = -1};
    int64_t mean = vote.sum / (int64_t)self->ranks;
    int64_t odd = 0;

    if (is_unanimous(self, &vote, vote.own)) {
        finding.kind = ALAR_PARTICIPATION_WHOLE;
        return finding;
    }
    int64_t number = vote_odd_one(self, &vote, &odd);
    if (is_unanimous(self, &vote, mean)) {
        finding.count = mean;
    } else if (number > 0) {
        finding =
            (struct alar_participation_finding){ALAR_PARTICIPATION_STALE, rank_of(number), 0, odd};
    }
    return finding;
}

/* Do all speak of the same? Either one rank has another hash than all the others, this one among
   them, or this one is the odd one. */
static struct alar_participation_finding
participation_schema(const struct alar_participation_self *self, const int64_t *elements)
{
    const struct participation_vote vote = {elements[ALAR_PARTICIPATION_SCHEMAS],
                                            elements[ALAR_PARTICIPATION_SCHEMA_RANKS],
                                            value_of(self->schema)};
    struct alar_participation_finding finding = {.kind = ALAR_PARTICIPATION_MIXED};
    int64_t own = (int64_t)self->rank + 1;
    int64_t others = (int64_t)self->ranks - 1;
    int64_t odd = 0;

    if (is_unanimous(self, &vote, vote.own)) {
        finding.kind = ALAR_PARTICIPATION_WHOLE;
        return finding;
    }
    int64_t number = vote_odd_one(self, &vote, &odd);
    if (number > 0 && number != own) {
        finding =
            (struct alar_participation_finding){ALAR_PARTICIPATION_SCHEMA, rank_of(number), 0, 0};
    } else if (others > 0 && (vote.sum - vote.own) % others == 0 &&
               is_odd_one(self, &vote, (vote.sum - vote.own) / others, vote.own, own)) {
        finding = (struct alar_participation_finding){ALAR_PARTICIPATION_SCHEMA, self->rank, 0, 0};
    }
    return finding;
}

struct alar_participation_finding
alar_participation_judge(const struct alar_participation_self *self, const int64_t *elements)
{
    int64_t n = self->ranks;

    for (int i = 0; i < ALAR_PARTICIPATION_ELEMENTS; i++) {
        if (elements[i] < 0 || elements[i] >= LANE_MAX) {
            return (struct alar_participation_finding){.kind = ALAR_PARTICIPATION_MISCOUNT,
                                                       .count = -1};
        }
    }
    const int64_t by[3] = {
        elements[ALAR_PARTICIPATION_COUNT] - n,
        elements[ALAR_PARTICIPATION_RANKS] - ranks_sum(n),
        elements[ALAR_PARTICIPATION_SQUARES] - squares_sum(n),
    };
    struct alar_participation_finding finding = participation_count(self, by);

    if (finding.kind == ALAR_PARTICIPATION_WHOLE) {
        finding = participation_op(self, elements);
    }
    return finding.kind == ALAR_PARTICIPATION_WHOLE ? participation_schema(self, elements)
                                                    : finding;
}

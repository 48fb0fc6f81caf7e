/* The participation: who is named for which sums, and that nobody is named in vain. */
#include "engine/participation.h"
#include "tests/lib/demand.h"
#include "tests/lib/draw.h"

#include <string.h>

enum {
    SEED = 51423,
    RANKS_MAX = 64
};

/* Adds up the elements of `ranks` ranks, each as often as `times` says, with the schema it has. */
static void participation_sum(uint32_t ranks, const int *times, const uint64_t *schema,
                              int64_t *sum)
{
    memset(sum, 0, ALAR_PARTICIPATION_ELEMENTS * sizeof(*sum));
    for (uint32_t r = 0; r < ranks; r++) {
        const struct alar_participation_self self = {r, ranks, schema == NULL ? 77 : schema[r], 9};
        int64_t elements[ALAR_PARTICIPATION_ELEMENTS];

        alar_participation_write(&self, 0, elements);
        for (int i = 0; i < ALAR_PARTICIPATION_ELEMENTS; i++) {
            sum[i] += times[r] * elements[i];
        }
    }
}

static struct alar_participation_finding judge(uint32_t ranks, const int *times)
{
    const struct alar_participation_self self = {0, ranks, 77, 9};
    int64_t sum[ALAR_PARTICIPATION_ELEMENTS];

    participation_sum(ranks, times, NULL, sum);
    return alar_participation_judge(&self, sum);
}

static void check_one(uint32_t ranks, const int *times, struct alar_participation_finding expected)
{
    struct alar_participation_finding found = judge(ranks, times);

    demand(found.kind == expected.kind && found.rank == expected.rank &&
               found.other == expected.other,
           "%u ranks: expected %d (%u, %u), found %d (%u, %u)", ranks, (int)expected.kind,
           expected.rank, expected.other, (int)found.kind, found.rank, found.other);
}

/* Up to 64 ranks, each one missing, each one doubled, each one replaced by each other is named.
   spec: N-51 */
Test(participation, one_rank_missing_doubled_or_replaced_is_named)
{
    for (uint32_t ranks = 1; ranks <= RANKS_MAX; ranks++) {
        int times[RANKS_MAX];

        for (uint32_t i = 0; i < ranks; i++) {
            times[i] = 1;
        }
        check_one(ranks, times,
                  (struct alar_participation_finding){.kind = ALAR_PARTICIPATION_WHOLE});
        for (uint32_t i = 0; i < ranks; i++) {
            times[i] = 0;
            check_one(ranks, times,
                      (struct alar_participation_finding){ALAR_PARTICIPATION_MISSING, i, 0, 0});
            for (uint32_t j = 0; j < ranks; j++) {
                if (j != i) {
                    times[j] = 2;
                    check_one(
                        ranks, times,
                        (struct alar_participation_finding){ALAR_PARTICIPATION_REPLACED, i, j, 0});
                    times[j] = 1;
                }
            }
            times[i] = 2;
            check_one(ranks, times,
                      (struct alar_participation_finding){ALAR_PARTICIPATION_DOUBLED, i, 0, 0});
            times[i] = 1;
        }
    }
}

/* What `times` really is. */
static struct alar_participation_finding truth(uint32_t ranks, const int *times)
{
    struct alar_participation_finding finding = {.kind = ALAR_PARTICIPATION_MISCOUNT};
    uint32_t gone = 0, twice = 0, first_gone = 0, first_twice = 0;

    for (uint32_t i = ranks; i-- > 0;) {
        gone += times[i] == 0;
        twice += times[i] == 2;
        first_gone = times[i] == 0 ? i : first_gone;
        first_twice = times[i] == 2 ? i : first_twice;
    }
    if (gone <= 1 && twice <= 1) {
        finding.kind = gone == 1
                           ? twice == 1 ? ALAR_PARTICIPATION_REPLACED : ALAR_PARTICIPATION_MISSING
                       : twice == 1 ? ALAR_PARTICIPATION_DOUBLED
                                    : ALAR_PARTICIPATION_WHOLE;
        finding.rank = gone == 1 ? first_gone : first_twice;
        finding.other = gone == 1 ? first_twice : 0;
    }
    return finding;
}

/* All ways in which up to 3 of 8 ranks can be missing or there twice: whoever is named did it,
   alone. spec: N-51 */
Test(participation, nobody_is_named_in_vain)
{
    for (uint32_t code = 0; code < 6561; code++) {
        int times[8];
        uint32_t changes = 0;
        uint32_t rest = code;

        for (uint32_t i = 0; i < 8; i++, rest /= 3) {
            times[i] = (int)(rest % 3);
            changes += rest % 3 != 1;
        }
        if (changes > 3) {
            continue;
        }
        struct alar_participation_finding found = judge(8, times);
        struct alar_participation_finding real = truth(8, times);

        demand(found.kind == real.kind, "%u: expected %d, found %d", code, (int)real.kind,
               (int)found.kind);
        demand(found.kind == ALAR_PARTICIPATION_MISCOUNT ||
                   found.kind == ALAR_PARTICIPATION_WHOLE ||
                   (found.rank == real.rank && found.other == real.other),
               "%u: the wrong rank is named", code);
    }
}

/* The limits that the header admits, from 7 ranks on: the sums of {0, 4, 5} and of {1, 2, 6} are
   the same, those of their squares too. */
Test(participation, two_replaced_can_look_like_one_and_three_like_none)
{
    const int two[7] = {0, 2, 2, 1, 0, 1, 1};
    const int three[7] = {0, 2, 2, 1, 0, 0, 2};

    check_one(7, two, (struct alar_participation_finding){ALAR_PARTICIPATION_REPLACED, 6, 5, 0});
    check_one(7, three, (struct alar_participation_finding){.kind = ALAR_PARTICIPATION_WHOLE});
}

static uint64_t draw_schema(struct draw *draw)
{
    return draw_bits(draw) | 1; /* never the other one by chance */
}

/* One rank that speaks of other metrics is named by all ranks, and by itself; of two ranks each
   names the other. spec: N-52 */
Test(participation, the_odd_schema_is_named)
{
    struct draw draw = {SEED};

    for (uint32_t ranks = 2; ranks <= 40; ranks++) {
        for (uint32_t odd = 0; odd < ranks; odd++) {
            uint64_t common = draw_schema(&draw);
            uint64_t schema[RANKS_MAX];
            int times[RANKS_MAX];
            int64_t sum[ALAR_PARTICIPATION_ELEMENTS];

            for (uint32_t i = 0; i < ranks; i++) {
                schema[i] = i == odd ? draw_schema(&draw) : common;
                times[i] = 1;
            }
            participation_sum(ranks, times, schema, sum);
            for (uint32_t i = 0; i < ranks; i++) {
                const struct alar_participation_self self = {i, ranks, schema[i], 9};
                struct alar_participation_finding found = alar_participation_judge(&self, sum);

                demand(found.kind == ALAR_PARTICIPATION_SCHEMA, "seed %d: %u of %u: kind %d", SEED,
                       i, ranks, (int)found.kind);
                demand(found.rank == (ranks == 2 ? 1 - i : odd), "seed %d: %u of %u names %u", SEED,
                       i, ranks, found.rank);
            }
        }
    }
}

/* Two odd ranks are seen by all and never mistaken for one, also where their numbers add up to
   twice a third one. spec: N-52 */
Test(participation, two_odd_schemas_are_not_one)
{
    struct draw draw = {SEED + 1};
    const int times[5] = {1, 1, 1, 1, 1};

    for (int round = 0; round < 2000; round++) {
        uint64_t a = draw_schema(&draw);
        uint64_t b = draw_schema(&draw);
        uint64_t schema[5] = {a, b, a, b, round % 2 ? a : draw_schema(&draw)};
        int64_t sum[ALAR_PARTICIPATION_ELEMENTS];

        participation_sum(5, times, schema, sum);
        for (uint32_t i = 0; i < 5; i++) {
            const struct alar_participation_self self = {i, 5, schema[i], 9};

            demand(alar_participation_judge(&self, sum).kind == ALAR_PARTICIPATION_MIXED,
                   "seed %d, round %d", SEED + 1, round);
        }
    }
}

/* A contribution of another all-reduce is named with its rank, the asking one included; a result
   that is another's altogether is named too. spec: N-51 */
Test(participation, stale_contributions_and_results_are_named)
{
    for (uint32_t ranks = 1; ranks <= 40; ranks++) {
        for (uint32_t stale = 0; stale <= ranks; stale++) {
            int64_t sum[ALAR_PARTICIPATION_ELEMENTS] = {0};

            for (uint32_t r = 0; r < ranks; r++) {
                bool is_stale = r == stale || stale == ranks;
                const struct alar_participation_self self = {r, ranks, 7, is_stale ? 41 : 42};
                int64_t elements[ALAR_PARTICIPATION_ELEMENTS];

                alar_participation_write(&self, 0, elements);
                for (int i = 0; i < ALAR_PARTICIPATION_ELEMENTS; i++) {
                    sum[i] += elements[i];
                }
            }
            for (uint32_t r = 0; r < ranks; r++) {
                const struct alar_participation_self self = {r, ranks, 7, 42};
                struct alar_participation_finding found = alar_participation_judge(&self, sum);
                bool is_all = stale == ranks || ranks == 1;

                demand(found.kind ==
                           (is_all ? ALAR_PARTICIPATION_ANOTHER : ALAR_PARTICIPATION_STALE),
                       "%u of %u: kind %d", stale, ranks, (int)found.kind);
                demand(found.count == 41 && (is_all || found.rank == stale), "%u of %u: %u", stale,
                       ranks, found.rank);
            }
        }
    }
}

/* The elements of 2^20 ranks: what overflows them is 2^62 and more, which is refused. spec: N-51 */
Test(participation, a_million_ranks_fit)
{
    int64_t n = ALAR_PARTICIPATION_RANKS_MAX;
    const struct alar_participation_self last = {
        ALAR_PARTICIPATION_RANKS_MAX - 1, ALAR_PARTICIPATION_RANKS_MAX, UINT64_MAX, UINT64_MAX};
    int64_t most[ALAR_PARTICIPATION_ELEMENTS];
    int64_t sum[ALAR_PARTICIPATION_ELEMENTS];

    alar_participation_write(&last, 0, most);
    for (int i = 0; i < ALAR_PARTICIPATION_ELEMENTS; i++) {
        cr_assert_leq(most[i], (INT64_C(1) << 62) / n, "lane %d", i);
        sum[i] = 0;
    }
    for (uint32_t r = 0; r < ALAR_PARTICIPATION_RANKS_MAX; r++) {
        const struct alar_participation_self self = {r, ALAR_PARTICIPATION_RANKS_MAX, UINT64_MAX,
                                                     UINT64_MAX};
        int64_t elements[ALAR_PARTICIPATION_ELEMENTS];

        alar_participation_write(&self, ALAR_PARTICIPATION_EMPTY_MAX, elements);
        for (int i = 0; i < ALAR_PARTICIPATION_ELEMENTS; i++) {
            sum[i] += elements[i];
        }
    }
    sum[ALAR_PARTICIPATION_EMPTY]--; /* all microbatches of all ranks empty would be 2^60 */
    cr_assert_eq(alar_participation_judge(&last, sum).kind, ALAR_PARTICIPATION_WHOLE);
    sum[ALAR_PARTICIPATION_COUNT]--;
    sum[ALAR_PARTICIPATION_RANKS] -= 123457;
    sum[ALAR_PARTICIPATION_SQUARES] -= INT64_C(123457) * 123457;
    struct alar_participation_finding found = alar_participation_judge(&last, sum);
    cr_assert_eq(found.kind, ALAR_PARTICIPATION_MISSING);
    cr_assert_eq(found.rank, 123456);
}

/* A broken back end delivers anything; it is read without a fault, and is not called whole. */
Test(participation, any_lanes_can_be_read)
{
    struct draw draw = {SEED + 2};

    for (int round = 0; round < 200000; round++) {
        const struct alar_participation_self self = {draw_below(&draw, 5), 5, draw_bits(&draw),
                                                     draw_bits(&draw)};
        const int times[5] = {1, 1, 1, 1, 1};
        int64_t sum[ALAR_PARTICIPATION_ELEMENTS];

        participation_sum(5, times, NULL, sum);
        for (int i = 0; i < ALAR_PARTICIPATION_ELEMENTS; i++) {
            uint64_t bits = draw_bits(&draw) >> draw_below(&draw, 64);

            sum[i] = draw_below(&draw, 4) == 0 ? (int64_t)bits : sum[i];
        }
        sum[ALAR_PARTICIPATION_COUNT] = (int64_t)draw_bits(&draw);
        demand(alar_participation_judge(&self, sum).kind != ALAR_PARTICIPATION_WHOLE,
               "seed %d, round %d", SEED + 2, round);
    }
}

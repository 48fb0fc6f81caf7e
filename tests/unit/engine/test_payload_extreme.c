/* Least and greatest values carried by a SUM: the same in any order, whatever the values are. */
#include "engine/payload_extreme.h"
#include "numbers/fp.h"
#include "tests/lib/demand.h"
#include "tests/lib/draw.h"

#include <math.h>
#include <string.h>

enum {
    SEED = 71503,
    RANKS_MAX = 131, /* 6 elements of a set in fp32, 3 in fp64 and int64 */
    ELEMENTS_MAX = 2 * RANKS_MAX
};

union elements {
    float narrow[ELEMENTS_MAX];
    double wide[ELEMENTS_MAX];
    int64_t whole[ELEMENTS_MAX];
};

static const enum alar_metric_kind kinds[] = {ALAR_METRIC_MIN, ALAR_METRIC_MAX};

/* What is special, in the order of MIN, a NaN last. */
static const double corners[] = {-INFINITY, -1.0, -1e-42, -0.0, 0.0, 1e-42, 2.5, INFINITY, NAN};

enum {
    CORNERS = sizeof(corners) / sizeof(corners[0])
};

static bool is_same(const struct alar_extreme *a, const struct alar_extreme *b)
{
    bool is_nan = isnan(a->value) && isnan(b->value);

    return a->has_value == b->has_value &&
           (!a->has_value ||
            (a->rank == b->rank && (is_nan || alar_fp_bits(a->value) == alar_fp_bits(b->value))));
}

static struct alar_extreme merged(enum alar_metric_kind kind, struct alar_extreme a,
                                  struct alar_extreme b)
{
    alar_extreme_merge(kind, &a, &b);
    return a;
}

/* Nobody, or one of the corners on one of two ranks. */
static struct alar_extreme corner(int i)
{
    return i == 0 ? (struct alar_extreme){.has_value = false}
                  : (struct alar_extreme){true, (uint32_t)(i - 1) % 2, corners[(i - 1) / 2]};
}

/* Two are merged as the table of corners says, three alike in any order. spec: L-15 */
Test(payload_extreme, merging_has_no_order)
{
    enum {
        ALL = 2 * CORNERS + 1
    };

    for (int i = 0; i < 2 * ALL * ALL * ALL; i++) {
        enum alar_metric_kind kind = kinds[i % 2];
        struct alar_extreme a = corner(i / 2 % ALL);
        struct alar_extreme b = corner(i / 2 / ALL % ALL);
        struct alar_extreme c = corner(i / 2 / ALL / ALL);
        struct alar_extreme left = merged(kind, merged(kind, a, b), c);
        struct alar_extreme right = merged(kind, c, merged(kind, b, a));
        struct alar_extreme middle = merged(kind, merged(kind, a, c), b);

        demand(is_same(&left, &right) && is_same(&left, &middle), "case %d", i);
    }
}

/* Each corner against each: the place in the table decides, and NaN beats all. spec: L-15 */
Test(payload_extreme, nan_wins_and_minus_zero_lies_below_plus_zero)
{
    for (int a = 0; a < CORNERS; a++) {
        for (int b = 0; b < CORNERS; b++) {
            const struct alar_extreme first = {true, 4, corners[a]};
            const struct alar_extreme second = {true, 2, corners[b]};
            struct alar_extreme least = merged(ALAR_METRIC_MIN, first, second);
            struct alar_extreme greatest = merged(ALAR_METRIC_MAX, first, second);
            bool has_nan = a == CORNERS - 1 || b == CORNERS - 1;
            struct alar_extreme low = a < b ? first : second;
            struct alar_extreme high = a > b ? first : second; /* equal: the lower rank */

            demand(is_same(&least, has_nan ? &high : &low), "min of %a and %a", corners[a],
                   corners[b]);
            demand(is_same(&greatest, &high), "max of %a and %a", corners[a], corners[b]);
        }
    }
}

static void elements_add(enum alar_encoding encoding, union elements *sum,
                         const union elements *elements, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (encoding == ALAR_EXACT) {
            sum->whole[i] = (int64_t)((uint64_t)sum->whole[i] + (uint64_t)elements->whole[i]);
        } else if (encoding == ALAR_PAIR64) {
            sum->wide[i] += elements->wide[i];
        } else {
            sum->narrow[i] += elements->narrow[i];
        }
    }
}

static double round_to(enum alar_encoding encoding, double value)
{
    return encoding == ALAR_PAIR32 ? (double)(float)value : value;
}

/* Ranks without a value, corners, and numbers of all sizes. */
static struct alar_extreme draw_own(struct draw *draw, uint32_t rank)
{
    uint32_t choice = draw_below(draw, 8);
    double value = ((double)draw_below(draw, 2000) - 1000.0) / 16.0;

    return choice == 0   ? (struct alar_extreme){.rank = rank, .value = NAN}
           : choice == 1 ? (struct alar_extreme){true, rank, corners[draw_below(draw, CORNERS)]}
                         : (struct alar_extreme){true, rank, value};
}

/* Sums the blocks of all ranks in a drawn order, and reads them. */
static void check_sum(struct draw *draw, enum alar_encoding encoding, uint32_t ranks)
{
    struct alar_extreme expected[2] = {{.has_value = false}, {.has_value = false}};
    struct alar_extreme own[RANKS_MAX];
    uint32_t order[RANKS_MAX];
    size_t count = alar_extreme_elements(encoding, ranks);
    union elements sum;

    demand(count <= ELEMENTS_MAX, "%zu lanes", count);
    for (uint32_t r = 0; r < ranks; r++) {
        own[r] = draw_own(draw, r);
        for (int k = 0; k < 2; k++) {
            struct alar_extreme rounded = own[r];

            rounded.value = round_to(encoding, own[r].value);
            alar_extreme_merge(kinds[k], &expected[k], &rounded);
        }
    }
    draw_order(draw, order, ranks);
    for (uint32_t i = 0; i < ranks; i++) {
        union elements elements;

        memset(&elements, 0xa5, sizeof(elements));
        alar_extreme_write(encoding, ranks, &own[order[i]], &elements, 0);
        if (i == 0) {
            sum = elements;
        } else {
            elements_add(encoding, &sum, &elements, count);
        }
    }
    for (int k = 0; k < 2; k++) {
        struct alar_extreme read = alar_extreme_read(encoding, ranks, kinds[k], &sum, 0);

        demand(is_same(&read, &expected[k]),
               "seed %d, %s, %u ranks, %s: %a on %u, expected %a on %u", SEED,
               alar_encoding_names[encoding], ranks, alar_metric_kind_names[kinds[k]], read.value,
               read.rank, expected[k].value, expected[k].rank);
    }
    demand(encoding != ALAR_EXACT || alar_extreme_is_whole(encoding, ranks, &sum, 0),
           "seed %d: %u ranks", SEED, ranks);
}

/* In all encodings, on few ranks and on more than a element of a set can name. spec: L-07, L-15 */
Test(payload_extreme, a_sum_in_any_order_holds_every_rank_to_the_bit)
{
    static const uint32_t many[] = {1,  2,  3,  4,  5,  6,  7,  8,  23,
                                    24, 25, 48, 49, 53, 54, 62, 63, RANKS_MAX};
    struct draw draw = {SEED};

    for (int i = 0; i < 20 * ALAR_ENCODING_COUNT; i++) {
        for (size_t n = 0; n < sizeof(many) / sizeof(many[0]); n++) {
            check_sum(&draw, (enum alar_encoding)(i % ALAR_ENCODING_COUNT), many[n]);
        }
    }
}

/* A value of a rank that the set does not hold, and a rank that is none: no contributions make
   them. spec: N-13 */
Test(payload_extreme, what_no_ranks_can_write_is_not_whole)
{
    const struct alar_extreme own = {true, 1, 3.0};
    int64_t elements[4];
    int64_t good[4];

    alar_extreme_write(ALAR_EXACT, 3, &own, good, 0);
    cr_assert(alar_extreme_is_whole(ALAR_EXACT, 3, good, 0));

    for (int element = 0; element < 4; element++) {
        memcpy(elements, good, sizeof(elements));
        elements[element] += element == 3 ? 8 : 1;
        cr_assert_eq(alar_extreme_is_whole(ALAR_EXACT, 3, elements, 0), element == 1, "lane %d",
                     element);
    }
    elements[3] = -1;
    cr_assert_not(alar_extreme_is_whole(ALAR_EXACT, 3, elements, 0));
}

/* What is no set reads as the empty one: nobody had a value. spec: L-07 */
Test(payload_extreme, a_broken_set_holds_nobody)
{
    static const float broken[] = {NAN, -1.0F, 0.5F, 8.0F, INFINITY};
    const struct alar_extreme own = {true, 1, 3.0};
    float elements[4];

    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        alar_extreme_write(ALAR_PAIR32, 3, &own, elements, 0);
        cr_assert(alar_extreme_read(ALAR_PAIR32, 3, ALAR_METRIC_MAX, elements, 0).has_value);
        elements[3] = broken[i];
        cr_assert_not(alar_extreme_read(ALAR_PAIR32, 3, ALAR_METRIC_MAX, elements, 0).has_value,
                      "%g", (double)broken[i]);
    }
}

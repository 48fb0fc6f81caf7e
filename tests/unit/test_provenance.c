/* The ladder: a legal value is never refused, an illegal one never finds a rung. */
#include "exact.h"
#include "provenance.h"
#include "tests/lib/draw.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum {
    SEED = 20606,
    RANKS = 72,
    LEGAL_SUMS = 100000
};

static const enum alar_dtype floats[] = {ALAR_F16, ALAR_BF16, ALAR_F32, ALAR_F64};

struct bench {
    struct alar_reduce reduce;
    struct alar_budget budget;
    struct alar_origin origin;
    uint64_t bits[RANKS];
    uint64_t room[RANKS];
    int32_t nodes[2 * RANKS];
};

static void setup(struct bench *bench, enum alar_dtype dtype, uint32_t n)
{
    size_t bytes = 8 << 20;

    *bench = (struct bench){.reduce = {.adder = {dtype, dtype, ALAR_NEAREST}, .n = n}};
    bench->reduce.bits = bench->bits;
    bench->budget.scratch.memory = malloc(bytes);
    bench->budget.scratch.bytes = bytes;
    bench->budget.work = 2000000;
    bench->budget.starts = 4;
    cr_assert_not_null(bench->budget.scratch.memory);
}

static void teardown(struct bench *bench)
{
    free(bench->budget.scratch.memory);
}

static enum alar_rung judge(struct bench *bench, uint64_t value)
{
    cr_assert_eq(
        alar_provenance_judge(&bench->reduce, value, bench->budget, bench->nodes, &bench->origin),
        ALAR_OK);
    return bench->origin.rung;
}

/* 100,000 sums in drawn orders, of mild and hostile inputs, in every float dtype and model: none is
   called illegal, and what is claimed of it can be recomputed. spec: N-17 */
Test(provenance, legal_sums_are_never_refused)
{
    struct draw draw = {SEED};
    struct bench bench;
    unsigned found[ALAR_RUNG_COUNT] = {0};

    setup(&bench, ALAR_F32, 1);
    for (int round = 0; round < LEGAL_SUMS; round++) {
        enum alar_dtype dtype = floats[round % 4];
        enum alar_model model =
            round % 8 ? ALAR_NEAREST : (enum alar_model)draw_below(&draw, ALAR_MODEL_COUNT);
        struct alar_adder adder = {dtype, dtype, model};
        adder.wide = draw_below(&draw, 8) ? dtype : floats[2 + draw_below(&draw, 2)];
        uint32_t n = 1 + draw_below(&draw, model != ALAR_NEAREST ? 5 : round % 200 ? 8 : RANKS);
        draw_values(&draw, (enum draw_family)draw_below(&draw, DRAW_FAMILY_COUNT), dtype,
                    bench.bits, n);
        bench.reduce.adder = adder;
        bench.reduce.n = n;
        uint64_t value = draw_sum(&draw, adder, bench.bits, n, bench.room);
        enum alar_rung rung = judge(&bench, value);

        found[rung]++;
        cr_assert(rung != ALAR_RUNG_ILLEGAL, "seed %d round %d", SEED, round);
        cr_assert(rung != ALAR_RUNG_UNDECIDED || n > 12, "seed %d round %d", SEED, round);
        if (bench.origin.witness.count > 0) {
            cr_assert(alar_fp_is_same(
                dtype, value,
                alar_tree_evaluate(&bench.origin.witness, adder, bench.bits, bench.room)));
        }
    }
    cr_assert(found[ALAR_RUNG_ONLY] > 0 && found[ALAR_RUNG_NAMED] > 0);
    cr_assert(found[ALAR_RUNG_ORDERED] > 0 && found[ALAR_RUNG_ANY] > 0);
    teardown(&bench);
}

/* A value that no order gives is illegal, whatever rung it hopes for; the refusal says why. */
Test(provenance, what_no_order_gives_is_refused)
{
    struct draw draw = {SEED + 1};
    struct bench bench;

    setup(&bench, ALAR_F32, 8);
    for (int round = 0; round < 2000; round++) {
        enum alar_dtype dtype = floats[round % 4];
        struct alar_adder adder = {dtype, dtype, ALAR_NEAREST};
        draw_values(&draw, round % 2 ? DRAW_LOSS : DRAW_NEAR, dtype, bench.bits, 8);
        bench.reduce.adder = adder;
        uint64_t sum = draw_sum(&draw, adder, bench.bits, 8, bench.room);

        cr_assert_eq(judge(&bench, draw_sum(&draw, adder, bench.bits, 7, bench.room)),
                     ALAR_RUNG_ILLEGAL);
        cr_assert(bench.origin.refusal != ALAR_REFUSED_NOT);
        cr_assert_eq(judge(&bench, alar_fp_negate(dtype, sum)), ALAR_RUNG_ILLEGAL);
        cr_assert_eq(judge(&bench, alar_fp_nan(dtype)), ALAR_RUNG_ILLEGAL);
        cr_assert_eq(judge(&bench, alar_fp_inf(dtype, false)), ALAR_RUNG_ILLEGAL);
        cr_assert_eq(judge(&bench, sum + 40), ALAR_RUNG_ILLEGAL);
        cr_assert_eq(judge(&bench, sum - 40), ALAR_RUNG_ILLEGAL);
    }
    teardown(&bench);
}

/* One ulp beyond the ends of the hull is refused, the ends are not: there is no tolerance. */
Test(provenance, one_ulp_outside_is_illegal)
{
    struct draw draw = {SEED + 2};
    struct bench bench;
    unsigned seen = 0;

    setup(&bench, ALAR_F32, 8);
    for (int round = 0; round < 500; round++) {
        draw_values(&draw, DRAW_LOSS, ALAR_F32, bench.bits, 8);
        uint64_t sum = draw_sum(&draw, bench.reduce.adder, bench.bits, 8, bench.room);
        bool was_legal = true;
        for (uint64_t value = sum; was_legal; value++) {
            was_legal = alar_rung_is_legal(judge(&bench, value));
        }
        if (bench.origin.has_range) {
            uint64_t low = bench.origin.low;
            uint64_t high = bench.origin.high;
            seen++;
            cr_assert(alar_rung_is_legal(judge(&bench, low)));
            cr_assert(alar_rung_is_legal(judge(&bench, high)));
            cr_assert_eq(judge(&bench, low - 1), ALAR_RUNG_ILLEGAL);
            cr_assert_eq(judge(&bench, high + 1), ALAR_RUNG_ILLEGAL);
        }
    }
    cr_assert(seen > 100, "%u", seen);
    teardown(&bench);
}

/* Each convention of AVG is recognized, and asking for another one refuses it where they differ.
   spec: N-16 */
Test(provenance, averages_have_conventions)
{
    struct draw draw = {SEED + 3};
    struct bench bench;
    unsigned differ = 0;

    setup(&bench, ALAR_F32, 1);
    bench.reduce.red = ALAR_RED_AVG;
    for (int round = 0; round < 4000; round++) {
        enum alar_dtype dtype = floats[round % 4];
        enum alar_avg avg = (enum alar_avg)(1 + round / 4 % 4);
        uint32_t n = 1 + draw_below(&draw, 9);
        uint64_t prepared[RANKS];
        bench.reduce.adder = (struct alar_adder){dtype, dtype, ALAR_NEAREST};
        bench.reduce.n = n;
        draw_values(&draw, (enum draw_family)draw_below(&draw, DRAW_FAMILY_COUNT), dtype,
                    bench.bits, n);
        alar_average_prepare(avg, dtype, bench.bits, n, prepared);
        uint64_t sum = draw_sum(&draw, bench.reduce.adder, prepared, n, bench.room);
        uint64_t mean = alar_average_finish(avg, dtype, sum, n);

        bench.reduce.avg = avg;
        cr_assert(judge(&bench, mean) != ALAR_RUNG_ILLEGAL, "seed %d round %d", SEED + 3, round);
        if (round % 16 != 0) {
            continue;
        }
        bench.reduce.avg = ALAR_AVG_ANY;
        cr_assert(judge(&bench, mean) != ALAR_RUNG_ILLEGAL, "seed %d round %d", SEED + 3, round);
        differ += bench.origin.averages != 30;
    }
    cr_assert(differ > 50, "%u", differ);
    bench.reduce.avg = ALAR_AVG_SUM_DIVIDE;
    bench.reduce.adder = (struct alar_adder){ALAR_F32, ALAR_F32, ALAR_NEAREST};
    bench.reduce.n = 7;
    draw_values(&draw, DRAW_LOSS, ALAR_F32, bench.bits, 7);
    uint64_t sum = draw_sum(&draw, bench.reduce.adder, bench.bits, 7, bench.room);
    cr_assert_eq(judge(&bench, sum), ALAR_RUNG_ILLEGAL);
    teardown(&bench);
}

/* Sets of sums that become a value: everything inside does, the neighbours outside do not. */
Test(provenance, sums_of_an_average_are_a_range)
{
    struct draw draw = {SEED + 4};

    for (int round = 0; round < 4000; round++) {
        enum alar_dtype dtype = floats[round % 4];
        enum alar_avg avg = (enum alar_avg)(round % 5);
        uint32_t n = 1 + draw_below(&draw, 100);
        uint64_t value;
        int64_t first;
        int64_t last;
        draw_values(&draw, (enum draw_family)draw_below(&draw, DRAW_FAMILY_COUNT), dtype, &value,
                    1);
        if (alar_average_sums(avg, dtype, value, n, &first, &last)) {
            const int64_t probe[] = {first - 1, first, last, last + 1};
            for (int i = 0; i < 4; i++) {
                uint64_t sum = alar_fp_unrank(dtype, probe[i]);
                bool is_inside = i == 1 || i == 2;
                if (!alar_fp_is_nan(dtype, sum)) {
                    cr_assert_eq(alar_average_finish(avg, dtype, sum, n) == value, is_inside);
                }
            }
        }
    }
}

/* NaN, infinities and zeros follow their rules whatever the size. spec: N-08 */
Test(provenance, specials_have_one_legal_answer)
{
    struct bench bench;
    const uint64_t inf = alar_fp_inf(ALAR_F32, false);
    const uint64_t minus = alar_dtype_sign(ALAR_F32);

    setup(&bench, ALAR_F32, 40);
    for (uint32_t i = 0; i < 40; i++) {
        bench.bits[i] = alar_fp_from_double(ALAR_F32, 1.1 + i);
    }
    bench.bits[3] = inf;
    cr_assert_eq(judge(&bench, inf), ALAR_RUNG_ONLY);
    cr_assert_eq(judge(&bench, alar_fp_nan(ALAR_F32)), ALAR_RUNG_ILLEGAL);
    cr_assert_eq(judge(&bench, bench.bits[0]), ALAR_RUNG_ILLEGAL);
    bench.bits[7] = inf | minus;
    cr_assert_eq(judge(&bench, inf), ALAR_RUNG_ILLEGAL);
    cr_assert_eq(judge(&bench, 0x7fc12345), ALAR_RUNG_ONLY);
    for (uint32_t i = 0; i < 40; i++) {
        bench.bits[i] = minus;
    }
    cr_assert_eq(judge(&bench, minus), ALAR_RUNG_ONLY);
    cr_assert_eq(judge(&bench, 0), ALAR_RUNG_ILLEGAL);
    bench.bits[9] = 0;
    cr_assert_eq(judge(&bench, minus), ALAR_RUNG_ILLEGAL);
    cr_assert_eq(judge(&bench, 0), ALAR_RUNG_ONLY);
    teardown(&bench);
}

/* Integers have one sum, modulo their width, and averages that divide it. spec: N-04 */
Test(provenance, integers_have_one_answer)
{
    struct bench bench;

    setup(&bench, ALAR_I32, 3);
    bench.bits[0] = 0x7fffffff;
    bench.bits[1] = 1;
    bench.bits[2] = 0xfffffff0;
    cr_assert_eq(judge(&bench, 0x7ffffff0), ALAR_RUNG_ONLY);
    cr_assert_eq(bench.origin.ulps, 0u);
    cr_assert_eq(judge(&bench, 0x7fffffff), ALAR_RUNG_ILLEGAL);
    cr_assert_eq(bench.origin.low, 0x7ffffff0u);
    bench.reduce.red = ALAR_RED_AVG;
    bench.bits[0] = 0xfffffffb;
    bench.bits[1] = 0xffffffff;
    bench.bits[2] = 0xffffffff;
    cr_assert_eq(judge(&bench, 0xfffffffe), ALAR_RUNG_ONLY);
    cr_assert_eq(judge(&bench, 0xfffffffd), ALAR_RUNG_ILLEGAL);
    bench.reduce.red = ALAR_RED_PRODUCT;
    cr_assert_eq(alar_provenance_judge(&bench.reduce, 0, bench.budget, bench.nodes, &bench.origin),
                 ALAR_E_UNSUPPORTED);
    teardown(&bench);
}

/* MAX and MIN by policy, against the definition by exhaustion over orders. spec: N-18 */
Test(provenance, extremes_follow_their_policy)
{
    struct bench bench;
    const uint64_t nan = alar_fp_nan(ALAR_F32);
    const uint64_t one = alar_fp_from_double(ALAR_F32, 1);
    const uint64_t two = alar_fp_from_double(ALAR_F32, 2);
    const uint64_t input[] = {one, nan, two, one};
    struct {
        enum alar_nan_policy policy;
        bool nan, one, two; /* legal answers */
    } const table[] = {{ALAR_NAN_PROPAGATE, true, false, false},
                       {ALAR_NAN_IGNORE, false, false, true},
                       {ALAR_NAN_IDIOM, true, true, true},
                       {ALAR_NAN_ANY, true, true, true}};

    setup(&bench, ALAR_F32, 4);
    bench.reduce.red = ALAR_RED_MAX;
    for (int i = 0; i < 4; i++) {
        bench.bits[i] = input[i];
    }
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        bench.reduce.nan = table[i].policy;
        cr_assert_eq(judge(&bench, nan | 5) == ALAR_RUNG_ONLY, table[i].nan, "policy %zu", i);
        cr_assert_eq(judge(&bench, one) == ALAR_RUNG_ONLY, table[i].one, "policy %zu", i);
        cr_assert_eq(judge(&bench, two) == ALAR_RUNG_ONLY, table[i].two, "policy %zu", i);
        cr_assert_eq(judge(&bench, two + 1), ALAR_RUNG_ILLEGAL);
        cr_assert_eq(judge(&bench, 0), ALAR_RUNG_ILLEGAL);
    }
    bench.bits[1] = 0;
    bench.bits[0] = alar_dtype_sign(ALAR_F32);
    bench.reduce.red = ALAR_RED_MIN;
    cr_assert_eq(judge(&bench, 0), ALAR_RUNG_ONLY);
    cr_assert_eq(judge(&bench, alar_dtype_sign(ALAR_F32)), ALAR_RUNG_ONLY);
    cr_assert_eq(judge(&bench, one), ALAR_RUNG_ILLEGAL);
    cr_assert_eq(judge(&bench, nan), ALAR_RUNG_ILLEGAL);
    bench.bits[0] = bench.bits[1] = bench.bits[2] = bench.bits[3] = nan;
    bench.reduce.nan = ALAR_NAN_IGNORE;
    cr_assert_eq(judge(&bench, nan), ALAR_RUNG_ONLY);
    teardown(&bench);
}

/* Accuracy: the correctly rounded value is 0 ulps off, its neighbour on the other side of the exact
   sum is faithful, the next one is not. */
Test(provenance, accuracy_is_measured_from_the_exact_sum)
{
    struct draw draw = {SEED + 5};
    struct bench bench;
    unsigned inexact = 0;

    setup(&bench, ALAR_F32, 6);
    for (int round = 0; round < 2000; round++) {
        draw_values(&draw, round % 2 ? DRAW_LOSS : DRAW_INTEGER, ALAR_F32, bench.bits, 6);
        uint64_t exact = alar_exact_sum(ALAR_F32, bench.bits, 6);
        unsigned faithful = 0;
        for (uint64_t value = exact - 2; value <= exact + 2; value++) {
            (void)judge(&bench, value);
            cr_assert_eq(bench.origin.exact, exact);
            cr_assert_eq(bench.origin.ulps, value > exact ? value - exact : exact - value);
            faithful += bench.origin.is_faithful;
        }
        inexact += faithful == 2;
        cr_assert(faithful == (round % 2 ? faithful : 1) && faithful >= 1 && faithful <= 2);
    }
    cr_assert(inexact > 500, "%u", inexact);
    teardown(&bench);
}

/* A declared node map, a declared height, and a small budget: each says what it can. */
Test(provenance, declarations_and_budgets)
{
    struct draw draw = {SEED + 6};
    struct bench bench;
    uint32_t node[RANKS] = {0};
    unsigned nodes = 0;
    unsigned bound = 0;

    setup(&bench, ALAR_F32, 72);
    bench.budget.starts = 1;
    for (uint32_t i = 0; i < 72; i++) {
        node[i] = i * 7 % 9;
    }
    for (int round = 0; round < 40; round++) {
        uint64_t part[9];
        draw_values(&draw, DRAW_LOSS, ALAR_F32, bench.bits, 72);
        for (uint32_t k = 0; k < 9; k++) {
            uint64_t member[RANKS];
            uint32_t count = 0;
            for (uint32_t i = 0; i < 72; i++) {
                if (node[i] == k) {
                    member[count++] = bench.bits[i];
                }
            }
            part[k] = draw_sum(&draw, bench.reduce.adder, member, count, bench.room);
        }
        uint64_t value = draw_sum(&draw, bench.reduce.adder, part, 9, bench.room);
        bench.reduce.node = node;
        bench.reduce.nodes = 9;
        enum alar_rung rung = judge(&bench, value);
        nodes += rung == ALAR_RUNG_NODES;
        cr_assert(rung <= ALAR_RUNG_NODES, "seed %d round %d", SEED + 6, round);
        bench.reduce.nodes = 0;
        bench.budget.work = 10;
        rung = judge(&bench, value);
        bound += rung == ALAR_RUNG_BOUND;
        cr_assert(rung == ALAR_RUNG_BOUND || rung == ALAR_RUNG_NAMED);
        bench.budget.work = 2000000;
    }
    cr_assert(nodes > 0 && bound > 0, "nodes %u bound %u", nodes, bound);
    struct alar_budget none = {.scratch = {bench.budget.scratch.memory, 64}};
    cr_assert_eq(alar_provenance_judge(&bench.reduce, 0, none, bench.nodes, &bench.origin),
                 ALAR_E_RANGE);
    cr_assert_str_eq(alar_rung_name(ALAR_RUNG_ANY), "any-order");
    cr_assert_str_eq(alar_rung_name(ALAR_RUNG_COUNT), "?");
    cr_assert_str_eq(alar_average_name(ALAR_AVG_SUM_DIVIDE), "sum/n");
    teardown(&bench);
}

/* Proofs: a legal value is never refused, an illegal one never finds a proof. */
#include "legal/provenance.h"
#include "legal/reachable.h"
#include "numbers/exact.h"
#include "tests/lib/draw.h"
#include "tests/lib/judging.h"

#include <criterion/criterion.h>
#include <math.h>

enum {
    SEED = 20606,
    RANKS = JUDGING_RANKS,
    LEGAL_SUMS = DRAWN(100000)
};

static const enum alar_dtype floats[] = {ALAR_F16, ALAR_BF16, ALAR_F32, ALAR_F64};

/* 100,000 sums in drawn orders, of mild and hostile inputs, in every float dtype and model: none is
   called illegal, and what is claimed of it can be recomputed. spec: N-17 */
Test(provenance, legal_sums_are_never_refused)
{
    struct draw draw = {SEED};
    struct judging bench;
    unsigned found[ALAR_PROOF_COUNT] = {0};

    judging_start(&bench, ALAR_F32, 1);
    for (int round = 0; round < LEGAL_SUMS; round++) {
        enum alar_dtype dtype = floats[round % 4];
        enum alar_model model =
            round % 8 ? ALAR_NEAREST : (enum alar_model)draw_below(&draw, ALAR_MODEL_COUNT);
        struct alar_adder adder = {dtype, dtype, model, false};
        adder.wide = draw_below(&draw, 8) ? dtype : floats[2 + draw_below(&draw, 2)];
        uint32_t n = 1 + draw_below(&draw, model != ALAR_NEAREST ? 5 : round % 200 ? 8 : RANKS);
        draw_values(&draw, (enum draw_family)draw_below(&draw, DRAW_FAMILY_COUNT), dtype,
                    bench.bits, n);
        bench.reduce.adder = adder;
        bench.reduce.n = n;
        uint64_t value = draw_sum(&draw, adder, bench.bits, n, bench.room);
        enum alar_proof proof = judging_proof(&bench, value);

        found[proof]++;
        cr_assert(proof != ALAR_PROOF_ILLEGAL, "seed %d round %d", SEED, round);
        cr_assert(proof != ALAR_PROOF_UNDECIDED || n > 12, "seed %d round %d", SEED, round);
        if (bench.origin.witness.count > 0) {
            cr_assert(alar_fp_is_same(
                dtype, value,
                alar_tree_evaluate(&bench.origin.witness, adder, bench.bits, bench.room)));
        }
    }
    cr_assert(found[ALAR_PROOF_ONLY] > 0 && found[ALAR_PROOF_NAMED] > 0);
    cr_assert(found[ALAR_PROOF_ORDERED] > 0 && found[ALAR_PROOF_ANY] > 0);
    judging_end(&bench);
}

/* A value that no order gives is illegal, whatever proof it hopes for; the refusal says why. */
Test(provenance, what_no_order_gives_is_refused)
{
    struct draw draw = {SEED + 1};
    struct judging bench;

    judging_start(&bench, ALAR_F32, 8);
    for (int round = 0; round < DRAWN(2000); round++) {
        enum alar_dtype dtype = floats[round % 4];
        struct alar_adder adder = {dtype, dtype, ALAR_NEAREST, false};
        draw_values(&draw, round % 2 ? DRAW_LOSS : DRAW_NEAR, dtype, bench.bits, 8);
        bench.reduce.adder = adder;
        uint64_t sum = draw_sum(&draw, adder, bench.bits, 8, bench.room);

        cr_assert_eq(judging_proof(&bench, draw_sum(&draw, adder, bench.bits, 7, bench.room)),
                     ALAR_PROOF_ILLEGAL);
        cr_assert(bench.origin.refusal != ALAR_REFUSED_NOT);
        cr_assert_eq(judging_proof(&bench, alar_fp_negate(dtype, sum)), ALAR_PROOF_ILLEGAL);
        cr_assert_eq(judging_proof(&bench, alar_fp_nan(dtype)), ALAR_PROOF_ILLEGAL);
        cr_assert_eq(judging_proof(&bench, alar_fp_inf(dtype, false)), ALAR_PROOF_ILLEGAL);
        cr_assert_eq(judging_proof(&bench, sum + 40), ALAR_PROOF_ILLEGAL);
        cr_assert_eq(judging_proof(&bench, sum - 40), ALAR_PROOF_ILLEGAL);
    }
    judging_end(&bench);
}

/* Many ranks: a missing one is refused by the bound, where it is small enough to tell. */
Test(provenance, the_bound_refuses_at_many_ranks)
{
    struct draw draw = {SEED + 7};
    struct judging bench;

    judging_start(&bench, ALAR_F32, 40);
    for (int round = 0; round < 100; round++) {
        draw_values(&draw, DRAW_LOSS, ALAR_F32, bench.bits, 40);
        uint64_t value = draw_sum(&draw, bench.reduce.adder, bench.bits, 39, bench.room);
        cr_assert_eq(judging_proof(&bench, value), ALAR_PROOF_ILLEGAL);
        cr_assert_eq(bench.origin.refusal, ALAR_REFUSED_BOUND);
    }
    judging_end(&bench);
}

/* Inside the hull is not enough: where the set has holes, a value in a hole is refused by the set,
   and the set is right. spec: N-09 */
Test(provenance, holes_in_the_hull_are_illegal)
{
    struct draw draw = {SEED + 8};
    struct judging bench;
    struct alar_reachable reachable;
    unsigned holes = 0;

    judging_start(&bench, ALAR_F32, 6);
    for (int round = 0; round < 60; round++) {
        draw_values(&draw, DRAW_CANCEL, ALAR_F32, bench.bits, 6);
        uint64_t sum = draw_sum(&draw, bench.reduce.adder, bench.bits, 6, bench.room);
        int grain = alar_bound_granularity(ALAR_F32, bench.bits, 6);
        for (int step = 1; step < 20; step++) {
            double near = alar_fp_to_double(ALAR_F32, sum) + ldexp(step, grain);
            uint64_t value = alar_fp_from_double(ALAR_F32, near);
            bool is_illegal = judging_proof(&bench, value) == ALAR_PROOF_ILLEGAL;
            cr_assert_eq(alar_reachable_any(&reachable, bench.reduce.adder, bench.bits, 6,
                                            UINT64_MAX, bench.budget.scratch),
                         ALAR_OK);
            cr_assert_eq(is_illegal, !alar_reachable_has(&reachable, value), "seed %d round %d",
                         SEED + 8, round);
            holes += bench.origin.refusal == ALAR_REFUSED_SET;
        }
    }
    cr_assert(holes > 20, "%u", holes);
    judging_end(&bench);
}

/* One ulp beyond the ends of the hull is refused, the ends are not: there is no tolerance. */
Test(provenance, one_ulp_outside_is_illegal)
{
    struct draw draw = {SEED + 2};
    struct judging bench;
    unsigned seen = 0;

    judging_start(&bench, ALAR_F32, 8);
    for (int round = 0; round < DRAWN(500); round++) {
        draw_values(&draw, DRAW_LOSS, ALAR_F32, bench.bits, 8);
        uint64_t sum = draw_sum(&draw, bench.reduce.adder, bench.bits, 8, bench.room);
        bool was_legal = true;
        for (uint64_t value = sum; was_legal; value++) {
            was_legal = alar_proof_is_legal(judging_proof(&bench, value));
        }
        if (bench.origin.has_range) {
            uint64_t low = bench.origin.low;
            uint64_t high = bench.origin.high;
            seen++;
            cr_assert(alar_proof_is_legal(judging_proof(&bench, low)));
            cr_assert(alar_proof_is_legal(judging_proof(&bench, high)));
            cr_assert_eq(judging_proof(&bench, low - 1), ALAR_PROOF_ILLEGAL);
            cr_assert_eq(judging_proof(&bench, high + 1), ALAR_PROOF_ILLEGAL);
        }
    }
    cr_assert(seen > DRAWN(100), "%u", seen);
    judging_end(&bench);
}

/* Each convention of AVG is recognized, and asking for another one refuses it where they differ.
   spec: N-16 */
Test(provenance, averages_have_conventions)
{
    struct draw draw = {SEED + 3};
    struct judging bench;
    unsigned differ = 0;

    judging_start(&bench, ALAR_F32, 1);
    bench.reduce.red = ALAR_AVG;
    for (int round = 0; round < DRAWN(4000); round++) {
        enum alar_dtype dtype = floats[round % 4];
        enum alar_avg avg = (enum alar_avg)(1 + round / 4 % 4);
        uint32_t n = 1 + draw_below(&draw, 9);
        uint64_t prepared[RANKS];
        bench.reduce.adder = (struct alar_adder){dtype, dtype, ALAR_NEAREST, false};
        bench.reduce.n = n;
        draw_values(&draw, (enum draw_family)draw_below(&draw, DRAW_FAMILY_COUNT), dtype,
                    bench.bits, n);
        alar_average_prepare(avg, dtype, bench.bits, n, prepared);
        uint64_t sum = draw_sum(&draw, bench.reduce.adder, prepared, n, bench.room);
        uint64_t mean = alar_average_finish(avg, dtype, sum, n);

        bench.reduce.avg = avg;
        cr_assert(judging_proof(&bench, mean) != ALAR_PROOF_ILLEGAL, "seed %d round %d", SEED + 3,
                  round);
        if (round % 16 != 0) {
            continue;
        }
        bench.reduce.avg = ALAR_AVG_ANY;
        cr_assert(judging_proof(&bench, mean) != ALAR_PROOF_ILLEGAL, "seed %d round %d", SEED + 3,
                  round);
        differ += bench.origin.averages != 30;
    }
    cr_assert(differ > DRAWN(50), "%u", differ);
    bench.reduce.avg = ALAR_AVG_SUM_DIVIDE;
    bench.reduce.adder = (struct alar_adder){ALAR_F32, ALAR_F32, ALAR_NEAREST, false};
    bench.reduce.n = 7;
    draw_values(&draw, DRAW_LOSS, ALAR_F32, bench.bits, 7);
    uint64_t sum = draw_sum(&draw, bench.reduce.adder, bench.bits, 7, bench.room);
    cr_assert_eq(judging_proof(&bench, sum), ALAR_PROOF_ILLEGAL);
    judging_end(&bench);
}

/* The conventions are what their formulas say, in the machine's own arithmetic. spec: N-16 */
Test(provenance, conventions_are_their_formulas)
{
    struct draw draw = {SEED + 9};
    const struct alar_adder adder = {ALAR_F32, ALAR_F32, ALAR_NEAREST, false};

    for (int round = 0; round < DRAWN(2000); round++) {
        uint64_t bits[3];
        uint64_t prepared[3];
        float x[3];
        draw_values(&draw, DRAW_LOSS, ALAR_F32, bits, 3);
        for (int i = 0; i < 3; i++) {
            x[i] = (float)alar_fp_to_double(ALAR_F32, bits[i]);
        }
        const float third = 1.0f / 3;
        const float expected[] = {
            x[0] + x[1] + x[2], (x[0] + x[1] + x[2]) / 3, (x[0] + x[1] + x[2]) * third,
            x[0] * third + x[1] * third + x[2] * third, x[0] / 3 + x[1] / 3 + x[2] / 3};
        for (int avg = ALAR_AVG_ANY; avg <= ALAR_AVG_DIVIDE_SUM; avg++) {
            alar_average_prepare((enum alar_avg)avg, ALAR_F32, bits, 3, prepared);
            uint64_t sum = alar_adder_fold(adder, prepared, 3);
            cr_assert_eq(alar_average_finish((enum alar_avg)avg, ALAR_F32, sum, 3),
                         alar_fp_from_double(ALAR_F32, (double)expected[avg]));
        }
    }
}

/* Sets of sums that become a value: everything inside does, the neighbours outside do not. */
Test(provenance, sums_of_an_average_are_a_range)
{
    struct draw draw = {SEED + 4};

    for (int round = 0; round < DRAWN(4000); round++) {
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

/* Accuracy: the correctly rounded value is 0 ulps off, its neighbour on the other side of the exact
   sum is faithful, the next one is not. */
Test(provenance, accuracy_is_measured_from_the_exact_sum)
{
    struct draw draw = {SEED + 5};
    struct judging bench;
    unsigned inexact = 0;

    judging_start(&bench, ALAR_F32, 6);
    for (int round = 0; round < DRAWN(2000); round++) {
        draw_values(&draw, round % 2 ? DRAW_LOSS : DRAW_INTEGER, ALAR_F32, bench.bits, 6);
        uint64_t exact = alar_exact_sum(ALAR_F32, bench.bits, 6);
        unsigned faithful = 0;
        for (uint64_t value = exact - 2; value <= exact + 2; value++) {
            (void)judging_proof(&bench, value);
            cr_assert_eq(bench.origin.exact, exact);
            cr_assert_eq(bench.origin.ulps, value > exact ? value - exact : exact - value);
            faithful += bench.origin.is_faithful;
        }
        inexact += faithful == 2;
        cr_assert(faithful == (round % 2 ? faithful : 1) && faithful >= 1 && faithful <= 2);
    }
    cr_assert(inexact > DRAWN(500), "%u", inexact);
    judging_end(&bench);
}

/* A named tree that is higher than what was declared is no origin. spec: N-14, N-17 */
Test(provenance, no_tree_is_higher_than_declared)
{
    struct draw draw = {SEED + 7};
    struct judging bench;
    unsigned unnamed = 0;

    judging_start(&bench, ALAR_F32, 64);
    bench.budget.starts = 16;
    for (int round = 0; round < 200; round++) {
        draw_values(&draw, DRAW_LOSS, ALAR_F32, bench.bits, 64);
        uint64_t value = alar_adder_fold(bench.reduce.adder, bench.bits, 64);
        bench.reduce.height = 0;
        cr_assert_eq(judging_proof(&bench, value), ALAR_PROOF_NAMED);
        bench.reduce.height = 6;
        enum alar_proof proof = judging_proof(&bench, value);
        for (uint32_t k = 0; k < bench.origin.name_count && k < ALAR_ORIGIN_NAMES; k++) {
            cr_assert(bench.origin.name[k].kind != ALAR_TREE_LEFT_FOLD &&
                          bench.origin.name[k].kind != ALAR_TREE_RIGHT_FOLD,
                      "seed %d round %d", SEED + 7, round);
        }
        unnamed += proof != ALAR_PROOF_NAMED;
    }
    cr_assert(unnamed > 0, "%u", unnamed);
    judging_end(&bench);
}

/* A declared node map, a declared height, and a small budget: each says what it can. */
Test(provenance, declarations_and_budgets)
{
    struct draw draw = {SEED + 6};
    struct judging bench;
    uint32_t node[RANKS] = {0};
    unsigned nodes = 0;
    unsigned bound = 0;

    judging_start(&bench, ALAR_F32, 72);
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
        enum alar_proof proof = judging_proof(&bench, value);
        nodes += proof == ALAR_PROOF_NODES;
        cr_assert(proof <= ALAR_PROOF_NODES, "seed %d round %d", SEED + 6, round);
        bench.reduce.nodes = 0;
        bench.budget.work = 10;
        proof = judging_proof(&bench, value);
        bound += proof == ALAR_PROOF_BOUND;
        cr_assert(proof == ALAR_PROOF_BOUND || proof == ALAR_PROOF_NAMED);
        bench.budget.work = 2000000;
    }
    cr_assert(nodes > 0 && bound > 0, "nodes %u bound %u", nodes, bound);
    struct alar_budget none = {.scratch = {bench.budget.scratch.memory, 64}};
    cr_assert_eq(alar_provenance_judge(&bench.reduce, 0, none, bench.nodes, &bench.origin),
                 ALAR_E_RANGE);
    cr_assert_str_eq(alar_proof_name(ALAR_PROOF_ANY), "any-order");
    cr_assert_str_eq(alar_proof_name(ALAR_PROOF_COUNT), "?");
    judging_end(&bench);
}

/* Power: what is claimed to be seen is seen. */
#include "legal/power.h"
#include "tests/lib/draw.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum {
    SEED = 20607,
    RANKS = 4096
};

static const enum alar_dtype floats[] = {ALAR_F16, ALAR_BF16, ALAR_F32, ALAR_F64};

struct bench {
    struct alar_reduce reduce;
    struct alar_budget budget;
    struct alar_power power;
    struct alar_origin origin;
    uint64_t bits[RANKS];
    uint64_t other[RANKS];
    uint64_t room[RANKS];
    uint8_t seen[RANKS];
    int32_t nodes[2 * RANKS];
};

static struct bench bench;

static void setup(enum alar_dtype dtype, uint32_t n)
{
    size_t bytes = 4 << 20;

    bench.reduce = (struct alar_reduce){.adder = {dtype, dtype, ALAR_NEAREST}, .n = n};
    bench.reduce.bits = bench.bits;
    bench.budget = (struct alar_budget){.scratch = {malloc(bytes), bytes}, .work = 1000000};
    cr_assert_not_null(bench.budget.scratch.memory);
}

static void teardown(void)
{
    free(bench.budget.scratch.memory);
}

static void evaluate(void)
{
    cr_assert_eq(alar_power_evaluate(&bench.reduce, bench.budget.scratch, bench.seen, &bench.power),
                 ALAR_OK);
}

static enum alar_proof judge(uint64_t value)
{
    cr_assert_eq(
        alar_provenance_judge(&bench.reduce, value, bench.budget, bench.nodes, &bench.origin),
        ALAR_OK);
    return bench.origin.proof;
}

/* The value of the fault that leaves out, or doubles, one rank, in a drawn order. */
static uint64_t faulty(struct draw *draw, uint32_t rank, bool is_drop)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < bench.reduce.n; i++) {
        if (i != rank || !is_drop) {
            bench.other[n++] = bench.bits[i];
        }
    }
    if (!is_drop) {
        bench.other[n++] = bench.bits[rank];
    }
    uint64_t sum = draw_sum(draw, bench.reduce.adder, bench.other, n, bench.room);

    /* Whoever loses a rank may divide by those that are left, or not. */
    uint32_t count = is_drop && draw_below(draw, 2) ? n : bench.reduce.n;

    return bench.reduce.red == ALAR_AVG
               ? alar_average_finish(bench.reduce.avg, bench.reduce.adder.dtype, sum, count)
               : sum;
}

/* Where power is claimed the fault is convicted, in every dtype and for averages. spec: N-21 */
Test(power, claimed_power_convicts)
{
    static const enum alar_reduction reductions[] = {ALAR_AVG, ALAR_SUM, ALAR_PRODUCT};
    struct draw draw = {SEED};
    unsigned claimed = 0;

    setup(ALAR_F32, 2);
    for (int round = 0; round < 4500; round++) {
        enum alar_dtype dtype = floats[round % 4];
        uint32_t n = 2 + draw_below(&draw, round % 10 ? 6 : 30);
        bench.reduce.adder = (struct alar_adder){dtype, dtype, ALAR_NEAREST, false};
        bench.reduce.n = n;
        bench.reduce.red = reductions[round % 3];
        bench.reduce.adder.is_product = round % 3 == 2;
        bench.reduce.avg = ALAR_AVG_SUM_DIVIDE;
        draw_values(&draw, (enum draw_family)draw_below(&draw, DRAW_FAMILY_COUNT), dtype,
                    bench.bits, n);
        evaluate();
        uint32_t rank = draw_below(&draw, n);
        for (int kind = 0; kind < 2; kind++) {
            uint64_t value = faulty(&draw, rank, kind == 0);
            if (bench.seen[rank] & (kind == 0 ? ALAR_POWER_DROP : ALAR_POWER_DOUBLE)) {
                claimed++;
                cr_assert_eq(judge(value), ALAR_PROOF_ILLEGAL, "seed %d round %d", SEED, round);
            }
        }
    }
    cr_assert(claimed > 2000, "%u", claimed);
    teardown();
}

/* Losses show every rank at 8 and at 64 ranks in f32, in f64 also at 4,096; zeros and NaN hide. */
Test(power, power_fades_with_ranks)
{
    struct draw draw = {SEED + 1};

    setup(ALAR_F32, 8);
    for (uint32_t n = 8; n <= 64; n *= 8) {
        draw_values(&draw, DRAW_LOSS, ALAR_F32, bench.bits, n);
        bench.reduce.n = n;
        evaluate();
        cr_assert_eq(bench.power.drops, n);
        cr_assert_eq(bench.power.doubles, n);
    }
    bench.bits[5] = 0;
    evaluate();
    cr_assert_eq(bench.power.drops, 63u);
    bench.bits[6] = alar_fp_nan(ALAR_F32);
    evaluate();
    cr_assert(bench.power.is_vacuous);
    bench.reduce.n = RANKS;
    bench.reduce.adder = (struct alar_adder){ALAR_F64, ALAR_F64, ALAR_NEAREST, false};
    draw_values(&draw, DRAW_LOSS, ALAR_F64, bench.bits, RANKS);
    evaluate();
    cr_assert_eq(bench.power.drops, (uint32_t)RANKS);
    bench.reduce.adder = (struct alar_adder){ALAR_BF16, ALAR_BF16, ALAR_NEAREST, false};
    draw_values(&draw, DRAW_LOSS, ALAR_BF16, bench.bits, RANKS);
    evaluate();
    cr_assert(bench.power.is_vacuous);
    /* A declared height brings back what any order would hide. */
    bench.reduce.adder = (struct alar_adder){ALAR_F32, ALAR_F32, ALAR_NEAREST, false};
    draw_values(&draw, DRAW_LOSS, ALAR_F32, bench.bits, RANKS);
    evaluate();
    uint32_t any = bench.power.drops;
    bench.reduce.height = 12;
    evaluate();
    cr_assert_eq(bench.power.drops, (uint32_t)RANKS);
    cr_assert(any < RANKS * 3 / 4, "%u", any);
    teardown();
}

/* MAX shows a missing rank only when it alone had the maximum; integers show what is not zero. */
Test(power, power_of_extremes_and_integers)
{
    setup(ALAR_I32, 3);
    bench.reduce.adder.wide = ALAR_F32;
    bench.reduce.red = ALAR_MAX;
    bench.bits[0] = 4;
    bench.bits[1] = 9;
    bench.bits[2] = 4;
    evaluate();
    cr_assert_eq(bench.power.drops, 1u);
    cr_assert_eq(bench.seen[1], ALAR_POWER_DROP);
    cr_assert_eq(bench.power.doubles, 0u);
    bench.bits[2] = 9;
    evaluate();
    cr_assert(bench.power.is_vacuous);
    bench.reduce.red = ALAR_SUM;
    bench.bits[0] = 0;
    evaluate();
    cr_assert_eq(bench.power.drops, 2u);
    cr_assert_eq(bench.power.doubles, 2u);
    bench.reduce.red = ALAR_AVG;
    bench.bits[0] = 1;
    evaluate();
    cr_assert_eq(bench.power.drops, 2u);
    bench.reduce.red = ALAR_PRODUCT;
    bench.reduce.adder.is_product = true;
    evaluate(); /* 1, which nobody misses, and two 9 */
    cr_assert_eq(bench.power.drops, 2u);
    cr_assert_eq(bench.seen[0], 0);
    bench.bits[0] = 0;
    evaluate();
    cr_assert_eq(bench.power.drops, 1u);
    bench.reduce.n = RANKS;
    cr_assert_eq(alar_power_evaluate(&bench.reduce, bench.budget.scratch, NULL, &bench.power),
                 ALAR_E_UNSUPPORTED);
    bench.reduce.n = 3;
    bench.reduce.red = ALAR_SUM;
    bench.reduce.adder = (struct alar_adder){ALAR_F32, ALAR_F32, ALAR_NEAREST, false};
    struct alar_scratch none = {bench.budget.scratch.memory, 16};
    cr_assert_eq(alar_power_evaluate(&bench.reduce, none, NULL, &bench.power), ALAR_E_RANGE);
    teardown();
}

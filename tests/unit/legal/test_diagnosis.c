/* Drawn faults are named: the truth is always among the explanations, and on inputs made for it the
   missing or doubled rank is the only one. */
#include "legal/diagnosis.h"
#include "numbers/exact.h"
#include "tests/lib/draw.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum {
    SEED = 20609,
    RANKS = 64,
    FAULTS = DRAWN(120)
};

struct bench {
    struct alar_reduce reduce;
    struct alar_observations observations;
    struct alar_budget budget;
    struct alar_origin origin;
    struct alar_diagnosis diagnosis;
    uint64_t bits[RANKS];
    uint64_t previous[RANKS];
    uint64_t next[RANKS];
    uint64_t altered[RANKS + 1];
    uint64_t room[RANKS + 1];
    int32_t nodes[2 * RANKS];
};

static struct bench bench;

static void setup(enum alar_dtype dtype, uint32_t n)
{
    size_t bytes = 4 << 20;

    bench.reduce = (struct alar_reduce){.adder = {dtype, dtype, ALAR_NEAREST}, .n = n};
    bench.reduce.bits = bench.bits;
    bench.observations = (struct alar_observations){.previous = bench.previous, .next = bench.next};
    bench.budget = (struct alar_budget){.scratch = {malloc(bytes), bytes}, .work = 100000};
    cr_assert_not_null(bench.budget.scratch.memory);
}

static void teardown(void)
{
    free(bench.budget.scratch.memory);
}

/* Rank r contributes 4^r, rotated by the step: the digits of the sum count the ranks. */
static void draw_inputs(struct draw *draw, bool is_ledger)
{
    uint32_t n = bench.reduce.n;
    enum alar_dtype dtype = bench.reduce.adder.dtype;
    uint64_t *step[] = {bench.previous, bench.bits, bench.next};

    for (uint32_t s = 0; s < 3; s++) {
        draw_values(draw, DRAW_LOSS, dtype, step[s], n);
        for (uint32_t i = 0; i < n && is_ledger; i++) {
            double digit = (double)(UINT64_C(1) << (2 * ((i + s) % n)));
            step[s][i] = alar_fp_from_double(dtype, digit * (double)(s == 1 ? 1 : 5 + 2 * s));
        }
    }
}

static uint64_t sum_of(struct draw *draw, const uint64_t *bits, uint32_t n)
{
    return draw_sum(draw, bench.reduce.adder, bits, n, bench.room);
}

/* Makes a fault; says what the truth is. */
static uint64_t draw_fault(struct draw *draw, enum alar_cause cause, struct alar_explanation *truth)
{
    uint32_t n = bench.reduce.n;
    enum alar_dtype dtype = bench.reduce.adder.dtype;
    uint32_t i = draw_below(draw, n);
    uint32_t j = (i + 1 + draw_below(draw, n - 1)) % n;
    uint32_t bit = draw_below(draw, 8 * (uint32_t)alar_dtype_bytes(dtype) - 8);
    uint32_t count = n;

    *truth = (struct alar_explanation){cause, i, 0, 0, ALAR_PROOF_ILLEGAL};
    for (uint32_t k = 0; k < n; k++) {
        bench.altered[k] = bench.bits[k];
    }
    switch (cause) {
    case ALAR_CAUSE_PREVIOUS:
        truth->rank = 0;
        return sum_of(draw, bench.previous, n);
    case ALAR_CAUSE_NEXT:
        truth->rank = 0;
        return sum_of(draw, bench.next, n);
    case ALAR_CAUSE_OWN:
        return bench.bits[i];
    case ALAR_CAUSE_MISSING:
        bench.altered[i] = bench.altered[--count];
        break;
    case ALAR_CAUSE_DOUBLED:
        bench.altered[count++] = bench.bits[i];
        break;
    case ALAR_CAUSE_REPLACED:
        truth->other = j;
        bench.altered[i] = bench.bits[j];
        break;
    case ALAR_CAUSE_STALE:
        bench.altered[i] = bench.previous[i];
        break;
    case ALAR_CAUSE_EARLY:
        bench.altered[i] = bench.next[i];
        break;
    case ALAR_CAUSE_FLIPPED:
        truth->other = bit;
        bench.altered[i] ^= UINT64_C(1) << bit;
        break;
    case ALAR_CAUSE_SUBSET:
        truth->rank = 0;
        count = 2 + draw_below(draw, n - 3);
        truth->subset = (UINT32_C(1) << count) - 1;
        break;
    case ALAR_CAUSE_RESULT_FLIPPED:
        truth->rank = 0;
        truth->other = bit;
        return sum_of(draw, bench.bits, n) ^ UINT64_C(1) << bit;
    default: {
        struct alar_adder adder = {dtype, ALAR_BF16, ALAR_NEAREST, false};
        truth->rank = 0;
        truth->other = ALAR_BF16;
        return draw_sum(draw, adder, bench.bits, n, bench.room);
    }
    }
    return sum_of(draw, bench.altered, count);
}

static void diagnose(uint64_t value)
{
    cr_assert_eq(alar_diagnose(&bench.reduce, value, &bench.observations, bench.budget.scratch,
                               &bench.diagnosis),
                 ALAR_OK);
}

static bool is_illegal(uint64_t value)
{
    cr_assert_eq(
        alar_provenance_judge(&bench.reduce, value, bench.budget, bench.nodes, &bench.origin),
        ALAR_OK);
    return bench.origin.proof == ALAR_PROOF_ILLEGAL;
}

static bool is_named(const struct alar_explanation *truth)
{
    for (uint32_t k = 0; k < bench.diagnosis.kept; k++) {
        const struct alar_explanation *found = &bench.diagnosis.kept_explanation[k];
        if (found->cause == truth->cause && found->rank == truth->rank &&
            found->other == truth->other && found->subset == truth->subset) {
            return true;
        }
    }
    return false;
}

/* Illegal, named, unique: counts over drawn faults of one kind. */
struct score {
    unsigned illegal, named, first;
};

static struct score score_of(struct draw *draw, enum alar_cause cause, bool is_ledger)
{
    struct score score = {0, 0, 0};

    for (int round = 0; round < FAULTS; round++) {
        struct alar_explanation truth;
        draw_inputs(draw, is_ledger);
        uint64_t value = draw_fault(draw, cause, &truth);
        if (!is_illegal(value)) {
            continue;
        }
        diagnose(value);
        bool is_kept = is_named(&truth);
        score.illegal++;
        score.named += is_kept;
        score.first += is_kept && bench.diagnosis.is_unique &&
                       bench.diagnosis.kept_explanation[0].cause == cause;
        cr_assert(is_kept || bench.diagnosis.count > bench.diagnosis.kept,
                  "seed %d %s round %d n %u", SEED, alar_cause_name(cause), round, bench.reduce.n);
        cr_assert_eq(bench.diagnosis.cut, 0);
        cr_assert_eq(bench.diagnosis.is_unique, bench.diagnosis.in_tier == 1);
    }
    return score;
}

static const enum alar_cause drawn[] = {
    ALAR_CAUSE_PREVIOUS, ALAR_CAUSE_NEXT,   ALAR_CAUSE_OWN,      ALAR_CAUSE_MISSING,
    ALAR_CAUSE_DOUBLED,  ALAR_CAUSE_WIDTH,  ALAR_CAUSE_REPLACED, ALAR_CAUSE_STALE,
    ALAR_CAUSE_EARLY,    ALAR_CAUSE_SUBSET, ALAR_CAUSE_FLIPPED,  ALAR_CAUSE_RESULT_FLIPPED};

static void score_inputs(bool is_ledger)
{
    struct draw draw = {SEED + is_ledger};
    const uint32_t ranks[] = {3, 4, 5, 8};

    setup(ALAR_F32, 3);
    for (size_t c = 0; c < sizeof drawn / sizeof *drawn; c++) {
        for (size_t r = 0; r < 4; r++) {
            bench.reduce.n = ranks[r];
            if (drawn[c] == ALAR_CAUSE_SUBSET && ranks[r] < 4) {
                continue;
            }
            struct score score = score_of(&draw, drawn[c], is_ledger);
            bool is_structural = drawn[c] == ALAR_CAUSE_MISSING || drawn[c] == ALAR_CAUSE_DOUBLED;
            cr_log_info("%s n=%u %s: %u illegal, %u named, %u uniquely",
                        is_ledger ? "ledger" : "losses", ranks[r], alar_cause_name(drawn[c]),
                        score.illegal, score.named, score.first);
            if (is_ledger && is_structural) {
                cr_assert_eq(score.illegal, (unsigned)FAULTS);
                cr_assert_eq(score.first, (unsigned)FAULTS, "%s n %u", alar_cause_name(drawn[c]),
                             ranks[r]);
            }
            if (is_structural) {
                cr_assert(score.first * 10 >= score.illegal * 9, "%s n %u: %u of %u",
                          alar_cause_name(drawn[c]), ranks[r], score.first, score.illegal);
            }
        }
    }
    teardown();
}

/* Real-looking losses: every illegal fault has its truth among the explanations. spec: N-23 */
Test(diagnose, losses_contain_the_truth)
{
    score_inputs(false);
}

/* Ledgers: missing and doubled ranks are named uniquely, always. spec: N-23 */
Test(diagnose, ledgers_name_the_rank)
{
    score_inputs(true);
}

static bool has_cause(enum alar_cause cause, uint32_t other)
{
    struct alar_explanation truth = {cause, 0, other, 0, ALAR_PROOF_ILLEGAL};

    return is_named(&truth);
}

/* Division, poison and the sign of zero. */
Test(diagnose, division_and_leftovers)
{
    struct draw draw = {SEED + 2};

    setup(ALAR_F32, 5);
    for (int round = 0; round < DRAWN(200); round++) {
        draw_inputs(&draw, false);
        uint64_t sum = sum_of(&draw, bench.bits, 5);
        uint64_t mean = alar_fp_divide(ALAR_F32, sum, 5);
        bench.reduce.red = ALAR_AVG;
        bench.reduce.avg = ALAR_AVG_SUM_DIVIDE;
        diagnose(sum);
        cr_assert(has_cause(ALAR_CAUSE_UNDIVIDED, 0));
        diagnose(alar_fp_divide(ALAR_F32, mean, 5));
        cr_assert(has_cause(ALAR_CAUSE_DIVIDED_TWICE, 5));
        diagnose(alar_fp_divide(ALAR_F32, sum, 4));
        cr_assert(has_cause(ALAR_CAUSE_COUNT_OFF, 4));
        diagnose(alar_fp_divide(ALAR_F32, sum, 6));
        cr_assert(has_cause(ALAR_CAUSE_COUNT_OFF, 6));
        bench.reduce.red = ALAR_SUM;
        diagnose(mean);
        cr_assert(has_cause(ALAR_CAUSE_DIVIDED, 5));
    }
    bench.observations.has_poison = true;
    bench.observations.poison = 0xdeadbeef;
    diagnose(0xdeadbeef);
    cr_assert(has_cause(ALAR_CAUSE_POISON, 0));
    bench.observations.has_previous_value = true;
    bench.observations.previous_value = 0x12345678;
    diagnose(0x12345678);
    cr_assert(has_cause(ALAR_CAUSE_PREVIOUS, 0));
    for (uint32_t i = 0; i < 5; i++) {
        bench.bits[i] = 0;
    }
    diagnose(alar_dtype_sign(ALAR_F32));
    cr_assert(has_cause(ALAR_CAUSE_ZERO_SIGN, 0));
    teardown();
}

/* Adders: other models and widths, and double rounding. spec: N-02 */
Test(diagnose, adders_are_named)
{
    struct draw draw = {SEED + 3};
    unsigned found[ALAR_MODEL_COUNT] = {0};
    unsigned twice = 0;

    setup(ALAR_BF16, 6);
    for (int round = 0; round < DRAWN(600); round++) {
        enum alar_model model = (enum alar_model)(1 + round % 4);
        struct alar_adder adder = {ALAR_BF16, ALAR_BF16, model, false};
        const enum draw_family family[] = {DRAW_TIES, DRAW_LOSS, DRAW_TINY, DRAW_HUGE};
        draw_values(&draw, family[round % 4], ALAR_BF16, bench.bits, 6);
        uint64_t value = draw_sum(&draw, adder, bench.bits, 6, bench.room);
        if (is_illegal(value)) {
            diagnose(value);
            found[model] += has_cause(ALAR_CAUSE_MODEL, model);
            cr_assert(has_cause(ALAR_CAUSE_MODEL, model) ||
                          bench.diagnosis.count > bench.diagnosis.kept,
                      "seed %d round %d", SEED + 3, round);
        }
    }
    for (int model = 1; model < ALAR_MODEL_COUNT; model++) {
        cr_assert(found[model] > 0, "%s", alar_model_name((enum alar_model)model));
    }
    for (int round = 0; round < 20000 && twice == 0; round++) {
        bench.reduce.n = 3;
        bench.bits[0] = alar_fp_from_double(ALAR_BF16, 1);
        bench.bits[1] = alar_fp_from_double(ALAR_BF16, 0x1p-8);
        bench.bits[2] = alar_fp_from_double(ALAR_BF16, 0x1p-40);
        bench.reduce.adder.wide = ALAR_F64;
        uint64_t value = alar_fp_from_double(ALAR_BF16, 1);
        cr_assert(is_illegal(value));
        diagnose(value);
        twice += has_cause(ALAR_CAUSE_DOUBLE_ROUNDED, 0);
    }
    cr_assert(twice > 0);
    teardown();
}

/* Two ranks with the same contribution: which one is missing cannot be known, and is not claimed.
 */
Test(diagnose, equal_ranks_are_ambiguous)
{
    setup(ALAR_I32, 4);
    for (uint32_t i = 0; i < 4; i++) {
        bench.bits[i] = 100 + 7 * (i / 2);
        bench.previous[i] = bench.next[i] = 1;
    }
    diagnose(107 + 107 + 100);
    cr_assert_eq(bench.diagnosis.in_tier, 2u);
    cr_assert_not(bench.diagnosis.is_unique);
    cr_assert_eq(bench.diagnosis.kept_explanation[0].rank, 0u);
    cr_assert_eq(bench.diagnosis.kept_explanation[1].rank, 1u);
    teardown();
}

/* A pair is torn when one element is right and the other belongs to another step. */
Test(diagnose, torn_pairs)
{
    struct draw draw = {SEED + 4};

    setup(ALAR_F32, 4);
    draw_inputs(&draw, false);
    cr_assert_not(is_illegal(sum_of(&draw, bench.bits, 4)));
    struct alar_origin legal = bench.origin;
    diagnose(sum_of(&draw, bench.previous, 4));
    cr_assert(alar_diagnosis_is_torn(&legal, &bench.diagnosis));
    diagnose(bench.bits[2]);
    cr_assert_not(alar_diagnosis_is_torn(&legal, &bench.diagnosis));
    teardown();
}

/* Many ranks, integers, extremes, NaN: nothing breaks, and what can be named is. */
Test(diagnose, other_sizes_and_types)
{
    struct draw draw = {SEED + 5};

    setup(ALAR_F32, RANKS);
    draw_inputs(&draw, false);
    struct alar_explanation truth;
    uint64_t value = draw_fault(&draw, ALAR_CAUSE_DOUBLED, &truth);
    diagnose(value);
    cr_assert(is_named(&truth) || bench.diagnosis.count > bench.diagnosis.kept);
    cr_assert_neq(bench.diagnosis.cut, 0);
    bench.bits[3] = alar_fp_nan(ALAR_F32);
    diagnose(value);
    cr_assert_neq(bench.diagnosis.cut, 0);
    teardown();
    setup(ALAR_I32, 4);
    bench.reduce.adder.wide = ALAR_F32;
    for (uint32_t i = 0; i < 4; i++) {
        bench.bits[i] = 100 + 7 * i;
        bench.previous[i] = 1;
        bench.next[i] = 2;
    }
    diagnose(107 + 114 + 121);
    cr_assert_eq(bench.diagnosis.kept_explanation[0].cause, ALAR_CAUSE_MISSING);
    cr_assert(bench.diagnosis.is_unique);
    bench.reduce.red = ALAR_AVG;
    diagnose((100 + 107 + 114 + 121 + 121) / 4);
    cr_assert_eq(bench.diagnosis.kept_explanation[0].cause, ALAR_CAUSE_DOUBLED);
    cr_assert_eq(bench.diagnosis.kept_explanation[0].rank, 3u);
    bench.reduce.red = ALAR_MAX;
    diagnose(114);
    cr_assert_eq(bench.diagnosis.kept_explanation[0].cause, ALAR_CAUSE_OWN);
    bench.reduce.red = ALAR_MAXLOC;
    cr_assert_eq(alar_diagnose(&bench.reduce, 0, &bench.observations, bench.budget.scratch,
                               &bench.diagnosis),
                 ALAR_E_UNSUPPORTED);
    struct alar_scratch none = {bench.budget.scratch.memory, 64};
    cr_assert_eq(alar_diagnose(&bench.reduce, 0, &bench.observations, none, &bench.diagnosis),
                 ALAR_E_RANGE);
    cr_assert_str_eq(alar_cause_name(ALAR_CAUSE_MISSING), "missing");
    cr_assert_str_eq(alar_cause_name(ALAR_CAUSE_COUNT), "?");
    teardown();
}

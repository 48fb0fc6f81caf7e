/* Hypotheses about single ranks, pairs of ranks, subsets, and bits. */
#include "base/check.h"
#include "legal/hull.h"
#include "legal/hypothesis.h"

#include <math.h>

/* Up to here every hypothesis is judged; above only what the radius leaves plausible, and where
   there is no radius, nothing. */
enum {
    ALL_RANKS = 32,
    PAIR_RANKS = 8192,
    SUBSET_RANKS = 16
};

static double hypothesis_number(const struct alar_hypothesis *hypothesis, uint64_t bits)
{
    return alar_fp_to_double(hypothesis->reduce.adder.dtype, bits);
}

/* Is a fault that moves the sum by this much worth a judgement? */
static bool hypothesis_is_worth(struct alar_hypothesis *hypothesis, double moved)
{
    bool is_small = hypothesis->reduce.n <= ALL_RANKS;

    if (!hypothesis->is_bounded && !is_small) {
        alar_hypothesis_cut(hypothesis, hypothesis->tier);
    }
    return hypothesis->is_bounded ? alar_hypothesis_is_plausible(hypothesis, moved) : is_small;
}

/* Judges the sum with rank i's contribution replaced. altered holds all contributions. */
static void hypothesis_try_replacement(struct alar_hypothesis *hypothesis,
                                       struct alar_explanation explanation, uint64_t bits)
{
    uint32_t rank = explanation.rank;

    PRE(rank < hypothesis->reduce.n);
    uint64_t own = hypothesis->reduce.bits[rank];
    double moved = hypothesis_number(hypothesis, bits) - hypothesis_number(hypothesis, own);

    if (bits == own || !hypothesis_is_worth(hypothesis, moved)) {
        return;
    }
    hypothesis->altered[rank] = bits;
    if (alar_hypothesis_explains(hypothesis, hypothesis->altered, hypothesis->reduce.n,
                                 hypothesis->reduce.adder, &explanation.proof)) {
        alar_hypothesis_note(hypothesis, explanation);
    }
    hypothesis->altered[rank] = own;
}

static void hypothesis_restore(struct alar_hypothesis *hypothesis)
{
    for (uint32_t i = 0; i < hypothesis->reduce.n; i++) {
        hypothesis->altered[i] = hypothesis->reduce.bits[i];
    }
}

/* Judges the first n of altered. */
static void hypothesis_try_altered(struct alar_hypothesis *hypothesis, uint32_t n,
                                   struct alar_explanation explanation)
{
    if (alar_hypothesis_explains(hypothesis, hypothesis->altered, n, hypothesis->reduce.adder,
                                 &explanation.proof)) {
        alar_hypothesis_note(hypothesis, explanation);
    }
}

/* Without the rank: the last one moves into its place. With it twice: once more at the end. The
   average of integers is not asked as a sum, so there it counts as 0, or as twice as much. */
static void hypothesis_try_rank(struct alar_hypothesis *hypothesis, uint32_t rank)
{
    struct alar_explanation missing = {ALAR_CAUSE_MISSING, rank, 0, 0, ALAR_PROOF_ILLEGAL};
    struct alar_explanation doubled = {ALAR_CAUSE_DOUBLED, rank, 0, 0, ALAR_PROOF_ILLEGAL};
    struct alar_adder adder = hypothesis->reduce.adder;
    uint32_t n = hypothesis->reduce.n;

    PRE(rank < n);
    uint64_t own = hypothesis->reduce.bits[rank];
    double number = hypothesis_number(hypothesis, own);
    bool is_average = hypothesis->reduce.red == ALAR_AVG;

    /* With two ranks, one missing is the other's own contribution: that is said already. */
    if (n > 2 && hypothesis_is_worth(hypothesis, -number)) {
        hypothesis->altered[rank] = is_average ? 0 : hypothesis->reduce.bits[n - 1];
        hypothesis_try_altered(hypothesis, is_average ? n : n - 1, missing);
    }
    hypothesis->altered[rank] = is_average ? alar_fp_add(adder.dtype, adder.model, own, own) : own;
    hypothesis->altered[n] = own;
    if (hypothesis_is_worth(hypothesis, number)) {
        hypothesis_try_altered(hypothesis, is_average ? n : n + 1, doubled);
    }
    hypothesis->altered[rank] = own;
}

void alar_hypothesis_try_ranks(struct alar_hypothesis *hypothesis)
{
    hypothesis_restore(hypothesis);
    for (uint32_t i = 0; i < hypothesis->reduce.n; i++) {
        hypothesis_try_rank(hypothesis, i);
    }
}

void alar_hypothesis_try_pairs(struct alar_hypothesis *hypothesis)
{
    uint32_t n = hypothesis->reduce.n;
    enum alar_avg avg = hypothesis->avg;
    enum alar_dtype dtype = hypothesis->reduce.adder.dtype;
    const uint64_t *steps[] = {hypothesis->observations->previous, hypothesis->observations->next};

    if (n > PAIR_RANKS) {
        alar_hypothesis_cut(hypothesis, 3);
        return;
    }
    hypothesis_restore(hypothesis);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++) {
            struct alar_explanation replaced = {ALAR_CAUSE_REPLACED, i, j, 0, ALAR_PROOF_ILLEGAL};
            hypothesis_try_replacement(hypothesis, replaced, hypothesis->reduce.bits[j]);
        }
        for (int step = 0; step < 2; step++) {
            struct alar_explanation other = {step ? ALAR_CAUSE_EARLY : ALAR_CAUSE_STALE, i, 0, 0,
                                             ALAR_PROOF_ILLEGAL};
            if (steps[step]) {
                uint64_t bits = steps[step][i];
                hypothesis_try_replacement(hypothesis, other,
                                           alar_average_before(avg, dtype, bits, n));
            }
        }
    }
}

/* The hull of every subset is a by-product of one hull. */
void alar_hypothesis_try_subsets(struct alar_hypothesis *hypothesis)
{
    uint32_t n = hypothesis->reduce.n;
    struct alar_scratch scratch = hypothesis->scratch;
    struct alar_hull hull;
    bool is_possible = alar_dtype_is_float(hypothesis->reduce.adder.dtype) &&
                       hypothesis->reduce.red == ALAR_SUM && n >= 4;

    if (!is_possible) {
        return;
    }
    struct alar_range *range =
        n <= SUBSET_RANKS ? alar_scratch_take(&scratch, UINT64_C(1) << n, sizeof *range) : NULL;
    if (!range) {
        alar_hypothesis_cut(hypothesis, 4);
        return;
    }
    alar_hull_build(&hull, hypothesis->reduce.adder, hypothesis->reduce.bits, n, range);
    for (uint32_t subset = 1; subset < UINT32_C(1) << n; subset++) {
        uint32_t size = 0;
        bool is_inside = false;
        for (uint32_t rest = subset; rest; rest &= rest - 1) {
            size++;
        }
        for (uint32_t i = 0; i < hypothesis->sums && size >= 2 && size <= n - 2; i++) {
            is_inside |= alar_hull_contains(&hull, subset, hypothesis->sum[i]);
        }
        if (is_inside) {
            alar_hypothesis_note(hypothesis, (struct alar_explanation){ALAR_CAUSE_SUBSET, 0, 0,
                                                                       subset, ALAR_PROOF_HULL});
        }
    }
}

void alar_hypothesis_try_flips(struct alar_hypothesis *hypothesis)
{
    enum alar_dtype dtype = hypothesis->reduce.adder.dtype;
    uint32_t bits = 8 * (uint32_t)alar_dtype_bytes(dtype);
    enum alar_proof proof;
    struct alar_hypothesis result = *hypothesis;

    hypothesis_restore(hypothesis);
    for (uint32_t i = 0; i < hypothesis->reduce.n && hypothesis->sums > 0; i++) {
        for (uint32_t bit = 0; bit < bits; bit++) {
            struct alar_explanation flipped = {ALAR_CAUSE_FLIPPED, i, bit, 0, ALAR_PROOF_ILLEGAL};
            hypothesis_try_replacement(hypothesis, flipped,
                                       hypothesis->reduce.bits[i] ^ UINT64_C(1) << bit);
        }
    }
    result.reduce = *hypothesis->asked;
    result.sums = 1;
    for (uint32_t bit = 0; bit < bits; bit++) {
        result.sum[0] = hypothesis->value ^ UINT64_C(1) << bit;
        if (alar_hypothesis_explains(&result, hypothesis->asked->bits, hypothesis->asked->n,
                                     hypothesis->asked->adder, &proof)) {
            alar_hypothesis_note(
                hypothesis, (struct alar_explanation){ALAR_CAUSE_RESULT_FLIPPED, 0, bit, 0, proof});
        }
    }
}

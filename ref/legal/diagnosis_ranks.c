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

static double inquiry_number(const struct alar_inquiry *inquiry, uint64_t bits)
{
    return alar_fp_to_double(inquiry->reduce.adder.dtype, bits);
}

/* Is a fault that moves the sum by this much worth a judgement? */
static bool inquiry_is_worth(struct alar_inquiry *inquiry, double moved)
{
    bool is_small = inquiry->reduce.n <= ALL_RANKS;

    if (!inquiry->is_bounded && !is_small) {
        alar_inquiry_cut(inquiry, inquiry->tier);
    }
    return inquiry->is_bounded ? alar_inquiry_is_plausible(inquiry, moved) : is_small;
}

/* Judges the sum with rank i's contribution replaced. altered holds all contributions. */
static void inquiry_try_replacement(struct alar_inquiry *inquiry,
                                    struct alar_explanation explanation, uint64_t bits)
{
    uint32_t rank = explanation.rank;
    uint64_t own = inquiry->reduce.bits[rank];

    double moved = inquiry_number(inquiry, bits) - inquiry_number(inquiry, own);

    if (bits == own || !inquiry_is_worth(inquiry, moved)) {
        return;
    }
    inquiry->altered[rank] = bits;
    if (alar_inquiry_explains(inquiry, inquiry->altered, inquiry->reduce.n, inquiry->reduce.adder,
                              &explanation.rung)) {
        alar_inquiry_note(inquiry, explanation);
    }
    inquiry->altered[rank] = own;
}

static void inquiry_restore(struct alar_inquiry *inquiry)
{
    for (uint32_t i = 0; i < inquiry->reduce.n; i++) {
        inquiry->altered[i] = inquiry->reduce.bits[i];
    }
}

/* Judges the first n of altered. */
static void inquiry_try_altered(struct alar_inquiry *inquiry, uint32_t n,
                                struct alar_explanation explanation)
{
    if (alar_inquiry_explains(inquiry, inquiry->altered, n, inquiry->reduce.adder,
                              &explanation.rung)) {
        alar_inquiry_note(inquiry, explanation);
    }
}

/* Without the rank: the last one moves into its place. With it twice: once more at the end. The
   average of integers is not asked as a sum, so there it counts as 0, or as twice as much. */
static void inquiry_try_rank(struct alar_inquiry *inquiry, uint32_t rank)
{
    struct alar_explanation missing = {ALAR_CAUSE_MISSING, rank, 0, 0, ALAR_RUNG_ILLEGAL};
    struct alar_explanation doubled = {ALAR_CAUSE_DOUBLED, rank, 0, 0, ALAR_RUNG_ILLEGAL};
    struct alar_adder adder = inquiry->reduce.adder;
    uint32_t n = inquiry->reduce.n;
    uint64_t own = inquiry->reduce.bits[rank];
    double number = inquiry_number(inquiry, own);
    bool is_average = inquiry->reduce.red == ALAR_RED_AVG;

    /* With two ranks, one missing is the other's own contribution: that is said already. */
    if (n > 2 && inquiry_is_worth(inquiry, -number)) {
        inquiry->altered[rank] = is_average ? 0 : inquiry->reduce.bits[n - 1];
        inquiry_try_altered(inquiry, is_average ? n : n - 1, missing);
    }
    inquiry->altered[rank] = is_average ? alar_fp_add(adder.dtype, adder.model, own, own) : own;
    inquiry->altered[n] = own;
    if (inquiry_is_worth(inquiry, number)) {
        inquiry_try_altered(inquiry, is_average ? n : n + 1, doubled);
    }
    inquiry->altered[rank] = own;
}

void alar_inquiry_try_ranks(struct alar_inquiry *inquiry)
{
    inquiry_restore(inquiry);
    for (uint32_t i = 0; i < inquiry->reduce.n; i++) {
        inquiry_try_rank(inquiry, i);
    }
}

void alar_inquiry_try_pairs(struct alar_inquiry *inquiry)
{
    uint32_t n = inquiry->reduce.n;
    enum alar_avg avg = inquiry->avg;
    enum alar_dtype dtype = inquiry->reduce.adder.dtype;
    const uint64_t *steps[] = {inquiry->clues->previous, inquiry->clues->next};

    if (n > PAIR_RANKS) {
        alar_inquiry_cut(inquiry, 3);
        return;
    }
    inquiry_restore(inquiry);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++) {
            struct alar_explanation replaced = {ALAR_CAUSE_REPLACED, i, j, 0, ALAR_RUNG_ILLEGAL};
            inquiry_try_replacement(inquiry, replaced, inquiry->reduce.bits[j]);
        }
        for (int step = 0; step < 2; step++) {
            struct alar_explanation other = {step ? ALAR_CAUSE_EARLY : ALAR_CAUSE_STALE, i, 0, 0,
                                             ALAR_RUNG_ILLEGAL};
            if (steps[step]) {
                uint64_t bits = steps[step][i];
                inquiry_try_replacement(inquiry, other, alar_average_before(avg, dtype, bits, n));
            }
        }
    }
}

/* The hull of every subset is a by-product of one hull. */
void alar_inquiry_try_subsets(struct alar_inquiry *inquiry)
{
    uint32_t n = inquiry->reduce.n;
    struct alar_scratch scratch = inquiry->scratch;
    struct alar_hull hull;
    bool is_possible = alar_dtype_is_float(inquiry->reduce.adder.dtype) &&
                       inquiry->reduce.red == ALAR_RED_SUM && n >= 4;

    if (!is_possible) {
        return;
    }
    struct alar_range *range =
        n <= SUBSET_RANKS ? alar_scratch_take(&scratch, UINT64_C(1) << n, sizeof *range) : NULL;
    if (!range) {
        alar_inquiry_cut(inquiry, 4);
        return;
    }
    alar_hull_build(&hull, inquiry->reduce.adder, inquiry->reduce.bits, n, range);
    for (uint32_t subset = 1; subset < UINT32_C(1) << n; subset++) {
        uint32_t size = 0;
        bool is_inside = false;
        for (uint32_t rest = subset; rest; rest &= rest - 1) {
            size++;
        }
        for (uint32_t i = 0; i < inquiry->sums && size >= 2 && size <= n - 2; i++) {
            is_inside |= alar_hull_contains(&hull, subset, inquiry->sum[i]);
        }
        if (is_inside) {
            alar_inquiry_note(inquiry, (struct alar_explanation){ALAR_CAUSE_SUBSET, 0, 0, subset,
                                                                 ALAR_RUNG_HULL});
        }
    }
}

void alar_inquiry_try_flips(struct alar_inquiry *inquiry)
{
    enum alar_dtype dtype = inquiry->reduce.adder.dtype;
    uint32_t bits = 8 * (uint32_t)alar_dtype_bytes(dtype);
    enum alar_rung rung;
    struct alar_inquiry result = *inquiry;

    inquiry_restore(inquiry);
    for (uint32_t i = 0; i < inquiry->reduce.n && inquiry->sums > 0; i++) {
        for (uint32_t bit = 0; bit < bits; bit++) {
            struct alar_explanation flipped = {ALAR_CAUSE_FLIPPED, i, bit, 0, ALAR_RUNG_ILLEGAL};
            inquiry_try_replacement(inquiry, flipped, inquiry->reduce.bits[i] ^ UINT64_C(1) << bit);
        }
    }
    result.reduce = *inquiry->asked;
    result.sums = 1;
    for (uint32_t bit = 0; bit < bits; bit++) {
        result.sum[0] = inquiry->value ^ UINT64_C(1) << bit;
        if (alar_inquiry_explains(&result, inquiry->asked->bits, inquiry->asked->n,
                                  inquiry->asked->adder, &rung)) {
            alar_inquiry_note(
                inquiry, (struct alar_explanation){ALAR_CAUSE_RESULT_FLIPPED, 0, bit, 0, rung});
        }
    }
}

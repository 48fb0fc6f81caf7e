/* Every order of addition, tried one by one: an answer that shares nothing with the oracle's but
   the rounding of a single addition. */
#include "mutant_fold.h"

#include "numbers/fp.h"

enum {
    SUBSETS = 1 << ALAR_MUTANT_RANKS_MAX,
    VALUES_MAX = 945 /* trees over six leaves */
};

/* The values that the ranks of one subset can have together. */
struct reached {
    uint32_t count;
    uint64_t value[VALUES_MAX];
};

static void reached_add(enum alar_dtype dtype, struct reached *reached, uint64_t value)
{
    for (uint32_t i = 0; i < reached->count; i++) {
        if (alar_fp_is_same(dtype, reached->value[i], value)) {
            return;
        }
    }
    reached->value[reached->count++] = value;
}

/* Joins every value of one part with every value of the other. */
static void reached_join(enum alar_dtype dtype, struct reached *whole, const struct reached *a,
                         const struct reached *b)
{
    for (uint32_t i = 0; i < a->count; i++) {
        for (uint32_t j = 0; j < b->count; j++) {
            reached_add(dtype, whole, alar_fp_add(dtype, ALAR_NEAREST, a->value[i], b->value[j]));
        }
    }
}

/* All sums of the terms, by all trees over all orders. */
static const struct reached *sums_reach(enum alar_dtype dtype, const uint64_t *term, uint32_t n)
{
    static _Thread_local struct reached reached[SUBSETS];

    for (uint32_t set = 1; set < 1U << n; set++) {
        reached[set].count = 0;
        if ((set & (set - 1)) == 0) {
            uint32_t rank = 0;

            while (set >> (rank + 1) != 0) {
                rank++;
            }
            reached_add(dtype, &reached[set], term[rank]);
        }
        /* Each split once: the part that holds the lowest rank is `part`. */
        for (uint32_t part = (set - 1) & set; part != 0; part = (part - 1) & set) {
            if (part & set & (~set + 1)) {
                reached_join(dtype, &reached[set], &reached[part], &reached[set & ~part]);
            }
        }
    }
    return &reached[(1U << n) - 1];
}

static bool reached_has(enum alar_dtype dtype, const struct reached *reached, uint64_t value)
{
    for (uint32_t i = 0; i < reached->count; i++) {
        if (alar_fp_is_same(dtype, reached->value[i], value)) {
            return true;
        }
    }
    return false;
}

/* Divided after the sum or multiplied after it, in whatever order the sum was made. */
static bool average_is_after(const struct mutant_fold *fold, const uint64_t *term, uint64_t inverse,
                             uint64_t value)
{
    const struct reached *sums = sums_reach(fold->dtype, term, fold->ranks);

    for (uint32_t i = 0; i < sums->count; i++) {
        uint64_t sum = sums->value[i];

        if (alar_fp_is_same(fold->dtype, alar_fp_divide(fold->dtype, sum, fold->ranks), value) ||
            alar_fp_is_same(fold->dtype, alar_fp_multiply(fold->dtype, ALAR_NEAREST, sum, inverse),
                            value)) {
            return true;
        }
    }
    return false;
}

static bool average_is_legal(const struct mutant_fold *fold, const uint64_t *term, uint64_t value)
{
    uint64_t one = alar_fp_from_double(fold->dtype, 1.0);
    uint64_t inverse = alar_fp_divide(fold->dtype, one, fold->ranks);
    uint64_t divided[ALAR_MUTANT_RANKS_MAX];
    uint64_t multiplied[ALAR_MUTANT_RANKS_MAX];

    for (uint32_t r = 0; r < fold->ranks; r++) {
        divided[r] = alar_fp_divide(fold->dtype, term[r], fold->ranks);
        multiplied[r] = alar_fp_multiply(fold->dtype, ALAR_NEAREST, term[r], inverse);
    }
    return average_is_after(fold, term, inverse, value) ||
           reached_has(fold->dtype, sums_reach(fold->dtype, divided, fold->ranks), value) ||
           reached_has(fold->dtype, sums_reach(fold->dtype, multiplied, fold->ranks), value);
}

bool mutant_fold_is_illegal(const struct mutant_fold *fold, const uint64_t *out)
{
    bool has_orders = alar_dtype_is_float(fold->dtype) &&
                      (fold->reduction == ALAR_SUM || fold->reduction == ALAR_AVG);
    uint64_t right[1] = {0};
    uint64_t term[ALAR_MUTANT_RANKS_MAX];

    for (uint32_t e = 0; e < fold->count; e++) {
        struct mutant_fold single = *fold;

        for (uint32_t r = 0; r < fold->ranks; r++) {
            term[r] = fold->now[(size_t)r * fold->count + e];
        }
        single.count = 1;
        single.now = term;
        mutant_fold_right(&single, term, right);
        if (alar_fp_is_same(fold->dtype, right[0], out[e])) {
            continue;
        }
        if (!has_orders ||
            (fold->reduction == ALAR_SUM &&
             !reached_has(fold->dtype, sums_reach(fold->dtype, term, fold->ranks), out[e]))) {
            return true;
        }
        if (fold->reduction == ALAR_AVG && !average_is_legal(fold, term, out[e])) {
            return true;
        }
    }
    return false;
}

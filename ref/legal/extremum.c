/* MAX and MIN: what each policy for NaN allows. */
#include "legal/provenance.h"

/* Is a beyond b in the direction of the reduction? Zeros of either sign are level. */
static bool extremum_is_beyond(const struct alar_reduce *reduce, uint64_t a, uint64_t b)
{
    enum alar_dtype dtype = reduce->adder.dtype;
    bool is_max = reduce->red == ALAR_MAX;

    return alar_fp_ulps(dtype, a, b) != 0 &&
           (alar_fp_rank(dtype, a) > alar_fp_rank(dtype, b)) == is_max;
}

static bool extremum_is_contribution(const struct alar_reduce *reduce, uint64_t value)
{
    for (uint32_t i = 0; i < reduce->n; i++) {
        if (alar_fp_is_same(reduce->adder.dtype, reduce->bits[i], value)) {
            return true;
        }
    }
    return false;
}

/* With "a > b ? a : b", one NaN lets any contribution win, as the order may have it. */
bool alar_extremum_is_legal(const struct alar_reduce *reduce, uint64_t value, uint64_t *legal)
{
    enum alar_dtype dtype = reduce->adder.dtype;
    uint64_t best = 0;
    uint32_t nans = 0;
    bool has_best = false;

    for (uint32_t i = 0; i < reduce->n; i++) {
        uint64_t bits = reduce->bits[i];
        if (alar_fp_is_nan(dtype, bits)) {
            nans++;
        } else if (!has_best || extremum_is_beyond(reduce, bits, best)) {
            best = bits;
            has_best = true;
        }
    }
    bool is_lost = nans > 0 && (reduce->nan == ALAR_NAN_PROPAGATE || !has_best);
    bool is_free = nans > 0 && (reduce->nan == ALAR_NAN_IDIOM || reduce->nan == ALAR_NAN_ANY);

    *legal = is_lost ? alar_fp_nan(dtype) : best;
    if (is_lost || alar_fp_is_nan(dtype, value)) {
        return alar_fp_is_nan(dtype, value) && (is_lost || is_free);
    }
    return extremum_is_contribution(reduce, value) &&
           (is_free || alar_fp_ulps(dtype, value, best) == 0);
}

bool alar_extremum_is_open(const struct alar_reduce *reduce)
{
    enum alar_dtype dtype = reduce->adder.dtype;
    bool is_any = reduce->nan == ALAR_NAN_IDIOM || reduce->nan == ALAR_NAN_ANY;
    bool has_zero[2] = {false, false};
    bool is_varied = false;
    bool has_nan = false;

    for (uint32_t i = 0; i < reduce->n; i++) {
        uint64_t bits = reduce->bits[i];

        has_nan |= alar_fp_is_nan(dtype, bits);
        is_varied |= !alar_fp_is_same(dtype, bits, reduce->bits[0]);
        if (alar_dtype_is_float(dtype) && alar_fp_is_zero(dtype, bits)) {
            has_zero[alar_fp_is_negative(dtype, bits)] = true;
        }
    }
    return is_varied && ((has_nan && is_any) || (has_zero[0] && has_zero[1]));
}

/* Reductions other than sums of floats: maxima, integers, products. */
#include "judge_state.h"

#include "fp.h"

/* Is a below b? Floats that are no NaN by value, zeros of both signs alike; integers as numbers. */
static bool value_below(enum alar_dtype dtype, uint64_t a, uint64_t b)
{
    return alar_dtype_is_float(dtype) ? alar_fp_to_double(dtype, a) < alar_fp_to_double(dtype, b)
                                      : alar_int_value(dtype, a) < alar_int_value(dtype, b);
}

/* Is the value one that ends up on top of all numbers, or at the bottom? */
static bool extreme_is_top(enum alar_dtype dtype, enum alar_red red, const uint64_t *column,
                           uint32_t n, uint64_t value)
{
    bool is_one = false;

    for (uint32_t m = 0; m < n; m++) {
        if (alar_fp_is_nan(dtype, column[m])) {
            continue;
        }
        is_one = is_one || column[m] == value;
        if (red == ALAR_RED_MAX ? value_below(dtype, value, column[m])
                                : value_below(dtype, column[m], value)) {
            return false;
        }
    }
    return is_one;
}

static enum judge_legality value_extreme(const struct alar_judge *judge, const struct judge_op *op,
                                         const uint64_t *column, uint64_t value)
{
    enum alar_nan_policy policy = judge->contract.nan;
    uint32_t nans = 0;
    bool is_one = false;

    for (uint32_t m = 0; m < op->members; m++) {
        nans += alar_fp_is_nan(op->dtype, column[m]);
        is_one = is_one || alar_fp_is_same(op->dtype, column[m], value);
    }
    if (nans == 0 || (nans < op->members && policy == ALAR_NAN_IGNORE)) {
        return extreme_is_top(op->dtype, op->red, column, op->members, value) ? JUDGE_LEGAL
                                                                              : JUDGE_ILLEGAL;
    }
    if (policy == ALAR_NAN_PROPAGATE || nans == op->members) {
        return alar_fp_is_nan(op->dtype, value) ? JUDGE_LEGAL : JUDGE_NAN_IS_LOST;
    }
    return is_one ? JUDGE_LEGAL : JUDGE_ILLEGAL;
}

/* Integers have one legal value, modulo 2^w. spec: N-04 */
static uint64_t value_integer(const struct judge_op *op, const uint64_t *column)
{
    uint64_t result = column[0], mask = alar_dtype_mask(op->dtype);

    for (uint32_t m = 1; m < op->members; m++) {
        result = (op->red == ALAR_RED_PRODUCT ? result * column[m] : result + column[m]) & mask;
    }
    return op->red == ALAR_RED_AVG ? alar_fp_divide(op->dtype, result, op->members) : result;
}

/* Products of floats: the two folds are tried, two ranks have one order only; otherwise undecided.
 */
static enum judge_legality value_product(const struct judge_op *op, const uint64_t *column,
                                         uint64_t value)
{
    uint32_t n = op->members;
    uint64_t left = column[0], right = column[n - 1];
    bool is_nan = alar_fp_is_nan(op->dtype, left);

    for (uint32_t m = 1; m < n; m++) {
        left = alar_fp_multiply(op->dtype, left, column[m]);
        right = alar_fp_multiply(op->dtype, right, column[n - 1 - m]);
        is_nan = is_nan || alar_fp_is_nan(op->dtype, column[m]);
    }
    if (alar_fp_is_same(op->dtype, left, value) || alar_fp_is_same(op->dtype, right, value)) {
        return JUDGE_LEGAL;
    }
    return n <= 2 || is_nan ? JUDGE_ILLEGAL : JUDGE_UNDECIDED;
}

enum judge_legality judge_element(const struct alar_judge *judge, const struct judge_op *op,
                                  uint32_t element, uint64_t value)
{
    const uint64_t *column = judge_column(judge, op, element);

    if (op->red == ALAR_RED_MAX || op->red == ALAR_RED_MIN) {
        return value_extreme(judge, op, column, value);
    }
    if (!alar_dtype_is_float(op->dtype)) {
        return value == value_integer(op, column) ? JUDGE_LEGAL : JUDGE_ILLEGAL;
    }
    return value_product(op, column, value);
}

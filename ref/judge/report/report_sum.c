/* Sums and quotients with everything that rounding can make of them.

   Every addition and division may have been rounded in the operation's own precision or in fp64,
   and sums may have been taken in any order. Rounding is monotone, so the least and the greatest
   result come from the least and the greatest operands. A sum of k terms of precision p is off by
   at most (k - 1) 2^-p times the sum of their magnitudes, whatever its order, and by nothing at all
   when every partial sum is a value of that precision. spec: O-52 */
#include "judge/report/report.h"

#include "numbers/fp.h"

#include <math.h>

/* The last 2^-52 covers the additions made here, which round as well. */
static const double value_own = 0x1p-52;

static int value_precision(const struct report_view *view)
{
    return view->is_exact || !alar_dtype_is_float(view->dtype) ? 53
                                                               : alar_dtype_precision(view->dtype);
}

static int lowest_bit(double value)
{
    struct alar_fp_parts parts = alar_fp_unpack(ALAR_F64, alar_fp_bits(value));
    int exponent = parts.exponent;

    if (parts.significand == 0) {
        return INT32_MAX;
    }
    while ((parts.significand & 1) == 0) {
        parts.significand >>= 1;
        exponent++;
    }
    return exponent;
}

void report_fold_add(struct report_fold *fold, double low, double high)
{
    double most = fabs(low) > fabs(high) ? fabs(low) : fabs(high);

    if (!isfinite(low) || !isfinite(high)) {
        fold->is_special = true;
        return;
    }
    int bit = lowest_bit(low) < lowest_bit(high) ? lowest_bit(low) : lowest_bit(high);
    fold->lowest = fold->terms == 0 || bit < fold->lowest ? bit : fold->lowest;
    fold->low += low;
    fold->high += high;
    fold->magnitude += most;
    fold->terms++;
}

/* The sum, with what its additions may have rounded. */
struct report_span report_fold_sum(const struct report_view *view, const struct report_fold *fold)
{
    struct report_span span = {REPORT_NUMBER, fold->low, fold->high};
    int precision = value_precision(view);
    bool is_whole = fold->magnitude <= ldexp(1.0, precision) * ldexp(1.0, fold->lowest);

    if (fold->is_special || !isfinite(fold->magnitude)) {
        span.kind = REPORT_SPECIAL;
    } else if (fold->terms > 1 && !is_whole) {
        double error =
            (double)(fold->terms - 1) * (ldexp(1.0, -precision) + value_own) * fold->magnitude;

        span.low = nextafter(span.low - error, -HUGE_VAL);
        span.high = nextafter(span.high + error, HUGE_VAL);
    }
    return span;
}

/* Rounded in the operation's precision, or not. */
static double rounded(const struct report_view *view, double value, bool is_up)
{
    enum alar_dtype dtype = alar_dtype_is_float(view->dtype) ? view->dtype : ALAR_F64;
    double narrow = alar_fp_to_double(dtype, alar_fp_from_double(dtype, value));

    return (narrow > value) == is_up ? narrow : value;
}

struct report_span report_divided(const struct report_view *view, struct report_span span,
                                  double weight)
{
    if (span.kind != REPORT_NUMBER) {
        return span;
    }
    if (!(weight > 0 || weight < 0)) {
        span.kind = isfinite(weight) ? REPORT_EMPTY : REPORT_SPECIAL;
        return span;
    }
    span.low = rounded(view, span.low / weight, false);
    span.high = rounded(view, span.high / weight, true);
    if (!isfinite(span.low) || !isfinite(span.high)) {
        span.kind = REPORT_SPECIAL;
    }
    return span;
}

struct report_span report_scale(struct report_span span, double factor)
{
    double wide = fabs(factor) * 0x1p-23;

    if (span.kind == REPORT_NUMBER) {
        span.low = span.low * factor - fabs(span.low) * wide;
        span.high = span.high * factor + fabs(span.high) * wide;
    }
    return span;
}

void report_fold_span(struct report_fold *fold, struct report_span span)
{
    bool is_number = span.kind == REPORT_NUMBER;

    report_fold_add(fold, is_number ? span.low : (double)NAN, is_number ? span.high : (double)NAN);
}

/* Which of the bounds holds for a reduction, and what it admits. */
#include "base/check.h"
#include "legal/bound.h"
#include "numbers/exact.h"
#include <math.h>

/* No partial sum can round when all are multiples of g below 2^p g: a plain sum of magnitudes in
   double is then exact, and otherwise it is not below that limit. */
static bool bound_is_order_free(const struct alar_bound *bound, struct alar_adder adder,
                                const double *value, uint32_t n)
{
    int precision = alar_dtype_precision(adder.wide);
    int normal = alar_dtype_lowest(adder.wide) + precision - 1;
    double sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        sum += fabs(value[i]);
    }
    if (bound->granularity == INT32_MAX) {
        return true;
    }
    double largest = alar_fp_to_double(adder.wide, alar_fp_largest(adder.wide, false));
    bool is_flushed = adder.model == ALAR_FLUSH && bound->granularity < normal;

    double limit = ldexp(1, bound->granularity + precision);

    return !is_flushed && sum <= largest && (precision < 53 ? sum <= limit : sum < limit);
}

/* What flushing and the last step to a narrower dtype add to a radius. */
static double bound_extra(struct alar_adder adder, double magnitude, uint32_t n, double growth,
                          double radius)
{
    double extra = 0;
    int precision = alar_dtype_precision(adder.dtype);
    int lowest = alar_dtype_lowest(adder.dtype);

    if (adder.model == ALAR_FLUSH) {
        /* Contributions are flushed where they are subnormal in their own, larger-grained dtype. */
        extra += 2.0 * n * ldexp(1, lowest + precision - 1) * (1 + growth);
    }
    if (adder.wide != adder.dtype) {
        double last =
            adder.model == ALAR_FLUSH ? ldexp(1, lowest + precision - 1) : ldexp(1, lowest);
        extra += ldexp(magnitude + radius + extra, 1 - precision) + last;
    }
    return extra;
}

static void bound_evaluate(struct alar_bound *bound, struct alar_adder adder, const uint64_t *bits,
                           uint32_t n, uint32_t height, double *scratch, bool is_sharp)
{
    int precision = alar_dtype_precision(adder.wide);
    bool is_nearest = adder.model != ALAR_TRUNCATE;
    bool is_plain = is_nearest && adder.model != ALAR_FLUSH;
    bool is_exact = precision >= alar_dtype_precision(adder.dtype) &&
                    alar_dtype_lowest(adder.wide) <= alar_dtype_lowest(adder.dtype);
    double *value = scratch + n;

    PRE(n >= 1 && n <= ALAR_BOUND_RANKS_MAX);
    if (adder.is_product) {
        alar_bound_product(bound, adder, bits, n);
        return;
    }
    *bound = (struct alar_bound){.classic = INFINITY, .sharp = INFINITY, .by_height = INFINITY};
    for (uint32_t i = 0; i < n; i++) {
        value[i] = alar_fp_to_double(adder.dtype, bits[i]);
        bound->magnitude += fabs(value[i]);
        is_exact = is_exact && alar_fp_is_finite(adder.dtype, bits[i]);
    }
    bound->magnitude = alar_bound_up(bound->magnitude, n);
    double growth = alar_bound_growth(height, ldexp(1, is_nearest ? -precision : 1 - precision));
    if (!is_exact) {
        return;
    }
    bound->granularity = alar_bound_granularity(adder.dtype, bits, n);
    bound->is_order_free = bound_is_order_free(bound, adder, value, n);
    if (bound->is_order_free) {
        bound->only = alar_adder_fold(adder, bits, n);
    }
    if (is_plain) {
        bound->classic = alar_bound_classic(bound->magnitude, n, precision);
        bound->sharp = is_sharp ? alar_bound_sharp(value, n, precision, scratch) : INFINITY;
    }
    bound->by_height = alar_bound_up(bound->magnitude * growth, n);
    bound->radius = fmin(bound->by_height, fmin(bound->classic, bound->sharp));
    /* Every partial sum is a sum of fewer, and the classic bound grows with their number. */
    double error = fmin(bound->magnitude * growth, bound->classic);
    double most = alar_bound_up(bound->magnitude + error, n);
    double largest = alar_fp_to_double(adder.wide, alar_fp_largest(adder.wide, false));
    double narrow = alar_fp_to_double(adder.dtype, alar_fp_largest(adder.dtype, false));
    bool is_clamped = adder.model == ALAR_TRUNCATE || adder.model == ALAR_SATURATE;

    bound->can_overflow = !(most <= largest && most <= narrow);
    bound->radius = alar_bound_up(
        bound->radius + bound_extra(adder, bound->magnitude, n, growth, bound->radius), n);
    bound->is_valid = isfinite(bound->radius) && !(bound->can_overflow && is_clamped);
}

void alar_bound_evaluate(struct alar_bound *bound, struct alar_adder adder, const uint64_t *bits,
                         uint32_t n, uint32_t height, double *scratch)
{
    bound_evaluate(bound, adder, bits, n, height, scratch, true);
}

void alar_bound_estimate(struct alar_bound *bound, struct alar_adder adder, const uint64_t *bits,
                         uint32_t n, uint32_t height, double *scratch)
{
    bound_evaluate(bound, adder, bits, n, height, scratch, false);
}

bool alar_bound_admits(const struct alar_bound *bound, enum alar_dtype dtype, const uint64_t *bits,
                       uint32_t n, uint64_t value)
{
    struct alar_exact error;

    PRE(bound->is_valid);
    PRE(alar_fp_is_finite(dtype, value));
    if (bound->is_product) {
        double magnitude = fabs(alar_fp_to_double(dtype, value));

        return alar_fp_is_negative(dtype, value) == bound->is_negative &&
               magnitude >= bound->least && magnitude <= bound->most;
    }
    alar_exact_init(&error);
    for (uint32_t i = 0; i < n; i++) {
        alar_exact_add(&error, dtype, bits[i]);
    }
    alar_exact_subtract(&error, dtype, value);
    double least = alar_fp_double(alar_exact_round(&error, 1, ALAR_F64, ALAR_TRUNCATE));

    return fabs(least) <= bound->radius;
}

/* The hull: one pass over all splits of all subsets, in three speeds of addition. */
#include "legal/hull.h"

#include "base/check.h"

#include <math.h>

#if defined(__GNUC__)
#define HULL_INLINE static inline __attribute__((always_inline))
#else
#define HULL_INLINE static inline
#endif

static double double_of(enum alar_dtype dtype, uint64_t bits)
{
    return alar_fp_to_double(dtype, bits);
}

static double round_f64(enum alar_dtype dtype, double sum)
{
    (void)dtype;
    return sum;
}

/* Rounding to double first is harmless: 53 >= 2 * 24 + 2, and tiny sums are exact. */
static double round_f32(enum alar_dtype dtype, double sum)
{
    (void)dtype;
    return (double)(float)sum;
}

/* For f16 and bf16: the last bits of the double rounded off as integers; where the format is
   subnormal, a large constant pushes them off the end instead. 53 >= 2 * 11 + 2. */
static double round_short(enum alar_dtype dtype, double sum)
{
    bool is_half = dtype == ALAR_F16;
    double normal = is_half ? 0x1p-14 : 0x1p-126;
    double push = is_half ? 0x1.8p28 : 0x1.8p-81;
    double largest = is_half ? 65504 : 0x1.fep127;
    int cut = is_half ? 53 - 11 : 53 - 8;

    if (fabs(sum) < normal) {
        return (sum + push) - push;
    }
    if (!isfinite(sum)) {
        return sum;
    }
    uint64_t bits = alar_fp_bits(sum);
    bits += (UINT64_C(1) << (cut - 1)) - 1 + (bits >> cut & 1);
    sum = alar_fp_double(bits >> cut << cut);
    return fabs(sum) <= largest ? sum : copysign(INFINITY, sum);
}

/* To nearest. */
static double round_nearest(enum alar_dtype dtype, double sum)
{
    return dtype == ALAR_F64   ? round_f64(dtype, sum)
           : dtype == ALAR_F32 ? round_f32(dtype, sum)
                               : round_short(dtype, sum);
}

static double sum_f64(struct alar_adder adder, double a, double b)
{
    (void)adder;
    return a + b;
}

static double sum_any(struct alar_adder adder, double a, double b)
{
    uint64_t left = alar_fp_convert(ALAR_F64, adder.wide, ALAR_NEAREST, alar_fp_bits(a));
    uint64_t right = alar_fp_convert(ALAR_F64, adder.wide, ALAR_NEAREST, alar_fp_bits(b));

    return double_of(adder.wide, alar_fp_add(adder.wide, adder.model, left, right));
}

double alar_hull_sum(struct alar_adder adder, double a, double b)
{
    double sum =
        adder.model != ALAR_NEAREST ? sum_any(adder, a, b) : round_nearest(adder.wide, a + b);

    return isnan(sum) ? alar_fp_double(alar_fp_nan(ALAR_F64)) : sum;
}

/* Subsets of all others are already done. Each split is met once: the lowest rank is on the left.
   Rounding is monotone, so the least of the rounded sums is the least sum, rounded: once a subset
   and not once a split. `add` adds without that rounding, `finish` does it. */
HULL_INLINE void hull_fill(struct alar_hull *hull, double (*add)(struct alar_adder, double, double),
                           double (*finish)(enum alar_dtype, double))
{
    struct alar_range *range = hull->range;
    uint32_t subsets = UINT32_C(1) << hull->n;

    for (uint32_t set = 1; set < subsets; set++) {
        uint32_t rest = set & (set - 1);
        uint32_t first = set ^ rest;
        double low = INFINITY;
        double high = -INFINITY;

        if (rest == 0) {
            continue;
        }
        for (uint32_t part = 0; part != rest; part = (part - rest) & rest) {
            const struct alar_range *a = &range[first | part];
            const struct alar_range *b = &range[rest ^ part];
            double least = add(hull->adder, a->low, b->low);
            double most = add(hull->adder, a->high, b->high);
            low = least < low ? least : low;
            high = most > high ? most : high;
        }
        range[set] = (struct alar_range){finish(hull->adder.wide, low),
                                         finish(hull->adder.wide, high), false};
    }
}

/* A number that a split can give, taken into the range. */
static void range_take(struct alar_range *range, double value)
{
    range->low = value < range->low ? value : range->low;
    range->high = value > range->high ? value : range->high;
}

/* One split when infinities may be about. Where the extremes cancel to NaN, one part holds nothing
   but an infinity: any other value of the other part then gives that infinity. */
static void range_split(struct alar_range *range, struct alar_adder adder, struct alar_range a,
                        struct alar_range b)
{
    range->can_be_nan |= a.can_be_nan || b.can_be_nan;
    if (a.low > a.high || b.low > b.high) {
        return;
    }
    double least = alar_hull_sum(adder, a.low, b.low);
    double most = alar_hull_sum(adder, a.high, b.high);
    double cross = alar_hull_sum(adder, a.low, b.high);
    double other = alar_hull_sum(adder, a.high, b.low);
    const double sums[] = {least, most, cross, other};

    for (int i = 0; i < 4; i++) {
        if (isnan(sums[i])) {
            range->can_be_nan = true;
        } else {
            range_take(range, sums[i]);
        }
    }
}

static void hull_fill_careful(struct alar_hull *hull)
{
    uint32_t subsets = UINT32_C(1) << hull->n;

    for (uint32_t set = 1; set < subsets; set++) {
        uint32_t rest = set & (set - 1);
        uint32_t first = set ^ rest;

        if (rest == 0) {
            continue;
        }
        struct alar_range range = {INFINITY, -INFINITY, false};
        for (uint32_t part = 0; part != rest; part = (part - rest) & rest) {
            range_split(&range, hull->adder, hull->range[first | part], hull->range[rest ^ part]);
        }
        hull->range[set] = range;
    }
}

/* Sets the range of each single rank; can a sum leave the finite numbers? */
static bool hull_load(struct alar_hull *hull)
{
    struct alar_adder adder = hull->adder;
    double largest = double_of(adder.wide, alar_fp_largest(adder.wide, false));
    double total = 0;

    for (uint32_t i = 0; i < hull->n; i++) {
        double value = double_of(adder.wide, alar_adder_load(adder, hull->bits[i]));
        struct alar_range single = {value, value, false};
        if (isnan(value)) {
            single = (struct alar_range){INFINITY, -INFINITY, true};
        }
        hull->range[UINT32_C(1) << i] = single;
        total += fabs(value);
    }
    return !(total < largest / 4);
}

void alar_hull_build(struct alar_hull *hull, struct alar_adder adder, const uint64_t *bits,
                     uint32_t n, struct alar_range *range)
{
    PRE(n >= 1 && n <= ALAR_HULL_RANKS_MAX);
    PRE(alar_dtype_is_float(adder.dtype) && alar_dtype_is_float(adder.wide));

    *hull = (struct alar_hull){adder, n, bits, range};
    if (hull_load(hull)) {
        hull_fill_careful(hull);
    } else if (adder.model == ALAR_NEAREST && adder.wide == ALAR_F64) {
        hull_fill(hull, sum_f64, round_f64);
    } else if (adder.model == ALAR_NEAREST && adder.wide == ALAR_F32) {
        hull_fill(hull, sum_f64, round_f32);
    } else if (adder.model == ALAR_NEAREST) {
        hull_fill(hull, sum_f64, round_short);
    } else {
        hull_fill(hull, sum_any, round_f64);
    }
}

bool alar_zero_is_legal(struct alar_adder adder, const uint64_t *bits, uint32_t n, uint32_t subset,
                        bool is_negative)
{
    bool is_any_negative = false;
    bool is_all_minus_zero = true;
    bool makes_zeros = adder.wide != adder.dtype || adder.model == ALAR_FLUSH;

    for (uint32_t i = 0; i < n; i++) {
        if (i >= 32 || subset >> i & 1) {
            bool is_minus = alar_fp_is_negative(adder.dtype, bits[i]);
            is_any_negative |= is_minus;
            is_all_minus_zero &= is_minus && alar_fp_is_zero(adder.dtype, bits[i]);
        }
    }
    return is_negative ? is_all_minus_zero || (makes_zeros && is_any_negative) : !is_all_minus_zero;
}

/* The result that a wide sum is brought to; monotone. */
static uint64_t hull_store(const struct alar_hull *hull, double value)
{
    struct alar_adder adder = hull->adder;
    uint64_t wide = alar_fp_convert(ALAR_F64, adder.wide, ALAR_NEAREST, alar_fp_bits(value));

    return alar_adder_store(adder, wide);
}

bool alar_hull_contains(const struct alar_hull *hull, uint32_t subset, uint64_t value)
{
    enum alar_dtype dtype = hull->adder.dtype;
    struct alar_range range = hull->range[subset];

    if (alar_fp_is_nan(dtype, value)) {
        return range.can_be_nan;
    }
    if (range.low > range.high) {
        return false;
    }
    double number = double_of(dtype, value);
    double low = double_of(dtype, hull_store(hull, range.low));
    double high = double_of(dtype, hull_store(hull, range.high));
    bool is_zero = alar_fp_is_zero(dtype, value);

    return low <= number && number <= high &&
           (!is_zero || alar_zero_is_legal(hull->adder, hull->bits, hull->n, subset,
                                           alar_fp_is_negative(dtype, value)));
}

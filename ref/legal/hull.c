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
        return copysign((sum + push) - push, sum);
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

    return double_of(adder.wide, alar_adder_add(adder, left, right));
}

double alar_hull_sum(struct alar_adder adder, double a, double b)
{
    /* A product is exact in double, but for the one of two doubles, which is then rounded once. */
    double exact = adder.is_product ? a * b : a + b;
    double sum =
        adder.model != ALAR_NEAREST ? sum_any(adder, a, b) : round_nearest(adder.wide, exact);

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

/* One split when infinities may be about, or of a product, whose extremes come from any two ends.
   Where ends give NaN, one part holds nothing but an infinity, or a zero: any other value of the
   other part then gives that infinity, or that zero. */
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

/* Sets the range of each single rank; is care needed: can a sum leave the finite numbers? */
static bool hull_load(struct alar_hull *hull)
{
    struct alar_adder adder = hull->adder;
    double largest = double_of(adder.wide, alar_fp_largest(adder.wide, false));
    double total = 0;

    for (uint32_t i = 0; i < hull->n; i++) {
        double value = double_of(adder.wide, alar_adder_load(adder, hull->bits[i]));
        struct alar_range single = {value, value, false};
        if (adder.is_product) {
            single.low = single.high = fabs(value);
        }
        hull->range[UINT32_C(1) << i] =
            isnan(value) ? (struct alar_range){INFINITY, -INFINITY, true} : single;
        total += fabs(value);
    }
    return adder.is_product || !(total < largest / 4);
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

/* A zero of a product has the sign of all factors together. -0 comes out of a sum of nothing but
   -0. Where else can a negative number become one? Not in a narrower result: sums are multiples of
   the smallest contribution there can be. Only where results are flushed. */
bool alar_zero_is_legal(struct alar_adder adder, const uint64_t *bits, uint32_t n, uint32_t subset,
                        bool is_negative)
{
    bool has_negative = false;
    bool is_all_minus_zero = true;
    bool is_odd = false;

    for (uint32_t i = 0; i < n; i++) {
        if (i >= 32 || subset >> i & 1) {
            uint64_t loaded = alar_adder_load(adder, bits[i]);
            bool is_minus = alar_fp_is_negative(adder.wide, loaded);
            bool is_zero = alar_fp_is_zero(adder.wide, loaded);

            has_negative |= is_minus && !is_zero;
            is_all_minus_zero &= is_minus && is_zero;
            is_odd ^= is_minus;
        }
    }
    if (adder.is_product) {
        return is_negative == is_odd;
    }
    bool is_made = adder.model == ALAR_FLUSH && has_negative;

    return is_negative ? is_all_minus_zero || is_made : !is_all_minus_zero;
}

/* The result that a wide sum is brought to; monotone. */
static uint64_t hull_store(const struct alar_hull *hull, double value)
{
    struct alar_adder adder = hull->adder;
    uint64_t wide = alar_fp_convert(ALAR_F64, adder.wide, ALAR_NEAREST, alar_fp_bits(value));

    return alar_adder_store(adder, wide);
}

/* Is some value from `first` to `last` between the extremes? Zeros are two values of this line. */
static bool hull_meets_numbers(const struct alar_hull *hull, uint32_t subset,
                               struct alar_range range, int64_t first, int64_t last)
{
    enum alar_dtype dtype = hull->adder.dtype;
    uint64_t low = hull_store(hull, range.low);
    uint64_t high = hull_store(hull, range.high);
    int64_t least = alar_fp_is_zero(dtype, low) ? -1 : alar_fp_rank(dtype, low);
    int64_t most = alar_fp_is_zero(dtype, high) ? 0 : alar_fp_rank(dtype, high);

    least = least > first ? least : first;
    most = most < last ? most : last;
    bool is_number = least <= most && (least < -1 || most > 0);
    bool is_minus = least <= -1 && most >= -1;
    bool is_plus = least <= 0 && most >= 0;

    return is_number ||
           (is_minus && alar_zero_is_legal(hull->adder, hull->bits, hull->n, subset, true)) ||
           (is_plus && alar_zero_is_legal(hull->adder, hull->bits, hull->n, subset, false));
}

/* Of a product the hull is that of the magnitude: brings both ends to the sign of all factors. */
static struct alar_range hull_signed(const struct alar_hull *hull, uint32_t subset)
{
    struct alar_range range = hull->range[subset];
    bool is_minus = hull->adder.is_product &&
                    alar_zero_is_legal(hull->adder, hull->bits, hull->n, subset, true);

    return is_minus && range.low <= range.high
               ? (struct alar_range){-range.high, -range.low, range.can_be_nan}
               : range;
}

bool alar_hull_meets(const struct alar_hull *hull, uint32_t subset, int64_t first, int64_t last)
{
    struct alar_range range = hull_signed(hull, subset);

    return range.low <= range.high && hull_meets_numbers(hull, subset, range, first, last);
}

bool alar_hull_contains(const struct alar_hull *hull, uint32_t subset, uint64_t value)
{
    enum alar_dtype dtype = hull->adder.dtype;

    if (alar_fp_is_nan(dtype, value)) {
        return hull->range[subset].can_be_nan;
    }
    int64_t rank = alar_fp_rank(dtype, value);

    return alar_hull_meets(hull, subset, rank, rank);
}

bool alar_hull_ends(const struct alar_hull *hull, uint64_t *low, uint64_t *high)
{
    struct alar_range range = hull_signed(hull, (UINT32_C(1) << hull->n) - 1);

    *low = hull_store(hull, range.low);
    *high = hull_store(hull, range.high);
    return range.low <= range.high;
}

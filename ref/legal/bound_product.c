/* The bound around a product. Magnitudes alone: the sign of a product is that of all its factors.

   With u the unit, G = (1 + u)^(n-1), e what one underflow can be off, H = (1 + e)^k - 1 for k
   places where something can underflow, p the exact product and M that of the factors above 1,
   every order gives a magnitude between (1 - u)^(n-1) p - G H M and G (p + H M).

   By induction over the tree: the upper end of a node is at most G1 G2 (p1 + H1 M1)(p2 + H2 M2)
   (1 + u) + e, and p <= M, so that it is at most G (p + ((1 + H1)(1 + H2)(1 + e) - 1) M). The lower
   end falls short of the exact product by at most a2 + a1 G2 (1 + H2) + e, in units of M, where
   a1 <= G1 H1 and a2 <= G2 H2: again at most G H. spec: N-30 */
#include "legal/bound.h"

#include "base/check.h"

#include <math.h>

/* A positive number far outside the range of a double: mantissa in [0.5, 1), or 0, times
 * 2^exponent.
 */
struct scaled {
    double mantissa;
    int64_t exponent;
};

static void scaled_multiply(struct scaled *number, double factor)
{
    int of_factor;
    int of_product;
    double mantissa = frexp(factor, &of_factor);

    number->mantissa = frexp(number->mantissa * mantissa, &of_product);
    number->exponent += of_factor + of_product;
}

/* As a double, from above or below by the slack of n roundings; infinite, or 0, beyond its range.
   The last step is one more rounding, of numbers that may be subnormal. */
static double scaled_double(struct scaled number, uint32_t n, bool is_up)
{
    double slack = (double)n * 0x1p-51;
    double mantissa = number.mantissa * (is_up ? 1 + slack : 1 - slack);
    int exponent = number.exponent > 2000    ? 2000
                   : number.exponent < -2000 ? -2000
                                             : (int)number.exponent;
    double value = ldexp(mantissa, exponent);

    return number.mantissa == 0 ? 0 : nextafter(value, is_up ? HUGE_VAL : 0);
}

struct factors {
    struct scaled product;  /* of all */
    struct scaled greatest; /* of those above 1: no partial product is beyond it */
    struct scaled least;    /* of those below 1, but 0 */
    int significant;        /* bits of the exact product, at most */
    int64_t grain;          /* its lowest bit, and that of any partial product, at least */
    uint32_t zeros;
};

static struct factors factors_of(struct alar_adder adder, const uint64_t *bits, uint32_t n)
{
    struct factors all = {{0.5, 1}, {0.5, 1}, {0.5, 1}, 0, 0, 0};

    for (uint32_t i = 0; i < n; i++) {
        double value = fabs(alar_fp_to_double(adder.dtype, bits[i]));
        struct alar_fp_parts parts = alar_fp_unpack(adder.dtype, bits[i]);

        if (value == 0) {
            all.zeros++;
            continue;
        }
        scaled_multiply(&all.product, value);
        scaled_multiply(value > 1 ? &all.greatest : &all.least, value);
        for (; (parts.significand & 1) == 0; parts.significand >>= 1) {
            parts.exponent++;
        }
        for (; parts.significand > 1; parts.significand >>= 1) {
            all.significant++;
        }
        all.significant++;
        all.grain += parts.exponent < 0 ? parts.exponent : 0;
    }
    return all;
}

/* What the last step, to a narrower dtype, can be off. */
static double product_narrowed(struct alar_adder adder, double most)
{
    int precision = alar_dtype_precision(adder.dtype);
    int lowest = alar_dtype_lowest(adder.dtype);

    if (adder.wide == adder.dtype) {
        return 0;
    }
    return ldexp(most, 1 - precision) +
           ldexp(1, adder.model == ALAR_FLUSH ? lowest + precision - 1 : lowest);
}

/* What every partial product may be off, relative to its own size and, by underflow, absolutely. */
static void product_spread(struct alar_bound *bound, struct alar_adder adder, struct factors all,
                           uint32_t n)
{
    int precision = alar_dtype_precision(adder.wide);
    int lowest = alar_dtype_lowest(adder.wide);
    bool is_flushed = adder.model == ALAR_FLUSH;
    double growth = alar_bound_growth(
        n - 1, ldexp(1, adder.model == ALAR_TRUNCATE ? 1 - precision : -precision));
    double normal = ldexp(1, lowest + precision - 1);
    double off =
        is_flushed
            ? ldexp(1, alar_dtype_lowest(adder.dtype) + alar_dtype_precision(adder.dtype) - 1)
            : ldexp(1, lowest);
    bool is_normal =
        scaled_double(all.least, n, false) * (1 - growth) > (is_flushed ? off : normal);
    double under = is_normal ? 0 : alar_bound_growth(2 * n, is_flushed ? fmax(off, normal) : off);
    double greatest = scaled_double(all.greatest, n, true);
    double spread = under > 0 ? (1 + growth) * under * greatest : 0;
    double most = (scaled_double(all.product, n, true) * (1 + growth) + spread) * (1 + 0x1p-50);
    double least = (scaled_double(all.product, n, false) * (1 - growth) - spread) * (1 - 0x1p-50);
    double narrowed = product_narrowed(adder, most);
    double reached = (greatest * (1 + growth) + spread) * (1 + 0x1p-50) + narrowed;
    double largest = fmin(alar_fp_to_double(adder.wide, alar_fp_largest(adder.wide, false)),
                          alar_fp_to_double(adder.dtype, alar_fp_largest(adder.dtype, false)));

    bound->can_overflow = !(reached <= largest);
    bound->most = nextafter(most + narrowed, HUGE_VAL);
    bound->least = fmax(0, least - narrowed * (1 + 0x1p-50));
    bound->radius = fmax(bound->most - bound->least, 0);
}

void alar_bound_product(struct alar_bound *bound, struct alar_adder adder, const uint64_t *bits,
                        uint32_t n)
{
    bool is_clamped = adder.model == ALAR_TRUNCATE || adder.model == ALAR_SATURATE;
    bool is_exact = alar_dtype_precision(adder.wide) >= alar_dtype_precision(adder.dtype) &&
                    alar_dtype_lowest(adder.wide) <= alar_dtype_lowest(adder.dtype);

    *bound = (struct alar_bound){.is_product = true, .radius = INFINITY};
    for (uint32_t i = 0; i < n; i++) {
        is_exact = is_exact && alar_fp_is_finite(adder.dtype, bits[i]);
        bound->is_negative ^= alar_fp_is_negative(adder.dtype, bits[i]);
    }
    if (!is_exact) {
        return;
    }
    struct factors all = factors_of(adder, bits, n);
    product_spread(bound, adder, all, n);
    if (all.zeros > 0) {
        bound->least = bound->most = bound->radius = 0;
    }
    int precision = alar_dtype_precision(adder.wide);
    int64_t lowest = alar_dtype_lowest(adder.wide);
    lowest += adder.model == ALAR_FLUSH ? precision - 1 : 0;
    bool is_whole =
        all.significant <= precision && all.grain >= lowest && adder.model != ALAR_FLUSH;

    bound->is_order_free = !bound->can_overflow && (all.zeros > 0 || is_whole);
    if (bound->is_order_free) {
        bound->only = alar_adder_fold(adder, bits, n);
    }
    bound->is_valid = isfinite(bound->most) && !(bound->can_overflow && is_clamped);
}

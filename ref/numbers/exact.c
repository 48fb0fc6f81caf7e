/* The superaccumulator: radix 2^32 in signed 64-bit digits, no branches on sign while adding. */
#include "numbers/exact.h"

#include "base/check.h"

#include <string.h>

#define DIGIT_MASK UINT64_C(0xffffffff)

/* An addition moves a digit by less than 2^32; carried digits are below 2^32 too. */
#define PENDING_MAX (UINT32_C(1) << 30)

void alar_exact_init(struct alar_exact *exact)
{
    memset(exact, 0, sizeof *exact);
}

/* What is carried out of a digit, rounding toward minus infinity, so that the rest is not negative.
 */
static int64_t digit_carry(int64_t digit)
{
    int64_t rest = (int64_t)((uint64_t)digit & DIGIT_MASK);

    return (digit - rest) / (INT64_C(1) << 32);
}

/* Brings every digit but the top one into 0 .. 2^32 - 1; the top one keeps the sign. */
static void exact_carry(struct alar_exact *exact)
{
    int64_t carry = 0;

    for (int i = 0; i < ALAR_EXACT_DIGITS - 1; i++) {
        int64_t digit = exact->digit[i] + carry;
        carry = digit_carry(digit);
        exact->digit[i] = (int64_t)((uint64_t)digit & DIGIT_MASK);
    }
    exact->digit[ALAR_EXACT_DIGITS - 1] += carry;
    exact->pending = 1;
}

/* Adds significand * 2^exponent, or takes it away. */
static inline void exact_deposit(struct alar_exact *exact, struct alar_fp_parts parts)
{
    unsigned place = (unsigned)(parts.exponent - ALAR_EXACT_BASE);
    unsigned shift = place % 32;
    int64_t *digit = &exact->digit[place / 32];
    uint64_t above = parts.significand >> (32 - shift);
    int64_t sign = parts.negative ? -1 : 1;

    if (exact->pending >= PENDING_MAX) {
        exact_carry(exact);
    }
    digit[0] += sign * (int64_t)(parts.significand << shift & DIGIT_MASK);
    digit[1] += sign * (int64_t)(above & DIGIT_MASK);
    digit[2] += sign * (int64_t)(above >> 32);
    exact->pending++;
}

static inline void exact_add(struct alar_exact *exact, const struct alar_fp_shape *shape,
                             uint64_t bits)
{
    uint64_t magnitude = bits & (shape->sign - 1);
    bool is_negative = (bits & shape->sign) != 0;

    exact->terms++;
    if (magnitude > shape->infinity) {
        exact->nans++;
    } else if (magnitude == shape->infinity) {
        exact->infinities[is_negative]++;
    } else {
        exact->minus_zeros += is_negative && magnitude == 0;
        exact_deposit(exact, alar_fp_take_apart(shape, bits));
    }
}

void alar_exact_add(struct alar_exact *exact, enum alar_dtype dtype, uint64_t bits)
{
    struct alar_fp_shape shape = alar_fp_shape(dtype);

    exact_add(exact, &shape, bits);
}

void alar_exact_subtract(struct alar_exact *exact, enum alar_dtype dtype, uint64_t bits)
{
    exact_deposit(exact, alar_fp_unpack(dtype, alar_fp_negate(dtype, bits)));
}

void alar_exact_merge(struct alar_exact *exact, const struct alar_exact *other)
{
    struct alar_exact carried = *other;

    if (exact->pending >= PENDING_MAX - other->pending) {
        exact_carry(exact);
        exact_carry(&carried);
    }
    for (int i = 0; i < ALAR_EXACT_DIGITS; i++) {
        exact->digit[i] += carried.digit[i];
    }
    exact->pending += carried.pending;
    exact->terms += other->terms;
    exact->minus_zeros += other->minus_zeros;
    exact->nans += other->nans;
    exact->infinities[0] += other->infinities[0];
    exact->infinities[1] += other->infinities[1];
}

/* Carries from digit `low` up to `high`, whose carry is what is returned. */
static int64_t digits_carry(const int64_t *digit, int64_t sign, int low, int high,
                            uint32_t *carried)
{
    int64_t carry = 0;

    for (int i = low; i <= high; i++) {
        int64_t sum = sign * digit[i] + carry;

        carry = digit_carry(sum);
        carried[i] = (uint32_t)((uint64_t)sum & DIGIT_MASK);
    }
    return carry;
}

/* Only the digits that were touched are looked at: the highest one's carry fits the next. */
void alar_exact_magnitude(const struct alar_exact *exact, struct alar_exact_magnitude *magnitude)
{
    const int64_t *digit = exact->digit;
    int low = 0, high = ALAR_EXACT_DIGITS - 1;

    memset(magnitude, 0, sizeof *magnitude);
    while (low < high && digit[low] == 0) {
        low++;
    }
    while (high > low && digit[high] == 0) {
        high--;
    }
    int64_t carry = digits_carry(digit, 1, low, high, magnitude->digit);
    if (carry < 0) {
        magnitude->is_negative = true;
        carry = digits_carry(digit, -1, low, high, magnitude->digit);
    }
    INV("the sum is below the highest digit", high + 1 < ALAR_EXACT_DIGITS || carry == 0);
    if (carry != 0) {
        magnitude->digit[++high] = (uint32_t)carry;
    }
    magnitude->top = high;
    while (magnitude->top >= 0 && magnitude->digit[magnitude->top] == 0) {
        magnitude->top--;
    }
    magnitude->bottom = low;
    while (magnitude->bottom < magnitude->top && magnitude->digit[magnitude->bottom] == 0) {
        magnitude->bottom++;
    }
}

/* Long division by digits, from the top, until the quotient fills 64 bits or the digits end; what
   is left over becomes the sticky lowest bit. Divisors below 2^32. */
static struct alar_fp_parts magnitude_divide_short(const struct alar_exact_magnitude *magnitude,
                                                   uint64_t divisor)
{
    struct alar_fp_parts parts = {magnitude->is_negative, 0, 0};
    uint64_t remainder = 0;
    bool is_inexact = false;
    int at = magnitude->top + 1;
    int place = 0;

    while (at > 0 && parts.significand >> 32 == 0) {
        remainder = remainder << 32 | magnitude->digit[--at];
        parts.significand = parts.significand << 32 | remainder / divisor;
        remainder %= divisor;
    }
    if (at > 0 && parts.significand >> 63 == 0) {
        /* The bits of one more digit that have room. */
        uint64_t quotient;

        remainder = remainder << 32 | magnitude->digit[--at];
        quotient = remainder / divisor;
        remainder %= divisor;
        place = 32;
        while (parts.significand >> 63 == 0) {
            parts.significand = parts.significand << 1 | (quotient >> --place & 1);
        }
        is_inexact = (quotient & ((UINT64_C(1) << place) - 1)) != 0;
    }
    is_inexact = is_inexact || remainder != 0 || magnitude->bottom < at;
    parts.significand |= is_inexact;
    parts.exponent = 32 * at + place + ALAR_EXACT_BASE;
    return parts;
}

/* The same by bits, for any divisor. */
static struct alar_fp_parts magnitude_divide(const struct alar_exact_magnitude *magnitude,
                                             uint64_t divisor)
{
    struct alar_fp_parts parts = {magnitude->is_negative, 0, 0};
    uint64_t remainder = 0;
    bool is_inexact;
    int place = 32 * (magnitude->top + 1);

    if (divisor <= UINT32_MAX) {
        return magnitude_divide_short(magnitude, divisor);
    }
    while (place > 0 && parts.significand >> 63 == 0) {
        place--;
        remainder = remainder << 1 | (magnitude->digit[place / 32] >> place % 32 & 1);
        parts.significand <<= 1;
        if (remainder >= divisor) {
            remainder -= divisor;
            parts.significand |= 1;
        }
    }
    is_inexact = remainder != 0 || magnitude->bottom < place / 32 ||
                 (magnitude->digit[place / 32] & ((UINT32_C(1) << place % 32) - 1)) != 0;
    parts.significand |= is_inexact;
    parts.exponent = place + ALAR_EXACT_BASE;
    return parts;
}

uint64_t alar_exact_round(const struct alar_exact *exact, uint64_t divisor, enum alar_dtype dtype,
                          enum alar_model model)
{
    struct alar_exact_magnitude magnitude;

    PRE(divisor >= 1);
    PRE(divisor <= INT64_MAX);
    if (exact->nans > 0 || (exact->infinities[0] > 0 && exact->infinities[1] > 0)) {
        return alar_fp_nan(dtype);
    }
    if (exact->infinities[0] > 0 || exact->infinities[1] > 0) {
        return alar_fp_inf(dtype, exact->infinities[1] > 0);
    }
    alar_exact_magnitude(exact, &magnitude);
    if (magnitude.top < 0) {
        bool is_minus = exact->terms > 0 && exact->minus_zeros == exact->terms;
        return is_minus ? alar_dtype_sign(dtype) : 0;
    }
    return alar_fp_assemble(dtype, model, magnitude_divide(&magnitude, divisor));
}

/* When the significand is a value of the dtype, one less falls to the value below it. */
void alar_exact_neighbours(const struct alar_exact *exact, uint64_t divisor, enum alar_dtype dtype,
                           uint64_t *inner, uint64_t *outer)
{
    struct alar_exact_magnitude magnitude;

    *inner = *outer = alar_exact_round(exact, divisor, dtype, ALAR_TRUNCATE);
    alar_exact_magnitude(exact, &magnitude);
    if (!alar_fp_is_finite(dtype, *inner) || magnitude.top < 0) {
        return;
    }
    struct alar_fp_parts parts = magnitude_divide(&magnitude, divisor);
    parts.significand--;
    if (alar_fp_assemble(dtype, ALAR_TRUNCATE, parts) == *inner) {
        *outer = *inner + 1;
    }
}

/* Smallest k with n <= 2^k. */
static int log2_above(uint64_t n)
{
    int bits = 0;

    while (bits < 63 && UINT64_C(1) << bits < n) {
        bits++;
    }
    return bits;
}

/* The sum as one 64-bit integer times a power of two, when the exponents allow it. Zeros fit
   anywhere; a sum of zeros is left to the general way, which knows their signs. */
static bool exact_window(enum alar_dtype dtype, const uint64_t *bits, uint32_t n,
                         struct alar_fp_parts *sum)
{
    const struct alar_fp_shape shape = alar_fp_shape(dtype);
    int room = 62 - shape.fraction_bits - 1 - log2_above(n);
    int low = INT32_MAX;
    int high = INT32_MIN;
    int64_t total = 0;

    for (uint32_t i = 0; i < n; i++) {
        struct alar_fp_parts parts = alar_fp_take_apart(&shape, bits[i]);

        if ((bits[i] & (shape.sign - 1)) >= shape.infinity) {
            return false;
        }
        if (parts.significand != 0) {
            low = parts.exponent < low ? parts.exponent : low;
            high = parts.exponent > high ? parts.exponent : high;
        }
        if (high > low && high - low > room) {
            return false;
        }
    }
    if (low > high || high - low > room) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct alar_fp_parts parts = alar_fp_take_apart(&shape, bits[i]);
        if (parts.significand != 0) {
            int64_t term = (int64_t)(parts.significand << (parts.exponent - low));
            total += parts.negative ? -term : term;
        }
    }
    *sum = (struct alar_fp_parts){total < 0, low, (uint64_t)(total < 0 ? -total : total)};
    return true;
}

static void exact_add_all(struct alar_exact *exact, enum alar_dtype dtype, const uint64_t *bits,
                          uint32_t n)
{
    const struct alar_fp_shape shape = alar_fp_shape(dtype);

    alar_exact_init(exact);
    for (uint32_t i = 0; i < n; i++) {
        exact_add(exact, &shape, bits[i]);
    }
}

/* Sums of floats in double are exact when all bits from the smallest value's last to the largest
   possible sum's first fit in 53. Biased exponents, not values, decide. */
static bool exact_in_double(const uint64_t *bits, uint32_t n, uint64_t *sum)
{
    uint32_t low = 255;
    uint32_t high = 0;
    double total = -0.0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t word = (uint32_t)bits[i];
        uint32_t biased = word >> 23 & 255;
        float value;

        memcpy(&value, &word, sizeof value);
        low = biased < low ? biased : low;
        high = biased > high ? biased : high;
        total += (double)value;
    }
    if (high == 255 || high - low > 28 || n > UINT32_C(1) << (28 - (high - low))) {
        return false;
    }
    float rounded = (float)total;
    uint32_t word;

    memcpy(&word, &rounded, sizeof word);
    *sum = word;
    return true;
}

uint64_t alar_exact_sum(enum alar_dtype dtype, const uint64_t *bits, uint32_t n)
{
    struct alar_fp_parts sum;
    struct alar_exact exact;
    uint64_t rounded;

    PRE(n >= 1);
    if (dtype == ALAR_F32 && exact_in_double(bits, n, &rounded)) {
        return rounded;
    }
    if (exact_window(dtype, bits, n, &sum)) {
        return alar_fp_assemble(dtype, ALAR_NEAREST, sum);
    }
    exact_add_all(&exact, dtype, bits, n);
    return alar_exact_round(&exact, 1, dtype, ALAR_NEAREST);
}

/* Many floats into an exact sum: one addition each, in bins of 32 binary places, which are emptied
   into the digits before they can overflow. */
#include "numbers/exact.h"

#include "base/check.h"

#include <string.h>

/* Biased exponents 1 to 254, moved by 10 so that bin 0 lies on a digit: 2^-160 = 2^(32 * 31 -
 * 1152).
 */
#define BIN_SHIFT 10
#define BIN_DIGIT 31
#define BINS 9

/* A term is below 2^(24 + 31), so that many of them stay below 2^63. */
#define BIN_TERMS 255

static void bins_empty(int64_t *bin, struct alar_exact *sum)
{
    for (int i = 0; i < BINS; i++) {
        int64_t low = (int64_t)((uint64_t)bin[i] & UINT64_C(0xffffffff));

        sum->digit[BIN_DIGIT + i] += low;
        sum->digit[BIN_DIGIT + i + 1] += (bin[i] - low) / (INT64_C(1) << 32);
        bin[i] = 0;
    }
    sum->pending += 2;
}

static void special_add(struct alar_exact *sum, uint32_t bits)
{
    bool is_nan = (bits << 9) != 0;

    sum->nans += is_nan;
    sum->infinities[bits >> 31] += !is_nan;
}

void alar_exact_add_floats(struct alar_exact *exact, const float *value, const uint8_t *mask,
                           size_t count)
{
    struct alar_exact sum = {.terms = 0};
    int64_t bin[BINS] = {0};

    PRE(count >> 36 == 0);
    PRE(mask != NULL);
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;

        if (mask[i] == 0) {
            continue;
        }
        memcpy(&bits, &value[i], sizeof bits);
        uint32_t biased = bits >> 23 & 255;
        if (biased == 255) {
            special_add(&sum, bits);
        } else {
            uint32_t place = (biased > 0 ? biased : 1) + BIN_SHIFT;
            uint64_t significand = (bits & 0x7fffff) | (uint64_t)(biased > 0) << 23;
            int64_t term = (int64_t)(significand << place % 32);

            bin[place / 32] += bits >> 31 ? -term : term;
            sum.minus_zeros += bits == UINT32_C(1) << 31;
        }
        if (++sum.terms % BIN_TERMS == 0) {
            bins_empty(bin, &sum);
        }
    }
    bins_empty(bin, &sum);
    alar_exact_merge(exact, &sum);
}

/* The conventions of an average. */
#include "legal/average.h"

#include "base/check.h"

/* fl(1/n) in the dtype: the factor that libraries premultiply with. */
static uint64_t average_factor(enum alar_dtype dtype, uint32_t n)
{
    return alar_fp_divide(dtype, alar_fp_from_double(dtype, 1), n);
}

uint64_t alar_average_before(enum alar_avg avg, enum alar_dtype dtype, uint64_t bits, uint32_t n)
{
    return avg == ALAR_AVG_DIVIDE_SUM     ? alar_fp_divide(dtype, bits, n)
           : avg == ALAR_AVG_MULTIPLY_SUM ? alar_fp_multiply(dtype, bits, average_factor(dtype, n))
                                          : bits;
}

void alar_average_prepare(enum alar_avg avg, enum alar_dtype dtype, const uint64_t *bits,
                          uint32_t n, uint64_t *prepared)
{
    PRE(n >= 1);
    for (uint32_t i = 0; i < n; i++) {
        prepared[i] = alar_average_before(avg, dtype, bits[i], n);
    }
}

uint64_t alar_average_finish(enum alar_avg avg, enum alar_dtype dtype, uint64_t sum, uint32_t n)
{
    return avg == ALAR_AVG_SUM_DIVIDE     ? alar_fp_divide(dtype, sum, n)
           : avg == ALAR_AVG_SUM_MULTIPLY ? alar_fp_multiply(dtype, sum, average_factor(dtype, n))
                                          : sum;
}

/* Smallest rank in low .. high + 1 whose finished value has at least the wanted rank. */
static int64_t average_search(enum alar_avg avg, enum alar_dtype dtype, uint32_t n, int64_t wanted,
                              int64_t low, int64_t high)
{
    while (low <= high) {
        int64_t middle = low + (int64_t)(((uint64_t)high - (uint64_t)low) / 2);
        uint64_t value = alar_average_finish(avg, dtype, alar_fp_unrank(dtype, middle), n);
        if (alar_fp_rank(dtype, value) >= wanted) {
            if (middle == low) {
                return low;
            }
            high = middle - 1;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

bool alar_average_sums(enum alar_avg avg, enum alar_dtype dtype, uint64_t value, uint32_t n,
                       int64_t *first, int64_t *last)
{
    int64_t low = alar_fp_rank(dtype, alar_fp_inf(dtype, true));
    int64_t high = alar_fp_rank(dtype, alar_fp_inf(dtype, false));
    int64_t rank = alar_fp_rank(dtype, value);

    PRE(!alar_fp_is_nan(dtype, value));
    *first = average_search(avg, dtype, n, rank, low, high);
    *last = average_search(avg, dtype, n, rank + 1, low, high) - 1;
    return *first <= *last;
}

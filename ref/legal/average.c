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
    return avg == ALAR_AVG_DIVIDE_SUM ? alar_fp_divide(dtype, bits, n)
           : avg == ALAR_AVG_MULTIPLY_SUM
               ? alar_fp_multiply(dtype, ALAR_NEAREST, bits, average_factor(dtype, n))
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
    return avg == ALAR_AVG_SUM_DIVIDE ? alar_fp_divide(dtype, sum, n)
           : avg == ALAR_AVG_SUM_MULTIPLY
               ? alar_fp_multiply(dtype, ALAR_NEAREST, sum, average_factor(dtype, n))
               : sum;
}

uint64_t alar_average_result(const struct alar_average *average, uint64_t sum)
{
    enum alar_dtype dtype = average->dtype;
    uint64_t value = alar_average_finish(average->avg, dtype, sum, average->n);

    if (average->is_flushed && alar_fp_is_subnormal(dtype, value)) {
        value &= alar_dtype_sign(dtype);
    }
    return average->result == dtype
               ? value
               : alar_fp_convert(dtype, average->result, average->model, value);
}

/* Smallest rank in low .. high + 1 whose result has at least the wanted rank. */
static int64_t average_search(const struct alar_average *average, int64_t wanted, int64_t low,
                              int64_t high)
{
    while (low <= high) {
        int64_t middle = low + (int64_t)(((uint64_t)high - (uint64_t)low) / 2);
        uint64_t value = alar_average_result(average, alar_fp_unrank(average->dtype, middle));
        if (alar_fp_rank(average->result, value) >= wanted) {
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

bool alar_average_sources(const struct alar_average *average, uint64_t value, int64_t *first,
                          int64_t *last)
{
    int64_t low = alar_fp_rank(average->dtype, alar_fp_inf(average->dtype, true));
    int64_t high = alar_fp_rank(average->dtype, alar_fp_inf(average->dtype, false));
    int64_t rank = alar_fp_rank(average->result, value);

    PRE(!alar_fp_is_nan(average->result, value));
    *first = average_search(average, rank, low, high);
    *last = average_search(average, rank + 1, low, high) - 1;
    return *first <= *last;
}

bool alar_average_sums(enum alar_avg avg, enum alar_dtype dtype, uint64_t value, uint32_t n,
                       int64_t *first, int64_t *last)
{
    struct alar_average plain = {.avg = avg, .dtype = dtype, .result = dtype, .n = n};

    return alar_average_sources(&plain, value, first, last);
}

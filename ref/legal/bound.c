/* The bounds, evaluated in double with every doubt resolved upward. */
#include "legal/bound.h"

#include "base/check.h"
#include "numbers/exact.h"

#include <math.h>

double alar_bound_up(double value, uint32_t n)
{
    double up = value * (1 + (double)n * 0x1p-50);

    if (!(value > 0)) {
        return value;
    }
    /* What lies far below its last place changes nothing, and subnormals take long to add. */
    return up < 0x1p-900 ? up + (double)n * 0x1p-1074 : up;
}

/* The largest power of two that is not above the value; 0 for 0. */
static double bound_ufp(double value)
{
    return value > 0 && isfinite(value) ? ldexp(1, ilogb(value)) : value;
}

/* Sifts entry `at` of a heap of n entries down; the smallest is on top. */
static void heap_sift(double *heap, uint32_t at, uint32_t n)
{
    double value = heap[at];

    for (uint32_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        child += child + 1 < n && heap[child + 1] < heap[child];
        if (value <= heap[child]) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = value;
}

/* Sorts in descending order. */
static void sort_descending(double *value, uint32_t n)
{
    for (uint32_t i = n / 2; i > 0; i--) {
        heap_sift(value, i - 1, n);
    }
    for (uint32_t i = n; i > 1; i--) {
        double smallest = value[0];
        value[0] = value[i - 1];
        value[i - 1] = smallest;
        heap_sift(value, 0, i - 1);
    }
}

/* The values in descending order have the positive ones first and the most negative last, so the
   k largest magnitudes are taken from both ends. */
double alar_bound_sharp(const double *value, uint32_t n, int precision, double *sorted)
{
    double unit = ldexp(1, -precision);
    double magnitude = 0; /* P_k */
    double positive = 0;  /* sums of the k largest of one sign */
    double negative = 0;
    double total = 0;
    uint32_t front = 0;
    uint32_t back = n;

    for (uint32_t i = 0; i < n; i++) {
        sorted[i] = value[i];
    }
    sort_descending(sorted, n);
    for (uint32_t k = 1; k <= n; k++) {
        bool is_front = fabs(sorted[front]) >= fabs(sorted[back - 1]);
        magnitude += fabs(is_front ? sorted[front++] : sorted[--back]);
        positive += fmax(sorted[k - 1], 0);
        negative += fmax(-sorted[n - k], 0);
        if (k >= 2) {
            double larger = fmax(positive, negative) + (k - 2) * unit * magnitude;
            total += unit * bound_ufp(alar_bound_up(larger, n));
        }
    }
    return alar_bound_up(total, n);
}

double alar_bound_classic(double magnitude, uint32_t n, int precision)
{
    return alar_bound_up((n - 1) * ldexp(1, -precision) * magnitude, n);
}

/* The sum of the binomial series is below h u / (1 - h u). */
double alar_bound_growth(uint32_t height, double unit)
{
    double product = height * unit;

    return product < 0.5 ? product / (1 - product) : INFINITY;
}

int alar_bound_granularity(enum alar_dtype dtype, const uint64_t *bits, uint32_t n)
{
    int lowest = INT32_MAX;

    for (uint32_t i = 0; i < n; i++) {
        struct alar_fp_parts parts = alar_fp_unpack(dtype, bits[i]);
        if (parts.significand != 0) {
            parts.exponent += __builtin_ctzll(parts.significand);
            lowest = parts.exponent < lowest ? parts.exponent : lowest;
        }
    }
    return lowest;
}

bool alar_bound_is_multiple(enum alar_dtype dtype, uint64_t value, int granularity)
{
    int own = alar_bound_granularity(dtype, &value, 1);

    return own == INT32_MAX || own >= granularity;
}

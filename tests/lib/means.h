/* The correctly rounded mean, by which tests hold the means of the product. */
#ifndef TESTS_MEANS_H
#define TESTS_MEANS_H

#include "numbers/exact.h"

/* Of n >= 1 values: the exact quotient, rounded once. spec: N-12 */
static inline uint64_t exact_mean(enum alar_dtype dtype, const uint64_t *bits, uint32_t n)
{
    struct alar_exact exact;

    alar_exact_init(&exact);
    for (uint32_t i = 0; i < n; i++) {
        alar_exact_add(&exact, dtype, bits[i]);
    }
    return alar_exact_round(&exact, n, dtype, ALAR_NEAREST);
}

#endif

/* An assertion for loops of millions: Criterion hears of it only when it fails. */
#ifndef TESTS_DEMAND_H
#define TESTS_DEMAND_H

#include <criterion/criterion.h>

#define demand(truth, ...)                 \
    do {                                   \
        if (!(truth)) {                    \
            cr_assert(truth, __VA_ARGS__); \
        }                                  \
    } while (0)

#endif

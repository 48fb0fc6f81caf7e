/* The hull where it is cheap, the bound where it is not. */
#include "legal/interval.h"

#include "legal/bound.h"
#include "numbers/exact.h"

#include <math.h>

size_t alar_legal_scratch_bytes(uint32_t n)
{
    size_t hull = sizeof(struct alar_range) << (n <= ALAR_LEGAL_HULL_RANKS ? n : 0);
    size_t bound = 2 * (size_t)n * sizeof(double);

    return hull > bound ? hull : bound;
}

/* Around the correctly rounded sum, one step further out for that rounding. */
static struct alar_range range_around(enum alar_dtype dtype, const uint64_t *bits, uint32_t n,
                                      double radius)
{
    struct alar_exact exact;
    uint64_t inner = 0;
    uint64_t outer = 0;

    alar_exact_init(&exact);
    for (uint32_t i = 0; i < n; i++) {
        alar_exact_add(&exact, dtype, bits[i]);
    }
    alar_exact_neighbours(&exact, 1, dtype, &inner, &outer);
    double a = alar_fp_to_double(dtype, inner);
    double b = alar_fp_to_double(dtype, outer);

    return (struct alar_range){
        .low = nextafter(fmin(a, b) - radius, -HUGE_VAL),
        .high = nextafter(fmax(a, b) + radius, HUGE_VAL),
    };
}

struct alar_range alar_legal_range(enum alar_dtype dtype, const uint64_t *bits, uint32_t n,
                                   void *scratch)
{
    const struct alar_adder adder = {.dtype = dtype, .wide = dtype, .model = ALAR_NEAREST};
    struct alar_bound bound;
    struct alar_hull hull;

    if (n <= ALAR_LEGAL_HULL_RANKS) {
        alar_hull_build(&hull, adder, bits, n, scratch);
        return hull.range[(UINT32_C(1) << n) - 1];
    }
    alar_bound_evaluate(&bound, adder, bits, n, n - 1, scratch);
    if (!bound.is_valid || bound.can_overflow) {
        return (struct alar_range){.low = -HUGE_VAL, .high = HUGE_VAL, .can_be_nan = true};
    }
    return range_around(dtype, bits, n, bound.radius);
}

/* Seeded draws for tests. */
#include "draw.h"

#include <math.h>

uint64_t draw_bits(struct draw *draw)
{
    uint64_t mixed = draw->state += UINT64_C(0x9e3779b97f4a7c15);

    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

uint32_t draw_below(struct draw *draw, uint32_t limit)
{
    return (uint32_t)((draw_bits(draw) >> 32) * limit >> 32);
}

/* Uniform in [0, 1). */
static double draw_unit(struct draw *draw)
{
    return (double)(draw_bits(draw) >> 11) * 0x1p-53;
}

static double draw_sign(struct draw *draw)
{
    return draw_below(draw, 2) ? -1.0 : 1.0;
}

static double draw_one(struct draw *draw, enum draw_family family, enum alar_dtype dtype)
{
    int precision = alar_dtype_precision(dtype);
    double unit = draw_unit(draw);

    switch (family) {
    case DRAW_NEAR:
        return 7.0 + 0.02 * (unit - 0.5);
    case DRAW_MIXED:
        return draw_sign(draw) * (1.0 + 11.0 * unit);
    case DRAW_WIDE:
        return draw_sign(draw) * ldexp(1.0 + unit, (int)draw_below(draw, 21) - 10);
    case DRAW_INTEGER:
        return (double)draw_below(draw, 12) + 1.0;
    case DRAW_TIES:
        return draw_sign(draw) * (draw_below(draw, 3) ? ldexp(1.0, -precision) : 1.0 + unit);
    case DRAW_TINY:
        return draw_sign(draw) *
               ldexp(unit, alar_dtype_lowest(dtype) + precision + (int)draw_below(draw, 4) - 2);
    case DRAW_HUGE:
        return draw_sign(draw) *
               ldexp(alar_fp_to_double(dtype, alar_fp_largest(dtype, false)),
                     -(int)draw_below(draw, 4)) *
               (1.0 - unit / 2);
    default:
        return 1.0 + 11.0 * unit;
    }
}

static uint64_t draw_pattern(struct draw *draw, enum alar_dtype dtype)
{
    uint64_t bits = draw_bits(draw) & alar_dtype_mask(dtype);

    return alar_fp_is_finite(dtype, bits) ? bits : bits & alar_dtype_sign(dtype);
}

void draw_values(struct draw *draw, enum draw_family family, enum alar_dtype dtype, uint64_t *bits,
                 uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (family == DRAW_ANY) {
            bits[i] = draw_pattern(draw, dtype);
        } else if (family == DRAW_CANCEL && i % 2) {
            bits[i] = alar_fp_negate(dtype, bits[i - 1]) ^ draw_below(draw, 8);
        } else {
            bits[i] = alar_fp_from_double(dtype, draw_one(draw, family, dtype));
        }
    }
}

void draw_order(struct draw *draw, uint32_t *order, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = draw_below(draw, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}

uint64_t draw_sum(struct draw *draw, struct alar_adder adder, const uint64_t *bits, uint32_t n,
                  uint64_t *room)
{
    for (uint32_t i = 0; i < n; i++) {
        room[i] = alar_adder_load(adder, bits[i]);
    }
    for (uint32_t left = n; left > 1; left--) {
        uint32_t i = draw_below(draw, left);
        uint64_t taken = room[i];
        room[i] = room[left - 1];
        uint32_t j = draw_below(draw, left - 1);
        room[j] = alar_adder_add(adder, room[j], taken);
    }
    return alar_adder_store(adder, room[0]);
}

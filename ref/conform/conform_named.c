/* Contributions that name operation, element and member. They are whole numbers whose sum is exact
   in any order, so what an all-reduce of them gives is known without adding up; millions of
   elements are filled and compared with it. */
#include "conform/conform_scene.h"

#include "numbers/fp.h"

#include <string.h>

enum {
    STRIDE = 5,             /* of salts from element to element */
    INTEGER_MOST = 1000000, /* of a sum of integers, where the dtype holds as much */
    DOUBLE_FRACTION = 52,
    DOUBLE_BIAS = 1023
};

/* The largest sum there may be. */
static uint64_t most_of(enum alar_dtype dtype)
{
    uint64_t most = alar_dtype_mask(dtype) >> 1;

    if (alar_dtype_is_float(dtype)) {
        return UINT64_C(1) << alar_dtype_precision(dtype);
    }
    return most < INTEGER_MOST ? most : INTEGER_MOST;
}

static struct conform_named named_start(const struct conform_op *op, uint32_t members)
{
    uint64_t room = most_of(op->dtype) / members;
    uint64_t salts = room / members > 2 ? room / members - 1 : 1;

    return (struct conform_named){.dtype = op->dtype,
                                  .shape = alar_dtype_is_float(op->dtype)
                                               ? alar_fp_shape(op->dtype)
                                               : (struct alar_fp_shape){0},
                                  .room = room > 1 ? room : 1,
                                  .step = members,
                                  .salts = salts,
                                  .start = op->number * UINT64_C(3) % salts};
}

struct conform_named conform_named_input(const struct conform_op *op, uint32_t member,
                                         uint32_t members)
{
    struct conform_named named = named_start(op, members);

    named.base = 1 + member % named.room;
    return named;
}

struct conform_named conform_named_expected(const struct conform_op *op, uint32_t members)
{
    struct conform_named named = named_start(op, members);
    bool is_sum = op->reduction == ALAR_SUM;

    named.base = 1; /* of member 0: no other has less */
    for (uint32_t m = 1; m < members; m++) {
        uint64_t own = 1 + m % named.room;

        if (is_sum) {
            named.base += own;
        } else if (op->reduction == ALAR_MAX && own > named.base) {
            named.base = own;
        }
    }
    named.step *= is_sum ? members : 1;
    return named;
}

/* A whole number that the dtype holds: as a double it has the same exponent and the same fraction,
   but for zeros at the end. */
static uint64_t whole_bits(const struct conform_named *named, uint64_t value)
{
    const struct alar_fp_shape *shape = &named->shape;

    if (shape->infinity == 0) {
        return value;
    }
    uint64_t wide = alar_fp_bits((double)value);
    int exponent = (int)(wide >> DOUBLE_FRACTION) - DOUBLE_BIAS;
    uint64_t fraction = wide & ((UINT64_C(1) << DOUBLE_FRACTION) - 1);

    return (uint64_t)(exponent - shape->fraction_bits - shape->lowest + 1) << shape->fraction_bits |
           fraction >> (DOUBLE_FRACTION - shape->fraction_bits);
}

static uint64_t salt_at(const struct conform_named *named, uint64_t element)
{
    return (named->start + element % named->salts * STRIDE) % named->salts;
}

uint64_t conform_named_bits(const struct conform_named *named, uint64_t element)
{
    return whole_bits(named, named->base + named->step * salt_at(named, element));
}

void conform_named_fill(const struct conform_named *named, uint64_t first, uint64_t count,
                        unsigned char *out)
{
    size_t size = alar_dtype_bytes(named->dtype);
    uint64_t stride = STRIDE % named->salts;
    uint64_t salt = salt_at(named, first);

    for (uint64_t e = 0; e < count; e++) {
        uint64_t bits = whole_bits(named, named->base + named->step * salt);

        memcpy(out + e * size, &bits, size);
        salt += stride;
        salt -= salt >= named->salts ? named->salts : 0;
    }
}

/* One all-reduce of what the ranks were given, and its result bit by bit. */
#include "order/order_state.h"
#include <stdlib.h>
#include <string.h>

uint64_t measure_bits(const struct measure *measure, const void *values, uint32_t k, uint64_t at)
{
    uint64_t bits = 0;

    memcpy(&bits, (const char *)values + (k * measure->count + at) * measure->bytes,
           measure->bytes);
    return bits;
}

enum alar_status measure_sum(struct measure *measure, uint64_t elements)
{
    const struct alar_order_call call = {ALAR_I32, ALAR_SUM, elements, false};

    return alar_order_world_reduce(measure->world, &call, measure->share, measure->heard);
}

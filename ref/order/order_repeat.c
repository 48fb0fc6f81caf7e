/* What one probe of each pair can't show: whether the order changes from call to call, and how wide
   the accumulator is. */
#include "order/order_state.h"

#include "base/rng.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    INPUT_CALLS = 4,    /* calls on one input: the first, and those compared with it */
    LATE_US = 300,      /* how late one rank is, another at each call */
    EXPONENTS = 41,     /* of the inputs: 2^-20 to 2^20, so that every order shows */
    SHARE_BITS = 16,    /* of a value in one element */
    ELEMENTS_MOST = 512 /* compared between ranks */
};

/* Values on which orders differ: mixed signs and exponents, one stream for each rank and input. */
static void input_draw(struct measure *measure, uint64_t input)
{
    enum alar_dtype dtype = measure->options->call.dtype;
    int range = dtype == ALAR_F16 ? 10 : EXPONENTS;

    for (uint32_t k = 0; k < measure->world->local; k++) {
        struct alar_rng rng =
            alar_rng_stream(measure->options->seed + input, measure->world->first + k + 1);

        for (uint64_t at = 0; at < measure->count; at++) {
            double value = 2 * alar_rng_unit(&rng) - 1;

            for (uint64_t e = alar_rng_below(&rng, (uint64_t)range); e > 0; e--) {
                value *= 2;
            }
            uint64_t bits = alar_fp_from_double(dtype, dtype == ALAR_F16 ? value : value * 0x1p-20);
            memcpy((char *)measure->send + (k * measure->count + at) * measure->bytes, &bits,
                   measure->bytes);
        }
    }
}

/* Under a launcher one rank comes late, so that arrival orders differ; the simulator shuffles. */
static void late_rest(const struct measure *measure, uint32_t call)
{
    const struct timespec rest = {0, LATE_US * 1000L};

    if (measure->world->sim == NULL && measure->world->first == call % measure->n) {
        (void)nanosleep(&rest, NULL);
    }
}

/* Does any local rank hold other bits than after the first call on this input? */
static bool result_has_changed(const struct measure *measure)
{
    enum alar_dtype dtype = measure->options->call.dtype;

    for (uint32_t k = 0; k < measure->world->local; k++) {
        for (uint64_t at = 0; at < measure->count; at++) {
            if (!alar_fp_is_same(dtype, measure_bits(measure, measure->recv, k, at),
                                 measure_bits(measure, measure->kept, k, at))) {
                return true;
            }
        }
    }
    return false;
}

/* Rank 0's bits, in elements that no sum can round or carry, reach all; each compares its own. */
static enum alar_status ranks_compare(struct measure *measure, bool *differ)
{
    uint64_t pieces = sizeof(uint64_t) * 8 / SHARE_BITS;
    uint64_t room = measure_elements(measure->n) / pieces;
    uint64_t count = measure->count < ELEMENTS_MOST ? measure->count : ELEMENTS_MOST;
    uint32_t local = measure->world->local;

    count = count < room ? count : room;
    memset(measure->share, 0, local * count * pieces * sizeof(*measure->share));
    for (uint64_t at = 0; at < count && measure->world->first == 0; at++) {
        uint64_t bits = measure_bits(measure, measure->recv, 0, at);

        for (uint64_t piece = 0; piece < pieces; piece++) {
            measure->share[at * pieces + piece] =
                (int32_t)(bits >> (SHARE_BITS * piece) & ((1U << SHARE_BITS) - 1));
        }
    }
    ALAR_TRY(measure_sum(measure, count * pieces));
    *differ = false;
    for (uint64_t at = 0; at < count; at++) {
        uint64_t bits = 0;

        for (uint64_t piece = 0; piece < pieces; piece++) {
            bits |= (uint64_t)measure->heard[at * pieces + piece] << (SHARE_BITS * piece);
        }
        for (uint32_t k = 0; k < local; k++) {
            *differ = *differ || !alar_fp_is_same(measure->options->call.dtype, bits,
                                                  measure_bits(measure, measure->recv, k, at));
        }
    }
    return ALAR_OK;
}

/* Tells all ranks what any of them saw. */
static enum alar_status verdicts_share(struct measure *measure, bool has_changed, bool differ)
{
    memset(measure->share, 0, measure->world->local * 2 * sizeof(*measure->share));
    measure->share[0] = has_changed;
    measure->share[1] = differ;
    ALAR_TRY(measure_sum(measure, 2));
    measure->measured->changed += measure->heard[0] > 0;
    measure->measured->disagreed += measure->heard[1] > 0;
    return ALAR_OK;
}

enum alar_status measure_repeat(struct measure *measure)
{
    for (uint32_t call = 0; call < measure->options->repeat; call++) {
        bool is_first = call % INPUT_CALLS == 0;
        size_t bytes = measure->world->local * measure->count * measure->bytes;
        bool differ = false;

        input_draw(measure, call / INPUT_CALLS);
        late_rest(measure, call);
        ALAR_TRY(alar_order_world_reduce(measure->world, &measure->options->call, measure->send,
                                         measure->recv));
        if (is_first) {
            memcpy(measure->kept, measure->recv, bytes);
        }
        measure->measured->repeated += is_first ? 0 : 1;
        ALAR_TRY(ranks_compare(measure, &differ));
        ALAR_TRY(verdicts_share(measure, result_has_changed(measure), differ));
    }
    return ALAR_OK;
}

/* One probe with few bits between M and 1. *kept: did the 1 survive at element 0 of rank 0? */
static enum alar_status width_probe(struct measure *measure, const uint32_t triple[3], int bits,
                                    int32_t *kept)
{
    enum alar_dtype dtype = measure->options->call.dtype;
    struct alar_order_masks masks = alar_order_width_masks(dtype, bits);
    uint32_t local = measure->world->local;

    for (uint32_t k = 0; k < local; k++) {
        uint32_t rank = measure->world->first + k;
        uint64_t value = rank == triple[0]   ? masks.large
                         : rank == triple[1] ? masks.minus_large
                         : rank == triple[2] ? masks.unit
                                             : 0;

        for (uint64_t at = 0; at < measure->count; at++) {
            memcpy((char *)measure->send + (k * measure->count + at) * measure->bytes, &value,
                   measure->bytes);
        }
    }
    ALAR_TRY(alar_order_world_reduce(measure->world, &measure->options->call, measure->send,
                                     measure->recv));
    memset(measure->share, 0, local * sizeof(*measure->share));
    if (measure->world->first == 0) {
        measure->share[0] = !alar_fp_is_zero(dtype, measure_bits(measure, measure->recv, 0, 0));
    }
    ALAR_TRY(measure_sum(measure, 1));
    *kept = measure->heard[0];
    return ALAR_OK;
}

enum alar_status measure_width(struct measure *measure)
{
    struct alar_order_measured *measured = measure->measured;
    enum alar_dtype dtype = measure->options->call.dtype;
    int most = dtype == ALAR_F16 ? 15 : 64; /* 1.5 * 2^15 is still finite */
    uint32_t triple[3] = {0};
    int32_t kept = 1;

    if (alar_order_is_wide(&measured->order[0]) ||
        !alar_order_triple(&measured->order[0], triple)) {
        return ALAR_OK;
    }
    for (int bits = 4; bits <= most && kept != 0; bits++) {
        ALAR_TRY(width_probe(measure, triple, bits, &kept));
        measured->accumulator = kept != 0 ? 0 : bits;
    }
    return ALAR_OK;
}

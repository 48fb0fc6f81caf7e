/* Which pairs are probed, and what the probes say. */
#include "order/order_state.h"

#include <stdlib.h>
#include <string.h>

enum {
    ENTRIES_MOST = 1 << 27 /* numbers of leaves kept by a process */
};

static void element_put(void *values, size_t bytes, uint64_t at, uint64_t bits)
{
    memcpy((char *)values + at * bytes, &bits, bytes);
}

/* One probe, in every element at once. */
static enum alar_status pair_probe(struct measure *measure, uint32_t i, uint32_t j)
{
    const struct alar_order_options *options = measure->options;
    const struct alar_order_masks masks = alar_order_masks(options->call.dtype);
    bool is_average = options->call.reduction == ALAR_AVG;

    for (uint32_t k = 0; k < measure->world->local; k++) {
        uint32_t rank = measure->world->first + k;
        uint64_t bits = rank == i ? masks.large : rank == j ? masks.minus_large : masks.unit;

        for (uint64_t at = 0; at < measure->count; at++) {
            element_put(measure->send, measure->bytes, k * measure->count + at, bits);
        }
    }
    ALAR_TRY(alar_order_world_reduce(measure->world, &options->call, measure->send, measure->recv));
    measure->measured->probes++;
    for (uint32_t k = 0; k < measure->world->local; k++) {
        for (uint64_t at = 0; at < measure->count; at++) {
            alar_order_note(&measure->order[k * measure->count + at], i, j,
                            alar_order_leaves(options->call.dtype, measure->n, is_average,
                                              measure_bits(measure, measure->recv, k, at)));
        }
    }
    return ALAR_OK;
}

/* Infers what follows, and finds the first pair that any rank lacks in any element. */
static enum alar_status pair_choose(struct measure *measure, uint32_t *pair)
{
    uint32_t n = measure->n;

    memset(measure->share, 0, measure->world->local * n * sizeof(*measure->share));
    for (uint32_t k = 0; k < measure->world->local; k++) {
        uint32_t first = n * n;

        for (uint64_t at = 0; at < measure->count; at++) {
            struct alar_order *order = &measure->order[k * measure->count + at];

            alar_order_infer(order);
            uint32_t next = alar_order_next(order);
            first = next < first ? next : first;
        }
        measure->share[k * n + measure->world->first + k] = (int32_t)first;
    }
    ALAR_TRY(measure_sum(measure, n));
    *pair = n * n;
    for (uint32_t rank = 0; rank < n; rank++) {
        uint32_t lacks = (uint32_t)measure->heard[rank];

        *pair = lacks < *pair ? lacks : *pair;
    }
    return ALAR_OK;
}

static enum alar_status pairs_measure(struct measure *measure)
{
    uint32_t n = measure->n;
    uint32_t pair = 0;

    for (uint32_t i = 0; i < n && measure->options->all_pairs; i++) {
        for (uint32_t j = i + 1; j < n; j++) {
            ALAR_TRY(pair_probe(measure, i, j));
        }
    }
    while (!measure->options->all_pairs) {
        ALAR_TRY(pair_choose(measure, &pair));
        if (pair >= n * n) {
            break;
        }
        ALAR_TRY(pair_probe(measure, pair / n, pair % n));
    }
    return ALAR_OK;
}

static enum alar_status measure_allocate(struct measure *measure)
{
    uint32_t local = measure->world->local;
    size_t orders = (size_t)local * measure->count;
    size_t elements = measure_elements(measure->n);
    size_t sends = orders > elements ? orders : elements;

    measure->leaves = calloc(orders * measure->square, sizeof(*measure->leaves));
    measure->order = calloc(orders, sizeof(*measure->order));
    measure->send = calloc(sends, sizeof(uint64_t));
    measure->recv = calloc(sends, sizeof(uint64_t));
    measure->kept = calloc(orders, sizeof(uint64_t));
    measure->share = calloc(local * elements, sizeof(*measure->share));
    measure->heard = calloc(local * elements, sizeof(*measure->heard));
    if (measure->leaves == NULL || measure->order == NULL || measure->send == NULL ||
        measure->recv == NULL || measure->kept == NULL || measure->share == NULL ||
        measure->heard == NULL) {
        return ALAR_E_NOMEM;
    }
    for (size_t k = 0; k < orders; k++) {
        measure->order[k] =
            (struct alar_order){measure->n, measure->leaves + k * measure->square, 0};
        alar_order_clear(&measure->order[k]);
    }
    return ALAR_OK;
}

static void measure_release(struct measure *measure)
{
    free(measure->leaves);
    free(measure->order);
    free(measure->send);
    free(measure->recv);
    free(measure->kept);
    free(measure->share);
    free(measure->heard);
}

static enum alar_status measure_check(const struct measure *measure)
{
    const struct alar_order_call *call = &measure->options->call;
    const struct alar_caps *caps = &measure->world->caps;

    if ((caps->dtypes >> call->dtype & 1U) == 0 || (caps->dtypes >> ALAR_I32 & 1U) == 0 ||
        (caps->reductions >> call->reduction & 1U) == 0 ||
        (call->is_blocking && !caps->can_block) ||
        (call->dtype == ALAR_F16 && call->reduction == ALAR_AVG)) {
        /* The unit of f16 is its smallest value: no part of it can be told. */
        return ALAR_E_UNSUPPORTED;
    }
    if (measure->n > alar_order_masks(call->dtype).ranks_most || call->count < 1 ||
        call->count > ENTRIES_MOST / measure->square / measure->world->local) {
        return ALAR_E_RANGE;
    }
    return ALAR_OK;
}

enum alar_status alar_order_measure(struct alar_order_world *world,
                                    const struct alar_order_options *options,
                                    struct alar_order_measured *measured)
{
    struct measure measure = {
        .world = world,
        .options = options,
        .measured = measured,
        .n = world->ranks,
        .square = (size_t)world->ranks * world->ranks,
        .count = options->call.count,
        .bytes = alar_dtype_bytes(options->call.dtype),
    };

    *measured = (struct alar_order_measured){0};
    ALAR_TRY(measure_check(&measure));
    enum alar_status status = measure_allocate(&measure);
    status = status == ALAR_OK ? pairs_measure(&measure) : status;
    status = status == ALAR_OK ? measure_gather(&measure) : status;
    status = status == ALAR_OK ? measure_repeat(&measure) : status;
    status = status == ALAR_OK ? measure_width(&measure) : status;
    measure_release(&measure);
    if (status != ALAR_OK) {
        alar_order_measured_free(measured);
    }
    return status;
}

void alar_order_measured_free(struct alar_order_measured *measured)
{
    free(measured->memory);
    *measured = (struct alar_order_measured){0};
}

/* Every rank's orders, made known to all: each tells its distinct ones and which elements have
   them, as integers, whose sums no order of addition changes. */
#include "order/order_state.h"

#include <stdlib.h>
#include <string.h>

/* What a rank tells: two numbers, then its runs (first element in two halves, order), then its
   orders. */
enum {
    HEAD = 2,
    RUN = 3,
    HALF = 30 /* bits of an element's number in one element */
};

static uint32_t orders_most(uint32_t n)
{
    return n + 2; /* a ring has n */
}

static uint32_t runs_most(uint32_t n)
{
    return 4 * n + 4;
}

uint64_t measure_elements(uint32_t n)
{
    return HEAD + (uint64_t)RUN * runs_most(n) + (uint64_t)orders_most(n) * n * n;
}

static int32_t *orders_of(int32_t *told, uint32_t n)
{
    return told + HEAD + RUN * runs_most(n);
}

/* The index of an order among those told so far; `most` when it is new and there is no room. */
static uint32_t order_tell(int32_t *told, uint32_t n, const uint16_t *leaves)
{
    size_t square = (size_t)n * n;
    int32_t *orders = orders_of(told, n);
    uint32_t count = (uint32_t)told[1];

    for (uint32_t k = 0; k < count; k++) {
        size_t same = 0;

        while (same < square && orders[k * square + same] == leaves[same]) {
            same++;
        }
        if (same == square) {
            return k;
        }
    }
    if (count == orders_most(n)) {
        return count;
    }
    for (size_t entry = 0; entry < square; entry++) {
        orders[count * square + entry] = leaves[entry];
    }
    told[1]++;
    return count;
}

/* Fills in what local rank k tells. Stops where there is no room: the last run then has no order,
   and a negative number of runs says so. */
static void rank_tell(const struct measure *measure, uint32_t k, int32_t *told)
{
    uint32_t n = measure->n;
    uint32_t runs = 0;
    uint32_t last = UINT32_MAX;

    for (uint64_t at = 0; at < measure->count; at++) {
        uint32_t order =
            order_tell(told, n, measure->leaves + (k * measure->count + at) * measure->square);

        if (order == last) {
            continue;
        }
        if (order == orders_most(n) || runs == runs_most(n)) {
            told[0] = -(int32_t)runs;
            return;
        }
        int32_t *run = told + HEAD + RUN * runs++;
        run[0] = (int32_t)(at >> HALF);
        run[1] = (int32_t)(at & ((1 << HALF) - 1));
        run[2] = (int32_t)order;
        last = order;
    }
    told[0] = (int32_t)runs;
}

/* The index of an order among all ranks' so far. */
static uint32_t order_merge(struct alar_order_measured *measured, uint32_t n, const int32_t *told)
{
    size_t square = (size_t)n * n;
    struct alar_order *order = NULL;

    for (uint32_t k = 0; k < measured->order_count; k++) {
        size_t same = 0;

        order = &measured->order[k];
        while (same < square && order->leaves[same] == told[same]) {
            same++;
        }
        if (same == square) {
            return k;
        }
    }
    order = &measured->order[measured->order_count];
    for (size_t entry = 0; entry < square; entry++) {
        order->leaves[entry] = (uint16_t)told[entry];
    }
    return measured->order_count++;
}

/* Adds what a rank told to what is known. */
static void rank_merge(struct measure *measure, uint32_t rank)
{
    struct alar_order_measured *measured = measure->measured;
    int32_t *told = measure->heard;
    uint32_t n = measure->n;
    uint32_t runs = (uint32_t)(told[0] < 0 ? -told[0] : told[0]);

    measured->is_cut = measured->is_cut || told[0] < 0;
    for (uint32_t k = 0; k < runs; k++) {
        const int32_t *run = told + HEAD + RUN * k;
        uint64_t at = ((uint64_t)run[0] << HALF) + (uint64_t)run[1];
        uint64_t end =
            k + 1 < runs ? ((uint64_t)run[RUN] << HALF) + (uint64_t)run[RUN + 1] : measure->count;

        measured->run[measured->run_count++] = (struct alar_order_run){
            .rank = rank,
            .at = at,
            .count = end - at,
            .order = order_merge(measured, n, orders_of(told, n) + (size_t)run[2] * n * n),
        };
    }
}

static enum alar_status measured_allocate(struct alar_order_measured *measured, uint32_t n)
{
    size_t square = (size_t)n * n;
    size_t orders = (size_t)n * orders_most(n);
    size_t runs = (size_t)n * runs_most(n);
    size_t bytes = runs * sizeof(*measured->run) + orders * sizeof(*measured->order) +
                   orders * square * sizeof(uint16_t);
    char *memory = calloc(1, bytes);

    if (memory == NULL) {
        return ALAR_E_NOMEM;
    }
    measured->memory = memory;
    measured->run = (struct alar_order_run *)memory;
    measured->order = (struct alar_order *)(memory + runs * sizeof(*measured->run));
    uint16_t *leaves = (uint16_t *)(measured->order + orders);
    for (size_t k = 0; k < orders; k++) {
        measured->order[k] = (struct alar_order){n, leaves + k * square, n};
    }
    return ALAR_OK;
}

enum alar_status measure_gather(struct measure *measure)
{
    const struct alar_order_world *world = measure->world;
    uint64_t elements = measure_elements(measure->n);

    ALAR_TRY(measured_allocate(measure->measured, measure->n));
    for (uint32_t rank = 0; rank < measure->n; rank++) {
        memset(measure->share, 0, world->local * elements * sizeof(*measure->share));
        if (rank >= world->first && rank < world->first + world->local) {
            uint32_t k = rank - world->first;

            rank_tell(measure, k, measure->share + k * elements);
        }
        ALAR_TRY(measure_sum(measure, elements));
        rank_merge(measure, rank);
    }
    return ALAR_OK;
}

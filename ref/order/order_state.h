/* Inside the measurement of orders: what its files share. */
#ifndef ALAR_ORDER_STATE_H
#define ALAR_ORDER_STATE_H

#include "order/order_measure.h"

struct measure {
    struct alar_order_world *world;
    const struct alar_order_options *options;
    struct alar_order_measured *measured;
    uint32_t n;
    size_t square;            /* n * n */
    uint64_t count;           /* elements */
    size_t bytes;             /* of an element */
    uint16_t *leaves;         /* local ranks, elements, n * n */
    struct alar_order *order; /* local ranks, elements: of these */
    void *send;               /* local ranks, elements */
    void *recv;
    void *kept;     /* the first result on an input, to compare later ones with */
    int32_t *share; /* what one rank tells the others, and below what all told */
    int32_t *heard;
};

/* Sums `elements` numbers over all ranks: each local rank k contributes share[k * elements ...],
   and heard[0 .. elements-1] is the sum. */
ALAR_MUST_USE enum alar_status measure_sum(struct measure *measure, uint64_t elements);

/* Elements that measure_sum must have room for. */
uint64_t measure_elements(uint32_t n);

/* Compares calls on one input with each other, and ranks with each other. */
ALAR_MUST_USE enum alar_status measure_repeat(struct measure *measure);

/* Measures the accumulator at element 0 of rank 0. */
ALAR_MUST_USE enum alar_status measure_width(struct measure *measure);

/* Tells every rank every rank's orders. */
ALAR_MUST_USE enum alar_status measure_gather(struct measure *measure);

/* The bits of element `at` of local rank k in `values`. */
uint64_t measure_bits(const struct measure *measure, const void *values, uint32_t k, uint64_t at);

#endif

/* Measures the order of addition of one kind of call: per rank and per element. */
#ifndef ALAR_ORDER_MEASURE_H
#define ALAR_ORDER_MEASURE_H

#include "numbers/tree_probe.h"
#include "order/order_world.h"

struct alar_order_options {
    struct alar_order_call call; /* SUM or AVG of a float dtype */
    bool all_pairs;              /* measure every pair, also what follows from others */
    uint32_t repeat;             /* calls on one input, for the comparison between calls */
    uint64_t seed;
};

/* Elements `at` to `at + count - 1` of a rank's result have one order. */
struct alar_order_run {
    uint32_t rank;
    uint64_t at;
    uint64_t count;
    uint32_t order; /* index into `order` below */
};

struct alar_order_measured {
    uint32_t order_count; /* distinct ones, in the order they were met */
    struct alar_order *order;
    uint32_t run_count;
    struct alar_order_run *run; /* by rank, then by element */
    bool is_cut;                /* there were more orders or runs than are kept */
    uint64_t probes;            /* all-reduces spent on pairs */
    uint32_t repeated;          /* calls on an input that had been summed before */
    uint32_t changed;           /* of these: calls after which some rank held other bits */
    uint32_t disagreed;         /* of these: calls after which ranks held different bits */
    int accumulator;            /* significand bits; 0: it can't be measured (n < 3, or wide) */
    void *memory;               /* behind it all */
};

/* Every rank of the world calls, and every rank gets the same answer.
   Errors: those of alar_order_world_reduce; ALAR_E_RANGE when n or the count is too large for the
   dtype or for memory; ALAR_E_UNSUPPORTED when the back end lacks the dtype, the reduction or i32;
   ALAR_E_NOMEM. Nothing is to be freed then. */
ALAR_MUST_USE enum alar_status alar_order_measure(struct alar_order_world *world,
                                                  const struct alar_order_options *options,
                                                  struct alar_order_measured *measured);

void alar_order_measured_free(struct alar_order_measured *measured);

#endif

/* Seeded draws for tests: the same numbers on every machine. A test prints its seed by naming it in
   its assertions, so that a failing draw can be made again. */
#ifndef ALAR_TEST_DRAW_H
#define ALAR_TEST_DRAW_H

#include "numbers/tree.h"

/* How many cases to draw: sanitizers need the paths, not the statistics. */
#ifdef __SANITIZE_ADDRESS__
#define DRAWN(cases) ((cases) / 5)
#else
#define DRAWN(cases) (cases)
#endif

struct draw {
    uint64_t state; /* the seed at first */
};

/* 64 uniform bits (splitmix64). */
uint64_t draw_bits(struct draw *draw);

/* Uniform in [0, limit); limit >= 1. */
uint32_t draw_below(struct draw *draw, uint32_t limit);

/* Families of contributions, from mild to hostile. */
enum draw_family {
    DRAW_LOSS,    /* 1 .. 12, as a language model's loss */
    DRAW_NEAR,    /* 7 +- 0.01 */
    DRAW_MIXED,   /* the same as LOSS with random signs */
    DRAW_WIDE,    /* exponents -10 .. 10, random signs */
    DRAW_CANCEL,  /* pairs v, -v with a small residue */
    DRAW_INTEGER, /* small integers: every sum is exact */
    DRAW_TIES,    /* 1 and halves of its last place: sums that fall between two values */
    DRAW_TINY,    /* subnormals and their neighbours */
    DRAW_HUGE,    /* within a factor of 8 of overflow, random signs */
    DRAW_ANY,     /* any finite bit pattern */
    DRAW_FAMILY_COUNT
};

/* Fills n values of a float dtype. */
void draw_values(struct draw *draw, enum draw_family family, enum alar_dtype dtype, uint64_t *bits,
                 uint32_t n);

/* A random order of 0 .. n-1. */
void draw_order(struct draw *draw, uint32_t *order, uint32_t n);

/* A legal sum: joins two drawn values until one is left; room: n entries. */
uint64_t draw_sum(struct draw *draw, struct alar_adder adder, const uint64_t *bits, uint32_t n,
                  uint64_t *room);

#endif

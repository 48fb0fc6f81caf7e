/* Seeded random numbers: the same on every machine, one independent stream for each purpose.

   Streams are told apart by a number, so that drawing more for one purpose changes nothing for
   another. Not for secrets. */
#ifndef ALAR_RNG_H
#define ALAR_RNG_H

#include <stdint.h>

/* xoshiro256**; never all zero. */
struct alar_rng {
    uint64_t state[4];
};

/* The stream of `purpose` under `seed`. */
struct alar_rng alar_rng_stream(uint64_t seed, uint64_t purpose);

/* 64 random bits. */
uint64_t alar_rng_next(struct alar_rng *rng);

/* Uniform in 0 .. bound - 1, without bias; bound >= 1. */
uint64_t alar_rng_below(struct alar_rng *rng, uint64_t bound);

/* Uniform in [0, 1), a multiple of 2^-53. */
double alar_rng_unit(struct alar_rng *rng);

/* Folds one more number into a seed (splitmix64). What it returns serves as a seed for a smaller
   purpose, or as 64 random bits that depend on nothing but the numbers: no state, no order. */
uint64_t alar_rng_fold(uint64_t seed, uint64_t number);

#endif

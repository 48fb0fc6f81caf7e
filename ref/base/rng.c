/* Seeded random numbers: splitmix64 for seeds, xoshiro256** for streams (Blackman and Vigna). */
#include "base/rng.h"

#include "base/check.h"

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

uint64_t alar_rng_fold(uint64_t seed, uint64_t number)
{
    uint64_t z = seed + GOLDEN * (number + 1);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

struct alar_rng alar_rng_stream(uint64_t seed, uint64_t purpose)
{
    uint64_t base = alar_rng_fold(seed, purpose);
    struct alar_rng rng;

    /* Four different arguments of a bijection: at most one of the four words can be zero. */
    for (uint64_t i = 0; i < 4; i++) {
        rng.state[i] = alar_rng_fold(base, i);
    }
    return rng;
}

static uint64_t rotate(uint64_t x, int by)
{
    return (x << by) | (x >> (64 - by));
}

uint64_t alar_rng_next(struct alar_rng *rng)
{
    uint64_t *s = rng->state;
    uint64_t result = rotate(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate(s[3], 45);
    return result;
}

uint64_t alar_rng_below(struct alar_rng *rng, uint64_t bound)
{
    uint64_t value = 0;
    uint64_t rejected = 0;

    PRE(bound >= 1);
    /* 2^64 modulo bound: the first values are drawn again, so that each remainder is as likely. */
    rejected = (UINT64_MAX - bound + 1) % bound;
    do {
        value = alar_rng_next(rng);
    } while (value < rejected);
    return value % bound;
}

double alar_rng_unit(struct alar_rng *rng)
{
    return (double)(alar_rng_next(rng) >> 11) * 0x1p-53;
}

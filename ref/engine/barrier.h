/* What a roll call means: who is missing, who raised, and how the run ends because of it. */
#ifndef ALAR_BARRIER_H
#define ALAR_BARRIER_H

#include "api/backend.h"

#include <stdbool.h>
#include <stdint.h>

/* The answers of `ranks` ranks; both arrays are borrowed. */
struct alar_barrier {
    uint32_t ranks;
    uint32_t rank;                /* own */
    const uint8_t *presence;      /* enum alar_presence */
    const struct alar_note *note; /* meaningful where the rank is present */
};

struct alar_barrier_outcome {
    enum alar_status status; /* E_LOST, E_TIMEOUT, or what a rank says of itself: E_NONFINITE ... */
    uint32_t culprit;        /* the lowest rank that said so, is silent, or has posted least */
    uint32_t count;          /* ranks that said so, or are silent; 0 for E_TIMEOUT */
    struct alar_note note;   /* of the culprit when it is present */
};

/* Judges the roll that was called because a wait expired, or because a rank has left: a rank that
   raised explains it best, then one that failed for a reason of its own, then silent ranks, then a
   rank that is merely behind. All ranks that see the same roll end alike.
   spec: F-05 */
struct alar_barrier_outcome alar_barrier_judge(const struct alar_barrier *roll);

/* Does `rank` belong to what the ending counts (said so, or silent)? */
bool alar_barrier_is_culprit(const struct alar_barrier *roll,
                             const struct alar_barrier_outcome *ending, uint32_t rank);

#endif

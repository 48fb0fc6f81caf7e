/* One element to judge, with the memory that takes. */
#ifndef ALAR_TEST_JUDGING_H
#define ALAR_TEST_JUDGING_H

#include "legal/provenance.h"

enum {
    JUDGING_RANKS = 72
};

struct judging {
    struct alar_reduce reduce; /* its contributions are bits, below */
    struct alar_budget budget;
    struct alar_origin origin; /* of the value judged last */
    uint64_t bits[JUDGING_RANKS];
    uint64_t room[JUDGING_RANKS];
    int32_t nodes[2 * JUDGING_RANKS];
};

/* A plain sum over n ranks, to nearest; the caller ends it. */
void judging_start(struct judging *judging, enum alar_dtype dtype, uint32_t n);
void judging_end(struct judging *judging);

/* Judges a value. */
enum alar_proof judging_proof(struct judging *judging, uint64_t value);

#endif

/* What is said when an all-reduce does not hold each rank's contribution once. */
#ifndef ALAR_MISHAP_H
#define ALAR_MISHAP_H

#include "engine/participation.h"

#include <stddef.h>

/* Longest text, with its end. */
#define ALAR_MISHAP_BYTES 256

struct alar_mishap {
    struct alar_census_finding finding;
    int64_t step; /* own number of the first step it covers */
    uint32_t microbatch;
    uint64_t number; /* of the all-reduce within its communicator, from 0 */
};

/* One line without its newline: "rank 2 is missing from all-reduce 7 (step 3, microbatch 1)". */
void alar_mishap_print(const struct alar_mishap *mishap, char text[ALAR_MISHAP_BYTES]);

#endif

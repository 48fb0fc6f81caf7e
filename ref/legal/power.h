/* Could this input have shown a fault at all? What a pass is worth. */
#ifndef ALAR_POWER_H
#define ALAR_POWER_H

#include "legal/provenance.h"

/* What a check of this input is worth. Only what is certain counts: a rank whose loss no order
   could have hidden, in a tree of the declared height when there is one. spec: N-21 */
struct alar_power {
    uint32_t drops;   /* ranks whose missing contribution would have been seen */
    uint32_t doubles; /* ranks whose doubled contribution would have been seen */
    bool is_vacuous;  /* neither, for any rank: a pass says nothing */
};

enum {
    ALAR_POWER_DROP = 1,
    ALAR_POWER_DOUBLE = 2
};

/* seen: n entries, bits as above, or NULL.
   Errors: ALAR_E_RANGE when the scratch (8 words a rank, and the hull's for up to 12 ranks) does
   not suffice; ALAR_E_UNSUPPORTED for products of more than 256 ranks. */
ALAR_MUST_USE enum alar_status alar_power_evaluate(const struct alar_reduce *reduce,
                                                   struct alar_scratch scratch, uint8_t *seen,
                                                   struct alar_power *power);

#endif

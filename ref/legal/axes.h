/* The axes of a verdict that do not ask where a value came from: do ranks agree, is it what the
   synchronous reduction gave, and could this input have shown a fault at all? */
#ifndef ALAR_AXES_H
#define ALAR_AXES_H

#include "legal/provenance.h"

/* Do all ranks hold the same bits? spec: N-19 */
struct alar_agreement {
    uint32_t classes;          /* groups of ranks with the same bits; 1 is agreement */
    uint32_t classes_by_value; /* the same, all NaNs counting as one */
};

/* value[i] is what rank i got. class_of: n entries; becomes, for each rank, the first rank with the
   same bits. */
struct alar_agreement alar_agreement_of(enum alar_dtype dtype, const uint64_t *value, uint32_t n,
                                        uint32_t *class_of);

/* An asynchronous value beside the synchronous one of the same contributions. spec: N-20 */
enum alar_versus {
    ALAR_VERSUS_SAME,         /* same bits */
    ALAR_VERSUS_PAYLOAD,      /* both NaN, with other payloads or signs */
    ALAR_VERSUS_BOTH_LEGAL,   /* other bits, both legal: other orders */
    ALAR_VERSUS_UNDECIDED,    /* other bits, and one of them is undecided */
    ALAR_VERSUS_SYNC_ILLEGAL, /* other bits, only the synchronous one is illegal */
    ALAR_VERSUS_ASYNC_ILLEGAL,
    ALAR_VERSUS_BOTH_ILLEGAL,
    ALAR_VERSUS_COUNT
};

enum alar_versus alar_versus_of(enum alar_dtype dtype, uint64_t sync, enum alar_proof sync_proof,
                                uint64_t async, enum alar_proof async_proof);

/* "same bits", "same but for NaN payload", ... Static storage. */
const char *alar_versus_name(enum alar_versus versus);

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
   not suffice; ALAR_E_UNSUPPORTED for products. */
ALAR_MUST_USE enum alar_status alar_power_evaluate(const struct alar_reduce *reduce,
                                                   struct alar_scratch scratch, uint8_t *seen,
                                                   struct alar_power *power);

#endif

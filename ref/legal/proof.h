/* The proofs of provenance.h for one value under one convention of averaging. Private to the two.
 */
#ifndef ALAR_PROOF_H
#define ALAR_PROOF_H

#include "legal/provenance.h"

/* Which sums could have become the value, and the memory and work allowed for finding them. The
   reduction is that of what is summed: its dtype is the average's. */
struct alar_proof_search {
    const struct alar_reduce *reduce;
    struct alar_average average; /* ALAR_AVG_ANY: a plain sum, or a product */
    uint64_t value;              /* in average.result */
    bool is_nan;                 /* it comes from NaN alone; else from the sums of these ranks */
    int64_t first, last;
    const uint64_t *prepared; /* what is summed */
    uint64_t work;
    uint32_t starts;
    uint64_t *stack; /* 3n entries */
    struct alar_scratch scratch;
};

/* Is the sum one of those that become the value? */
bool alar_proof_takes(const struct alar_proof_search *search, uint64_t sum);

/* Notes that the value is one that the sum becomes, or that it is illegal; both return true. */
bool alar_proof_settle(struct alar_origin *origin, enum alar_proof proof, uint64_t sum);
bool alar_proof_refuse(struct alar_origin *origin, enum alar_refusal refusal);

/* Settles the value where the order can't matter, or can't matter to it; false: it may. */
bool alar_proof_only(const struct alar_proof_search *search, struct alar_origin *origin);

/* Sets the proof, and with it the evidence; the origin's bound is there already. */
void alar_proof_find(struct alar_proof_search *search, struct alar_origin *origin);

#endif

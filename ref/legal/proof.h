/* The proofs of provenance.h for one value under one convention of averaging. Private to the two.
 */
#ifndef ALAR_PROOF_H
#define ALAR_PROOF_H

#include "legal/provenance.h"

enum {
    ALAR_PROOF_CANDIDATES = 16
};

/* Which sums could have become the value, and with what they may be looked for. */
struct alar_proof_search {
    const struct alar_reduce *reduce;
    enum alar_avg avg; /* ALAR_AVG_ANY: a plain sum */
    uint64_t value;
    const uint64_t *prepared; /* what is summed */
    uint64_t candidate[ALAR_PROOF_CANDIDATES];
    uint32_t candidates;
    bool is_cut;      /* there are more candidates: absence proves nothing */
    uint64_t ends[2]; /* the extreme candidates of a value that is not NaN */
    uint64_t work;
    uint32_t starts;
    uint64_t *stack; /* 3n entries */
    struct alar_scratch scratch;
};

/* Finds the candidates; false when no sum becomes the value. Float dtypes. */
bool alar_proof_candidates(struct alar_proof_search *search);

/* Sets the proof, and with it the evidence; the origin's bound is there already. */
void alar_proof_find(struct alar_proof_search *search, struct alar_origin *origin);

#endif

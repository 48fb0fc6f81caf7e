/* What a mutant computes from the gathered contributions of all ranks: the right result, the wrong
   one, and whether the wrong one is wrong. */
#ifndef ALAR_FAULTS_MUTANT_FOLD_H
#define ALAR_FAULTS_MUTANT_FOLD_H

#include "mutant_backend.h"

/* One all-reduce, known in whole. Rows are [ranks][count] bits. */
struct mutant_fold {
    enum alar_dtype dtype;
    enum alar_reduction reduction;
    uint32_t ranks;
    uint32_t count;
    const uint64_t *now;  /* contributions */
    const uint64_t *then; /* those of the all-reduce before; NULL when it had another shape */
    uint32_t rank;        /* drawn: the rank that is hit */
    uint32_t other;       /* drawn: another one, when there is another */
    uint64_t draw;        /* drawn: for bits and orders; another one for each all-reduce */
};

/* The right result, as a healthy back end with recursive doubling has it. */
void mutant_fold_right(const struct mutant_fold *fold, const uint64_t *rows, uint64_t *out);

/* The defect's result, on the rank it is drawn for or on all. */
void mutant_fold_wrong(enum alar_mutant_kind kind, const struct mutant_fold *fold,
                       const uint64_t *right, uint64_t *out);

/* Is it none of the values that some order of additions gives? Ranks up to ALAR_MUTANT_RANKS_MAX.
 */
bool mutant_fold_is_illegal(const struct mutant_fold *fold, const uint64_t *out);

#endif

/* Why is a value illegal? Each known way to get a sum wrong is tried: the contributions, the adder
   or the division are altered as the fault would, and the value is judged again. What makes it
   legal explains it. spec: N-23 */
#ifndef ALAR_DIAGNOSE_H
#define ALAR_DIAGNOSE_H

#include "legal/provenance.h"

/* Explanations kept; the counts go on. */
#define ALAR_DIAGNOSIS_KEPT 16

/* In order of tier: an explanation of an earlier tier needs less to have gone wrong, or could fit
   by chance less often. Numbers in brackets are the fields of alar_explanation that are used. */
enum alar_cause {
    ALAR_CAUSE_POISON,         /* 1: the buffer still holds what was put there before */
    ALAR_CAUSE_PREVIOUS,       /* 1: the previous step's value */
    ALAR_CAUSE_NEXT,           /* 1: the next step's value */
    ALAR_CAUSE_OWN,            /* 1: one contribution only [rank] */
    ALAR_CAUSE_ZERO_SIGN,      /* 1: right but for the sign of zero */
    ALAR_CAUSE_UNDIVIDED,      /* 1: the sum, where the average was asked for */
    ALAR_CAUSE_DIVIDED,        /* 1: the average, where the sum was asked for */
    ALAR_CAUSE_DIVIDED_TWICE,  /* 1: the average divided by the number of ranks once more */
    ALAR_CAUSE_COUNT_OFF,      /* 1: divided by another number of ranks [other] */
    ALAR_CAUSE_MISSING,        /* 1: without one contribution [rank] */
    ALAR_CAUSE_DOUBLED,        /* 1: with one contribution twice [rank] */
    ALAR_CAUSE_WIDTH,          /* 2: accumulated in another dtype [other] */
    ALAR_CAUSE_DOUBLE_ROUNDED, /* 2: summed in f64, rounded to f32, then to the dtype */
    ALAR_CAUSE_MODEL,          /* 2: added by another model: half-up, truncating, ... [other] */
    ALAR_CAUSE_REDUCTION,      /* 2: what another reduction gives: max for sum, ... [other] */
    ALAR_CAUSE_REPLACED,       /* 3: one contribution replaced by another rank's [rank, other] */
    ALAR_CAUSE_STALE,          /* 3: one contribution from the previous step [rank] */
    ALAR_CAUSE_EARLY,          /* 3: one contribution from the next step [rank] */
    ALAR_CAUSE_SUBSET,         /* 4: only some ranks, at least 2, at most n - 2 [subset] */
    ALAR_CAUSE_FLIPPED,        /* 5: one bit of one contribution inverted [rank, other] */
    ALAR_CAUSE_RESULT_FLIPPED, /* 5: one bit of the result inverted [other] */
    ALAR_CAUSE_COUNT
};

struct alar_explanation {
    enum alar_cause cause;
    uint32_t rank;
    uint32_t other;  /* a rank, bit, number of ranks, or enum alar_dtype, alar_model, alar_red */
    uint32_t subset; /* bit i for rank i */
    enum alar_proof proof; /* how well it explains: a named tree, or only the hull or the bound */
};

struct alar_diagnosis {
    uint32_t count;   /* explanations in all tiers */
    uint32_t tier;    /* the best tier that has one; 0 when nothing explains the value */
    uint32_t in_tier; /* explanations in that tier; 1: unique */
    bool is_unique;   /* alone in its tier, of which all hypotheses were tried */
    uint32_t cut;     /* first tier of which some were not: too many ranks for them; 0: none */
    uint32_t kept;
    struct alar_explanation kept_explanation[ALAR_DIAGNOSIS_KEPT]; /* in order of tier */
};

/* What else is known; NULL, or no flag, where it is not. */
struct alar_observations {
    const uint64_t *previous; /* contributions of the step before, by rank */
    const uint64_t *next;     /* and of the step after */
    bool has_previous_value, has_next_value, has_poison;
    uint64_t previous_value, next_value, poison;
};

/* Diagnoses an illegal value. scratch: ALAR_PROVENANCE_SCRATCH is ample.
   Errors: ALAR_E_RANGE when the scratch is too small; ALAR_E_UNSUPPORTED for MAXLOC and MINLOC. */
ALAR_MUST_USE enum alar_status alar_diagnose(const struct alar_reduce *reduce, uint64_t value,
                                             const struct alar_observations *observations,
                                             struct alar_scratch scratch,
                                             struct alar_diagnosis *diagnosis);

/* The tier of a cause, 1 .. 5. */
uint32_t alar_cause_tier(enum alar_cause cause);

/* "missing", "doubled", "previous-step", ... Static storage. */
const char *alar_cause_name(enum alar_cause cause);

/* Does an explanation of this cause name a rank in its field `rank`? */
bool alar_cause_has_rank(enum alar_cause cause);

/* Are two elements of one payload from different steps? One is legal where the other is explained
   as the previous or the next step's value. */
bool alar_diagnosis_is_torn(const struct alar_origin *legal, const struct alar_diagnosis *other);

#endif

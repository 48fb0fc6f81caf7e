/* Mutants: a back end that wraps another one and breaks it on purpose, in one of the ways of
   mutants.def. Rank, all-reduce, element and bit are drawn from a seed, the same on all ranks.

   Where a value has to come out wrong, the bytes of all contributions are gathered through the
   inner back end (an integer SUM in which each rank fills its own place), and added up here, with
   the defect: so one mutant breaks every back end alike. It also knows by trying all orders of
   addition whether the outcome is wrong at all, or another legal value. */
#ifndef ALAR_FAULTS_MUTANT_BACKEND_H
#define ALAR_FAULTS_MUTANT_BACKEND_H

#include "api/backend.h"
#include "judge/anomaly.h"

enum alar_mutant_kind {
#define MUTANT(token, ...) ALAR_MUTANT_##token,
#include "mutants.def"
    ALAR_MUTANT_COUNT
};

enum alar_mutant_span {
    ALAR_MUTANT_ONCE,
    ALAR_MUTANT_ALWAYS
};

enum alar_mutant_promise {
    ALAR_PROMISE_ANY,
    ALAR_PROMISE_TWIN,
    ALAR_PROMISE_TREE,
    ALAR_PROMISE_NAN
};

enum alar_mutant_culprit {
    ALAR_CULPRIT_OP,
    ALAR_CULPRIT_RANK
};

/* A row of mutants.def. */
struct alar_mutant_row {
    const char *name;
    const char *what;
    enum alar_mutant_span span;
    enum alar_mutant_promise promise;
    enum alar_anomaly anomaly;
    enum alar_mutant_culprit culprit;
};

extern const struct alar_mutant_row alar_mutants[ALAR_MUTANT_COUNT];

enum {
    ALAR_STRIKES_MAX = 256,
    ALAR_MUTANT_RANKS_MAX = 6 /* all orders of addition are tried up to here */
};

/* An all-reduce on which the defect showed. */
struct alar_strike {
    uint32_t comm;   /* in the order of comm_create */
    uint64_t number; /* within it */
    uint32_t rank;   /* of the world: the one that was hit */
};

struct alar_mutant;

struct alar_mutant_options {
    enum alar_mutant_kind kind;
    uint64_t seed;
    uint32_t rank;
    uint32_t ranks;
    const struct alar_backend *inner; /* borrowed */
    void *context;                    /* of the inner back end; borrowed */
};

/* Errors: ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status alar_mutant_open(struct alar_mutant **mutant,
                                                const struct alar_mutant_options *options);

/* The table and the context to use in place of the inner ones. */
const struct alar_backend *alar_mutant_backend(const struct alar_mutant *mutant);
void *alar_mutant_context(struct alar_mutant *mutant);

/* Where it struck on this rank, in order; *count may exceed ALAR_STRIKES_MAX, what is kept does
 * not.
 */
const struct alar_strike *alar_mutant_strikes(const struct alar_mutant *mutant, uint32_t *count);

/* Frees it and all buffers: after the inner back end's communicators are gone. NULL is fine. */
void alar_mutant_free(struct alar_mutant *mutant);

/* Errors: ALAR_E_INPUT when no mutant has the name. */
ALAR_MUST_USE enum alar_status alar_mutant_find(const char *name, enum alar_mutant_kind *kind);

#endif

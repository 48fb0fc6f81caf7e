/* What became of one history, for programs that run tests: JUnit's XML, TAP and SARIF. Only FAIL
   fails a test by its content; UNKNOWN and an unusable input are errors, for neither is a PASS. */
#ifndef ALAR_OUTCOME_H
#define ALAR_OUTCOME_H

#include "check/history_judge.h"

#include <stdio.h>
#include <yajl/yajl_gen.h>

/* A verdict, or why there is none. Borrowed. */
struct alar_outcome {
    const char *name;                       /* "-" or a path */
    const struct alar_history_files *files; /* NULL when unusable */
    const struct alar_verdict *verdict;     /* NULL when unusable */
    const char *error_line;                 /* of the unusable */
};

/* Outcomes being gathered into one document; zero it before use. */
struct alar_outcomes {
    FILE *out;
    uint64_t tests, failures, errors;
    char *cases; /* JUnit: written so far */
    size_t cases_bytes;
    FILE *writing; /* to `cases` */
    yajl_gen json; /* SARIF */
};

/* One test of a JUnit document, which alar_junit_end writes; then the same for the others.
   Errors: ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status alar_junit_add(struct alar_outcomes *outcomes,
                                              const struct alar_outcome *outcome);
ALAR_MUST_USE enum alar_status alar_junit_end(struct alar_outcomes *outcomes);
ALAR_MUST_USE enum alar_status alar_tap_add(struct alar_outcomes *outcomes,
                                            const struct alar_outcome *outcome);
ALAR_MUST_USE enum alar_status alar_tap_end(struct alar_outcomes *outcomes);
ALAR_MUST_USE enum alar_status alar_sarif_add(struct alar_outcomes *outcomes,
                                              const struct alar_outcome *outcome);
ALAR_MUST_USE enum alar_status alar_sarif_end(struct alar_outcomes *outcomes);

/* The story of an outcome as text that the caller frees; NULL without memory. */
char *alar_outcome_story(const struct alar_outcome *outcome);

#endif

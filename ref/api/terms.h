/* The terms a run is described in, with the names they have on the command line, in histories and
   in reports. Each list of names ends with NULL and is indexed by its enum. */
#ifndef ALAR_TERMS_H
#define ALAR_TERMS_H

#include "status.h"
#include "terms.def"

#ifdef __cplusplus
extern "C" {
#endif

/* What is made of a row of terms.def: its enumerator, its name, a word of a list that begins with a
   blank. */
#define ALAR_TERM_ENUM(token, word, meaning) ALAR_##token,
#define ALAR_TERM_NAME(token, word, meaning) word,
#define ALAR_TERM_WORD(token, word, meaning) " " word

/* What a report makes of a metric. */
enum alar_metric_kind {
    ALAR_METRIC_KIND_TERMS(ALAR_TERM_ENUM) ALAR_METRIC_KINDS
};

/* A named quantity of a log. */
struct alar_metric {
    const char *name; /* not empty, without a comma */
    enum alar_metric_kind kind;
};

/* Where a reduction is issued. */
enum alar_placement {
    ALAR_PLACEMENT_TERMS(ALAR_TERM_ENUM) ALAR_PLACEMENT_COUNT
};

/* What the reported number is. */
enum alar_normalization {
    ALAR_NORMALIZATION_TERMS(ALAR_TERM_ENUM) ALAR_NORMALIZATION_COUNT
};

/* Over the steps of a log interval. */
enum alar_over {
    ALAR_OVER_TERMS(ALAR_TERM_ENUM) ALAR_OVER_COUNT
};

/* What travels. */
enum alar_encoding {
    ALAR_ENCODING_TERMS(ALAR_TERM_ENUM) ALAR_ENCODING_COUNT
};

/* What to do about a local loss that is NaN or infinite. */
enum alar_check {
    ALAR_CHECK_TERMS(ALAR_TERM_ENUM) ALAR_CHECK_CHOICES
};

/* What a reduction does. Below ALAR_REDUCTION_COUNT: what a back end may be asked for. */
enum alar_reduction {
    ALAR_BACKEND_REDUCTION_TERMS(ALAR_TERM_ENUM) ALAR_REDUCTION_COUNT,
    ALAR_REDUCTION_LAST_ = ALAR_REDUCTION_COUNT - 1, /* so that the next one follows */
    ALAR_RECORDED_REDUCTION_TERMS(ALAR_TERM_ENUM) ALAR_REDUCTION_WORDS
};

/* Where an average divides. */
enum alar_avg {
    ALAR_AVG_TERMS(ALAR_TERM_ENUM) ALAR_AVG_COUNT
};

/* What MAX and MIN make of a NaN. */
enum alar_nan_policy {
    ALAR_NAN_TERMS(ALAR_TERM_ENUM) ALAR_NAN_COUNT
};

/* async-microbatch async-step async-window sync-microbatch ...: placement + 3 when synchronous. */
ALAR_API extern const char *const alar_schedule_names[];
ALAR_API extern const char *const alar_placement_names[];     /* microbatch step window */
ALAR_API extern const char *const alar_normalization_names[]; /* token-weighted rank-mean ... */
ALAR_API extern const char *const alar_over_names[];          /* steps pooled */
ALAR_API extern const char *const alar_encoding_names[];      /* pair32 pair64 exact */
ALAR_API extern const char *const alar_check_names[];         /* agree raise count off */
ALAR_API extern const char *const alar_reduction_names[];     /* sum avg max min product ... */
ALAR_API extern const char *const alar_avg_names[];           /* any sum-divide ... */
ALAR_API extern const char *const alar_nan_names[];           /* any propagate ignore idiom */
ALAR_API extern const char *const alar_wait_at_names[];       /* step log */
ALAR_API extern const char *const alar_scope_names[];         /* partial replicated */
ALAR_API extern const char *const alar_order_names[];         /* free fixed */
ALAR_API extern const char *const alar_metric_kind_names[];   /* mean sum min max */

#ifdef __cplusplus
}
#endif

#endif

/* The terms a run is described in, with the names they have on the command line, in histories and
   in reports. Each list of names ends with NULL and is indexed by its enum. */
#ifndef ALAR_TERMS_H
#define ALAR_TERMS_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a report makes of a metric's samples, of all ranks, microbatches and steps it covers.
   spec: L-14, L-15 */
enum alar_metric_kind {
    ALAR_METRIC_MEAN, /* as the normalization says */
    ALAR_METRIC_SUM,
    ALAR_METRIC_MIN,
    ALAR_METRIC_MAX,
    ALAR_METRIC_KINDS
};

/* A named quantity of a log. */
struct alar_metric {
    const char *name; /* not empty, without a comma */
    enum alar_metric_kind kind;
};

/* Where a reduction is issued. */
enum alar_placement {
    ALAR_PLACEMENT_MICROBATCH, /* one all-reduce a microbatch */
    ALAR_PLACEMENT_STEP,       /* one a step, at its end */
    ALAR_PLACEMENT_WINDOW,     /* one a log interval, at the log line */
    ALAR_PLACEMENT_COUNT
};

/* What the reported number is. spec: L-02 */
enum alar_normalization {
    ALAR_TOKEN_WEIGHTED,  /* sum of losses / sum of tokens, over ranks and microbatches */
    ALAR_RANK_MEAN,       /* mean over microbatches of the mean over non-empty ranks of own means */
    ALAR_MICROBATCH_MEAN, /* mean over microbatches of each one's token-weighted mean */
    ALAR_SEED_UNDIVIDED,  /* the original's: ranks' means summed, never divided; NaN if one is empty
                           */
    ALAR_NORMALIZATION_COUNT
};

/* Over the steps of a log interval. spec: L-04 */
enum alar_over {
    ALAR_OVER_STEPS,  /* mean of the step values; empty steps do not count */
    ALAR_OVER_POOLED, /* one ratio of the interval's sums */
    ALAR_OVER_COUNT
};

/* What travels. spec: L-03 */
enum alar_encoding {
    ALAR_PAIR32, /* [loss sum, token count] in fp32, as the original feature */
    ALAR_PAIR64, /* the same in fp64 */
    ALAR_EXACT,  /* whole numbers: the sum without rounding, and who took part in it */
    ALAR_ENCODING_COUNT
};

/* What to do about a local loss that is NaN or infinite. spec: L-08 */
enum alar_check {
    ALAR_CHECK_AGREE, /* all ranks learn of it and stop after that step */
    ALAR_CHECK_RAISE, /* the rank stops at once; the others at their deadline */
    ALAR_CHECK_COUNT, /* go on, with the count beside the value */
    ALAR_CHECK_OFF,   /* do not look: the two elements of the original feature and nothing else */
    ALAR_CHECK_CHOICES
};

/* What a reduction does, in the order of the words in record.def. */
enum alar_red {
    ALAR_RED_SUM,
    ALAR_RED_MAX,
    ALAR_RED_MIN,
    ALAR_RED_PRODUCT,
    ALAR_RED_AVG,
    ALAR_RED_LAND, /* the logical ones: what is not 0 is true; 1 or 0 comes out */
    ALAR_RED_LOR,
    ALAR_RED_LXOR,
    ALAR_RED_BAND, /* bit by bit, of integers */
    ALAR_RED_BOR,
    ALAR_RED_BXOR,
    ALAR_RED_MAXLOC, /* elements in pairs, value and index: the extreme and its least index */
    ALAR_RED_MINLOC
};

/* What an average is: where the division by the number of ranks happens. spec: N-16 */
enum alar_avg {
    ALAR_AVG_ANY,
    ALAR_AVG_SUM_DIVIDE,   /* (sum of x) / n */
    ALAR_AVG_SUM_MULTIPLY, /* (sum of x) * fl(1/n) */
    ALAR_AVG_MULTIPLY_SUM, /* sum of x * fl(1/n) */
    ALAR_AVG_DIVIDE_SUM,   /* sum of x / n */
};

/* What MAX and MIN make of a NaN among the contributions. spec: N-18 */
enum alar_nan_policy {
    ALAR_NAN_ANY,
    ALAR_NAN_PROPAGATE, /* the answer is NaN */
    ALAR_NAN_IGNORE,    /* the answer is that of the others; NaN when there are none */
    ALAR_NAN_IDIOM      /* a > b ? a : b: any contribution can win */
};

/* async-microbatch async-step async-window sync-microbatch ...: placement + 3 when synchronous. */
ALAR_API extern const char *const alar_schedule_names[];
ALAR_API extern const char *const alar_placement_names[];     /* microbatch step window */
ALAR_API extern const char *const alar_normalization_names[]; /* token-weighted rank-mean ... */
ALAR_API extern const char *const alar_over_names[];          /* steps pooled */
ALAR_API extern const char *const alar_encoding_names[];      /* pair32 pair64 exact */
ALAR_API extern const char *const alar_check_names[];         /* agree raise count off */
ALAR_API extern const char *const alar_red_names[];           /* sum max min product ... */
ALAR_API extern const char *const alar_metric_kind_names[];   /* mean sum min max */

#ifdef __cplusplus
}
#endif

#endif

/* What a logged loss means: local sums by selection, the four normalizations, and the mean over a
   log interval. All arithmetic is that of the payload encoding: in fp32 or fp64, one rounding an
   operation, from the left; under `exact` without rounding, but for one where a value is asked for.
 */
#ifndef ALAR_LOSS_H
#define ALAR_LOSS_H

#include "api/status.h"
#include "api/terms.h"
#include "numbers/exact.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One rank's loss over one microbatch. */
struct alar_local {
    double sum;         /* nats, over the selected tokens */
    int64_t tokens;     /* selected tokens, at least 0 */
    uint64_t nonfinite; /* selected tokens whose loss is NaN or infinite */
    uint64_t shares;    /* context parallel ranks with such a loss, where several share it: bit c */
    const struct alar_exact *exact; /* the sum before any rounding; NULL: it is `sum`. Borrowed */
};

/* The most tokens, and the most terms, that a rank's sum may have under `exact`. */
#define ALAR_LOSS_EXACT_TOKENS_MAX ((INT64_C(1) << 42) - 1)

/* Sums `count` per-token losses whose mask is not 0, in fp64 from the left. A position whose mask
   is 0 is never looked at, be it NaN: select, do not multiply. Borrows both arrays. spec: L-01 */
struct alar_local alar_loss_select(const float *losses, const uint8_t *mask, size_t count);

/* The same, and in `exact` the sum without rounding, which the result borrows: however tokens are
   split over ranks and microbatches, these sums add up to the same. spec: N-50 */
struct alar_local alar_loss_select_exact(const float *losses, const uint8_t *mask, size_t count,
                                         struct alar_exact *exact);

/* A recorded [loss sum, token count] pair as a local loss.
   Errors: ALAR_E_INPUT when `tokens` is no integer from 0 to 2^53. */
ALAR_MUST_USE enum alar_status alar_loss_recorded(double sum, double tokens,
                                                  struct alar_local *local);

/* Addition and division of two values as the encoding rounds them; `exact` rounds to fp64. */
double alar_loss_add(enum alar_encoding encoding, double a, double b);
double alar_loss_divide(enum alar_encoding encoding, double a, double b);

/* A number over a number; what a step, or an interval, amounts to. Zero it before use. */
struct alar_ratio {
    double numerator;
    double denominator;
};

/* The same without rounding. Zero it before use. */
struct alar_exact_ratio {
    struct alar_exact numerator;
    int64_t denominator;
};

/* What is known of one step, or of one interval. Zero or clear it before use. */
struct alar_tally {
    struct alar_ratio ratio; /* of the pair encodings */
    double tokens;           /* of all ranks and microbatches, exact to 2^53; 0 where none travel */
    uint64_t nonfinite;      /* (rank, microbatch) microbatches with a non-finite local loss */
    uint64_t empty; /* rank-mean: microbatches without a token; otherwise: steps without one */
    struct alar_exact_ratio exact; /* of `exact`; the other encodings never look at it */
};

/* Empties a tally; its exact part, which is large, only where that is looked at. */
void alar_tally_clear(struct alar_tally *tally, enum alar_encoding encoding);

/* The pair one rank contributes for one microbatch. spec: L-02 */
struct alar_ratio alar_loss_pair(enum alar_encoding encoding, enum alar_normalization normalization,
                                 const struct alar_local *local);

/* The same under `exact`: a rank's own mean is rounded once, to fp64, nothing else is. spec: N-53
 */
void alar_loss_exact_pair(enum alar_normalization normalization, const struct alar_local *local,
                          struct alar_exact_ratio *pair);

/* Its quotient, rounded once, to fp64; false, and `value` untouched, when the denominator is not
   positive. */
bool alar_loss_exact_value(const struct alar_exact_ratio *ratio, double *value);

/* Adds another ratio's numerator and denominator. */
void alar_loss_exact_merge(struct alar_exact_ratio *ratio, const struct alar_exact_ratio *other);

/* Adds one reduced pair of `ranks` ranks to its step. */
void alar_loss_add_pair(struct alar_tally *step, enum alar_encoding encoding,
                        enum alar_normalization normalization, uint32_t ranks,
                        struct alar_ratio pair);

/* The same under `exact`: the mean of a microbatch, where there is one, is rounded once, to fp64.
   spec: N-53 */
void alar_loss_exact_add_pair(struct alar_tally *step, enum alar_normalization normalization,
                              uint32_t ranks, const struct alar_exact_ratio *pair);

/* Adds a finished step to its interval. */
void alar_loss_add_step(struct alar_tally *interval, enum alar_encoding encoding,
                        enum alar_over over, const struct alar_tally *step);

/* The value of a step or an interval; false, and `value` untouched, when it is EMPTY: no token
   anywhere, which is neither NaN nor 0. Under `exact` the quotient, rounded once, to fp64.
   spec: L-05, N-53 */
bool alar_loss_value(const struct alar_tally *tally, enum alar_encoding encoding, double *value);

/* The sum alone, of a token-weighted tally; likewise, and likewise rounded. spec: L-14 */
bool alar_loss_total(const struct alar_tally *tally, enum alar_encoding encoding, double *value);

#endif

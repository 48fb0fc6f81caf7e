/* What travels in one all-reduce: the elements, their order, and back.

   An all-reduce covers some microbatches in step order, each with a local loss for every
   metric, in the order of the sorted names. Its elements are first the pairs, metrics innermost,
   then the extremes of metrics that are minima or maxima, then, unless the check for NaN is off,
   the flags, then, under `exact`, the participation.

   A pair is [numerator, weight] in fp32 or fp64. Under `exact` all elements are int64, and a pair
   is the numerator as a superaccumulator (exact_wire.h) and the weight as a whole number. Beside
   each pair of a minimum or maximum, whose numerator is 0, there is a block of one element a rank
   (payload_extreme.h). spec: N-50, L-15

   The participation (participation.h) says whether each rank took part once, in this all-reduce,
   and with the same metrics.

   Flags are for each microbatch and metric the set (payload_element.h) of the ranks whose local
   loss was not finite. MAX would lose it: one NaN makes any answer legal. Where `cp` ranks stand
   behind each rank of the group, their set is what is carried: c of r is number r * cp + c. spec:
   L-07 */
#ifndef ALAR_PAYLOAD_H
#define ALAR_PAYLOAD_H

#include "engine/loss.h"
#include "engine/participation.h"
#include "engine/payload_extreme.h"
#include "numbers/exact_wire.h"

/* Fixed for a run. */
struct alar_layout {
    enum alar_encoding encoding;
    enum alar_normalization normalization;
    enum alar_placement placement;
    uint32_t ranks;        /* of the group, at least 1 */
    uint32_t cp;           /* context parallel ranks behind each of them, at least 1 */
    uint32_t microbatches; /* a step, at least 1 */
    uint32_t metrics;      /* side by side in each microbatch, at least 1 */
    uint32_t kinds;        /* of the metrics, as in a schema; 0: all are means */
    bool has_flags;        /* carry who was non-finite */
    uint64_t schema;       /* exact: hash of the sorted names and kinds of the metrics */
};

/* Elements of a pair under `exact`. */
#define ALAR_PAYLOAD_EXACT_ELEMENTS (ALAR_EXACT_WIRE_F64 + 1)

/* What a element is: F32 (pair32), F64 (pair64) or I64 (exact); and its bytes. */
enum alar_dtype alar_payload_dtype(const struct alar_layout *layout);
size_t alar_payload_element_bytes(const struct alar_layout *layout);

/* Microbatches that one pair covers: a step's where they may be added locally (token-weighted, not
   placed per microbatch), otherwise one. */
size_t alar_payload_pair_microbatches(const struct alar_layout *layout);

/* Pairs for that many microbatches, all metrics counted: for each metric one a step where they may
   be added locally (token-weighted, not placed per microbatch), otherwise one a microbatch. PRE:
   whole steps, or a single microbatch per microbatch. */
size_t alar_payload_pairs(const struct alar_layout *layout, size_t microbatches);

/* Whether any metric is a minimum or a maximum. */
bool alar_payload_has_extremes(const struct alar_layout *layout);

/* Elements in all, extremes and flags included. */
size_t alar_payload_elements(const struct alar_layout *layout, size_t microbatches);

/* Writes rank `rank`'s contribution to the group's all-reduce `number` over `microbatches`
   microbatches, [microbatches][metrics] local losses, into `elements`, which holds
   alar_payload_elements() elements of alar_payload_element_bytes() bytes, aligned for them; returns
   how many those are. PRE: under `exact`, at most ALAR_LOSS_EXACT_TOKENS_MAX tokens and terms in
   all; with minima or maxima, at most ALAR_EXTREME_RANKS_MAX ranks. spec: L-03, N-50 */
size_t alar_payload_write(const struct alar_layout *layout, uint32_t rank, uint64_t number,
                          const struct alar_local *local, size_t microbatches, void *elements);

/* Who took part in all-reduce `number`, as rank `rank` sees what came out of it; `whole` under the
   pair encodings, which don't say. What is not whole has no pairs to add. spec: N-51, N-52 */
struct alar_participation_finding alar_payload_check(const struct alar_layout *layout,
                                                     uint32_t rank, uint64_t number,
                                                     const void *elements, size_t microbatches);

/* Adds the i-th reduced pair, of metric i modulo the number of metrics, to that metric's step. */
void alar_payload_add(const struct alar_layout *layout, const void *elements, size_t i,
                      struct alar_tally *step);

/* Takes the extreme beside the i-th of the pairs for `microbatches` microbatches into that metric's
   step; nothing happens when the metric is no minimum or maximum. spec: L-15 */
void alar_payload_add_extreme(const struct alar_layout *layout, const void *elements,
                              size_t microbatches, size_t i, struct alar_extreme *step);

/* The i-th reduced pair of a pair encoding. */
struct alar_ratio alar_payload_pair(const struct alar_layout *layout, const void *elements,
                                    size_t i);

/* What was reduced of one microbatch, token-weighted, as a local loss for a next reduction; it
   borrows `exact`, which is not looked at by the pair encodings. False when the weight is no count;
   then `local` is untouched. PRE: it was checked; one metric, a mean. spec: N-55 */
bool alar_payload_local(const struct alar_layout *layout, const void *elements,
                        struct alar_exact *exact, struct alar_local *local);

/* How many ranks a set can hold: ranks * cp. */
uint32_t alar_payload_set_ranks(const struct alar_layout *layout);

/* Was the `index`-th local loss, of [microbatches][metrics], of number `rank` of the set
   non-finite? false when flags do not travel. */
bool alar_payload_flag(const struct alar_layout *layout, const void *elements, size_t microbatches,
                       size_t index, uint32_t rank);

/* How many (rank, microbatch) flags are set: 0 on every step that is well. Time linear in the flag
 * elements.
 */
uint64_t alar_payload_flag_count(const struct alar_layout *layout, const void *elements,
                                 size_t microbatches);

#endif

/* Least and greatest values over ranks, carried by a SUM.

   A back end's MAX loses a NaN, or the maximum beside one, or gives ranks different answers. So
   every rank has a element of its own: it writes its value there and nothing into the others,
   behind them stands the set of the ranks that hold a value, and the reader takes the extreme. One
   number and zeros have one sum, whatever the order. "Nothing" is -0 in fp32 and fp64, which adds
   to any number without a trace, be it a zero; under `exact` a element is the bits of an fp64
   number as an int64, and nothing is 0. The price is a element a rank. spec: L-15 */
#ifndef ALAR_PAYLOAD_EXTREME_H
#define ALAR_PAYLOAD_EXTREME_H

#include "api/terms.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most ranks whose least and greatest values are carried. */
#define ALAR_EXTREME_RANKS_MAX UINT32_C(1024)

/* What is known of an extreme. Zero it before use: nobody has a value. */
struct alar_extreme {
    bool has_value;
    uint32_t rank; /* the lowest one that holds it */
    double value;
};

/* Takes the other one in: a NaN stays, whatever else there is; -0 lies below +0; of equal values,
   and of NaNs, the lowest rank's counts. In any order the same. PRE: a MIN or MAX. spec: L-15 */
void alar_extreme_merge(enum alar_metric_kind kind, struct alar_extreme *best,
                        const struct alar_extreme *other);

/* Elements of one block. */
size_t alar_extreme_elements(enum alar_encoding encoding, uint32_t ranks);

/* Writes the block of rank own->rank, from elements[at] on, its value rounded once to the element.
 */
void alar_extreme_write(enum alar_encoding encoding, uint32_t ranks, const struct alar_extreme *own,
                        void *elements, size_t at);

/* The extreme in a block that was summed over the ranks; a NaN is told without its payload. A set
   that is none reads as the empty one, and the oracle names it. */
struct alar_extreme alar_extreme_read(enum alar_encoding encoding, uint32_t ranks,
                                      enum alar_metric_kind kind, const void *elements, size_t at);

/* Can contributions make such a block? Only ranks of the set have a value. */
bool alar_extreme_is_whole(enum alar_encoding encoding, uint32_t ranks, const void *elements,
                           size_t at);

#endif

/* Where the lanes of an all-reduce lie; private to payload*.c. The parts stand in this order:
   pairs, extremes, flags, census. */
#ifndef ALAR_PAYLOAD_LAYOUT_H
#define ALAR_PAYLOAD_LAYOUT_H

#include "payload.h"
#include "schema.h"

/* Lanes of one pair, and cells that it covers. */
size_t payload_pair_lanes(const struct alar_layout *layout);
size_t payload_pair_cells(const struct alar_layout *layout);

/* Lanes of the flags of one cell and metric. */
size_t payload_flag_lanes(const struct alar_layout *layout);

/* The first lane of the block beside the i-th pair for `cells` cells, and of the parts that follow.
 */
size_t payload_extreme_begin(const struct alar_layout *layout, size_t cells, size_t i);
size_t payload_flags_begin(const struct alar_layout *layout, size_t cells);
size_t payload_census_begin(const struct alar_layout *layout, size_t cells);

/* What its numerator and weight are: those of sums are sums of everything, and so are the tokens
   beside an extreme. spec: L-14, L-15 */
enum alar_normalization payload_pair_normalization(const struct alar_layout *layout, size_t i);

/* Has the i-th pair a block beside it? */
bool payload_pair_is_extreme(const struct alar_layout *layout, size_t i);

#endif

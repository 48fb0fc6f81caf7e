/* The numbers a sum may legally be, whatever the order of its additions. */
#ifndef ALAR_LEGAL_H
#define ALAR_LEGAL_H

#include "legal/hull.h"

/* Up to this many ranks the range is the exact hull; beyond it, a proven bound. */
#define ALAR_LEGAL_HULL_RANKS 12

/* Bytes of scratch that n ranks need, 1 <= n <= ALAR_BOUND_RANKS_MAX. */
size_t alar_legal_scratch_bytes(uint32_t n);

/* The least and the greatest value of the sum of n contributions of a float dtype, added in that
   dtype in any order. Contributions that are not finite make it everything there is. scratch:
   aligned for double, alar_legal_scratch_bytes(n) bytes. spec: N-07, N-14 */
struct alar_range alar_legal_range(enum alar_dtype dtype, const uint64_t *bits, uint32_t n,
                                   void *scratch);

#endif

/* Where a rank sits: world = pp x dp x cp, context parallel ranks side by side, pipeline stages far
   apart, as in Megatron-LM. Only the last stage has a loss. spec: N-55 */
#ifndef ALAR_TOPOLOGY_H
#define ALAR_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

/* The most context parallel ranks; a set of them is a uint64_t. */
#define ALAR_TOPOLOGY_CP_MAX 62

/* How many there are of each; none is 0. */
struct alar_topology {
    uint32_t pp;
    uint32_t dp;
    uint32_t cp;
};

/* A rank's place along each; below the number there is. */
struct alar_coordinates {
    uint32_t pp;
    uint32_t dp;
    uint32_t cp;
};

uint64_t alar_topology_ranks(const struct alar_topology *topology);

/* Whose groups are all of the world: no context parallelism, one stage. */
bool alar_topology_is_flat(const struct alar_topology *topology);

struct alar_coordinates alar_topology_coordinates(const struct alar_topology *topology,
                                                  uint32_t rank);

/* Does the rank sit in the last stage? */
bool alar_topology_is_last(const struct alar_topology *topology, uint32_t rank);

#endif

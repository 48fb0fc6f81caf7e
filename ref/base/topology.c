/* Ranks and seats, one division apart. */
#include "base/topology.h"

#include "base/check.h"

uint64_t alar_topology_ranks(const struct alar_topology *topology)
{
    return (uint64_t)topology->pp * topology->dp * topology->cp;
}

bool alar_topology_is_flat(const struct alar_topology *topology)
{
    return topology->pp == 1 && topology->cp == 1;
}

struct alar_coordinates alar_topology_coordinates(const struct alar_topology *topology,
                                                  uint32_t rank)
{
    PRE(rank < alar_topology_ranks(topology));
    return (struct alar_coordinates){
        .pp = rank / topology->cp / topology->dp,
        .dp = rank / topology->cp % topology->dp,
        .cp = rank % topology->cp,
    };
}

bool alar_topology_is_last(const struct alar_topology *topology, uint32_t rank)
{
    return alar_topology_coordinates(topology, rank).pp == topology->pp - 1;
}

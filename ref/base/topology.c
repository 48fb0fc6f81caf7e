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

struct alar_seat alar_topology_seat(const struct alar_topology *topology, uint32_t rank)
{
    PRE(rank < alar_topology_ranks(topology));
    return (struct alar_seat){
        .pp = rank / topology->cp / topology->dp,
        .dp = rank / topology->cp % topology->dp,
        .cp = rank % topology->cp,
    };
}

uint32_t alar_topology_rank(const struct alar_topology *topology, const struct alar_seat *seat)
{
    PRE(seat->pp < topology->pp);
    PRE(seat->dp < topology->dp);
    PRE(seat->cp < topology->cp);
    return (seat->pp * topology->dp + seat->dp) * topology->cp + seat->cp;
}

bool alar_topology_is_last(const struct alar_topology *topology, uint32_t rank)
{
    return alar_topology_seat(topology, rank).pp == topology->pp - 1;
}

/* Who took part in a SUM: whole numbers of each rank, which any library adds without rounding.

   Every rank adds one, its number, its square, and a hash of what it speaks of. One rank missing,
   one counted twice, and one that stands in for another leave sums that no other three changes
   leave, so they are named. The limit: as {0, 4, 5} and {1, 2, 6} have the same sums, two ranks
   replaced at once can look like another one, and three like none. spec: N-51, N-52 */
#ifndef ALAR_CENSUS_H
#define ALAR_CENSUS_H

#include <stdint.h>

enum alar_census_lane {
    ALAR_CENSUS_COUNT,        /* 1 */
    ALAR_CENSUS_RANKS,        /* the rank's number */
    ALAR_CENSUS_SQUARES,      /* its square */
    ALAR_CENSUS_SCHEMAS,      /* the low 40 bits of the schema's hash */
    ALAR_CENSUS_SCHEMA_RANKS, /* the rank's number times 22 other bits of the hash */
    ALAR_CENSUS_EMPTY,        /* local losses of the rank without a token */
    ALAR_CENSUS_LANES
};

/* The most ranks whose lanes stay below 2^62, and the most local losses a rank may call empty. */
#define ALAR_CENSUS_RANKS_MAX (UINT32_C(1) << 20)
#define ALAR_CENSUS_CELLS_MAX (UINT64_C(1) << 40)

enum alar_census_kind {
    ALAR_CENSUS_WHOLE,    /* every rank once, all of one schema */
    ALAR_CENSUS_MISSING,  /* `rank` is not in it */
    ALAR_CENSUS_DOUBLED,  /* `rank` is in it twice */
    ALAR_CENSUS_REPLACED, /* `rank` is not in it, `other` is twice */
    ALAR_CENSUS_MISCOUNT, /* anything else: `count` contributions, or no count at all */
    ALAR_CENSUS_DAMAGED,  /* every rank once, but a lane holds what no contributions can make */
    ALAR_CENSUS_SCHEMA,   /* `rank` speaks of other metrics than the others do */
    ALAR_CENSUS_MIXED,    /* more than one rank speaks of other metrics than this one */
};

struct alar_census_finding {
    enum alar_census_kind kind;
    uint32_t rank;
    uint32_t other;
    int64_t count; /* MISCOUNT: contributions counted */
};

/* Who asks. */
struct alar_census_self {
    uint32_t rank;
    uint32_t ranks;  /* in the group, at most ALAR_CENSUS_RANKS_MAX */
    uint64_t schema; /* hash of the sorted names of its metrics */
};

/* Writes ALAR_CENSUS_LANES lanes of one rank, of whose local losses `empty` have no token. */
void alar_census_write(const struct alar_census_self *self, uint64_t empty, int64_t *lanes);

/* Reads the lanes' sums over all ranks, whatever they hold. */
struct alar_census_finding alar_census_judge(const struct alar_census_self *self,
                                             const int64_t *lanes);

#endif

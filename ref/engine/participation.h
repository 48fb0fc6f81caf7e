/* Who took part in a SUM, and in which: whole numbers of each rank, which any library adds without
   rounding.

   Every rank adds one, its number and its square, counted from 1, and hashes of what it speaks of
   and of which all-reduce it means. One rank missing, one counted twice, and one that stands in for
   another leave sums that no other three changes leave, so they are named; so is one rank with
   other metrics, and one whose contribution belongs to another all-reduce. The limit: as {0, 4, 5}
   and {1, 2, 6} have the same sums, two ranks replaced at once can look like another one, and three
   like none. The count comes last, where a result that was cut short shows. spec: N-51, N-52 */
#ifndef ALAR_CENSUS_H
#define ALAR_CENSUS_H

#include <stdint.h>

enum alar_census_lane {
    ALAR_CENSUS_EMPTY,        /* local losses of the rank without a token */
    ALAR_CENSUS_SCHEMAS,      /* the low 40 bits of the schema's hash */
    ALAR_CENSUS_SCHEMA_RANKS, /* the rank's number times 22 other bits of the hash */
    ALAR_CENSUS_OPS,          /* the low 40 bits of the all-reduce's number */
    ALAR_CENSUS_OP_RANKS,     /* the rank's number times 22 bits made of it */
    ALAR_CENSUS_SQUARES,      /* the square of the rank's number */
    ALAR_CENSUS_RANKS,        /* the rank's number, from 1 */
    ALAR_CENSUS_COUNT,        /* 1 */
    ALAR_CENSUS_LANES
};

/* The most ranks whose lanes stay below 2^62, and the most local losses a rank may call empty. */
#define ALAR_CENSUS_RANKS_MAX (UINT32_C(1) << 20)
#define ALAR_CENSUS_CELLS_MAX (UINT64_C(1) << 40)

enum alar_census_kind {
    ALAR_CENSUS_WHOLE,    /* every rank once, all of one schema, in this all-reduce */
    ALAR_CENSUS_MISSING,  /* `rank` is not in it */
    ALAR_CENSUS_DOUBLED,  /* `rank` is in it twice */
    ALAR_CENSUS_REPLACED, /* `rank` is not in it, `other` is twice */
    ALAR_CENSUS_MISCOUNT, /* anything else: `count` contributions, or no count at all */
    ALAR_CENSUS_STALE,    /* the contribution of `rank` belongs to all-reduce `count` */
    ALAR_CENSUS_ANOTHER,  /* all of it belongs to all-reduce `count`; -1: to several */
    ALAR_CENSUS_DAMAGED,  /* every rank once, but a lane holds what no contributions can make */
    ALAR_CENSUS_SCHEMA,   /* `rank` speaks of other metrics than the others do */
    ALAR_CENSUS_MIXED,    /* more than one rank speaks of other metrics than this one */
};

struct alar_census_finding {
    enum alar_census_kind kind;
    uint32_t rank; /* from 0 */
    uint32_t other;
    int64_t count; /* MISCOUNT: contributions; STALE, ANOTHER: low 40 bits of a number */
};

/* Who asks, and of which all-reduce. */
struct alar_census_self {
    uint32_t rank;
    uint32_t ranks;  /* in the group, at most ALAR_CENSUS_RANKS_MAX */
    uint64_t schema; /* hash of the sorted names of its metrics */
    uint64_t number; /* of the all-reduce within its communicator */
};

/* Writes ALAR_CENSUS_LANES lanes of one rank, of whose local losses `empty` have no token. */
void alar_census_write(const struct alar_census_self *self, uint64_t empty, int64_t *lanes);

/* Reads the lanes' sums over all ranks, whatever they hold. */
struct alar_census_finding alar_census_judge(const struct alar_census_self *self,
                                             const int64_t *lanes);

#endif

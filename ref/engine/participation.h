/* Who took part in a SUM, and in which: whole numbers of each rank, which any library adds without
   rounding.

   Every rank adds one, its number and its square, counted from 1, and hashes of what it speaks of
   and of which all-reduce it means. One rank missing, one counted twice, and one that stands in for
   another leave sums that no other three changes leave, so they are named; so is one rank with
   other metrics, and one whose contribution belongs to another all-reduce. The limit: as {0, 4, 5}
   and {1, 2, 6} have the same sums, two ranks replaced at once can look like another one, and three
   like none. The count comes last, where a result that was cut short shows. spec: N-51, N-52 */
#ifndef ALAR_PARTICIPATION_H
#define ALAR_PARTICIPATION_H

#include <stdint.h>

enum alar_participation_element {
    ALAR_PARTICIPATION_EMPTY,        /* local losses of the rank without a token */
    ALAR_PARTICIPATION_SCHEMAS,      /* the low 40 bits of the schema's hash */
    ALAR_PARTICIPATION_SCHEMA_RANKS, /* the rank's number times 22 other bits of the hash */
    ALAR_PARTICIPATION_OPS,          /* the low 40 bits of the all-reduce's number */
    ALAR_PARTICIPATION_OP_RANKS,     /* the rank's number times 22 bits made of it */
    ALAR_PARTICIPATION_SQUARES,      /* the square of the rank's number */
    ALAR_PARTICIPATION_RANKS,        /* the rank's number, from 1 */
    ALAR_PARTICIPATION_COUNT,        /* 1 */
    ALAR_PARTICIPATION_ELEMENTS
};

/* The most ranks whose elements stay below 2^62, and the most local losses a rank may call empty.
 */
#define ALAR_PARTICIPATION_RANKS_MAX (UINT32_C(1) << 20)
#define ALAR_PARTICIPATION_EMPTY_MAX (UINT64_C(1) << 40)

enum alar_participation_kind {
    ALAR_PARTICIPATION_WHOLE,    /* every rank once, all of one schema, in this all-reduce */
    ALAR_PARTICIPATION_MISSING,  /* `rank` is not in it */
    ALAR_PARTICIPATION_DOUBLED,  /* `rank` is in it twice */
    ALAR_PARTICIPATION_REPLACED, /* `rank` is not in it, `other` is twice */
    ALAR_PARTICIPATION_MISCOUNT, /* anything else: `count` contributions, or no count at all */
    ALAR_PARTICIPATION_STALE,    /* the contribution of `rank` belongs to all-reduce `count` */
    ALAR_PARTICIPATION_ANOTHER,  /* all of it belongs to all-reduce `count`; -1: to several */
    ALAR_PARTICIPATION_DAMAGED,  /* every rank once, but a element holds what no contributions can
                                    make */
    ALAR_PARTICIPATION_SCHEMA,   /* `rank` speaks of other metrics than the others do */
    ALAR_PARTICIPATION_MIXED,    /* more than one rank speaks of other metrics than this one */
};

struct alar_participation_finding {
    enum alar_participation_kind kind;
    uint32_t rank; /* from 0 */
    uint32_t other;
    int64_t count; /* MISCOUNT: contributions; STALE, ANOTHER: low 40 bits of a number */
};

/* Who asks, and of which all-reduce. */
struct alar_participation_self {
    uint32_t rank;
    uint32_t ranks;  /* in the group, at most ALAR_PARTICIPATION_RANKS_MAX */
    uint64_t schema; /* hash of the sorted names of its metrics */
    uint64_t number; /* of the all-reduce within its communicator */
};

/* Writes ALAR_PARTICIPATION_ELEMENTS elements of one rank, of whose local losses `empty` have no
 * token. */
void alar_participation_write(const struct alar_participation_self *self, uint64_t empty,
                              int64_t *elements);

/* Reads the elements' sums over all ranks, whatever they hold. */
struct alar_participation_finding
alar_participation_judge(const struct alar_participation_self *self, const int64_t *elements);

#endif

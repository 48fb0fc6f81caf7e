/* Where a reduced value can have come from: the first proof of a search that holds, with evidence
   as data; and how accurate it is. Nothing here is a tolerance. */
#ifndef ALAR_PROVENANCE_H
#define ALAR_PROVENANCE_H

#include "base/scratch.h"
#include "legal/average.h"
#include "legal/bound.h"
#include "numbers/tree.h"

/* Names kept of those that give the value; the count goes on. */
#define ALAR_ORIGIN_NAMES 8

/* What was reduced, and what its owner promises about it. One element of the payload. */
struct alar_reduce {
    enum alar_reduction red;
    enum alar_avg avg;        /* for ALAR_AVG; ALAR_AVG_ANY: any convention will do */
    enum alar_nan_policy nan; /* for MAX and MIN; ALAR_NAN_ANY: any policy will do */
    struct alar_adder adder;
    bool is_rounded_once;   /* AVG: made in adder.wide to the end, then rounded. spec: N-31 */
    uint32_t height;        /* declared height of the tree; 0 when not declared */
    const uint32_t *node;   /* where each rank runs, or NULL */
    uint32_t nodes;         /* how many nodes; 0 without a map */
    const uint64_t *bits;   /* contributions by rank; borrowed */
    const uint64_t *beside; /* of the index of MAXLOC, MINLOC: the values; NULL: it is the value */
    uint64_t extreme;       /* with `beside`: the result's value */
    uint32_t n;             /* >= 1 */
};

/* The same, fit for the dtype: integers have one adder and divide their sum, whatever is promised
   about floats. The functions below do this themselves. */
struct alar_reduce alar_reduce_normalize(const struct alar_reduce *reduce);

enum alar_proof {
    ALAR_PROOF_ONLY,    /* the one legal value, whatever the order */
    ALAR_PROOF_NAMED,   /* named trees give it */
    ALAR_PROOF_ORDERED, /* a tree that keeps the ranks in order gives it; witness */
    ALAR_PROOF_NODES,   /* any order inside nodes, then among nodes; witness */
    ALAR_PROOF_ANY,     /* some tree over some permutation gives it; witness */
    ALAR_PROOF_HULL,  /* between the smallest and largest reachable value; whether reachable is open
                       */
    ALAR_PROOF_BOUND, /* inside the proven bound; the hull was not computed */
    ALAR_PROOF_UNDECIDED, /* nothing could be said within the budget: never a pass */
    ALAR_PROOF_ILLEGAL,   /* no order gives it; see the refusal */
    ALAR_PROOF_COUNT
};

/* Which proof refused an illegal value. */
enum alar_refusal {
    ALAR_REFUSED_NOT,
    ALAR_REFUSED_ONLY,   /* another value is the only legal one: `low` */
    ALAR_REFUSED_BOUND,  /* farther from the exact sum than any order can get */
    ALAR_REFUSED_HULL,   /* outside [low, high] */
    ALAR_REFUSED_SET,    /* not in the complete reachable set */
    ALAR_REFUSED_POLICY, /* MAX or MIN: not a value the policy allows; `low` is one */
    ALAR_REFUSED_ZERO,   /* a zero of a sign that no order gives */
    ALAR_REFUSED_GRAIN   /* it has bits below the lowest one of all contributions */
};

struct alar_origin {
    enum alar_proof proof;
    enum alar_refusal refusal;
    enum alar_avg avg;   /* the convention under which the proof holds */
    uint32_t averages;   /* bit set: all conventions that make the value legal */
    uint64_t sum;        /* the sum that was finished into the value; the value itself for SUM */
    uint32_t name_count; /* named trees that give it */
    struct alar_tree_name name[ALAR_ORIGIN_NAMES];
    uint16_t starts[ALAR_TREE_KIND_COUNT]; /* the same by kind: bit s for start s, below 16 */
    struct alar_tree witness; /* the caller's nodes; count 0 when the proof has no tree */
    bool has_range;           /* low and high are the ends of the exact hull of any order */
    uint64_t low, high;       /* in the result's dtype */
    struct alar_bound bound;  /* around the exact sum of what was summed */
    uint64_t exact;           /* the correctly rounded result */
    uint64_t ulps;    /* distance from it; UINT64_MAX when one is NaN and the other is not */
    bool is_faithful; /* one of the two neighbours of the exact result, or equal to it */
};

struct alar_budget {
    struct alar_scratch
        scratch;     /* ALAR_PROVENANCE_SCRATCH is ample; less makes UNDECIDED likelier */
    uint64_t work;   /* additions that exact sets may cost; 10^8 is about a second */
    uint32_t starts; /* starts tried for each named tree */
};

#define ALAR_PROVENANCE_SCRATCH (UINT64_C(48) << 20)

/* Judges one value. nodes: 2n - 1 entries for a witness, the caller's.
   Errors: ALAR_E_RANGE when the scratch does not even hold the contributions. spec: N-17 */
ALAR_MUST_USE enum alar_status alar_provenance_judge(const struct alar_reduce *reduce,
                                                     uint64_t value, struct alar_budget budget,
                                                     int32_t *nodes, struct alar_origin *origin);

/* Is the proof a legal one: a named or proven origin, or inside a proven limit? */
bool alar_proof_is_legal(enum alar_proof proof);

/* "only-legal-value", "named", "ordered", "nodes", "any-order", "hull", "bound", "undecided",
   "illegal". Static storage. */
const char *alar_proof_name(enum alar_proof proof);

/* The values that MAX or MIN may give: is this one of them? *legal becomes one that is. spec: N-18
 */
bool alar_extremum_is_legal(const struct alar_reduce *reduce, uint64_t value, uint64_t *legal);

/* Can MAX or MIN give more than one value, by its order or policy? */
bool alar_extremum_is_open(const struct alar_reduce *reduce);

/* Is this a reduction in which nothing is rounded and no order matters: bitwise, logical, MAXLOC
   and MINLOC? Then: is the value the one it gives? *legal becomes one that is. spec: N-32, N-33 */
bool alar_red_is_discrete(enum alar_reduction red);
bool alar_discrete_is_legal(const struct alar_reduce *reduce, uint64_t value, uint64_t *legal);

#endif

/* What a history's all-reduces cost: by the place that called them, and who came last. Counts and
   times as recorded; nothing is estimated but what is named `saving`. */
#ifndef ALAR_COST_H
#define ALAR_COST_H

#include "timeline/timeline.h"

/* How often a rank was the last to issue, of operations whose members share a clock. */
struct alar_cost_rank {
    uint32_t rank;
    uint64_t last, of; /* operations it was last in, of those it took part in */
    double low, high;  /* 95 % interval of the share, by Wilson */
    bool is_chronic;   /* more often than its turn, also at 99.9 % */
    int64_t late;      /* by how much it was later than the first, summed over those, in t */
    int64_t life;      /* from its first record to its last, in t */
    int64_t blocked, overlapped; /* in t */
};

/* One place that called, or one metric where no place was recorded. */
struct alar_cost_site {
    const char *name; /* borrowed from the timeline; "?" when neither is known */
    uint64_t operations, calls, sync_calls;
    uint64_t by_red[ALAR_REDUCTION_WORDS]; /* calls */
    uint64_t elements;                     /* of all calls */
    int64_t blocked, overlapped;           /* of all ranks, in t */
    int64_t saving;        /* at most this much of `blocked` is gone when only log lines wait */
    uint64_t judged_order; /* operations whose last rank is known */
    struct alar_cost_rank *rank; /* [ranks of the cost] */
};

struct alar_cost {
    uint32_t ranks;
    struct alar_cost_rank *rank; /* [ranks], over all sites */
    struct alar_cost_site *site; /* most blocked first */
    size_t sites;
    uint64_t operations, calls, steps;
    uint64_t unfinished;                       /* calls without an end */
    uint64_t untimed;                          /* calls without times */
    int64_t life, blocked, overlapped, saving; /* summed over ranks, in t */
    bool has_saving;                           /* log lines, or steps, were recorded */
    bool is_in_ticks;
    bool has_shared_clock;
    struct alar_cost_rank *rank_memory; /* of all sites */
};

/* Accounts for a finished timeline, which must outlive the cost.
   Errors: ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status alar_cost_account(const struct alar_timeline *timeline,
                                                 struct alar_cost *cost);
void alar_cost_free(struct alar_cost *cost);

/* The site of that name; NULL when there is none. */
const struct alar_cost_site *alar_cost_find(const struct alar_cost *cost, const char *name);

/* The rank of the site, or of the whole, that was last most often; NULL when no order is known. */
const struct alar_cost_rank *alar_cost_last(const struct alar_cost_rank *ranks, uint32_t count);

/* The share of `hits` in `of`, and the interval at z standard deviations, by Wilson. of > 0. */
void alar_cost_interval(uint64_t hits, uint64_t of, double z, double *low, double *high);

/* part / whole, 0 when there is no whole. */
double alar_cost_share(int64_t part, int64_t whole);

#endif

/* What each rank did with each all-reduce, and when, gathered from the records of a history while
   it is judged. Knows nothing of right and wrong; pictures and cost accounts are made from it. */
#ifndef ALAR_TIMELINE_H
#define ALAR_TIMELINE_H

#include "check/history_judge.h"

/* A moment that was not recorded. */
#define ALAR_TIME_NONE INT64_MIN

/* How an all-reduce ended on a rank. */
enum alar_span_end {
    ALAR_SPAN_OPEN,    /* no record of an end */
    ALAR_SPAN_DONE,    /* done, or complete */
    ALAR_SPAN_FAILED,  /* fail */
    ALAR_SPAN_DROPPED, /* drop, or free of its handle */
    ALAR_SPAN_END_COUNT
};

/* Bits kept of a record: `count` of them from `first` on in the timeline's values. */
struct alar_span_values {
    uint64_t first;
    uint32_t count;
};

/* A moment of a rank: when by its clock, in the units of the history and since the run began on
   that clock (ALAR_TIME_NONE without `t`), and as which record of the history, counted from 1 in
   the order in which records were read; 0: it did not come. */
struct alar_moment {
    int64_t t;
    uint64_t order;
    struct alar_place place;
};

/* An all-reduce on one rank. */
struct alar_span {
    uint32_t rank;
    uint32_t group, site, key;                     /* numbers of names */
    uint64_t number;                               /* within the group */
    int64_t step, mb;                              /* -1 when not recorded */
    struct alar_moment issue, wait, complete, end; /* end: the wait, or the call, returned */
    uint32_t polls;                                /* before the wait */
    uint32_t pairs;
    uint64_t n; /* elements */
    enum alar_reduction red;
    enum alar_dtype dtype;
    enum alar_span_end ended;
    bool is_sync;
    struct alar_span_values in, out;
};

/* Any other record that has its place on a rank's lane. */
struct alar_mark {
    enum alar_record record;
    uint32_t rank;
    uint32_t group; /* and number, when it speaks of an operation; name 0 otherwise */
    uint64_t number;
    uint32_t text; /* name: point of a fault, error of a failure, site */
    bool is_backend;
    bool is_done; /* a poll that said so */
    struct alar_moment at;
    struct alar_span_values bits;
};

/* A logged value. */
struct alar_report_line {
    uint32_t rank, metric, normalization, over; /* names; 0: not said */
    int64_t step, first_step;
    double loss;
    bool is_empty;
    bool has_bits;
    uint32_t digits; /* of the bits: 8 or 16 */
    uint64_t bits;
    int64_t tokens; /* -1: not said */
    struct alar_moment at;
    uint64_t first_op; /* operations it names: `ops` of them in the timeline's list */
    uint32_t ops;
};

/* What is known of a rank. */
struct alar_rank_line {
    int64_t first_t, last_t; /* ALAR_TIME_NONE when nothing has a time */
    int64_t t0;
    uint64_t clock; /* ranks with the same number share a clock; 0: none is shared */
    uint64_t records;
    bool has_end;
};

/* Operation that a report names. */
struct alar_op_name {
    uint32_t group;
    uint64_t number;
};

struct alar_timeline {
    struct alar_span *span;
    size_t spans, span_room;
    struct alar_mark *mark;
    size_t marks, mark_room;
    struct alar_report_line *report;
    size_t reports, report_room;
    struct alar_op_name *op;
    size_t ops, op_room;
    uint64_t *value;
    size_t values, value_room;
    struct alar_rank_line *rank;
    uint32_t ranks, rank_room;
    char **name; /* [0] is "" */
    size_t names, name_room;
    uint32_t *name_slot; /* hashed */
    size_t name_slots;
    uint64_t *span_slot; /* hashed by rank and operation: span + 1 */
    size_t span_slots;
    uint64_t records;
    bool is_in_ticks;      /* times are of no known unit */
    bool is_out_of_memory; /* then nothing is added any more */
};

/* Starts an empty one. Errors: ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status alar_timeline_open(struct alar_timeline *timeline);
void alar_timeline_free(struct alar_timeline *timeline);

/* Adds a record; fits struct alar_reading_hooks.event, with the timeline as context. */
void alar_timeline_add(void *timeline, const struct alar_event *event);

/* Puts the times of ranks that share a clock on one axis that begins with 0; others begin with 0
   each. Call once, after the last record. */
void alar_timeline_finish(struct alar_timeline *timeline);

/* The span of that all-reduce on that rank; NULL when there is none. */
struct alar_span *alar_timeline_span(const struct alar_timeline *timeline, uint32_t rank,
                                     uint32_t group, uint64_t number);

/* Number of a name; 0 when it is not known. */
uint32_t alar_timeline_name(const struct alar_timeline *timeline, const char *name);

/* Time from its wait, or from its call when it is synchronous, to its end: what the rank stood
   still for it. And from its issue to its wait or its completion, whichever came first: what it was
   pending while the rank went on. 0 when a moment is missing. */
int64_t alar_span_blocked(const struct alar_span *span);
int64_t alar_span_overlapped(const struct alar_span *span);

#endif

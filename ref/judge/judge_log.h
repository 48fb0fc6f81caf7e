/* What the judge keeps of log lines. Part of judge_state.h. */
#ifndef ALAR_JUDGE_LOG_H
#define ALAR_JUDGE_LOG_H

/* One operation of a report. */
struct judge_part {
    uint64_t group, number;
    uint64_t op; /* kept; 0 while it is not settled */
};

/* A report whose operations are not all settled yet. */
struct judge_report {
    uint64_t next, before; /* other reports that wait, in the order of their lines */
    uint64_t order;        /* the same as a number */
    uint64_t beside;       /* another one that waits for the same operation, or is due as well */
    uint64_t metric;
    uint64_t sink; /* hash of its name */
    struct alar_place place;
    uint32_t rank;
    int64_t first_step, step;
    int64_t tokens, nonfinite, empty; /* -1: not given */
    int32_t normalization, over;      /* index of the word; -1: not declared */
    int32_t kind;                     /* likewise, of the value */
    int64_t holder;                   /* rank that holds the extreme; -1: not given */
    enum alar_dtype dtype;            /* of the value: F32 or F64 */
    bool is_empty;                    /* EMPTY was shown */
    bool is_special;                  /* NaN or an infinity was shown */
    double low, high;               /* the numbers it may stand for: one, or those that print so */
    bool has_before;                /* did the same rank report the metric before? */
    double before_low, before_high; /* the number that it showed then */
    uint32_t parts;
    uint32_t settled; /* that many of them are settled, and maybe more */
    uint64_t part;    /* struct judge_part[room] */
    uint64_t room;
    /* The same with operations that others of their step replaced: they may as well be microbatches
       of it. 0 where there are none. */
    uint32_t all_parts;
    uint64_t all;
    bool has_replaced; /* are there operations of its steps that were reduced again since? */
    bool is_early;     /* written while its rank waited for one of its operations */
    bool is_retried;   /* it is known that they are no microbatches */
};

/* What the judgement of log lines remembers, see report.h. */
struct report {
    uint64_t metric;           /* first of a chain */
    struct alar_table metrics; /* by the hash of the name */
    struct alar_table bounds;  /* by the hash of a metric: the newest one that bounds it */
    uint64_t waiting, last;    /* reports whose operations are not all settled, in a row */
    uint64_t due;              /* others, whose operations are, as a chain in any order */
    uint64_t seen;             /* reports so far */
    uint64_t oldest, newest;   /* settled operations that a report may still stand for */
    uint64_t kept, kept_max;
    bool is_learned;             /* a report showed how long an interval is */
    struct judge_report good;    /* the last one found good; no parts: none */
    struct judge_part good_part; /* its first operation; the others follow in a row */
};

#endif

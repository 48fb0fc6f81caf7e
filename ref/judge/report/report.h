/* What the judgement of log lines keeps, private to judge*.c.

   A report is recomputed from the contributions of the operations it stands for, once all of them
   are settled. So settled operations are kept for a while: those of the last few intervals, never
   all. Results are compared exactly where the arithmetic was declared; otherwise with the interval
   of everything that any order of additions in at least the operation's own precision can give.
   There is no tolerance. spec: O-50 */
#ifndef ALAR_JUDGE_LOG_H
#define ALAR_JUDGE_LOG_H

#include "api/terms.h"
#include "judge/judge_state.h"

/* A metric that was declared or reported. */
struct judge_metric {
    uint64_t next;
    uint64_t hash;
    char name[ALAR_NAME_MAX];
    uint64_t group;             /* for which its scope was declared; 0: none */
    bool is_replicated;         /* there: each rank holds the full value */
    bool has_kind;              /* was it declared what is made of it? */
    bool is_disputed;           /* ranks declared different kinds */
    enum alar_metric_kind kind; /* MEAN unless declared */
    bool is_reported;
    int64_t reported;    /* last step that a report stands for */
    int64_t reduced;     /* last step that was reduced after it; -1: none */
    uint64_t reduced_by; /* number of that operation */
    struct alar_place place;
};

/* What a report can be. */
enum log_kind {
    LOG_NUMBER,
    LOG_EMPTY,
    LOG_SPECIAL /* NaN or an infinity */
};
struct log_span {
    enum log_kind kind;
    double low, high; /* NUMBER: both ends are included */
};

/* A report and its contributions, laid out as cells: pairs in step order. */
struct log_view {
    const struct alar_judge *judge;
    const struct judge_report *report;
    const struct judge_part *part;
    enum alar_dtype dtype; /* of the operations */
    uint32_t ranks;        /* that took part */
    uint32_t cells, steps;
    uint32_t
        pairs_a_step; /* of an operation that covers several steps; 0: all of them are one step */
    bool is_by_name;  /* operations name their steps */
    bool is_scalar;   /* no pairs: one value a rank, of weight 1 */
    enum alar_metric_kind kind; /* what the report says that it is, or what was declared */
    bool is_exact;              /* sums are taken from the contributions, without their rounding */
};

/* One cell. Start with {0}; log_cell_next moves to the first one. */
struct log_cell {
    uint32_t part, pair; /* of the next one */
    uint32_t index;      /* of this one, from 1 */
    uint32_t step;       /* from 0 */
    const struct judge_op *op;
    uint32_t element; /* of its numerator */
    double low, high; /* reduced numerator */
    double weight;    /* reduced weight */
};

/* Where the lanes of an operation lie, as far as one metric is concerned. */
struct log_lanes {
    uint32_t names, ours;    /* metrics that share the operation; which of them it is */
    uint32_t block;          /* elements beside a pair of a minimum or maximum */
    uint32_t blocks, before; /* of them beside the pairs of one cell; those before ours */
    bool has_block;          /* is one of them ours? */
    uint64_t extreme;        /* first element of the first block */
    uint64_t flag, flag_end; /* first flag lane, and the element behind the last one */
    uint64_t sets;           /* flag lanes of one microbatch and metric; 0: not known */
};

/* How a step's value comes from its cells. */
enum log_rule {
    LOG_POOL,            /* sum of numerators / sum of weights */
    LOG_CELLS,           /* mean of the cells' ratios */
    LOG_RANK_MEANS,      /* mean of the means of non-empty ranks */
    LOG_RANK_MEANS_ALL,  /* the same divided by all ranks */
    LOG_SUM_RANKS,       /* ranks' means summed, mean over cells */
    LOG_SUM_CELLS,       /* cells' ratios summed */
    LOG_SUM_ALL,         /* ranks' means summed over ranks and cells */
    LOG_NUMERATORS,      /* numerators summed */
    LOG_MEAN_NUMERATORS, /* the same, mean over cells: the undivided form of means */
    LOG_LAST,            /* the last cell alone */
    LOG_FLOORED,         /* weights averaged over ranks in integers */
    LOG_RANK,            /* one rank alone */
    LOG_WITHOUT,         /* all ranks but one */
    LOG_GROUP,           /* the ranks of one declared group */
    LOG_LOW,             /* numerators accumulated in a smaller dtype */
    LOG_TOTAL,           /* numerators summed, of metrics that are sums */
};
struct log_how {
    enum log_rule rule;
    uint32_t rank;         /* LOG_RANK, LOG_WITHOUT: index of the member */
    uint64_t group;        /* LOG_GROUP */
    enum alar_dtype dtype; /* LOG_LOW */
    int32_t over;          /* enum alar_over */
    bool is_finite_only;   /* steps that are not finite are left out */
};

/* One legal way to a value; there are more when the normalization is not declared. */
enum {
    LOG_RULES = 10
};
struct log_legal {
    struct log_how how;
    int32_t normalization;
};

/* What the contributions of a report hold. */
struct log_sums {
    double tokens;        /* all weights, exact to 2^53 */
    uint64_t nonfinite;   /* (rank, pair) contributions that are not finite */
    uint64_t flagged;     /* (rank, microbatch) flags that are set */
    bool is_shared;       /* of all metrics: which lanes are ours is not known */
    uint64_t empty_cells; /* (rank, pair) contributions without a token */
    uint64_t empty_steps;
    uint64_t nonfinite_steps;
    bool is_rounded;  /* a weight is not exact */
    bool is_overflow; /* a result is not finite, its contributions are */
};

/* judge_log_view.c: what a report is made of. */
bool log_view_build(struct alar_judge *judge, const struct judge_report *report,
                    struct log_view *view, bool *is_echo);
bool log_has_tokens(const struct log_view *view); /* are the weights of its pairs tokens? */
struct log_sums log_sums_read(const struct log_view *view);

/* judge_log_lanes.c: which lanes are whose. */
void judge_log_names(struct alar_judge *judge, struct judge_op *op);
bool judge_log_has_name(const struct alar_judge *judge, const struct judge_op *op, uint64_t hash);
uint32_t log_names(const struct log_view *view, const struct judge_op *op, uint32_t *ours);
struct log_lanes log_lanes_find(const struct log_view *view, const struct judge_op *op);
uint64_t log_flags(const struct log_view *view, bool *is_shared);

/* A least or greatest value, recomputed from the contributions. */
struct log_extreme {
    struct log_span legal;
    uint32_t holder;    /* rank of the world */
    uint64_t nonfinite; /* (rank, pair) contributions that are not finite */
};

/* judge_log_extreme.c: minima and maxima; false when the lanes are none of theirs. What is wrong
   with the report, ALAR_ANOMALY_COUNT for nothing. spec: O-62, O-63 */
bool log_extreme_read(const struct log_view *view, struct log_extreme *extreme);
enum alar_anomaly log_extreme_check(const struct log_view *view, const struct log_extreme *extreme);

/* A sum in progress. Start with {0}. */
struct log_fold {
    double low, high, magnitude, weight;
    uint32_t terms;
    int lowest; /* exponent of the lowest bit set in any term */
    bool is_special;
};

/* judge_log_sum.c: what rounding can make of sums and quotients. */
void log_fold_add(struct log_fold *fold, double low, double high);
void log_fold_span(struct log_fold *fold, struct log_span span);
struct log_span log_fold_sum(const struct log_view *view, const struct log_fold *fold);
struct log_span log_divided(const struct log_view *view, struct log_span span, double weight);
struct log_span log_scale(struct log_span span, double factor);

/* judge_log_cell.c: one cell after the other. */
bool log_cell_next(const struct log_view *view, struct log_cell *cell);
double log_numerator(const struct log_view *view, const struct log_cell *cell, uint32_t member);
double log_weight(const struct log_view *view, const struct log_cell *cell, uint32_t member);

/* judge_log_rules.c: what the declared normalization allows; when none is declared, what any of
   them allows. Returns how many; the first is the declared one. */
uint32_t log_rules(const struct log_view *view, struct log_legal *rule);

/* judge_log_value.c: recomputing. */
struct log_span log_evaluate(const struct log_view *view, struct log_how how);
struct log_span log_engine(const struct log_view *view);
bool log_fits(const struct judge_report *report, struct log_span span);

/* judge_log_name.c: which mistake gives the number that was shown? ALAR_ANOMALY_COUNT: none known.
   `others` counts the further mistakes that give it too. */
enum alar_anomaly log_diagnose(const struct log_view *view, struct log_how legal, bool has_sums,
                               uint32_t *others);

/* judge_log_exact.c: a report whose operations carry whole numbers, as `exact` lays them out. The
   value it must have, of an extreme the rank that holds it, and what is wrong with the report,
   ALAR_ANOMALY_COUNT for nothing; false when that can't be said. spec: N-53, O-50 */
bool log_exact_check(const struct log_view *view, struct log_span *legal, uint32_t *holder,
                     enum alar_anomaly *anomaly);

/* judge_log_check.c: one report, all of whose operations are settled. */
void judge_log_check(struct alar_judge *judge, const struct judge_report *report);

/* judge_log_read.c: the record, and what it stands for. */
size_t judge_log_headroom(const struct alar_judge *judge, const struct alar_event *event);
enum alar_status judge_log_report(struct alar_judge *judge);
void judge_log_declare(struct alar_judge *judge);
void judge_log_start(struct alar_judge *judge);
void judge_log_loop(struct alar_judge *judge); /* the header was read */

/* judge_log.c: what is kept, and when reports are due. */
struct judge_metric *judge_metric_at(const struct alar_judge *judge, uint64_t metric);
uint64_t judge_metric_find(const struct alar_judge *judge, uint64_t hash);
uint64_t judge_metric_make(struct alar_judge *judge, struct alar_text name);
uint64_t judge_log_find(const struct alar_judge *judge, uint64_t group, uint64_t number,
                        uint64_t hint);
bool judge_log_is_of(const struct alar_judge *judge, const struct judge_op *op,
                     const struct judge_metric *metric);
bool judge_log_wants(const struct judge_op *op);
void judge_log_keep(struct alar_judge *judge, uint64_t op);
void judge_log_wait(struct alar_judge *judge, uint64_t report);
void judge_log_finish(struct alar_judge *judge);

/* judge_log_again.c: does another rank say the same of the same operations as the last report found
   good? And keeps this one as that, when judging it has `added` nothing to the verdict. */
bool log_is_again(const struct alar_judge *judge, const struct judge_report *report);
void log_keep_good(struct alar_judge *judge, const struct judge_report *report, bool added);

/* Everything the verdict says, counted. */
uint64_t log_said(const struct alar_judge *judge);

#endif

/* What the judgement of log lines keeps, private to judge*.c.

   A report is recomputed from the contributions of the operations it stands for, once all of them
   are settled. So settled operations are kept for a while: those of the last few intervals, never
   all. Results are compared exactly where the arithmetic was declared; otherwise with the interval
   of everything that any order of additions in at least the operation's own precision can give.
   There is no tolerance. spec: O-50 */
#ifndef ALAR_JUDGE_REPORT_H
#define ALAR_JUDGE_REPORT_H

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
enum report_kind {
    REPORT_NUMBER,
    REPORT_EMPTY,
    REPORT_SPECIAL /* NaN or an infinity */
};
struct report_span {
    enum report_kind kind;
    double low, high; /* NUMBER: both ends are included */
};

/* A report and its contributions, laid out as microbatches: pairs in step order. */
struct report_view {
    const struct alar_judge *judge;
    const struct judge_report *report;
    const struct judge_part *part;
    enum alar_dtype dtype; /* of the operations */
    uint32_t ranks;        /* that took part */
    uint32_t microbatches, steps;
    uint32_t
        pairs_a_step; /* of an operation that covers several steps; 0: all of them are one step */
    bool is_by_name;  /* operations name their steps */
    bool is_scalar;   /* no pairs: one value a rank, of weight 1 */
    enum alar_metric_kind kind; /* what the report says that it is, or what was declared */
    bool is_exact;              /* sums are taken from the contributions, without their rounding */
};

/* One microbatch. Start with {0}; report_microbatch_next moves to the first one. */
struct report_microbatch {
    uint32_t part, pair; /* of the next one */
    uint32_t index;      /* of this one, from 1 */
    uint32_t step;       /* from 0 */
    const struct judge_op *op;
    uint32_t element; /* of its numerator */
    double low, high; /* reduced numerator */
    double weight;    /* reduced weight */
};

/* Where the elements of an operation lie, as far as one metric is concerned. */
struct report_elements {
    uint32_t names, ours;    /* metrics that share the operation; which of them it is */
    uint32_t block;          /* elements beside a pair of a minimum or maximum */
    uint32_t blocks, before; /* of them beside the pairs of one microbatch; those before ours */
    bool has_block;          /* is one of them ours? */
    uint64_t extreme;        /* first element of the first block */
    uint64_t flag, flag_end; /* first flag element, and the element behind the last one */
    uint64_t sets;           /* flag elements of one microbatch and metric; 0: not known */
};

/* How a step's value comes from its microbatches. */
enum report_rule {
    REPORT_POOL,             /* sum of numerators / sum of weights */
    REPORT_MICROBATCHES,     /* mean of the microbatches' ratios */
    REPORT_RANK_MEANS,       /* mean of the means of non-empty ranks */
    REPORT_RANK_MEANS_ALL,   /* the same divided by all ranks */
    REPORT_SUM_RANKS,        /* ranks' means summed, mean over microbatches */
    REPORT_SUM_MICROBATCHES, /* microbatches' ratios summed */
    REPORT_SUM_ALL,          /* ranks' means summed over ranks and microbatches */
    REPORT_NUMERATORS,       /* numerators summed */
    REPORT_MEAN_NUMERATORS,  /* the same, mean over microbatches: the undivided form of means */
    REPORT_LAST,             /* the last microbatch alone */
    REPORT_FLOORED,          /* weights averaged over ranks in integers */
    REPORT_RANK,             /* one rank alone */
    REPORT_WITHOUT,          /* all ranks but one */
    REPORT_GROUP,            /* the ranks of one declared group */
    REPORT_LOW,              /* numerators accumulated in a smaller dtype */
    REPORT_TOTAL,            /* numerators summed, of metrics that are sums */
};
struct report_how {
    enum report_rule rule;
    uint32_t rank;         /* REPORT_RANK, REPORT_WITHOUT: index of the member */
    uint64_t group;        /* REPORT_GROUP */
    enum alar_dtype dtype; /* REPORT_LOW */
    int32_t over;          /* enum alar_over */
    bool is_finite_only;   /* steps that are not finite are left out */
};

/* One legal way to a value; there are more when the normalization is not declared. */
enum {
    REPORT_RULES = 10
};
struct report_legal {
    struct report_how how;
    int32_t normalization;
};

/* What the contributions of a report hold. */
struct report_sums {
    double tokens;               /* all weights, exact to 2^53 */
    uint64_t nonfinite;          /* (rank, pair) contributions that are not finite */
    uint64_t flagged;            /* (rank, microbatch) flags that are set */
    bool is_shared;              /* of all metrics: which elements are ours is not known */
    uint64_t empty_microbatches; /* (rank, pair) contributions without a token */
    uint64_t empty_steps;
    uint64_t nonfinite_steps;
    bool is_rounded;  /* a weight is not exact */
    bool is_overflow; /* a result is not finite, its contributions are */
};

/* judge_report_view.c: what a report is made of. */
bool report_view_build(struct alar_judge *judge, const struct judge_report *report,
                       struct report_view *view, bool *is_echo);
bool report_has_tokens(const struct report_view *view); /* are the weights of its pairs tokens? */
struct report_sums report_sums_read(const struct report_view *view);

/* judge_report_elements.c: which elements are whose. */
void judge_report_names(struct alar_judge *judge, struct judge_op *op);
bool judge_report_has_name(const struct alar_judge *judge, const struct judge_op *op,
                           uint64_t hash);
uint32_t report_names(const struct report_view *view, const struct judge_op *op, uint32_t *ours);
struct report_elements report_lanes_find(const struct report_view *view, const struct judge_op *op);
uint64_t report_flags(const struct report_view *view, bool *is_shared);

/* A least or greatest value, recomputed from the contributions. */
struct report_extreme {
    struct report_span legal;
    uint32_t holder;    /* rank of the world */
    uint64_t nonfinite; /* (rank, pair) contributions that are not finite */
};

/* judge_report_extreme.c: minima and maxima; false when the elements are none of theirs. What is
   wrong with the report, ALAR_ANOMALY_COUNT for nothing. spec: O-62, O-63 */
bool report_extreme_read(const struct report_view *view, struct report_extreme *extreme);
enum alar_anomaly report_extreme_check(const struct report_view *view,
                                       const struct report_extreme *extreme);

/* A sum in progress. Start with {0}. */
struct report_fold {
    double low, high, magnitude, weight;
    uint32_t terms;
    int lowest; /* exponent of the lowest bit set in any term */
    bool is_special;
};

/* judge_report_sum.c: what rounding can make of sums and quotients. */
void report_fold_add(struct report_fold *fold, double low, double high);
void report_fold_span(struct report_fold *fold, struct report_span span);
struct report_span report_fold_sum(const struct report_view *view, const struct report_fold *fold);
struct report_span report_divided(const struct report_view *view, struct report_span span,
                                  double weight);
struct report_span report_scale(struct report_span span, double factor);

/* judge_report_microbatch.c: one microbatch after the other. */
bool report_microbatch_next(const struct report_view *view, struct report_microbatch *microbatch);
double report_numerator(const struct report_view *view, const struct report_microbatch *microbatch,
                        uint32_t member);
double report_weight(const struct report_view *view, const struct report_microbatch *microbatch,
                     uint32_t member);

/* judge_report_rules.c: what the declared normalization allows; when none is declared, what any of
   them allows. Returns how many; the first is the declared one. */
uint32_t report_rules(const struct report_view *view, struct report_legal *rule);

/* judge_report_value.c: recomputing. */
struct report_span report_evaluate(const struct report_view *view, struct report_how how);
struct report_span report_engine(const struct report_view *view);
bool report_fits(const struct judge_report *report, struct report_span span);

/* judge_report_name.c: which mistake gives the number that was shown? ALAR_ANOMALY_COUNT: none
   known. `others` counts the further mistakes that give it too. */
enum alar_anomaly report_diagnose(const struct report_view *view, struct report_how legal,
                                  bool has_sums, uint32_t *others);

/* judge_report_exact.c: a report whose operations carry whole numbers, as `exact` lays them out.
   The value it must have, of an extreme the rank that holds it, and what is wrong with the report,
   ALAR_ANOMALY_COUNT for nothing; false when that can't be said. spec: N-53, O-50 */
bool report_exact_check(const struct report_view *view, struct report_span *legal, uint32_t *holder,
                        enum alar_anomaly *anomaly);

/* judge_report_check.c: one report, all of whose operations are settled. */
void judge_report_check(struct alar_judge *judge, const struct judge_report *report);

/* judge_report_read.c: the record, and what it stands for. */
size_t judge_report_headroom(const struct alar_judge *judge, const struct alar_event *event);
enum alar_status judge_report_report(struct alar_judge *judge);
void judge_report_declare(struct alar_judge *judge);
void judge_report_start(struct alar_judge *judge);
void judge_report_loop(struct alar_judge *judge); /* the header was read */

/* report.c: what is kept, and when reports are due. */
struct judge_metric *judge_metric_at(const struct alar_judge *judge, uint64_t metric);
uint64_t judge_metric_find(const struct alar_judge *judge, uint64_t hash);
uint64_t judge_metric_make(struct alar_judge *judge, struct alar_text name);
uint64_t judge_report_find(const struct alar_judge *judge, uint64_t group, uint64_t number,
                           uint64_t hint);
bool judge_report_is_of(const struct alar_judge *judge, const struct judge_op *op,
                        const struct judge_metric *metric);
bool judge_report_wants(const struct judge_op *op);
void judge_report_keep(struct alar_judge *judge, uint64_t op);
void judge_report_wait(struct alar_judge *judge, uint64_t report);
void judge_report_finish(struct alar_judge *judge);

/* judge_report_again.c: does another rank say the same of the same operations as the last report
   found good? And keeps this one as that, when judging it has `added` nothing to the verdict. */
bool report_is_again(const struct alar_judge *judge, const struct judge_report *report);
void report_keep_good(struct alar_judge *judge, const struct judge_report *report, bool added);

/* Everything the verdict says, counted. */
uint64_t report_said(const struct alar_judge *judge);

#endif

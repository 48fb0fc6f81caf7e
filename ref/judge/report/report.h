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

/* Who declared one kind of a metric. */
struct judge_claim {
    struct alar_list ranks;
    struct alar_place place; /* where the lowest of them did */
};

/* A metric that was declared or reported. */
struct judge_metric {
    uint64_t next;
    uint64_t hash;
    uint64_t order; /* from 1 on, as they became known */
    char name[ALAR_NAME_MAX];
    uint64_t scopes;            /* struct judge_scope, one for each group it was declared for */
    bool has_kind;              /* was it declared what is made of it? */
    bool is_disputed;           /* ranks declared different kinds */
    enum alar_metric_kind kind; /* MEAN unless declared */
    struct judge_claim claim[ALAR_METRIC_KINDS];
    uint64_t bounds;        /* hash of the metric whose mean it bounds; 0: none */
    bool is_bound_declared; /* or does only its name say so? */
    uint64_t beside;        /* another metric that bounds the same one, and became known before */
    uint64_t ledger; /* uint64_t[world]: struct judge_ledger of ranks that report it; 0: none */
};

/* What the ranks of a group hold of a metric. Groups whose names differ in digits alone, "tp0" and
   "tp1", are alike: what is declared for one of them holds for all. */
struct judge_scope {
    uint64_t next;
    uint64_t hash;      /* of the group's name: it may be declared later */
    bool is_replicated; /* each rank holds the full value, not a share */
};

/* One operation of a rank that a report of the metric stands for, or should. */
struct judge_due {
    uint64_t group, number;
    int64_t step, mb;
    struct alar_place place; /* of the first report that stands for it */
    uint8_t sinks;           /* bit set: sinks with a report that stands for it */
    bool is_named;           /* its key names the metric */
    bool is_replaced;        /* its step, or its microbatch, was reduced again */
    bool is_unlabelled;      /* replaced by one without `mb`: both may be microbatches */
};

enum {
    JUDGE_SINKS = 4 /* told apart of one rank and metric; further ones count as the last */
};

/* Where one rank reports a metric, and what it last said there. */
struct judge_sink {
    uint64_t hash;
    int64_t first_step, step; /* label of the last report */
    int64_t latest;           /* last step that its rank had issued then */
    bool is_early;            /* a step on that label was reduced later: told already */
    struct alar_place place;
    double low, high;
    bool is_number;
    int32_t normalization, over, kind; /* as the first report that said so; -1: none did */
};

/* What one rank reduced of a metric and which of its reports stand for it. spec: O-60 */
struct judge_ledger {
    uint32_t rank;
    uint32_t count, room, sinks; /* room: so many are kept before those that are over are let go */
    uint32_t held;               /* there is memory for; up to room */
    uint64_t due;                /* struct judge_due[held], in the order of issue */
    int64_t latest;              /* step, and */
    int64_t most;      /* no entry of it has a greater `mb`; INT64_MAX: that is not known */
    bool is_sorted;    /* no step stands behind a later one, and */
    bool is_one_group; /* all are of one group, so their numbers are sorted likewise */
    bool is_single;    /* some step was reduced by one operation without `mb` */
    struct judge_sink sink[JUDGE_SINKS];
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
    bool is_replicated;         /* some group holds it whole: each of its values counts once */
    bool counts_replicas;       /* all the same, count them all: a mistake that is tried */
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
    REPORT_LAST_OF_RANK,     /* the last microbatch of one rank */
    REPORT_OWN_COUNT,        /* sum of numerators / the weights of one rank */
    REPORT_TOTAL,            /* numerators summed, of metrics that are sums */
};
enum {
    REPORT_EMPTY_RANKS = 1, /* ranks, microbatches, steps without a token count, as 0 */
    REPORT_EMPTY_MICROBATCHES = 2,
    REPORT_EMPTY_STEPS = 4,
};
struct report_how {
    enum report_rule rule;
    unsigned counts_empty; /* set of the above */
    bool is_total;         /* what is summed is not divided by weights */
    uint32_t rank;  /* REPORT_RANK, REPORT_WITHOUT, REPORT_LAST_OF_RANK, REPORT_OWN_COUNT: index of
                       the member */
    uint64_t group; /* REPORT_GROUP */
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

/* Mistakes that give the number that was shown. */
struct report_named {
    enum alar_anomaly first;          /* COUNT: none known */
    uint64_t others[ALAR_FITS_WORDS]; /* bit set: further anomalies */
    uint32_t own;                     /* rank whose own value it is; ALAR_RANK_ALL: of none */
};

/* What is to be said of a report. */
struct report_answer {
    enum alar_anomaly anomaly; /* COUNT: nothing is wrong */
    enum alar_unknown unknown; /* COUNT: it is decided */
    struct report_span legal;  /* what it should have shown */
    uint32_t holder;           /* of an extreme */
    uint32_t fits;             /* undeclared: bit set of what gives the number */
    struct report_named named;
    enum alar_report_count count; /* that is wrong */
    uint64_t count_shown, count_due;
};

/* report_scope.c: the ranks and steps that a report speaks of. COUNT: they are the right ones. */
enum alar_anomaly report_scope_check(const struct report_view *view);

/* The group that holds the metric together with `rank`: shares of it, or all the same; 0: none was
   declared. */
uint64_t report_scope_find(const struct alar_judge *judge, const struct judge_metric *metric,
                           uint32_t rank, bool is_replicated);
bool report_scope_has(const struct alar_judge *judge, const struct judge_metric *metric,
                      bool is_replicated);

/* Does the member's contribution count, or does a lower rank hold the same? */
bool report_counts(const struct report_view *view, const struct judge_op *op, uint32_t member);
bool report_has_member(const struct alar_judge *judge, const struct judge_group *group,
                       uint32_t rank);
bool report_replicas_agree(const struct report_view *view); /* do they hold the same indeed? */

/* Tells of a count that is not that of the contributions. */
void report_count(struct report_answer *answer, enum alar_report_count count, int64_t shown,
                  uint64_t due);

/* Reads operations that cover several steps as named by the last one; false: there are none. */
bool report_view_windows(struct report_view *view);

/* report_view.c: what a report is made of. */
bool report_view_build(struct alar_judge *judge, const struct judge_report *report,
                       struct report_view *view, bool *is_echo);
bool report_has_tokens(const struct report_view *view); /* are the weights of its pairs tokens? */
struct report_sums report_sums_read(const struct report_view *view);

/* report_elements.c: which elements are whose. `names` of a key that joins several: false, and
   nothing done, when it does not. */
bool report_names_read(struct alar_text key, struct judge_names *names);
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

/* report_extreme.c: minima and maxima; false when the elements hold no extreme. What is
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

/* report_sum.c: what rounding can make of sums and quotients. */
void report_fold_add(struct report_fold *fold, double low, double high);
void report_fold_span(struct report_fold *fold, struct report_span span);
struct report_span report_fold_sum(const struct report_view *view, const struct report_fold *fold);
struct report_span report_divided(const struct report_view *view, struct report_span span,
                                  double weight);
struct report_span report_scale(struct report_span span, double factor);

/* report_cells.c: one microbatch after the other. */
bool report_microbatch_next(const struct report_view *view, struct report_microbatch *microbatch);
double report_numerator(const struct report_view *view, const struct report_microbatch *microbatch,
                        uint32_t member);
double report_weight(const struct report_view *view, const struct report_microbatch *microbatch,
                     uint32_t member);

/* report_rules.c: what the declared normalization allows; when none is declared, what any of
   them allows. Returns how many; the first is the declared one. */
uint32_t report_rules(const struct report_view *view, struct report_legal *rule);

/* report_recompute.c, report_exact.c: recomputing. */
struct report_span report_evaluate(const struct report_view *view, struct report_how how);
struct report_span report_engine(const struct report_view *view);
bool report_fits(const struct judge_report *report, struct report_span span);

/* report_mistakes.c: which known mistakes give the number that was shown? spec: O-57 */
void report_diagnose(const struct report_view *view, struct report_how legal,
                     struct report_named *named);

/* report_mistakes_ranks.c: does a mistake that no row states give the number? `own`: of which rank.
 */
bool report_mistake_fits(const struct report_view *view, struct report_how how,
                         enum alar_anomaly anomaly, uint32_t *own);

/* report_exact.c: a report whose operations carry whole numbers, as `exact` lays them out; false
   when nothing can be said of it. spec: N-53, O-50 */
bool report_exact_check(const struct report_view *view, struct report_answer *answer);

/* report_check.c: one report, all of whose operations are settled. */
void judge_report_check(struct alar_judge *judge, const struct judge_report *report);

/* report_record.c: the record, and what it stands for. */
size_t judge_report_headroom(const struct alar_judge *judge, const struct alar_event *event);
enum alar_status judge_report_report(struct alar_judge *judge);
void judge_report_declare(struct alar_judge *judge);
void judge_report_start(struct alar_judge *judge);
void judge_report_loop(struct alar_judge *judge); /* the header was read */

/* report_find.c, report_keep.c: what is kept, and when reports are due. */
struct judge_metric *judge_metric_at(const struct alar_judge *judge, uint64_t metric);
uint64_t judge_metric_find(const struct alar_judge *judge, uint64_t hash);
uint64_t judge_metric_make(struct alar_judge *judge, struct alar_text name);
void judge_metric_bound(struct alar_judge *judge, uint64_t metric, uint64_t bounds);
uint64_t judge_metric_bounding(const struct alar_judge *judge, const struct judge_metric *metric);
bool judge_report_is_of(const struct alar_judge *judge, const struct judge_op *op,
                        const struct judge_metric *metric);
bool judge_report_wants(const struct judge_op *op);
void judge_report_keep(struct alar_judge *judge, uint64_t op);
void judge_report_wait(struct alar_judge *judge, uint64_t report);
void judge_reports_settled(struct alar_judge *judge, const struct judge_op *op);
void judge_report_finish(struct alar_judge *judge);

/* report_kinds.c: what ranks declare that is made of a metric. */
void report_kind_declare(struct alar_judge *judge);
void report_kinds_finish(struct alar_judge *judge, const struct judge_metric *metric);

/* Which report a finding is about. */
struct report_about {
    uint32_t rank;
    int64_t step;
    struct alar_place place, before; /* of the report; of an earlier one, if that matters */
};

/* report_found.c: findings about log lines. NULL: the finding widened one, or was only counted. */
struct alar_evidence *report_found(struct alar_judge *judge, enum alar_anomaly anomaly,
                                   const struct judge_metric *metric, struct report_about about);
struct alar_evidence *report_found_value(struct alar_judge *judge, const struct report_view *view,
                                         enum alar_anomaly anomaly, struct report_span legal);

/* report_ledger.c: which operations of a rank stand in which of its reports. Only ranks that report
   have a ledger; it begins with what is still known at their first report. */
size_t report_ledger_headroom(const struct alar_judge *judge, const struct alar_event *event);
struct judge_ledger *report_ledger_find(const struct alar_judge *judge,
                                        const struct judge_metric *metric, uint32_t rank);
struct judge_ledger *report_ledger_open(struct alar_judge *judge, struct judge_metric *metric,
                                        uint32_t rank);
void report_ledger_issue(struct alar_judge *judge, const struct judge_op *op,
                         const struct judge_op *mine, uint32_t rank);
struct judge_due *report_ledger_due(const struct alar_judge *judge,
                                    const struct judge_ledger *ledger);

/* report_steps.c: each step stands in one report of a metric, rank and sink. */
struct judge_sink *report_sink(struct judge_ledger *ledger, uint64_t hash);
void report_parts(struct alar_judge *judge, const struct judge_ledger *ledger,
                  struct judge_report *report);
void report_steps_enter(struct alar_judge *judge, struct judge_ledger *ledger,
                        const struct judge_report *report);
void report_steps_finish(struct alar_judge *judge, const struct judge_metric *metric);

/* report_claims.c: what a report says of itself, before anything is recomputed. */
void report_claims_enter(struct alar_judge *judge, struct judge_ledger *ledger,
                         struct judge_report *report, const struct report_span *shown);
void report_claims_settle(struct alar_judge *judge, const struct judge_report *report);
void report_claims_finish(struct alar_judge *judge, const struct judge_metric *metric);

/* report_repeat.c: does another rank say the same of the same operations as the last report
   found good? And keeps this one as that, when judging it has `added` nothing to the verdict. */
bool report_is_again(const struct alar_judge *judge, const struct judge_report *report);
void report_keep_good(struct alar_judge *judge, const struct judge_report *report, bool added);

/* report_repeat.c: how all ranks label an operation, and what they put into it once more. */
void judge_report_labels(struct alar_judge *judge, struct judge_op *op);
void judge_report_again(struct alar_judge *judge, struct judge_op *op);

/* Everything the verdict says, counted. */
uint64_t report_said(const struct alar_judge *judge);

#endif

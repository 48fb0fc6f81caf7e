/* A verdict and its evidence, as data: the judge fills it, verdict_text.h renders it, nobody else
 * decides.
 */
#ifndef ALAR_VERDICT_H
#define ALAR_VERDICT_H

#include "judge/anomaly.h"
#include "legal/diagnosis.h"

enum alar_verdict_kind {
    ALAR_PASS,
    ALAR_FAIL,
    ALAR_UNKNOWN,
    ALAR_VERDICT_COUNT
};

/* What whoever had it judged would spend no more of. */
enum alar_limit {
    ALAR_LIMIT_NONE,
    ALAR_LIMIT_SECONDS,
    ALAR_LIMIT_MEMORY, /* in MiB */
};

/* Why a history that shows nothing wrong is still no PASS. */
enum alar_unknown {
    ALAR_UNKNOWN_LIMIT,     /* a limit was reached before all records were judged */
    ALAR_UNKNOWN_NOTHING,   /* no operation was judged */
    ALAR_UNKNOWN_NO_RECORD, /* a rank of the world has no record at all */
    ALAR_UNKNOWN_MEMBERS,   /* who takes part in a group was not recorded */
    ALAR_UNKNOWN_NO_TRACE,  /* the recording of a rank begins without `trace` */
    ALAR_UNKNOWN_KILLED,    /* a signal ended a rank */
    ALAR_UNKNOWN_ABSENT,    /* a record gives `world` other members than all ranks */
    ALAR_UNKNOWN_STORAGE,   /* a record names storage that no operation used */
    ALAR_UNKNOWN_UNJUDGED,  /* nothing is wrong, and still not all operations could be judged */
    ALAR_UNKNOWN_NO_END,    /* the recording of a rank stops without `end` */
    ALAR_UNKNOWN_PENDING,   /* an operation is pending where the recording stops; no deadline passed
                             */
    ALAR_UNKNOWN_ABORTED,   /* an operation was torn down, or issued after that */
    ALAR_UNKNOWN_WINDOW,    /* a record speaks of an operation that was forgotten */
    ALAR_UNKNOWN_READ,      /* what was read is not the result, and nothing shows a write between */
    ALAR_UNKNOWN_NO_VALUE,  /* contributions or results of an operation were not recorded */
    ALAR_UNKNOWN_UNDECIDED, /* the numbers were not decided within the budget or the model */
    ALAR_UNKNOWN_REPORT,    /* a report could not be recomputed from what was recorded */
    ALAR_UNKNOWN_COUNTS,    /* a report needs, or shows, counts that no operation carries */
    ALAR_UNKNOWN_ATTEMPTS,  /* microbatches, or attempts at one step? */
    ALAR_UNKNOWN_NO_POWER,  /* the inputs could not have revealed a fault (--require-power) */
    ALAR_UNKNOWN_COUNT
};

enum {
    ALAR_LIST_MAX = 16,     /* ranks or operations kept by name; the count goes on */
    ALAR_SCENES_MAX = 12,   /* events kept as evidence */
    ALAR_FINDINGS_MAX = 16, /* findings kept unless more room is lent; the counts go on */
    ALAR_FAULTS_MAX = 32,   /* injected faults kept; the count goes on */
    ALAR_NAMES_MAX = 8,     /* trees kept by name; the count goes on */
    ALAR_NAME_MAX = 40,     /* bytes of a name that is kept, with its end */
    ALAR_FITS_WORDS = 2,    /* words of a set of anomalies */
};

/* A count beside a report. */
enum alar_report_count {
    ALAR_REPORT_COUNT_NONE,
    ALAR_REPORT_COUNT_TOKENS,
    ALAR_REPORT_COUNT_NONFINITE,
    ALAR_REPORT_COUNT_EMPTY,
};

/* What was wrong about an answer of the back end, see answer.c. The last three follow the words of
   `gone`. */
enum alar_answer_fault {
    ALAR_ANSWER_GOOD,
    ALAR_ANSWER_NO_STATUS,
    ALAR_ANSWER_ERROR,
    ALAR_ANSWER_GAVE,
    ALAR_ANSWER_TIMEOUT_DONE,
    ALAR_ANSWER_TIMEOUT_EARLY,
    ALAR_ANSWER_FREED,
    ALAR_ANSWER_NOT_FREED,
    ALAR_ANSWER_FULL,
    ALAR_ANSWER_STOOD_STILL,
    ALAR_ANSWER_WENT_BACK,
    ALAR_ANSWER_BLOCKED,
    ALAR_ANSWER_OUTSIDE,
    ALAR_ANSWER_SIGNAL,
    ALAR_ANSWER_EXIT,
    ALAR_ANSWER_HANG,
    ALAR_ANSWER_FAULTS
};

/* The first ALAR_LIST_MAX of `count` numbers. */
struct alar_list {
    uint32_t count;
    uint64_t item[ALAR_LIST_MAX];
};

/* One event of the evidence, kept after its record is gone. */
struct alar_witness_event {
    enum alar_record record;
    struct alar_place place;
    uint32_t rank;
    bool has_t, is_backend;
    int64_t t;
    uint64_t n;     /* elements, of an issue */
    int64_t at;     /* first element it shows */
    uint32_t shown; /* values below, at most 2 */
    uint64_t bits[2];
    enum alar_dtype dtype; /* of the values: its rank's own, whatever the others contributed */
    bool is_empty;         /* a report that shows EMPTY */
    bool is_of_report;     /* shows an operation of a report: its number follows */
    uint64_t number;
    char src[ALAR_NAME_MAX]; /* "" when the caller was not recorded */
};

/* How far one rank of an operation came, and the last thing it said about it. */
enum alar_standing_kind {
    ALAR_STANDING_PENDING,
    ALAR_STANDING_DONE,
    ALAR_STANDING_TIMED_OUT,
    ALAR_STANDING_FAILED,
    ALAR_STANDING_ABORTED,
};
struct alar_standing {
    uint32_t rank;
    enum alar_standing_kind kind;
    enum alar_record last;
    struct alar_place place;
};

/* One finding. What a field means for an anomaly is said in verdict_text.c. */
struct alar_evidence {
    enum alar_anomaly anomaly;
    bool has_op;
    bool is_report; /* about a log line: name[0] is its metric */
    char group[ALAR_NAME_MAX];
    uint64_t number;        /* of the operation within its group */
    int64_t step;           /* training step it belongs to; -1 when not recorded */
    struct alar_list ranks; /* culprits */
    bool is_open;           /* nothing tells which of them is odd: all are named */
    bool is_late;           /* was somebody told after a deadline? By so much: */
    bool is_success;        /* of success, that is */
    uint64_t late;
    uint32_t standing_count; /* how far the ranks came */
    struct alar_standing standing[ALAR_SCENES_MAX];
    struct alar_list joined, missing; /* who issued, who did not */
    struct alar_list ops;             /* operations, where one finding covers several */
    enum alar_dtype dtype;
    int64_t element; /* first element that shows it; -1 when no single one does */
    bool has_found, has_range;
    uint64_t found;              /* bits that were there */
    uint64_t lowest, highest;    /* bits of the legal range */
    bool has_diagnosis, is_torn; /* torn: other elements are legal, this one is of another step */
    struct alar_diagnosis diagnosis; /* of an illegal value; its ranks are the history's */
    uint32_t member[ALAR_LIST_MAX];  /* rank behind each bit of a subset */
    enum alar_answer_fault answer;   /* of a function; GOOD: the finding is not about one */
    uint32_t call;                   /* then: which, as a word of the field `call` */
    uint64_t amount[2];              /* numbers in question: counts, deadlines, classes */
    enum alar_report_count count;    /* beside a report, that is wrong: */
    uint64_t count_shown, count_due; /* what it says, and what its contributions say */
    uint64_t fits[ALAR_FITS_WORDS];  /* bit set: further anomalies whose mistake gives the number */
    int64_t microbatch;              /* of the first operation; -1: none */
    uint32_t own;                    /* rank whose own value it is; ALAR_RANK_ALL: of none */
    char name[3][ALAR_NAME_MAX];     /* names in question: keys, dtypes, definitions, error texts */
    uint32_t witness_count;
    struct alar_witness_event witness[ALAR_SCENES_MAX]; /* in the order they are told */
    bool has_good;
    uint64_t good;   /* last operation of the group judged good before it */
    int32_t excused; /* index of the injected fault that explains it; -1 for none */
    uint32_t faults; /* so many of the faults came before it; the others can't explain it */
    uint64_t clock;  /* of the time below; 0: there is none */
    int64_t told;    /* when the last rank was told of it */
};

/* An injected fault that fired. */
struct alar_fault_seen {
    enum alar_excuse excuse;
    struct alar_place place;
    uint32_t rank; /* ALAR_RANK_ALL when not given */
    bool has_op;
    char group[ALAR_NAME_MAX];
    uint64_t number;
    uint64_t clock; /* of the time below; 0: there is none */
    int64_t t;
    char point[ALAR_NAME_MAX];
};

/* What a recorder can see; bits of `sees` in a verdict. */
enum {
#define SEES(token, word, text) ALAR_SEES_##token,
#include "judge/sees.def"
    ALAR_SEES_COUNT
};

/* The word of a header, and what is not judged where it is missing; "?" for a number that is none.
   Static storage. */
const char *alar_sees_word(unsigned number);
const char *alar_sees_text(unsigned number);

/* Where legal values came from. */
struct alar_provenance {
    uint64_t element[ALAR_PROOF_COUNT]; /* elements by the first proof that holds */
    uint64_t named;                     /* operations of which one named tree gives all elements */
    uint64_t chunked; /* others of which one kind of tree does, from different starts: a ring */
    uint32_t names;   /* trees that give every element of every sum */
    struct alar_tree_name name[ALAR_NAMES_MAX];
};

/* What the operations whose values are legal could have shown: a pass is worth no more. */
struct alar_reveal {
    uint64_t operations; /* of at least two ranks */
    uint64_t vacuous;    /* of these: no rank's missing contribution would have been seen */
    uint64_t unasked;    /* others, of which it is not known what they show */
    uint64_t ranks;      /* ranks of all of them; of these: */
    uint64_t drops;      /* whose missing contribution would have been seen */
    uint64_t doubles;    /* whose doubled contribution would have been seen */
};

/* Where a rank stood at the end of its recording. */
struct alar_stand {
    struct alar_place place;
    uint32_t rank;
    bool is_in_call, has_peer, is_refused; /* refused: the job was ended there */
    int64_t peer;                          /* the other rank, or the root */
    int64_t since, t;                      /* it came there, it still was there */
    char call[ALAR_NAME_MAX];              /* function */
    char src[ALAR_NAME_MAX];               /* "" when the caller was not recorded */
};

/* An operation that was pending where the recording stops. */
struct alar_pending {
    char group[ALAR_NAME_MAX];
    uint64_t number;
    struct alar_list joined, missing;
};

struct alar_verdict {
    enum alar_verdict_kind kind;
    bool has_headers;    /* is it a recording, not a bare history? */
    bool has_sees;       /* every header says what its recorder sees: */
    uint32_t sees;       /* bits, of what all of them see */
    uint64_t events;     /* records judged */
    uint64_t operations; /* all-reduces seen, each counted once for all its ranks */
    uint64_t judged;     /* of these: life and value judged */
    uint64_t given_up;   /* others: pending where a rank ended with a code */
    uint64_t prefixes;   /* of these: only the first of their elements were recorded */
    uint64_t reports;    /* log lines seen */
    uint64_t reports_judged;
    uint64_t reports_undeclared; /* of these: without a normalization, but some one fits */
    uint32_t reports_fit; /* bit set: 2 * enum alar_normalization + enum alar_over fits them all */
    uint64_t unknown[ALAR_UNKNOWN_COUNT]; /* how often, and below where first */
    struct alar_place unknown_place[ALAR_UNKNOWN_COUNT];
    uint32_t unknown_rank[ALAR_UNKNOWN_COUNT];
    enum alar_limit limit; /* of ALAR_UNKNOWN_LIMIT, and so much: */
    uint64_t limited;
    bool lacks_names;          /* more names of storage than are told apart */
    char stray[ALAR_NAME_MAX]; /* the first storage of ALAR_UNKNOWN_STORAGE */
    int64_t claimed;           /* tokens in the first report of ALAR_UNKNOWN_COUNTS; -1: none */
    uint64_t refused; /* operations, rank by rank, whose values the recorder has no word for */
    char refusal[2 * ALAR_NAME_MAX]; /* why, of the first, which is: */
    char refused_group[ALAR_NAME_MAX];
    uint64_t refused_number;
    uint64_t empty;  /* of no element */
    uint64_t called; /* collectives that are no all-reduces, of which the recorder had no values */
    struct alar_pending pending; /* the first one of ALAR_UNKNOWN_PENDING */
    uint32_t stands;             /* ranks that stood somewhere; the first ones follow */
    struct alar_stand stand[ALAR_LIST_MAX];
    uint64_t widened;                   /* of those below: told by another finding, and no notes */
    uint64_t found[ALAR_ANOMALY_COUNT]; /* findings by anomaly */
    uint32_t finding_count, finding_room;
    struct alar_evidence *finding; /* [finding_count], worst first */
    uint32_t fault_count;
    struct alar_fault_seen fault[ALAR_FAULTS_MAX];
    struct alar_provenance provenance;
    struct alar_reveal reveal;
    uint64_t payloads;                /* operations whose ranks hold NaNs of different payloads */
    uint64_t twins_same, twins_legal; /* operations with the twin's bits; other bits, both legal */
    uint64_t peak;                    /* most handles pending at once on one rank */
};

/* "PASS", "FAIL", "UNKNOWN". */
const char *alar_verdict_name(enum alar_verdict_kind kind);

/* "started and pending". */
const char *alar_standing_text(enum alar_standing_kind kind);

/* One line for people, without end. */
const char *alar_unknown_text(enum alar_unknown reason);

/* Findings that are no notes and were not kept for want of room. */
uint64_t alar_verdict_more(const struct alar_verdict *verdict);

/* Adds a number to a list unless it is already kept. */
void alar_list_add(struct alar_list *list, uint64_t item);

#endif

/* alar inside a host that has its own communication: event in, action out, values in, report out.

   The host tells what happens in its program and in its world, and carries out the one action that
   comes back: hand these elements to an all-reduce, wait for that one, write the log line. When a
   reduction is issued, in which order values are taken, what a number means and how a run ends is
   decided here, by the engine that `alar run` has. No call blocks, allocates, or looks at a clock;
   all memory is the host's, given once. Not thread-safe; any number of logs side by side. The whole
   of a host, without its errors:

       struct alar_config config = {.placement = ALAR_PLACEMENT_STEP, .waits_at_log = true};
       struct alar_embed_place place = {.rank = rank, .ranks = ranks};
       size_t bytes = alar_embed_bytes(&config, &place);
       struct alar_embed *log = NULL;
       alar_embed_init(&log, &config, &place, malloc(bytes), bytes);
       ...
       struct alar_sample sample = {.sum = loss_sum, .tokens = tokens};
       event = (struct alar_embed_event){.kind = ALAR_EMBED_CONTRIBUTE, .step = n, .samples =
   &sample}; alar_embed_step(log, &event, &action);     then what `action` says, until it says READY

   tests/example/embed.c is one that runs. */
#ifndef ALAR_EMBED_H
#define ALAR_EMBED_H

#include "alar.h"
#include "backend.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Steps by which a log line may lag, at most. */
#define ALAR_LAG_MAX 255

/* What became of an all-reduce. */
enum alar_outcome {
    ALAR_OUTCOME_VALUE,     /* the receive buffer holds the value until the next post */
    ALAR_OUTCOME_FAILED,    /* the back end returned an error, or the communicator went */
    ALAR_OUTCOME_TIMED_OUT, /* the deadline passed first; a late value is discarded */
};

/* What to do next. In brackets the events that may follow. */
enum alar_action_kind {
    ALAR_ACTION_READY,  /* nothing: the program goes on [its events, COMPLETE, FAIL] */
    ALAR_ACTION_POST,   /* issue the all-reduce of `slot` [POSTED, POST_REFUSED] */
    ALAR_ACTION_AWAIT,  /* the program stands still until `slot` ends or its deadline passes
                           [COMPLETE, FAIL, EXPIRE] */
    ALAR_ACTION_RETIRE, /* the value of `slot` is read, or it is told that there is none; its
                           buffers are reused by a later POST [RETIRED] */
    ALAR_ACTION_REPORT, /* write the log line: see alar_embed_report [REPORTED] */
    ALAR_ACTION_STOP,   /* the run is over, with `status`: give up the communicator [TORN_DOWN] */
    ALAR_ACTION_CLOSED, /* every handle is told; nothing comes any more */
};

enum alar_embed_event_kind {
    /* from the program, when it is READY */
    ALAR_EMBED_CONTRIBUTE, /* `samples` of the next microbatch of step `step` */
    ALAR_EMBED_STEP_END,   /* all microbatches of the step were contributed */
    ALAR_EMBED_FINISH,     /* no further step comes */
    ALAR_EMBED_ABANDON,    /* the program can't go on: stop with `status`; also while it stands
                              still, whose wait ends then as if its deadline had passed */
    /* answers to actions */
    ALAR_EMBED_POSTED,
    ALAR_EMBED_POST_REFUSED,
    ALAR_EMBED_RETIRED,
    ALAR_EMBED_REPORTED,
    ALAR_EMBED_TORN_DOWN,
    /* from the world */
    ALAR_EMBED_COMPLETE, /* the sum over all ranks is in the receive buffer of `slot` */
    ALAR_EMBED_FAIL,     /* the all-reduce of `slot` ended with an error */
    ALAR_EMBED_EXPIRE,   /* the deadline of the wait passed */
};

struct alar_embed_event {
    enum alar_embed_event_kind kind;
    uint16_t slot;                     /* COMPLETE, FAIL */
    enum alar_status status;           /* ABANDON: not ALAR_OK */
    int64_t step;                      /* CONTRIBUTE: the step's own number */
    const struct alar_sample *samples; /* CONTRIBUTE: one a metric, as in the configuration */
};

/* One all-reduce: SUM over all ranks of `elements` elements, `send` into `receive`. */
struct alar_embed_op {
    const void *send; /* [elements], in the memory that the host gave, aligned for them */
    void *receive;    /* likewise; both are the back end's until it completes or fails */
    size_t elements;
    enum alar_dtype dtype;
    uint64_t number;     /* within the communicator, from 0: the same on all ranks */
    int64_t step;        /* own number of the first step that it covers */
    uint32_t microbatch; /* of the first microbatch, within that step */
    size_t pairs;        /* [numerator, weight] pairs at the front, metrics innermost */
};

struct alar_action {
    enum alar_action_kind kind;
    uint16_t slot;             /* POST, AWAIT, RETIRE */
    enum alar_outcome outcome; /* RETIRE */
    enum alar_status status;   /* STOP, CLOSED */
};

/* Where a rank stands. */
struct alar_embed_place {
    uint32_t rank;       /* within the group that logs */
    uint32_t ranks;      /* of that group */
    uint32_t first_rank; /* the world's number of its rank 0; others follow `cp` apart */
    uint32_t cp;         /* context parallel ranks behind each of them; 0: one */
    uint32_t cp_rank;    /* which of those this one is */
};

/* A non-finite local loss that every rank has learnt of. */
struct alar_finding {
    int64_t step;
    uint32_t microbatch;
    uint32_t rank; /* the world's number */
};

/* Counts of a log. */
struct alar_embed_counts {
    uint64_t posted;
    uint64_t ready;  /* complete before anybody waited for them */
    uint64_t waited; /* complete, but only after a wait */
    uint64_t failed;
    uint64_t timed_out;
    uint64_t peak; /* most handles pending or unread at once */
};

struct alar_embed;

/* Bytes that a log needs, in memory aligned as malloc aligns it; 0 where alar_embed_init would
   refuse the configuration. `backend`, `history` and `deadline_ms` are the host's to heed. */
ALAR_API size_t alar_embed_bytes(const struct alar_config *config,
                                 const struct alar_embed_place *place);

/* Makes a log in `memory`, which stays the host's and must outlive it and all that was posted;
   there is nothing to free. The names of the metrics are borrowed. Errors: ALAR_E_RANGE for a
   number or a choice out of its range, a metric without a name, with a comma in it or given twice,
   minima or maxima over more than 1,024 ranks, a lag without waits_at_log; ALAR_E_NOMEM for too few
   bytes. */
ALAR_API ALAR_MUST_USE enum alar_status alar_embed_init(struct alar_embed **log,
                                                        const struct alar_config *config,
                                                        const struct alar_embed_place *place,
                                                        void *memory, size_t bytes);

/* Takes one event and says what to do next.
   Errors, after which nothing has changed: ALAR_E_ILLEGAL for an event that does not answer the
   last action; ALAR_E_RANGE for a slot that holds nothing, a microbatch beyond the last one of its
   step, a step without all of them, an end within a step; ALAR_E_INPUT for a sample whose tokens
   are no count. More than 2^42 - 1 tokens in an interval end a run under `exact`, with
   ALAR_E_RANGE. spec: W-07, W-08 */
ALAR_API ALAR_MUST_USE enum alar_status alar_embed_step(struct alar_embed *log,
                                                        const struct alar_embed_event *event,
                                                        struct alar_action *action);

/* The all-reduce of a slot, from its POST to its RETIRE. Errors: ALAR_E_RANGE for no slot. */
ALAR_API ALAR_MUST_USE enum alar_status alar_embed_op(const struct alar_embed *log, uint16_t slot,
                                                      struct alar_embed_op *op);

/* At a REPORT: the line's value of the i-th of the sorted metrics. Errors: ALAR_E_EMPTY when there
   is no such metric, or no line is due. */
ALAR_API ALAR_MUST_USE enum alar_status alar_embed_report(const struct alar_embed *log, uint32_t i,
                                                          struct alar_report *report);

/* At a REPORT: the first of the line's all-reduces, and how many there are; for whoever records it.
 */
ALAR_API void alar_embed_line(const struct alar_embed *log, uint64_t *first_op, uint64_t *ops);

/* Slots in the window, and the hash of the metrics' names and kinds, the same on all ranks that log
   the same. */
ALAR_API uint16_t alar_embed_window(const struct alar_embed *log);
ALAR_API uint64_t alar_embed_schema(const struct alar_embed *log);

/* How the run ended, or ALAR_OK while it goes on. */
ALAR_API enum alar_status alar_embed_status(const struct alar_embed *log);

/* The i-th finding in post order, of which the first 64 are kept; under `raise` the own one.
   Errors: ALAR_E_EMPTY. */
ALAR_API ALAR_MUST_USE enum alar_status alar_embed_finding(const struct alar_embed *log, uint64_t i,
                                                           struct alar_finding *finding);

/* One line, of at most 255 bytes, on why the run ended with ALAR_E_MISCOUNT or ALAR_E_SCHEMA.
   Errors: ALAR_E_EMPTY when it did not. */
ALAR_API ALAR_MUST_USE enum alar_status alar_embed_why(const struct alar_embed *log,
                                                       char text[256]);

/* Where this rank stands: what it answers when others ask who is there. */
ALAR_API void alar_embed_note(const struct alar_embed *log, struct alar_note *note);

/* Who ends a run whose wait expired, from the answers of all ranks of the group: presence[r] is an
   enum alar_presence, note[r] is read where rank r is here. A rank that raised explains it best,
   then one that failed for a reason of its own, then silent ranks, then the one that has posted
   least. All that see the same answers end alike. *culprit is the lowest such rank. spec: F-05 */
ALAR_API ALAR_MUST_USE enum alar_status alar_embed_judge(const struct alar_embed *log,
                                                         const uint8_t *presence,
                                                         const struct alar_note *note,
                                                         uint32_t *culprit);

ALAR_API void alar_embed_counts(const struct alar_embed *log, struct alar_embed_counts *counts);

#ifdef __cplusplus
}
#endif

#endif

/* Inside a log that a host drives: its state, shared by the files that take events, move values and
   make reports; and what the driver of `alar run` asks beyond api/embed.h. */
#ifndef ALAR_EMBED_LOG_H
#define ALAR_EMBED_LOG_H

#include "embed/embed_plan.h"

enum {
    ALAR_FINDINGS_KEPT = 64
};

/* What belongs to one slot of the window. */
struct embed_slot {
    uint64_t number;     /* of the operation within its communicator, from 0 */
    size_t microbatches; /* microbatches it covers, of one step or of whole steps */
    size_t step;         /* of the first of them, counted from the start of its interval */
    uint32_t microbatch; /* of the first of them, counted from the start of its step */
    uint8_t interval;    /* the one of the two that it belongs to */
};

/* The steps of one log line. */
struct embed_interval {
    struct alar_local *local;     /* [steps][microbatches][metrics] */
    struct alar_tally *tally;     /* [steps][metrics] */
    struct alar_extreme *extreme; /* likewise; NULL: all are means or sums */
    int64_t *step;                /* own number of each step */
    size_t steps;                 /* begun so far */
    uint32_t microbatch;          /* contributed to the last of them */
    int64_t tokens;               /* this rank's */
    uint64_t first_op;            /* number of its first operation */
    uint64_t ops;                 /* posted */
};

/* Why an all-reduce does not hold each rank's contribution once. */
struct alar_participation_error {
    struct alar_participation_finding finding;
    int64_t step; /* own number of the first step it covers */
    uint32_t microbatch;
    uint64_t number; /* of the all-reduce within its communicator, from 0 */
};

struct alar_embed {
    struct alar_embed_plan plan;
    struct alar_engine engine;
    struct alar_action action; /* the engine's last word */
    uint64_t posted;
    struct embed_slot *slot; /* one element a slot */
    char *send;              /* slot_bytes each */
    char *receive;
    size_t slot_bytes;
    struct alar_exact *exact;          /* sums of what is not posted yet; NULL without `exact` */
    struct embed_interval interval[2]; /* the second only where a line lags */
    uint8_t current;
    bool is_lagging;            /* the other one waits for its line */
    bool is_step_open;          /* a microbatch of it was contributed, its end not told */
    size_t posted_microbatches; /* of the current interval */
    int64_t last_step;          /* own number of the step that ended last */
    struct alar_finding findings[ALAR_FINDINGS_KEPT];
    uint64_t finding_count;
    struct alar_participation_error participation_error; /* whole until a participation is not */
};

/* Contributes local losses, one a metric, in the order of the sorted names: what
   ALAR_EMBED_CONTRIBUTE does with samples, but for what they can't say. Errors: as there. */
ALAR_MUST_USE enum alar_status alar_embed_contribute(struct alar_embed *log, int64_t step,
                                                     const struct alar_local *local,
                                                     struct alar_action *action);

/* Samples as local losses: one a metric, as in the configuration, into the order of the sorted
   names. Errors: ALAR_E_INPUT; `local` may then hold some. */
ALAR_MUST_USE enum alar_status alar_embed_locals(const struct alar_schema *schema,
                                                 const struct alar_sample *samples,
                                                 struct alar_local *local);

/* Why the run ended with E_MISCOUNT or E_SCHEMA; NULL when it did not. */
const struct alar_participation_error *alar_embed_participation_error(const struct alar_embed *log);

/* embed_value.c: writes the payload of a slot that is to be posted. */
void embed_write(struct alar_embed *log, uint16_t slot);

/* Takes the value of the slot that is told: answers RETIRED, RETIRED_NONFINITE, or RETIRED_WRONG
   and why in `status`. */
enum alar_engine_event_kind embed_take(struct alar_embed *log, enum alar_status *status);

/* Keeps the newest local losses, and their exact sums until they are posted; false when the
   interval has more tokens than elements can count. */
bool embed_keep(struct alar_embed *log, const struct alar_local *local);

/* The world's number of the first rank behind this own contribution whose loss was not finite. */
uint32_t embed_culprit(const struct alar_embed *log, const struct alar_local *local);

/* embed_report.c: the interval whose line is due; empties it once it is written. */
const struct embed_interval *embed_due(const struct alar_embed *log);
void embed_reported(struct alar_embed *log);

#endif

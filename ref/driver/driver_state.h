/* Inside the driver: its state, shared by the files that carry out actions and that record them. */
#ifndef ALAR_DRIVER_STATE_H
#define ALAR_DRIVER_STATE_H

#include "driver/driver.h"

/* What belongs to one slot of the window. */
struct driver_slot {
    void *request;       /* of the back end; NULL when there is none */
    uint64_t number;     /* of the operation within its communicator, from 0 */
    size_t microbatches; /* microbatches it covers, of one step or of whole steps */
    size_t step;         /* of the first of them, counted from the start of its interval */
    uint32_t microbatch; /* of the first of them, counted from the start of its step */
    int error;           /* with which it ended; 0: with a value */
    bool is_ended;       /* the back end said so, and the engine was told or is about to be */
    bool is_waited;      /* a wait record was written */
};

struct alar_driver {
    struct alar_driver_options options;
    struct alar_engine engine;
    struct alar_action action; /* the engine's last word: READY, AWAIT, STOP or CLOSED */
    bool is_waiting;           /* it stands still in a wait, which has a deadline */
    struct alar_deadline deadline;
    uint64_t looked_us; /* tick at which the deadline was last looked at */
    uint64_t blocked_us;
    bool has_lost; /* the back end says that a rank has left */
    void *comm;
    bool can_block; /* this run's all-reduces are blocking calls */
    uint64_t posted;

    /* One element a slot. */
    struct driver_slot *slot;
    char *send; /* element_bytes each */
    char *receive;
    size_t slot_bytes;

    /* The current log interval. */
    struct alar_local *local;     /* [steps of the interval][microbatches][metrics] */
    struct alar_tally *tally;     /* [steps of the interval][metrics] */
    struct alar_extreme *extreme; /* likewise; NULL: all are means or sums */
    struct alar_exact *exact;   /* sums of what is not posted yet; NULL under the pair encodings */
    int64_t tokens;             /* this rank's, of the interval */
    int64_t *step;              /* own number of each step of the interval */
    size_t steps;               /* begun so far */
    uint32_t microbatch;        /* contributed to the last of them */
    size_t posted_microbatches; /* of which covered by all-reduces */
    uint64_t first_op;          /* number of the interval's first operation */

    struct alar_finding findings[ALAR_FINDINGS_KEPT];
    uint64_t finding_count;
    struct alar_participation_error participation_error; /* whole until a participation is not */
};

void *driver_send_buffer(const struct alar_driver *driver, uint16_t slot);
void *driver_receive_buffer(const struct alar_driver *driver, uint16_t slot);

/* Gives the engine an event and carries out all that follows from it. */
enum alar_need driver_go(struct alar_driver *driver, struct alar_engine_event event);

/* Carries out RETIRE: the only place where a value is read. Answers RETIRED, RETIRED_NONFINITE, or
   RETIRED_WRONG and why in `status`. */
enum alar_engine_event_kind driver_retire(struct alar_driver *driver,
                                          const struct alar_action *action,
                                          enum alar_status *status);

/* Carries out REPORT: one value for the steps of the interval, then an empty interval. */
void driver_report(struct alar_driver *driver);

/* The world's number of the first rank behind this own contribution whose loss was not finite. */
uint32_t driver_culprit(const struct alar_driver *driver, const struct alar_local *local);

/* The driver's records; all do nothing when no history is written. */
void driver_record_issue(struct alar_driver *driver, uint16_t slot);
void driver_record_wait(struct alar_driver *driver, uint16_t slot);
void driver_record_end(struct alar_driver *driver, uint16_t slot, int error);
void driver_record_retire(struct alar_driver *driver, uint16_t slot, enum alar_outcome outcome);
void driver_record_report(struct alar_driver *driver, const struct alar_report *report);

#endif

/* Inside the driver: its state, shared by the files that carry out actions and that record them. */
#ifndef ALAR_DRIVER_STATE_H
#define ALAR_DRIVER_STATE_H

#include "driver/driver.h"

/* What belongs to one slot of the window. */
struct driver_slot {
    void *request;  /* of the back end; NULL when there is none */
    int error;      /* with which it ended; 0: with a value */
    bool is_ended;  /* the back end said so, and the engine was told or is about to be */
    bool is_waited; /* a wait record was written */
};

struct alar_driver {
    struct alar_driver_options options;
    struct alar_embed *log;
    void *memory;              /* that the log lies in */
    struct alar_action action; /* its last word: READY, AWAIT, STOP or CLOSED */
    bool is_waiting;           /* it stands still in a wait, which has a deadline */
    struct alar_deadline deadline;
    uint64_t looked_us; /* tick at which the deadline was last looked at */
    uint64_t blocked_us;
    bool has_lost; /* the back end says that a rank has left */
    void *comm;
    bool can_block;           /* this run's all-reduces are blocking calls */
    struct driver_slot *slot; /* one element a slot */
};

/* The all-reduce of a slot. */
struct alar_embed_op driver_op(const struct alar_driver *driver, uint16_t slot);

/* Gives the engine an event and carries out all that follows from it. */
enum alar_need driver_go(struct alar_driver *driver, struct alar_embed_event event);

/* The driver's records; all do nothing when no history is written. */
void driver_record_promises(struct alar_driver *driver, const struct alar_caps *caps);
void driver_record_issue(struct alar_driver *driver, uint16_t slot);
void driver_record_wait(struct alar_driver *driver, uint16_t slot);
void driver_record_end(struct alar_driver *driver, uint16_t slot, int error);
void driver_record_retire(struct alar_driver *driver, uint16_t slot, enum alar_outcome outcome);
void driver_record_report(struct alar_driver *driver, const struct alar_report *report);

#endif

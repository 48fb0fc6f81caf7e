/* One rank's side of the log: carries the engine's actions to a back end, and what the back end
   says back to the engine. It never blocks (but for a blocking call asked for), sleeps or exits:
   whoever runs the ranks does, so the same driver serves one rank per process and all ranks in one.
 */
#ifndef ALAR_DRIVER_H
#define ALAR_DRIVER_H

#include "api/backend.h"
#include "api/embed.h"
#include "driver/participation_text.h"
#include "embed/embed_log.h"
#include "history/history.h"

struct alar_driver_options {
    const struct alar_backend *backend; /* borrowed */
    void *context;                      /* of the back end; borrowed */
    struct alar_config config;          /* complete */
    struct alar_embed_place place;      /* within the group that logs */
    void *comm;        /* of that group; the driver frees it, once it is open. NULL: of all ranks */
    bool is_spectator; /* it has no group and posts nothing */
    const char *group; /* name in the history; borrowed; NULL: "world" */
    uint64_t (*now_us)(void *clock); /* a clock that never runs backwards */
    void *clock;
    uint64_t deadline_us;          /* of one wait; 0: none */
    uint64_t comm_epoch;           /* the same on all ranks, another for each communicator */
    bool is_blocking;              /* sync: use the library's blocking call where it has one */
    struct alar_history *history;  /* borrowed; NULL: none is written */
    uint64_t history_since_us;     /* the tick its times count from */
    uint64_t history_units_per_us; /* of its times: 1000 for nanoseconds, 1 for ticks */
    void (*on_report)(void *sink, const struct alar_report *report);
    void *sink;
};

/* What the program may do next. */
enum alar_need {
    ALAR_NEED_NOTHING, /* go on with the program */
    ALAR_NEED_POLL,    /* stand still and poll */
    ALAR_NEED_END,     /* the run is over: see alar_driver_status, then tear down */
    ALAR_NEED_CLOSED,  /* torn down, every handle told */
};

struct alar_driver;

/* Allocates everything the run will need.
   Errors: those of alar_embed_init; ALAR_E_UNSUPPORTED when the back end can't reduce the
   encoding's elements; ALAR_E_BACKEND when it gives no communicator.
 */
ALAR_MUST_USE enum alar_status alar_driver_open(struct alar_driver **driver,
                                                const struct alar_driver_options *options);

/* The program's events; each only when the driver needs nothing. `step` is the step's own number;
   `local` one local loss for each metric, in the order of the sorted names.
   More than ALAR_LOSS_EXACT_TOKENS_MAX tokens in an interval end a run under `exact`, with
   ALAR_E_RANGE. Returns what is needed next. */
enum alar_need alar_driver_microbatch(struct alar_driver *driver, int64_t step,
                                      const struct alar_local *local);
enum alar_need alar_driver_step_end(struct alar_driver *driver);
enum alar_need alar_driver_finish(struct alar_driver *driver);

/* The program gives up, with a status that is not ALAR_OK. A driver that stands still in a wait
   ends it as if its deadline had passed. */
enum alar_need alar_driver_abandon(struct alar_driver *driver, enum alar_status status);

/* Drives what is pending, expires a wait whose deadline passed. Cheap when there is nothing to do.
 */
enum alar_need alar_driver_poll(struct alar_driver *driver);

/* Stands still in the back end's own wait for at most `slice_us`, then polls. Needs POLL, and a
   back end in whose wait real time passes. */
enum alar_need alar_driver_wait(struct alar_driver *driver, uint64_t slice_us);

/* Gives up the communicator and tells what is left. Needs END; CLOSED afterwards. */
enum alar_need alar_driver_tear_down(struct alar_driver *driver);

enum alar_need alar_driver_need(const struct alar_driver *driver);

/* The driver's clock. */
uint64_t alar_driver_now(const struct alar_driver *driver);

/* The deadline of the wait that the driver stands still in. Needs POLL. */
const struct alar_deadline *alar_driver_deadline(const struct alar_driver *driver);

/* How the run ended, or ALAR_OK while it goes on. */
enum alar_status alar_driver_status(const struct alar_driver *driver);

/* Microseconds spent standing still in waits. */
uint64_t alar_driver_blocked_us(const struct alar_driver *driver);

const struct alar_engine_stats *alar_driver_stats(const struct alar_driver *driver);

/* Handles posted and never told; 0 after a tear-down. */
uint32_t alar_driver_leaked(const struct alar_driver *driver);

/* The first ALAR_FINDINGS_KEPT findings, in post order; *count is how many there were in all. Under
   `raise`, this rank's own. */
const struct alar_finding *alar_driver_findings(const struct alar_driver *driver, uint64_t *count);

/* Why the run ended with E_MISCOUNT or E_SCHEMA; NULL when it did not. */
const struct alar_participation_error *
alar_driver_participation_error(const struct alar_driver *driver);

/* Where the program stands, for a roll call. */
struct alar_note alar_driver_note(const struct alar_driver *driver);

/* Where its records go, NULL when there is no history, and the time of one that is made now. */
struct alar_history *alar_driver_history(const struct alar_driver *driver);
uint64_t alar_driver_record_time(const struct alar_driver *driver);

/* Writes the last record of its history: the regular end, or how the rank ended without one, with a
   line of text or NULL. */
void alar_driver_record_close(struct alar_driver *driver);
void alar_driver_record_exit(struct alar_driver *driver, int code, enum alar_status status,
                             const char *text);

/* Frees it; NULL is fine. */
void alar_driver_free(struct alar_driver *driver);

#endif

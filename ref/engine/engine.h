/* When things happen: event in, action out.

   The engine knows the reduction schedule, the window and the policies, and nothing else: no
   buffers, values, clocks or back ends. The driver gives it one event, performs the one action that
   comes back, and answers with the next event. Values are taken only at points of the program (a
   full window, the end of a step, a log line, the end), never when a completion happens to be seen:
   so all ranks take the same values at the same points, and decide alike. */
#ifndef ALAR_ENGINE_H
#define ALAR_ENGINE_H

#include "api/embed.h"
#include "engine/window.h"

/* Fixed for a run. */
struct alar_engine_rules {
    enum alar_placement placement;
    bool is_sync;            /* wait for each all-reduce as soon as it is issued */
    bool waits_at_log;       /* wait at the log line, not at the end of each step */
    bool stops_on_nonfinite; /* `agree`: end the run with the step that shows it */
    uint32_t log_interval;   /* steps a log line covers, at least 1 */
    uint32_t lag;            /* steps by which it is written later, at most log_interval and
                                ALAR_LAG_MAX; 0 unless the wait is at the log line */
};

enum alar_engine_event_kind {
    /* from the program */
    ALAR_ENGINE_CONTRIBUTE, /* one microbatch's local loss is there */
    ALAR_ENGINE_STEP_END,   /* the last microbatch of the step was contributed */
    ALAR_ENGINE_FINISH,     /* no further step comes */
    ALAR_ENGINE_ABANDON,    /* the program can't go on: stop with `status`, post nothing more */
    /* answers to actions */
    ALAR_ENGINE_POSTED,            /* POST: the back end took the all-reduce */
    ALAR_ENGINE_POST_REFUSED,      /* POST: the back end refused it */
    ALAR_ENGINE_RETIRED,           /* RETIRE: done, all contributions were finite */
    ALAR_ENGINE_RETIRED_NONFINITE, /* RETIRE: done, some contribution was not */
    ALAR_ENGINE_RETIRED_WRONG, /* RETIRE: it is no sum of this group's contributions: `status` */
    ALAR_ENGINE_REPORTED,      /* REPORT: the log line is written */
    ALAR_ENGINE_TORN_DOWN,     /* STOP: the communicator is gone */
    /* from the world */
    ALAR_ENGINE_COMPLETE, /* the all-reduce in `slot` is complete */
    ALAR_ENGINE_FAIL,     /* the all-reduce in `slot` ended with an error */
    ALAR_ENGINE_EXPIRE,   /* the awaited handle's deadline passed */
};

struct alar_engine_event {
    enum alar_engine_event_kind kind;
    uint16_t slot;           /* COMPLETE and FAIL */
    enum alar_status status; /* ABANDON, RETIRED_WRONG: not ALAR_OK */
};

/* What decides the engine's future; together with the window a model checker tracks all of it.
   Written by alar_engine_step only. */
struct alar_engine_state {
    uint8_t phase; /* enum alar_action_kind last returned */
    uint8_t wants_post;
    uint8_t wants_drain;
    uint8_t wants_report;
    uint8_t is_finishing;
    uint8_t is_step_end; /* the program stands at the end of a step */
    uint8_t saw_nonfinite;
    uint8_t stop; /* enum alar_status with which the run stops; 0 while it goes on */
    uint8_t is_torn_down;
    uint8_t is_awaited; /* the oldest live handle has been waited for */
    uint8_t is_owed;    /* an interval is over and its line, which lags, not written */
    uint8_t owed_in;    /* steps until it is */
    uint16_t slot;      /* of the last POST or RETIRE */
    uint16_t owed_live; /* live handles of the interval that is owed a line; they are the oldest */
    uint32_t steps;     /* ended since the last interval was over, at most log_interval */
};

/* Counts for people; nothing decides by them. */
struct alar_engine_stats {
    uint64_t posted;
    uint64_t ready;  /* complete before anybody waited for them */
    uint64_t waited; /* complete, but only after a wait */
    uint64_t failed;
    uint64_t timed_out;
    uint64_t peak; /* most handles live at once */
};

struct alar_engine {
    struct alar_engine_rules rules;
    struct alar_engine_state state;
    struct alar_engine_stats stats;
    struct alar_window *window; /* borrowed */
};

/* Prepares an engine over `window`, which the caller initialised, keeps and frees. PRE: it is
   empty. Errors: ALAR_E_RANGE when log_interval is 0, or for a lag out of its range. */
ALAR_MUST_USE enum alar_status alar_engine_init(struct alar_engine *engine,
                                                const struct alar_engine_rules *rules,
                                                struct alar_window *window);

/* Takes one event and says what to do next.
   Errors: ALAR_E_ILLEGAL when the event does not answer the last action, or the table refuses it;
   ALAR_E_RANGE for a slot that holds nothing. Nothing is changed then. spec: W-07, W-08, L-09 */
ALAR_MUST_USE enum alar_status alar_engine_step(struct alar_engine *engine,
                                                const struct alar_engine_event *event,
                                                struct alar_action *action);

/* A bound on one wait, in the caller's ticks; `limit` 0 means none. */
struct alar_deadline {
    uint64_t since; /* tick at which the wait began */
    uint64_t limit; /* ticks it may take */
};

/* Has the wait lasted its limit at tick `now`? */
bool alar_deadline_passed(const struct alar_deadline *deadline, uint64_t now);

#endif

/* An engine at work in a test: a program of a given plan, a window, and a back end of a few lines
   that completes, fails or never ends what is pending, at a pace of the test's choice. */
#ifndef TESTS_ENGINE_RIG_H
#define TESTS_ENGINE_RIG_H

#include "engine/engine.h"
#include "tests/lib/draw.h"

enum {
    RIG_CAPACITY_MAX = 5,
    RIG_OPS_MAX = 32,
    RIG_TRACE_MAX = 96,
    NONE = -1
};

/* When the back end completes what is pending. */
enum pace {
    PACE_AT_ONCE,  /* as soon as it is posted */
    PACE_AWAITED,  /* only the awaited one, when it is awaited */
    PACE_BACKWARD, /* all, youngest first, when one is awaited */
    PACE_DRAWN,    /* anything at any time, from a seed */
    PACE_COUNT
};

/* A run: rules, the program's length, and the one thing that goes wrong in it. */
struct plan {
    struct alar_engine_rules rules;
    uint16_t capacity;
    uint32_t microbatches;
    uint32_t steps;
    enum pace pace;
    int nonfinite_op; /* a RETIRE of it is answered NONFINITE */
    int failed_op;    /* ends with an error */
    int refused_op;   /* is refused by the back end at its post */
    int expired_op;   /* never ends: its wait expires */
    int abandon_at;   /* the program gives up before this microbatch */
};

/* One letter an action: P post, T take a value, F take a failure, E take a timeout, R report, S
   stop, C closed; S and C carry the status. */
struct trace {
    char text[RIG_TRACE_MAX];
    size_t length;
    enum alar_status stop;
};

struct rig {
    const struct plan *plan;
    struct alar_engine engine;
    struct window_memory {
        _Alignas(
            struct alar_window) unsigned char bytes[sizeof(struct alar_window) + RIG_CAPACITY_MAX];
    } memory;
    struct alar_action action;
    struct draw draw;
    struct trace trace;
    int op_of[RIG_CAPACITY_MAX]; /* by slot */
    int posted;
    int retired;
    int awaited; /* op of the last AWAIT */
    uint32_t waits;
};

void trace_add(struct trace *trace, char letter);

/* "async-microbatch, window 2, ...". Static storage. */
const char *plan_text(const struct plan *plan);

/* A plan in which nothing goes wrong: one step of one microbatch, async, every step logged. */
struct plan plan_of_one(void);

struct alar_window *rig_window(struct rig *rig);

void rig_init(struct rig *rig, const struct plan *plan, uint64_t seed);

/* Gives the engine an event that it must take. */
void rig_step(struct rig *rig, struct alar_engine_event event);

/* Carries out actions until the program may go on; STOP and CLOSED are left to the caller. */
void rig_serve(struct rig *rig);

/* Runs the whole program until the engine says STOP. */
void rig_run(struct rig *rig);

/* Gives up the communicator; demands that every handle left is told, in post order, and that the
   engine then closes with the status it stopped with. */
void rig_close(struct rig *rig);

#endif

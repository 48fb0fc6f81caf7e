/* What the ranks of a conformance run and their supervisor share: one mapping of a file, with a
   seat for each rank. A rank writes its own seat alone; the supervisor reads all, also of ranks
   that died. Nothing here goes through the back end that is on trial. */
#ifndef ALAR_CONFORM_SHARED_H
#define ALAR_CONFORM_SHARED_H

#include "api/backend.h"

#include <stdatomic.h>

enum {
    CONFORM_RANKS_MAX = 64,
    CONFORM_SCENES_MAX = 512,
    CONFORM_EVENTS_MAX = 1 << 17,
    CONFORM_BYTES_MAX = 48 << 20,
    CONFORM_TEXT_BYTES = 160
};

/* The functions of the table, in the order of the words of `call` in record.def. */
enum conform_call {
    CONFORM_LOAD,
    CONFORM_INIT,
    CONFORM_CAPS,
    CONFORM_FINI,
    CONFORM_COMM_CREATE,
    CONFORM_COMM_FREE,
    CONFORM_ALLREDUCE,
    CONFORM_TEST,
    CONFORM_WAIT,
    CONFORM_REQUEST_FREE,
    CONFORM_PROGRESS,
    CONFORM_NOTE_SET,
    CONFORM_ROLL_CALL,
    CONFORM_FAREWELL,
    CONFORM_LEAVE,
    CONFORM_COMM_ABORT,
    CONFORM_NO_CALL,
    CONFORM_CALLS
};

extern const char *const conform_call_names[CONFORM_CALLS];

/* Every promise that is tried, see conform.def. */
enum conform_property {
#define PROPERTY(token, level, name, what) PROMISE_##token,
#include "conform/conform.def"
    CONFORM_PROPERTIES
};

/* What a rank told, had told, or found. */
enum conform_event_kind {
    EVENT_ISSUE,
    EVENT_WAIT,      /* a wait begins */
    EVENT_DONE,      /* `bytes` of result, looked at the moment it was told */
    EVENT_FAIL,      /* `code` */
    EVENT_REWRITTEN, /* the result changed after its end: `at`, `bytes` */
    EVENT_TWIN,      /* the value of the same all-reduce, done once more */
    EVENT_ANSWER
};

struct conform_event {
    uint64_t t; /* ns */
    uint64_t took;
    uint64_t limit;
    uint64_t deadline;
    uint64_t data; /* offset of `bytes` in the seat's bytes */
    uint32_t bytes;
    uint32_t at; /* first element of what is shown */
    uint32_t scene;
    uint32_t op; /* of the scene; UINT32_MAX: none */
    uint32_t outside;
    uint32_t pending;
    int32_t code;
    int32_t gave;
    uint8_t kind;
    uint8_t call;
    uint8_t told; /* word of `told` */
    bool has_done, done, has_gave, has_code;
    uint8_t gone; /* 1 + word of `gone`; 0: it returned */
};

enum conform_stage {
    STAGE_UNBORN,
    STAGE_RUNNING,
    STAGE_STOPPED, /* it gave up: what it saw is recorded */
    STAGE_OVER     /* through, in order */
};

struct conform_seat {
    _Atomic uint32_t stage;
    _Atomic int32_t pid;
    _Atomic uint32_t call; /* it is in; CONFORM_NO_CALL: in none */
    _Atomic uint32_t op;
    _Atomic uint64_t since_ns; /* of that call */
    _Atomic uint32_t scene;    /* it plays */
    _Atomic uint32_t gather;   /* generation of its newest contribution to a gather */
    _Atomic uint32_t exited;   /* 1: by itself or by a signal, and `status` says how */
    _Atomic int32_t status;    /* of waitpid */
    _Atomic int32_t signal;    /* that struck it; 0: none */
    _Atomic uint32_t guard;    /* 1: beside a send buffer, 2: beside a receive buffer */
    struct alar_caps caps;
    char text[CONFORM_TEXT_BYTES]; /* why it stopped; what the back end logged last */
    uint64_t tried[CONFORM_PROPERTIES];
    uint64_t failed[CONFORM_PROPERTIES]; /* of shoulds and notes, which no history judges */
    _Atomic uint32_t events;
    uint64_t bytes;
    unsigned char gathered[4096];
    struct conform_event event[CONFORM_EVENTS_MAX];
    unsigned char byte[CONFORM_BYTES_MAX];
};

/* One scene: what all ranks do, drawn from `seed` alone. */
struct conform_scene {
    uint32_t kind; /* enum conform_scene_kind */
    uint32_t ops;
    uint32_t depth;    /* pending at most */
    uint32_t first;    /* of the combinations of dtype, reduction and family */
    int32_t late_rank; /* -1: none */
    uint32_t late_us;
    uint64_t seed;
};

struct conform_shared {
    _Atomic uint32_t is_stopped;  /* a rank gave up, or the supervisor wants an end */
    _Atomic uint32_t is_unusable; /* the back end can't be loaded: text of a seat says why */
    _Atomic uint32_t is_judged;   /* where somebody else started the ranks: `code` is known */
    _Atomic uint32_t code;
    _Atomic uint32_t arrived; /* at the barrier */
    _Atomic uint32_t turn;    /* of the barrier */
    uint32_t ranks;
    uint32_t scenes;
    uint32_t first_scene; /* number of scene[0] in the whole run */
    uint64_t op_deadline_us;
    struct alar_caps caps; /* of rank 0, before the first scene */
    char name[64];         /* of the back end */
    struct conform_scene scene[CONFORM_SCENES_MAX];
    struct conform_seat seat[];
};

/* Makes the file, where it is hidden under another name until conform_shared_show, or opens it;
 * NULL when that fails. `path` is removed by the caller. */
struct conform_shared *conform_shared_make(const char *path, bool is_hidden, uint32_t ranks);
struct conform_shared *conform_shared_open(const char *path);
bool conform_shared_show(const char *path);
void conform_shared_close(struct conform_shared *shared);

/* All ranks meet; false when the run is stopped instead. `rest` lets time pass. */
bool conform_meet(struct conform_shared *shared, void (*rest)(void *), void *data);

/* Adds an event to the seat and `bytes` of data; what does not fit is left out. */
struct conform_event *conform_tell(struct conform_seat *seat, const struct conform_event *event,
                                   const void *data, uint32_t bytes);

#endif

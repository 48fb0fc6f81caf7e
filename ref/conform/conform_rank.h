/* One rank of a conformance run: the back end it tries, its buffers, and what it plays. */
#ifndef ALAR_CONFORM_RANK_H
#define ALAR_CONFORM_RANK_H

#include "base/rng.h"
#include "conform/conform.h"
#include "conform/conform_scene.h"

/* Memory with a guard behind it that can't be touched, and bytes before it that must not change. */
struct conform_buffer {
    unsigned char *map;
    size_t bytes; /* of the map, without the guard */
    unsigned char *at;
    size_t used;
};

/* What lies where a back end is to answer, so that an answer it leaves out is not taken for 0. */
enum {
    CONFORM_UNSET = -7777777
};

/* Words of the field `told`. */
enum {
    TOLD_PENDING = 1,
    TOLD_DONE = 2
};

enum conform_slot_stage {
    SLOT_FREE,
    SLOT_LIVE,  /* pending */
    SLOT_SPENT, /* over; its value is looked at again until the slot is used anew */
    SLOT_LOST   /* never used again */
};

struct conform_slot {
    enum conform_slot_stage stage;
    uint32_t index; /* of the all-reduce in its scene */
    struct conform_op op;
    uint32_t member, members;
    void *request;
    struct conform_buffer send, recv;
    unsigned char *kept; /* the result, as it was when it was told */
    size_t kept_bytes;
    uint64_t send_hash;
    uint64_t since_ns;
    bool is_rewritten;
    bool is_guarded; /* writes beside it were found already */
};

/* Real time, or that of the simulator. */
struct conform_clock {
    void *data;
    uint64_t (*now_ns)(void *data);
    void (*rest)(void *data, uint64_t us);
    bool is_virtual;
};

struct conform_rank {
    struct conform_shared *shared;
    struct conform_seat *seat;
    uint32_t rank;
    uint32_t ranks;
    const struct alar_backend *backend;
    void *context;
    const struct alar_backend *bare; /* beneath what was put in its place: starts and ends */
    void *bare_context;
    struct alar_caps caps;
    struct conform_clock clock;
    void *comm[CONFORM_GROUPS];
    uint32_t scene; /* index in shared */
    struct alar_rng rng;
    struct conform_slot *slot;
    uint32_t slots;
    uint32_t live;
    const struct alar_conform_wrap *wrap; /* NULL: none */
    void *wrapped;
    void (*handlers_set)(void); /* once more after init; NULL: not needed */
    bool is_stopping;           /* this rank gave up */
    uint64_t entered_ns;
    uint64_t took_ns; /* of the last call */
    bool was_held;    /* it slept, or computed for long, in the last call */
};

uint64_t conform_now(const struct conform_rank *rank);
void conform_rest(const struct conform_rank *rank, uint64_t us);

/* Around every call of the table; `op` is the all-reduce it is about, or UINT32_MAX. */
void conform_enter(struct conform_rank *rank, enum conform_call call, uint32_t op);
void conform_leave(struct conform_rank *rank);

/* Adds what is the same in all events of this rank and tells it. */
void conform_record(struct conform_rank *rank, struct conform_event event, const void *data,
                    uint32_t bytes);

/* A call that must not block has returned. */
void conform_check_prompt(struct conform_rank *rank, enum conform_call call, uint32_t op);

/* The answer of a call that answers 0. */
void conform_check_zero(struct conform_rank *rank, enum conform_call call, uint32_t op, int code);

/* This rank can't go on with the scene; the others stop too. */
void conform_stop(struct conform_rank *rank, const char *why);
bool conform_is_stopped(const struct conform_rank *rank);

/* conform_buffer.c. Room for `bytes`, at the end of the map; false when out of memory. */
bool conform_buffer_place(struct conform_buffer *buffer, size_t bytes);
uint32_t
conform_buffer_harm(const struct conform_buffer *buffer); /* bytes before it that changed */
void conform_buffer_free(struct conform_buffer *buffer);

/* conform_slot.c: the life of one all-reduce. */
enum conform_issue {
    ISSUE_DONE,
    ISSUE_FULL, /* not now */
    ISSUE_FAILED
};
struct conform_event conform_slot_event(const struct conform_slot *slot,
                                        enum conform_event_kind kind);
void conform_slot_over(struct conform_rank *rank, struct conform_slot *slot, int error,
                       enum conform_call call);
struct conform_slot *conform_slot_take(struct conform_rank *rank);
enum conform_issue conform_slot_issue(struct conform_rank *rank, struct conform_slot *slot,
                                      uint32_t index);

/* conform_slot_ask.c: true when it is over. */
bool conform_slot_test(struct conform_rank *rank, struct conform_slot *slot);
int conform_slot_wait(struct conform_rank *rank, struct conform_slot *slot, uint64_t timeout_us);
void conform_slot_free_pending(struct conform_rank *rank, struct conform_slot *slot);
void conform_slot_review(struct conform_rank *rank, struct conform_slot *slot);

/* conform_play.c: plays the scene; false when it was stopped. */
bool conform_play(struct conform_rank *rank);

/* conform_special.c: scenes with a plot of their own. */
bool conform_play_wait(struct conform_rank *rank, const struct conform_scene *scene);
bool conform_play_idle(struct conform_rank *rank, const struct conform_scene *scene);
bool conform_play_edge(struct conform_rank *rank, const struct conform_scene *scene);
bool conform_play_end(struct conform_rank *rank, const struct conform_scene *scene);

/* conform_process.c: what conform_serve.c offers. */
int conform_serve(const char *file, const struct alar_backend *table, const char *config);
void conform_ended(const char *file, uint32_t rank, int status);

/* conform_start.c: from init to fini, all scenes between; returns the process's exit code. */
int conform_rank_run(struct conform_rank *rank, struct alar_boot *boot);

#endif

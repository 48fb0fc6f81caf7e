/* Inside the exercise: its state, shared by the file that acts and the one that records. */
#ifndef ALAR_EXERCISE_STATE_H
#define ALAR_EXERCISE_STATE_H

#include "base/rng.h"
#include "tests/mutants/exercise.h"

enum {
    EXERCISE_COMMS = 3, /* the world, its lower half, its upper half */
    EXERCISE_ADDRESSES = 64
};

enum exercise_stage {
    SLOT_FREE,
    SLOT_LIVE,  /* pending */
    SLOT_SPENT, /* over; its value is looked at again before the slot is used anew */
    SLOT_LOST   /* timed out: never used again */
};

struct exercise_slot {
    enum exercise_stage stage;
    struct alar_exercise_op op;
    uint32_t comm;
    uint64_t number; /* within its communicator */
    void *request;
    void *twin_request;
    bool is_twin_done;
    bool is_waited;
    uint64_t since_us; /* of the post */
    void *receive;     /* `recv`, or storage of the back end's */
    unsigned char send[ALAR_EXERCISE_BYTES_MAX];
    unsigned char recv[ALAR_EXERCISE_BYTES_MAX];
    unsigned char twin[ALAR_EXERCISE_BYTES_MAX];
    unsigned char kept[ALAR_EXERCISE_BYTES_MAX]; /* what was read */
};

struct alar_exercise {
    struct alar_exercise_options options;
    struct alar_caps caps;
    struct alar_rng rng;
    void *comm[EXERCISE_COMMS];
    void *twin[EXERCISE_COMMS];
    uint64_t number[EXERCISE_COMMS]; /* all-reduces issued */
    uint64_t next;                   /* index of the next all-reduce */
    uint64_t posted;
    uint64_t done;
    uint32_t idle; /* actions since everything was over */
    bool is_over;
    bool is_closed;
    const void *address[EXERCISE_ADDRESSES]; /* of storage, by name */
    uint32_t addresses;
    uint32_t slots;
    struct exercise_slot slot[];
};

uint64_t exercise_now(const struct alar_exercise *exercise);

/* The group's name: NULL is the world. */
const char *exercise_group(uint32_t comm);

/* Lowest member of the group, and how many there are. */
uint32_t exercise_first(const struct alar_exercise *exercise, uint32_t comm);
uint32_t exercise_members(const struct alar_exercise *exercise, uint32_t comm);

void exercise_record_start(struct alar_exercise *exercise);
void exercise_record_alloc(struct alar_exercise *exercise, const struct exercise_slot *slot);
void exercise_record_free(struct alar_exercise *exercise, const struct exercise_slot *slot);
void exercise_record_issue(struct alar_exercise *exercise, const struct exercise_slot *slot);
void exercise_record_wait(struct alar_exercise *exercise, struct exercise_slot *slot, bool is_done);
void exercise_record_value(struct alar_exercise *exercise, struct exercise_slot *slot);
void exercise_record_fail(struct alar_exercise *exercise, const struct exercise_slot *slot,
                          int error);
void exercise_record_rewritten(struct alar_exercise *exercise, const struct exercise_slot *slot);
void exercise_record_end(struct alar_exercise *exercise);

#endif

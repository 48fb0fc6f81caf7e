/* Inside the mutants: what the files of the wrapping back end share. */
#ifndef ALAR_FAULTS_MUTANT_STATE_H
#define ALAR_FAULTS_MUTANT_STATE_H

#include "mutant_fold.h"

enum mutant_mode {
    MODE_PASS,     /* as the inner one is */
    MODE_GATHER,   /* the value is computed here */
    MODE_EARLY,    /* told complete at once */
    MODE_NEVER,    /* never told */
    MODE_FAILS,    /* told failed */
    MODE_SWAP,     /* waits for its partner, then both results change places */
    MODE_DEFERRED, /* reaches the inner one behind the next */
    MODE_SCRIBBLE  /* its buffer is written again after it was freed */
};

/* What an all-reduce was asked for. */
struct mutant_call {
    const void *send;
    void *recv;
    uint64_t count;
    enum alar_dtype dtype;
    enum alar_reduction reduction;
    void *stream;
    struct alar_op op;
};

struct mutant_comm {
    struct mutant_comm *next;
    struct alar_mutant *mutant;
    void *inner;
    uint32_t ordinal;
    uint32_t member; /* own index among the members */
    uint32_t members;
    int32_t *rank; /* of the world, by member */
    uint64_t issued;
    uint64_t gathers;                 /* issued */
    uint64_t finished;                /* of them, in order: so that all ranks strike the same one */
    bool is_spent;                    /* ONCE, and it has struck here */
    struct mutant_call previous;      /* shape of the one before */
    unsigned char *previous_send;     /* its contribution of this rank */
    struct mutant_request *deferred;  /* not yet issued */
    struct mutant_request *half_pair; /* waits for a partner */
};

struct mutant_request {
    struct mutant_request *next;
    struct mutant_comm *comm;
    struct mutant_call call;
    enum mutant_mode mode;
    void *inner; /* NULL while deferred */
    uint64_t number;
    uint64_t turn; /* among the gathers */
    bool is_due;   /* it may be hit */
    struct mutant_request *partner;
    bool is_inner_done;
    bool is_settled; /* its defect has been done */
    bool is_told;    /* the caller knows that it is over */
    bool is_orphan;  /* the caller gave it back, and the inner one is still at it */
    bool has_previous;
    uint32_t polls;
    unsigned char *gathered; /* [members][2][count], as sent, then as received */
    unsigned char *place;    /* what goes into the gather */
};

struct alar_mutant {
    struct alar_mutant_options options;
    uint64_t start;  /* first all-reduce that may be hit */
    uint64_t draw;   /* of rank, bit and order */
    uint64_t issued; /* on all communicators */
    bool is_spent;   /* ONCE, and it has struck */
    struct alar_strike strike[ALAR_STRIKES_MAX];
    uint32_t strikes;
    struct mutant_comm *comms;
    uint32_t comm_count;
    struct mutant_request *requests;
    unsigned char *late; /* a buffer to write to in the next call */
    struct mutant_strike_at {
        struct mutant_comm *comm;
        uint64_t number;
    } late_at;
    struct mutant_memory *memory;
};

/* Storage that a mutant hands out. */
struct mutant_memory {
    struct mutant_memory *next;
    uint64_t bytes;
    unsigned char data[];
};

/* The member that is hit on this communicator, and another one. */
uint32_t mutant_target(const struct mutant_comm *comm);

void mutant_strike(struct mutant_comm *comm, uint64_t number);

/* May it be hit, and has nothing been hit on its communicator that must be the only one? */
bool mutant_is_due(const struct mutant_request *request);

/* mutant_comm.c: functions of the table. */
int mutant_caps(void *context, struct alar_caps *caps);
int mutant_comm_create(void *context, const int32_t *ranks, int32_t count, uint64_t epoch,
                       void **comm);
int mutant_comm_free(void *comm);

/* Issues the gather of a request. */
int mutant_gather_issue(struct mutant_request *request);

/* The gather is over: computes the value, right or wrong, into the caller's buffer. */
int mutant_gather_finish(struct mutant_request *request);

/* Hands the call on to the inner back end. */
int mutant_issue(struct mutant_request *request, void *recv);

/* mutant_life.c: what mode an all-reduce gets from a mutant of life or order, and its issue. */
int mutant_life_issue(struct mutant_request *request);

/* What is held back goes now. */
int mutant_deferred_flush(struct mutant_comm *comm);

/* After the inner one was asked: may the end be told? */
bool mutant_life_ends(struct mutant_request *request, int *error);

/* Before the caller's request goes. */
void mutant_life_free(struct mutant_request *request);

/* Any call of the rank's. */
void mutant_life_tick(struct alar_mutant *mutant);

int mutant_memory_allocate(void *context, uint64_t bytes, void **memory);
int mutant_memory_free(void *context, void *memory);

#endif

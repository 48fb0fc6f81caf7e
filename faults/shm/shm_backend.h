/* A back end for processes of one machine: all-reduces through a ring of slots in shared memory. It
   passes alar conform; told so by its configuration (mutant=NAME), it is wrong in one way. */
#ifndef ALAR_SHM_BACKEND_H
#define ALAR_SHM_BACKEND_H

#include "api/backend.h"

#include <stdatomic.h>

enum {
    SHM_RANKS = 16,
    SHM_SLOTS = 32,
    SHM_PIECE = 4096, /* bytes of one slot */
    SHM_COMMS = 64
};

enum shm_wrong {
    SHM_HEALTHY,
#define WRONG(token, ...) SHM_##token,
#include "shm_mutants.def"
    SHM_WRONGS
};

/* What all ranks of a communicator share. Piece s lies in slot s % SHM_SLOTS. */
struct shm_slot {
    _Atomic uint64_t posted[SHM_RANKS];   /* 1 + the newest piece that lies there */
    _Atomic uint64_t consumed[SHM_RANKS]; /* likewise, and has been added up */
    _Atomic uint64_t when_us[SHM_RANKS];
    uint64_t count[SHM_RANKS];
    uint32_t dtype[SHM_RANKS];
    unsigned char data[SHM_RANKS][SHM_PIECE];
};

struct shm_shared {
    _Atomic uint64_t arrived[SHM_RANKS];
    struct shm_slot slot[SHM_SLOTS];
};

struct shm_rank {
    int32_t rank;
    int32_t ranks;
    int comms; /* created so far, on all ranks alike */
    enum shm_wrong wrong;
    uint32_t pending;
    uint64_t calls;
    bool has_struck; /* what happens once has happened */
    struct shm_comm *comm[SHM_COMMS];
    void *late; /* written to in the next call */
    uint32_t late_bytes;
};

struct shm_comm {
    struct shm_rank *rank;
    struct shm_shared *shared;
    int member;
    int members;
    int first; /* world rank of member 0 */
    uint64_t next_piece;
    uint64_t issued;
    struct shm_request *head, *tail; /* pending, in order */
    struct shm_request *before;      /* the newest that ended and was not given back */
};

struct shm_request {
    struct shm_comm *comm;
    const unsigned char *send;
    unsigned char *recv;
    uint64_t count;
    uint64_t number; /* within the communicator */
    uint64_t first, pieces, published, taken;
    enum alar_dtype dtype;
    enum alar_reduction reduction;
    bool is_done, is_told, is_blocking, was_deep;
    uint32_t polls;
    unsigned char *held; /* what is written one call late, or right again */
    struct shm_request *next;
};

/* Is this back end wrong in that way, and, for those of one rank, is it that rank? */
bool shm_is(const struct shm_rank *rank, enum shm_wrong wrong);
bool shm_is_struck(const struct shm_rank *rank, enum shm_wrong wrong);

/* Once only. */
bool shm_strikes_once(struct shm_rank *rank, enum shm_wrong wrong);

/* shm_fold.c: adds up piece `piece` of a request, `count` elements, into `out`. */
void shm_fold(const struct shm_request *request, uint64_t piece, uint64_t count,
              unsigned char *out);

/* shm_ring.c: as far as it goes without waiting. */
void shm_drive(struct shm_comm *comm);
uint64_t shm_now_us(void);
void shm_sleep_us(uint64_t us);

/* shm_comm.c: init, caps and communicators of the interface. */
int shm_init(void **context, struct alar_boot *boot);
int shm_caps(void *context, struct alar_caps *caps);
int shm_fini(void *context);
int shm_comm_create(void *context, const int32_t *ranks, int32_t count, uint64_t epoch,
                    void **comm);
int shm_comm_free(void *comm);

#endif

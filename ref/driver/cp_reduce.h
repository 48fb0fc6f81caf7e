/* The reduction of a microbatch's loss over the context parallel ranks that share it: its elements,
   its records, and what came out of it. The program issues it and stands still for it. spec: N-55
 */
#ifndef ALAR_CP_REDUCE_H
#define ALAR_CP_REDUCE_H

#include "driver/driver.h"

/* The context parallel ranks of one microbatch: their losses are reduced first, and each of them
   contributes what came out. Zero: there are none. */
struct alar_sharing {
    void *comm; /* of these ranks; the program frees it, once it is open */
    struct alar_layout layout;
    uint32_t rank;       /* among them */
    uint32_t first_rank; /* the world's number of the first of them; the others follow */
    const char *group;   /* their name in the history; borrowed */
};

/* Zero it before use. */
struct alar_cp_reduce {
    struct alar_sharing sharing;
    const struct alar_driver *driver; /* borrowed: whose history and clock its records have */
    void *send;                       /* elements of one microbatch */
    void *receive;
    size_t elements;
    uint64_t number; /* of the reduction within its group, from 0 */
    int64_t step;
    uint32_t microbatch;
    struct alar_exact exact; /* the sum that the last local loss borrows */
};

/* Errors: ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status alar_cp_reduce_open(struct alar_cp_reduce *share,
                                                   const struct alar_sharing *sharing,
                                                   const struct alar_driver *driver);

/* This rank's contribution of a microbatch, ready to be issued. */
void alar_cp_reduce_write(struct alar_cp_reduce *share, int64_t step, uint32_t microbatch,
                          const struct alar_local *local);

/* What the ranks made of it, as a local loss that is good until the next one. Errors:
   ALAR_E_MISCOUNT when it is not one contribution of each, and `participation_error` says why;
   ALAR_E_BACKEND when its weight is no count. `local` is then untouched. */
ALAR_MUST_USE enum alar_status
alar_cp_reduce_retire(struct alar_cp_reduce *share, struct alar_local *local,
                      struct alar_participation_error *participation_error);

/* It will not end: the run stops with `status`. */
void alar_cp_reduce_give_up(struct alar_cp_reduce *share, enum alar_status status);

/* Frees its elements; not the communicator. */
void alar_cp_reduce_close(struct alar_cp_reduce *share);

#endif

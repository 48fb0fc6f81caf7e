/* The ranks that a launcher started on this host beside this process, as the system sees them. */
#ifndef ALAR_SIBLINGS_H
#define ALAR_SIBLINGS_H

#include <stdbool.h>
#include <stdint.h>

/* This process's rank as hydra and Open MPI tell it in the environment; -1 when they don't. */
int64_t alar_sibling_own_rank(void);

/* Asks the launcher to end the job with that code, in the words in which MPI_Abort asks hydra;
   where there is none that understands them, nothing happens. */
void alar_siblings_abort(int code);

struct alar_sibling {
    char state;  /* as in proc(5); 0 of one that is not there, or not on this host */
    int32_t pid; /* 0 where there is none */
};

/* Each rank's process; `all_here`: are all on this host? */
void alar_siblings_look(struct alar_sibling *sibling, uint32_t ranks, bool *all_here);

#endif

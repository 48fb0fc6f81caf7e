/* Starts the ranks of one world and watches them to their end. */
#ifndef ALAR_CONFORM_LAUNCH_H
#define ALAR_CONFORM_LAUNCH_H

#include "conform/conform.h"
#include "conform/conform_shared.h"
#include "conform/conform_watch.h"

#include <sys/types.h>

enum conform_launcher {
    LAUNCH_FORK,    /* processes of our own */
    LAUNCH_SIM,     /* threads that take turns, in one process */
    LAUNCH_MPICH,   /* under mpiexec.mpich */
    LAUNCH_OPENMPI, /* under mpiexec.openmpi */
    LAUNCH_PYTHON,  /* forked by a Python that has torch loaded */
    LAUNCH_GIVEN    /* this process is one of them, started by somebody else */
};

struct conform_launch {
    const struct alar_conform_options *options;
    enum conform_launcher launcher;
    char plugin[PATH_MAX]; /* what a rank loads */
    char file[PATH_MAX];   /* of the shared mapping */
    char log[PATH_MAX];    /* what ranks print */
    uint64_t until_us;     /* the run's end, on alar_clock_now */
    uint32_t hangs;        /* worlds that ended in one */
    int python;            /* where it is asked and answers */
    pid_t python_pid;      /* 0: none is needed */
};

/* Which launcher the back end needs, and what its ranks load.
   Errors: ALAR_E_INPUT, with one line in `error_line`. */
ALAR_MUST_USE enum alar_status conform_launch_find(struct conform_launch *launch, char *error_line);

/* conform_python.c: starts a Python with both packages, and that transport in torch.
   Errors: ALAR_E_INPUT, with one line in `error_line`. */
ALAR_MUST_USE enum alar_status conform_python_find(struct conform_launch *launch,
                                                   const char *transport, char *error_line);

/* Has it fork the ranks of a world; the process that did is a child of this one, and leads their
   process group. -1 when Python has ended. */
pid_t conform_python_fork(const struct conform_launch *launch, uint32_t ranks);

/* Ends it, where there is one. */
void conform_python_end(const struct conform_launch *launch);

/* Plays the scenes of `shared` on its ranks. When it returns no process of theirs is left; what
   became of a rank that did not come to its end is an event of its seat.
   Returns false when the time was over.
   Errors: none; a rank that does not start is one that did not return from load. */
bool conform_launch_run(struct conform_launch *launch, struct conform_shared *shared);

/* conform_given.c: this process's own rank and world, as its launcher says; false when it does not.
 */
bool conform_given(uint32_t *rank, uint32_t *ranks);

/* The shared file of the job: by ALAR_JOB, what the launcher calls it, or the parent that its ranks
   have in common. `path` holds PATH_MAX bytes. */
void conform_given_name(const char *directory, char *path);

/* Of a launcher's rank that is not the first: plays, and waits for the first one's word. Returns
   the exit code that all leave with. */
int conform_given_follow(const struct conform_launch *launch, uint32_t rank);

/* Becomes a rank of the run; does not return. */
_Noreturn void conform_launch_become(const struct conform_launch *launch);

/* conform_sim.c: all ranks of the simulator, in this process. */
int conform_sim_run(struct conform_shared *shared, const struct alar_conform_wrap *wrap);

#endif

/* A command line that starts ranks, changed so that a library is preloaded into the ranks and into
   nothing else. */
#ifndef ALAR_LAUNCH_H
#define ALAR_LAUNCH_H

#include "sys/error_line.h"

#include <limits.h>
#include <stdbool.h>

enum alar_launch_mpi {
    ALAR_LAUNCH_AUTO, /* as the launcher, or the program itself, tells */
    ALAR_LAUNCH_MPICH,
    ALAR_LAUNCH_OPENMPI
};

extern const char *const alar_launch_names[]; /* "auto", "mpich", "openmpi", NULL */

struct alar_launch {
    enum alar_launch_mpi mpi;      /* whose recorder is wanted */
    enum alar_launch_mpi launcher; /* whose options the launcher knows */
    bool is_launcher;              /* the command is one; otherwise it is a single rank */
    char library[PATH_MAX];        /* what is preloaded */
    char *preload;                 /* the value of LD_PRELOAD for the ranks; owned */
    char **argv;                   /* what to run; owned, ended by NULL; its texts are borrowed */
};

/* Finds out which MPI the command runs on. `given` other than AUTO is taken as it is.
   Errors: ALAR_E_INPUT, with one line in `error_line`, when nothing tells. */
ALAR_MUST_USE enum alar_status alar_launch_find(struct alar_launch *launch, char *const *command,
                                                enum alar_launch_mpi given, char *error_line);

/* Fills in `argv` from a command of `count` words, for launch->library. The launcher's own option
   sets the preload, together with whatever the environment or such an option of the user's asks
   for. Behind a fiu-run, which sets its own, a shell adds ours.
   Errors: ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status alar_launch_build(struct alar_launch *launch, char **command,
                                                 int count);

/* Runs it with the preload, waits for its end, and gives its exit code, or 128 and the signal.
   Errors: ALAR_E_INPUT, with one line in `error_line`, when it does not start. */
ALAR_MUST_USE enum alar_status alar_launch_run(const struct alar_launch *launch, int *code,
                                               char *error_line);

void alar_launch_free(struct alar_launch *launch);

#endif

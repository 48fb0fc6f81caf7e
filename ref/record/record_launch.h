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
    bool is_launcher;       /* the command has one; otherwise it is a single rank, or a script */
    int at;                 /* the launcher's word, or the first */
    char library[PATH_MAX]; /* what is preloaded */
    char *preload;          /* the value of LD_PRELOAD for the ranks; owned */
    char **argv;            /* what to run; owned, ended by NULL; its texts are borrowed */
};

/* The file that a command's word names, through PATH and links, in `path` of PATH_MAX bytes; false
   when there is none. */
bool alar_launch_file(const char *word, char *path);

/* Finds out which MPI the command of `count` words runs on, and where its launcher stands: first,
   or behind words that wrap it. `given` other than AUTO is taken as it is. Errors: ALAR_E_INPUT,
   with one line in `error_line`, when nothing tells. */
ALAR_MUST_USE enum alar_status alar_launch_find(struct alar_launch *launch, char *const *command,
                                                int count, enum alar_launch_mpi given,
                                                char *error_line);

/* Fills in `argv` from a command of `count` words, for launch->library. The launcher's own option
   sets the preload, together with whatever the environment or such an option of the user's asks
   for. Behind a fiu-run, which sets its own, a shell adds ours.
   Errors: ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status alar_launch_build(struct alar_launch *launch, char **command,
                                                 int count);

void alar_launch_free(struct alar_launch *launch);

#endif

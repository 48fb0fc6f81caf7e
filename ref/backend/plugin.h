/* Finds a back end by name or path and checks what it promises before anybody calls it. */
#ifndef ALAR_PLUGIN_H
#define ALAR_PLUGIN_H

#include "api/backend.h"
#include "sys/error_line.h"

#include <limits.h>

/* Fills `backend` from the table of the back end `name`, which is

     - the `name` of one of `builtin`, a NULL-terminated list;
     - "mpi": alar-openmpi.so when ALAR_MPI=openmpi or Open MPI's launcher started the process,
       otherwise alar-mpich.so; looked for beside the executable, in ../lib/alar from there, and in
       alar/ beside the library this function is in;
     - anything with a slash in it: that file.

   A table shorter than ours is filled up with NULL. What was loaded stays loaded: MPI libraries
   have threads and exit handlers of their own. `error_line` holds ALAR_ERROR_LINE_BYTES. Errors:
   ALAR_E_INPUT, with one line in `error_line` that says what was expected, found and where. */
ALAR_MUST_USE enum alar_status alar_plugin_load(const char *name,
                                                const struct alar_backend *const *builtin,
                                                struct alar_backend *backend, char *error_line);

/* Where a file that belongs to us lies: beside the executable, in ../lib/alar from there, or in
   alar/ beside the library this function is in. `path` holds PATH_MAX bytes.
   Errors: ALAR_E_INPUT, with one line in `error_line`, when it lies nowhere. */
ALAR_MUST_USE enum alar_status alar_plugin_find(const char *file, char path[PATH_MAX],
                                                char *error_line);

#endif

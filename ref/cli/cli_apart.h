/* A stranger's back end shares a process with whoever loads it, and may end that process or hang
   in it. So it gets one that is watched from outside. */
#ifndef ALAR_CLI_APART_H
#define ALAR_CLI_APART_H

#include <stdint.h>

/* Where `backend` is a path: goes on in a child, which has it loaded first, while the parent waits
   for it. Under a launcher, which knows its ranks by their processes, only the loading is tried
   there. `load_ms`: how long that may take; 0: without an end. Returns -1 where the command is to
   go on. Otherwise the exit code of the command, in the parent: the child's own; or, with a line of
   `command` that says what the back end did, 3 when it can't be loaded, 2 when it does not come
   back from that or ended the process later. */
int alar_cli_apart(const char *command, const char *backend, uint64_t load_ms);

/* The last word before the process ends: the command's exit code stands. */
void alar_cli_apart_end(int code);

#endif

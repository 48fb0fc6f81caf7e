/* A directory of rank files that a recorder has written: what is in it, and its callers' places. */
#ifndef ALAR_RECORDING_H
#define ALAR_RECORDING_H

#include "sys/error_line.h"

#include <stdbool.h>
#include <stdint.h>

struct alar_recording {
    uint32_t ranks;      /* files */
    uint32_t ended;      /* of these: with an `end` */
    uint64_t operations; /* issued, all ranks together */
    uint64_t refused;    /* of these: without a value, because a history has no word for them */
    char refusal[128];   /* why, of the first; "" */
    char unusable[256];  /* why a rank would not go on: what it was asked for can't be used; "" */
};

/* Looks through the rank files. Errors: ALAR_E_INPUT, with one line in `error_line`. */
ALAR_MUST_USE enum alar_status
alar_recording_look(const char *directory, struct alar_recording *recording, char *error_line);

/* Puts file:line where a record's `src` is file+offset, as far as debug information and the program
   addr2line tell; what can't be resolved stays. Files are replaced whole.
   Errors: ALAR_E_IO when a file can't be replaced, ALAR_E_NOMEM; the files are then as before. */
ALAR_MUST_USE enum alar_status alar_recording_resolve(const char *directory);

#endif

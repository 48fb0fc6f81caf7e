/* A directory of rank files that a recorder has written: what is in it, and its callers' places. */
#ifndef ALAR_RECORDING_H
#define ALAR_RECORDING_H

#include "sys/error_line.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct alar_recording {
    uint32_t ranks;      /* files */
    uint32_t ended;      /* of these: with an `end` */
    uint32_t replaced;   /* of the others: by another program, with exec */
    uint64_t operations; /* all-reduces issued, all ranks together */
    uint64_t others;     /* other collectives likewise, whose values are recorded */
    uint64_t refused;    /* of these: without a value, because a history has no word for them */
    char refusal[128];   /* why, of the first; "" */
    char unusable[256];  /* why a rank would not go on: what it was asked for can't be used; "" */
};

/* Is this the name of a rank's file? */
bool alar_recording_is_file(const char *name);

/* A rank's file, never through a link; NULL when it can't be opened. */
FILE *alar_recording_open(int directory, const char *name);

/* Looks through the rank files. Errors: ALAR_E_INPUT, with one line in `error_line`. */
ALAR_MUST_USE enum alar_status
alar_recording_look(const char *directory, struct alar_recording *recording, char *error_line);

/* Cuts off what a rank that was killed had reserved and not used, and puts file:line where a
   record's `src` is file+offset, as far as debug information and the program addr2line tell; what
   can't be resolved stays. Files are replaced whole and keep their mode; what is no rank's file is
   not touched. Errors: ALAR_E_IO when a file can't be replaced, ALAR_E_NOMEM; the files are then as
   before. */
ALAR_MUST_USE enum alar_status alar_recording_resolve(const char *directory);

#endif

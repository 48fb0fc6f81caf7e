/* Whole files, packed and unpacked. */
#ifndef ALAR_PACK_FILE_H
#define ALAR_PACK_FILE_H

#include "pack/pack_write.h"
#include "sys/error_line.h"

/* One file on its way. */
struct alar_pack_job {
    int in;           /* taken over; unpacking reads it from its beginning, at any place of it */
    const char *name; /* of `in`, for messages */
    FILE *out;        /* borrowed */
};

/* Packs any bytes whose lines have 16 MiB at most.
   Errors: ALAR_E_INPUT and ALAR_E_IO with one line in `error_line` (ALAR_ERROR_LINE_BYTES);
   ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status alar_pack_file(const struct alar_pack_job *job,
                                              struct alar_pack_counts *counts, char *error_line);

/* The same bytes again.
   Errors: as above; what was written by then is no more than a beginning. */
ALAR_MUST_USE enum alar_status alar_unpack_file(const struct alar_pack_job *job, char *error_line);

#endif

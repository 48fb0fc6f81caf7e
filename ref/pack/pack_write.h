/* Packs a history, line by line. */
#ifndef ALAR_PACK_WRITE_H
#define ALAR_PACK_WRITE_H

#include "api/status.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct alar_pack_writer;

/* What was packed so far. */
struct alar_pack_counts {
    uint64_t lines, records; /* of which records */
    uint64_t bytes;          /* written */
};

/* A writer to an open file, which is borrowed.
   Errors: ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status alar_pack_write_open(struct alar_pack_writer **opened, FILE *out);

/* One line, without the newline that ended it.
   Errors: ALAR_E_NOMEM; ALAR_E_IO when writing fails, with errno. */
ALAR_MUST_USE enum alar_status alar_pack_write_line(struct alar_pack_writer *writer,
                                                    const char *line, size_t length);

/* The end of the file: its last line, which no newline ended (`tail_length` 0: none), and what is
   behind that, which is no line (`rest_length`, likewise). Nothing may be written after it.
   Errors: as above. */
ALAR_MUST_USE enum alar_status alar_pack_write_end(struct alar_pack_writer *writer,
                                                   const char *tail, size_t tail_length,
                                                   const char *rest, size_t rest_length);

/* What was packed. */
struct alar_pack_counts alar_pack_write_counts(const struct alar_pack_writer *writer);

/* Frees it; NULL is fine. */
void alar_pack_write_close(struct alar_pack_writer *writer);

#endif

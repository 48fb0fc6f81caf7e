/* The lines of a file, one by one, however long the file is. */
#ifndef ALAR_LINE_READ_H
#define ALAR_LINE_READ_H

#include "api/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ALAR_LINE_BYTES = 16 << 20 /* longest line */
};

struct alar_lines {
    int file;
    char *buffer;
    size_t room, begin, end; /* unread bytes are buffer[begin .. end - 1] */
    bool is_at_end;          /* nothing more to read */
    uint64_t bytes;          /* read so far */
    uint32_t number;         /* of the last line, from 1 */
};

/* One line, without its newline. */
struct alar_line {
    const char *text; /* lives until the next call */
    size_t length;
    bool is_ended; /* by a newline */
};

/* Takes over an open file.
   Errors: ALAR_E_NOMEM; the file is then closed. */
ALAR_MUST_USE enum alar_status alar_lines_open(struct alar_lines *lines, int file);

/* Closes the file; a zeroed struct is fine. */
void alar_lines_close(struct alar_lines *lines);

/* The next line.
   Errors: ALAR_E_EMPTY at the end of the file; ALAR_E_RANGE when the line is longer than
   ALAR_LINE_BYTES; ALAR_E_IO when reading fails, with errno; ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status alar_lines_next(struct alar_lines *lines, struct alar_line *line);

/* Starts again from the first line.
   Errors: ALAR_E_IO when the file can't be read twice. */
ALAR_MUST_USE enum alar_status alar_lines_rewind(struct alar_lines *lines);

#endif

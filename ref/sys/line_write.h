/* A file that lines are appended to, each with one write(2): a process that is killed loses at most
   its last line. The first failure is latched: nothing is written after it, so that nothing follows
   a torn line, and the caller learns of it at the end. */
#ifndef ALAR_LINE_WRITE_H
#define ALAR_LINE_WRITE_H

#include "api/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct alar_line_writer {
    int file;
    int error; /* errno of the first failure; 0 while all is well */
    ssize_t (*write)(int file, const void *bytes, size_t count); /* write(2), or a test's */
    bool (*spoil)(void *faults, size_t *count); /* asked before each write; NULL: nobody is */
    void *faults;
};

/* Creates the file; with `may_exist` an old one is emptied first.
   Errors: ALAR_E_INPUT, with one line in `error_line` (ALAR_ERROR_LINE_BYTES). */
ALAR_MUST_USE enum alar_status alar_line_write_open(struct alar_line_writer *append,
                                                    const char *path, bool may_exist,
                                                    char *error_line);

/* Appends one line, its newline included. A short write is continued, an interrupted one repeated.
 */
void alar_line_write_line(struct alar_line_writer *append, const char *line, size_t length);

/* Closes the file. Errors: ALAR_E_IO when any line, or the closing, failed; see `error`. */
ALAR_MUST_USE enum alar_status alar_line_write_close(struct alar_line_writer *append);

#endif

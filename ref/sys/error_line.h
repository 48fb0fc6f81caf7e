/* One line of error_line about an input: where, what was expected, what was found. */
#ifndef ALAR_ERROR_LINE_H
#define ALAR_ERROR_LINE_H

#include "api/status.h"

enum {
    ALAR_ERROR_LINE_BYTES = 512
};

/* Writes `WHERE: ` and the formatted text into `error_line` (ALAR_ERROR_LINE_BYTES). It stays one
   line whatever WHERE, usually a path, is: control characters become '?', and of a long one only
   its end is shown. Returns ALAR_E_INPUT, so that a reader can end with it. */
ALAR_MUST_USE enum alar_status alar_complain(char *error_line, const char *where,
                                             const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

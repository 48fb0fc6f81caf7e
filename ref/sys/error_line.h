/* One line of complaint about an input: where, what was expected, what was found. */
#ifndef ALAR_COMPLAINT_H
#define ALAR_COMPLAINT_H

#include "api/status.h"

enum {
    ALAR_COMPLAINT_BYTES = 512
};

/* Writes `WHERE: ` and the formatted text into `complaint` (ALAR_COMPLAINT_BYTES). It stays one
   line whatever WHERE, usually a path, is: control characters become '?', and of a long one only
   its end is shown. Returns ALAR_E_INPUT, so that a reader can end with it. */
ALAR_MUST_USE enum alar_status alar_complain(char *complaint, const char *where, const char *format,
                                             ...) __attribute__((format(printf, 3, 4)));

#endif

/* A timeline as a trace that Perfetto, and chrome://tracing, open. */
#ifndef ALAR_PERFETTO_H
#define ALAR_PERFETTO_H

#include "timeline/timeline.h"

#include <stdio.h>

/* Writes a JSON trace: each rank a process, with a track of what it waited for, one of pending
   all-reduces, and one of the other records; every all-reduce has its step, metric and bits.
   Without recorded times, the order of the records is the time. Errors: ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status alar_perfetto_write(FILE *out, const struct alar_timeline *timeline,
                                                   const char *name);

#endif

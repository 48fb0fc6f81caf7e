/* Numbers from text, and the name that was meant. */
#ifndef ALAR_PARSE_H
#define ALAR_PARSE_H

#include "api/status.h"

#include <stddef.h>
#include <stdint.h>

/* A decimal number without sign, from `least` to `most`, and nothing after it.
   Errors: ALAR_E_INPUT. */
ALAR_MUST_USE enum alar_status alar_number_parse(const char *text, uint64_t least, uint64_t most,
                                                 uint64_t *number);

/* The index of the name in a NULL-terminated list that is nearest to `text` by edit distance; -1
   for an empty list. */
int alar_nearest(const char *text, const char *const *names);

/* The name in the list that was meant: the nearest one, unless more than a third of its letters
   would have to change (two of four or five, one of fewer). NULL when none is that near. */
const char *alar_meant(const char *text, const char *const *names);

/* How many letters to change, add or drop; texts longer than 64 bytes count as far apart. */
size_t alar_edit_distance(const char *a, const char *b);

#endif

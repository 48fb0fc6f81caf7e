/* The error line for an all-reduce that does not hold each rank's contribution once. */
#ifndef ALAR_PARTICIPATION_TEXT_H
#define ALAR_PARTICIPATION_TEXT_H

#include "embed/embed_log.h"

/* Longest text, with its end. */
#define ALAR_PARTICIPATION_TEXT_BYTES 256

/* One line without its newline: "rank 2 is missing from all-reduce 7 (step 3, microbatch 1)". */
void alar_participation_print(const struct alar_participation_error *error,
                              char text[ALAR_PARTICIPATION_TEXT_BYTES]);

#endif

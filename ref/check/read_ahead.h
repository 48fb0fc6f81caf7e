/* Threads that read the files of a history ahead of whoever takes their records, each file in its
   own order. For each file two batches exist, one being taken and one being read: memory does not
   follow the length of the files. Nothing depends on how many threads there are, or on which one is
   first. */
#ifndef ALAR_READ_AHEAD_H
#define ALAR_READ_AHEAD_H

#include "check/record_input.h"

struct alar_read_ahead;

/* Starts `threads` threads, or as many as can be had, none is fine, over `count` inputs, all at
   their beginnings. The inputs are borrowed, and nobody else touches them until the end. It is to
   be closed in any case.
   Errors: ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status alar_read_ahead_open(struct alar_read_ahead **opened,
                                                    struct alar_record_input *const *input,
                                                    uint32_t count, uint32_t threads);

/* Ends the threads and frees everything but the inputs; NULL is fine. */
void alar_read_ahead_close(struct alar_read_ahead *ahead);

/* The next record of an input, with the number of its line in event->place. It borrows until the
   next call for the same input. Whatever comes instead of a record comes again at every later call,
   and *line is the line it is about.
   Errors: as alar_record_input_next. */
ALAR_MUST_USE enum alar_status alar_read_ahead_next(struct alar_read_ahead *ahead, uint32_t input,
                                                    struct alar_event *event, uint32_t *line,
                                                    struct alar_record_error *error);

/* Bytes read of an input for the records that were taken, or are about to be. */
uint64_t alar_read_ahead_bytes(const struct alar_read_ahead *ahead, uint32_t input);

#endif

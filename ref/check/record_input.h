/* One file of a history, text or packed, as one record after the other. */
#ifndef ALAR_RECORD_INPUT_H
#define ALAR_RECORD_INPUT_H

#include "check/record_read.h"
#include "pack/pack_read.h"
#include "sys/line_read.h"

struct alar_record_input {
    struct alar_lines lines;
    struct alar_pack_reader *pack; /* NULL: the file is text */
    bool is_blank;                 /* the last line was */
};

/* Takes over an open file that can be read twice.
   Errors: ALAR_E_NOMEM; the file is then closed. */
ALAR_MUST_USE enum alar_status alar_record_input_open(struct alar_record_input *source, int file);

/* Closes the file; a zeroed struct is fine. */
void alar_record_input_close(struct alar_record_input *source);

/* The next line as an event but for its place, through `records`, from which it borrows until the
   next call.
   Errors: ALAR_E_EMPTY at the end of the file; ALAR_E_INPUT when it is no record; of a last line
   that no newline ends error->is_cut tells whether it is the beginning of one; ALAR_E_RANGE and
   ALAR_E_IO when the file can't be read on, error->column is 0 when no column is to blame;
   ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status alar_record_input_line(struct alar_record_input *source,
                                                      struct alar_record_reader *records,
                                                      struct alar_event *event,
                                                      struct alar_record_error *error);

/* The next record: lines that are blank are passed over.
   Errors: ALAR_E_EMPTY at the end of the file, or where it was cut in the middle of a line: then
   error->is_cut; ALAR_E_INPUT whatever is wrong; ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status alar_record_input_next(struct alar_record_input *source,
                                                      struct alar_record_reader *records,
                                                      struct alar_event *event,
                                                      struct alar_record_error *error);

/* Reads the last record once more, from its text, so that alar_record_column knows its columns. */
void alar_record_input_again(struct alar_record_input *source, struct alar_record_reader *records,
                             struct alar_event *event);

/* The last line of the file that a newline ends, when it is a record.
   Errors: ALAR_E_EMPTY when it is none, or can't be had without much reading. */
ALAR_MUST_USE enum alar_status alar_record_input_last(struct alar_record_input *source,
                                                      struct alar_record_reader *records,
                                                      struct alar_event *event);

/* Starts again from the first line.
   Errors: ALAR_E_IO when the file can't be read twice. */
ALAR_MUST_USE enum alar_status alar_record_input_rewind(struct alar_record_input *source);

/* Of the last line, from 1; and bytes read so far. */
static inline uint32_t alar_record_input_number(const struct alar_record_input *source)
{
    return source->pack != NULL ? alar_pack_line(source->pack) : source->lines.number;
}
uint64_t alar_record_input_bytes(const struct alar_record_input *source);

#endif

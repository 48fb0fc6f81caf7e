/* One line of a history to one event: JSON through yajl, fields by record.def. */
#ifndef ALAR_RECORD_READ_H
#define ALAR_RECORD_READ_H

#include "judge/event.h"
#include "pack/pack_read.h"

struct alar_record_reader;

/* A reader of lines.
   Errors: ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status alar_record_reader_open(struct alar_record_reader **reader);

/* Frees it; NULL is fine. */
void alar_record_reader_close(struct alar_record_reader *reader);

/* What was wrong with a line: in `column` (from 1) this was expected, that was found. */
struct alar_record_error {
    size_t column;
    bool is_cut; /* the line is the beginning of a record, and ends too early */
    char text[256];
};

/* Reads one line, without its newline. The event borrows from the line and from the reader, until
   the next call. Errors: ALAR_E_INPUT, with the error; ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status alar_record_read(struct alar_record_reader *reader, const char *line,
                                                size_t length, struct alar_event *event,
                                                struct alar_record_error *error);

/* Where it lays out packed records. */
struct alar_pack_desk *alar_record_desk(struct alar_record_reader *reader);

/* Where a field of the last line began, from 1; 1 for one that was not given. */
size_t alar_record_column(const struct alar_record_reader *reader, enum alar_field field);

#endif

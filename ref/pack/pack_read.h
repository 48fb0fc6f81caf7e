/* Reads a packed history, line by line, each as an event or as text. What it is given may be cut,
   damaged or made to hurt: memory follows the longest block, and every answer is an error then. */
#ifndef ALAR_PACK_READ_H
#define ALAR_PACK_READ_H

#include "api/status.h"
#include "judge/event.h"

/* A file; and where its records are laid out, which one file after the other may use, also files
   that are read elsewhere at other times, as long as all desks stay until all files are closed. */
struct alar_pack_reader;
struct alar_pack_desk;

enum alar_pack_kind {
    ALAR_PACK_RECORD, /* a line that is a record: as an event, or as text */
    ALAR_PACK_LINE,   /* any other line */
    ALAR_PACK_TAIL,   /* the last line, which no newline ends */
    ALAR_PACK_REST,   /* bytes behind all lines, which nobody reads as a history */
    ALAR_PACK_ZEROS   /* `length` zeros there */
};

/* One piece of the file. The text lives until the next call; none for RECORD and ZEROS. */
struct alar_pack_piece {
    enum alar_pack_kind kind;
    const char *text;
    uint64_t length;
};

/* Does that file begin as a packed one? Where it was read to does not change. */
bool alar_pack_is(int file);

/* Takes over an open file, whose position is its beginning.
   Errors: ALAR_E_NOMEM; the file is then closed. */
ALAR_MUST_USE enum alar_status alar_pack_open(struct alar_pack_reader **opened, int file);

/* A desk for one thread.
   Errors: ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status alar_pack_desk_open(struct alar_pack_desk **opened);

/* NULL is fine. */
void alar_pack_desk_close(struct alar_pack_desk *desk);

/* Closes the file; NULL is fine. */
void alar_pack_close(struct alar_pack_reader *reader);

/* The next piece.
   Errors: ALAR_E_EMPTY at the end; ALAR_E_INPUT when the file is not as it was packed, and
   alar_pack_error says how; ALAR_E_IO when reading fails, with errno; ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status alar_pack_next(struct alar_pack_reader *reader,
                                              struct alar_pack_desk *desk,
                                              struct alar_pack_piece *piece);

/* Whether the file is whole, and its last block, whose lines come next.
   Errors: as alar_pack_next. */
ALAR_MUST_USE enum alar_status alar_pack_seek_last(struct alar_pack_reader *reader);

/* Starts again from the first line.
   Errors: ALAR_E_IO when the file can't be read twice. */
ALAR_MUST_USE enum alar_status alar_pack_rewind(struct alar_pack_reader *reader);

/* The last piece, a RECORD, as an event but for its place: what reading its text would give. It
   borrows from desk and reader until the next call. */
void alar_pack_event(struct alar_pack_desk *desk, struct alar_event *event);

/* Was the last piece a RECORD? */
bool alar_pack_has_record(const struct alar_pack_desk *desk);

/* The same as text, without its newline; lives until the next call.
   Errors: ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status alar_pack_text(struct alar_pack_desk *desk, struct alar_text *line);

/* What was expected and found, after ALAR_E_INPUT. */
const char *alar_pack_error(const struct alar_pack_reader *reader);

/* Of the last line, from 1; and bytes of the file read so far. */
uint32_t alar_pack_line(const struct alar_pack_reader *reader);
uint64_t alar_pack_bytes(const struct alar_pack_reader *reader);

#endif

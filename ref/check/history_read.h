/* The files of one history as one row of events, in an order that keeps few operations pending:
   each file in turn gives what it recorded until it has issued one more all-reduce, or made another
   collective call. */
#ifndef ALAR_HISTORY_READ_H
#define ALAR_HISTORY_READ_H

#include "judge/event.h"
#include "sys/error_line.h"

enum {
    ALAR_WORLD_MAX = 131072 /* ranks of a history */
};

/* The files of one history, and the name it goes by. Borrowed texts. */
struct alar_history_files {
    const char *name;        /* "-" or a path */
    const char *const *path; /* "-" is standard input */
    uint32_t count;
};

/* What the files say about themselves before a record of theirs is judged. */
struct alar_history_survey {
    bool has_header, has_end;
    int64_t world;     /* declared, or as many ranks as records name; at most ALAR_WORLD_MAX */
    int64_t highest;   /* rank of any record read so far; -1 when there is none */
    uint64_t until_us; /* given: when to survey no more, on alar_clock_now; 0: never */
};

/* One record, or the place where a file was cut in the middle of one. The event is borrowed until
   the next call. */
struct alar_history_record {
    const struct alar_event *event; /* NULL where the file was cut */
    struct alar_place place;
    uint32_t rank; /* whose file it is; ALAR_RANK_ALL when ranks are merged in it */
};

struct alar_history_reader;

/* Opens the files, which are borrowed until the reader is closed, and surveys them. `threads` read
   them, the caller's included; 0: a core's each where that is worth while. What is read is the same
   with any number of them.
   Errors: ALAR_E_INPUT, with the error_line `file:line:column: expected ..., found ...` in
   ALAR_ERROR_LINE_BYTES bytes; ALAR_E_NOMEM. The reader is to be closed in any case. */
ALAR_MUST_USE enum alar_status alar_history_reader_open(struct alar_history_reader **opened,
                                                        const struct alar_history_files *files,
                                                        uint32_t threads,
                                                        struct alar_history_survey *survey,
                                                        char *error_line);

/* The next record.
   Errors: ALAR_E_EMPTY when all files are over; ALAR_E_INPUT and ALAR_E_NOMEM as above. */
ALAR_MUST_USE enum alar_status alar_history_reader_next(struct alar_history_reader *reader,
                                                        struct alar_history_record *record);

/* Refuses the last record for what stands in one of its fields: writes the error_line with its
   place. Returns ALAR_E_INPUT. */
ALAR_MUST_USE enum alar_status alar_history_reader_refuse(struct alar_history_reader *reader,
                                                          enum alar_field field, const char *text);

/* Bytes read so far. */
uint64_t alar_history_reader_bytes(const struct alar_history_reader *reader);

/* Closes the files; NULL is fine. */
void alar_history_reader_close(struct alar_history_reader *reader);

#endif

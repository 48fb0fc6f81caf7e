/* Text and packed files alike: what is no record in a packed one is read as the text that it is. */
#include "check/record_input.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    TAIL_BYTES = 64 << 10
};

enum alar_status alar_record_input_open(struct alar_record_input *source, int file)
{
    *source = (struct alar_record_input){0};
    return alar_pack_is(file) ? alar_pack_open(&source->pack, file)
                              : alar_lines_open(&source->lines, file);
}

void alar_record_input_close(struct alar_record_input *source)
{
    alar_pack_close(source->pack);
    alar_lines_close(&source->lines);
    source->pack = NULL;
}

/* Why the file can't be read on. */
static enum alar_status source_stopped(struct alar_record_input *source, enum alar_status status,
                                       struct alar_record_error *error)
{
    error->column = 0;
    if (status == ALAR_E_RANGE) {
        error->column = 1;
        snprintf(error->text, sizeof error->text,
                 "expected a line of at most 16 MiB, found a longer one");
    } else if (status == ALAR_E_IO) {
        snprintf(error->text, sizeof error->text, "expected to read on, found: %s",
                 strerror(errno));
    } else if (status == ALAR_E_INPUT) {
        snprintf(error->text, sizeof error->text, "%s", alar_pack_error(source->pack));
        status = ALAR_E_IO;
    }
    return status;
}

/* The next line of a text file. */
static enum alar_status text_line(struct alar_record_input *source, struct alar_line *line)
{
    enum alar_status status = alar_lines_next(&source->lines, line);

    source->lines.number += status == ALAR_E_RANGE && line->text == NULL;
    return status;
}

/* The next line of a packed file; without text when it is a record. What is behind the last line is
   none. */
static enum alar_status pack_line(struct alar_record_input *source, struct alar_pack_desk *desk,
                                  struct alar_line *line)
{
    struct alar_pack_piece piece;

    do {
        ALAR_TRY(alar_pack_next(source->pack, desk, &piece));
    } while (piece.kind > ALAR_PACK_TAIL);
    line->text = piece.kind == ALAR_PACK_RECORD ? NULL : piece.text;
    line->length = (size_t)piece.length;
    line->is_ended = piece.kind != ALAR_PACK_TAIL;
    return ALAR_OK;
}

static inline enum alar_status input_line(struct alar_record_input *source,
                                          struct alar_record_reader *records,
                                          struct alar_event *event, struct alar_record_error *error)
{
    struct alar_line line = {NULL, 0, false};
    enum alar_status status = source->pack != NULL
                                  ? pack_line(source, alar_record_desk(records), &line)
                                  : text_line(source, &line);

    error->is_cut = false;
    source->is_blank = false;
    if (status != ALAR_OK) {
        return source_stopped(source, status, error);
    }
    if (line.text == NULL) {
        alar_pack_event(alar_record_desk(records), event);
        return ALAR_OK;
    }
    source->is_blank = line.length == 0 || (line.length == 1 && line.text[0] == '\r');
    status = alar_record_read(records, line.text, line.length, event, error);
    error->is_cut = error->is_cut && !line.is_ended;
    return status;
}

enum alar_status alar_record_input_line(struct alar_record_input *source,
                                        struct alar_record_reader *records,
                                        struct alar_event *event, struct alar_record_error *error)
{
    return input_line(source, records, event, error);
}

enum alar_status alar_record_input_next(struct alar_record_input *source,
                                        struct alar_record_reader *records,
                                        struct alar_event *event, struct alar_record_error *error)
{
    enum alar_status status;

    do {
        status = input_line(source, records, event, error);
    } while (status == ALAR_E_INPUT && source->is_blank);
    if (status == ALAR_E_INPUT && error->is_cut) {
        return ALAR_E_EMPTY;
    }
    return status == ALAR_E_RANGE || status == ALAR_E_IO ? ALAR_E_INPUT : status;
}

void alar_record_input_again(struct alar_record_input *source, struct alar_record_reader *records,
                             struct alar_event *event)
{
    struct alar_record_error error;
    struct alar_text text;

    if (source->pack != NULL && alar_pack_has_record(alar_record_desk(records)) &&
        alar_pack_text(alar_record_desk(records), &text) == ALAR_OK) {
        enum alar_status status = alar_record_read(records, text.data, text.length, event, &error);
        (void)status; /* a packed record is one: pack_shape.c saw to it */
    }
}

/* Where the last newline before `end` is; `end` when there is none. */
static size_t newline_before(const char *text, size_t end)
{
    for (size_t k = end; k > 0; k--) {
        if (text[k - 1] == '\n') {
            return k - 1;
        }
    }
    return end;
}

static enum alar_status text_last(struct alar_record_input *source,
                                  struct alar_record_reader *records, struct alar_event *event)
{
    char tail[TAIL_BYTES];
    struct alar_record_error error;
    int file = source->lines.file;
    off_t size = lseek(file, 0, SEEK_END);
    off_t from = size > TAIL_BYTES ? size - TAIL_BYTES : 0;
    ssize_t length = pread(file, tail, sizeof tail, from);
    size_t end = length > 0 ? newline_before(tail, (size_t)length) : 0;
    size_t before = newline_before(tail, end);

    return before < end && end - before > 1 &&
                   alar_record_read(records, tail + before + 1, end - before - 1, event, &error) ==
                       ALAR_OK
               ? ALAR_OK
               : ALAR_E_EMPTY;
}

enum alar_status alar_record_input_last(struct alar_record_input *source,
                                        struct alar_record_reader *records,
                                        struct alar_event *event)
{
    struct alar_record_error error;

    if (source->pack == NULL) {
        return text_last(source, records, event);
    }
    return alar_pack_seek_last(source->pack) == ALAR_OK &&
                   alar_record_input_line(source, records, event, &error) == ALAR_OK
               ? ALAR_OK
               : ALAR_E_EMPTY;
}

enum alar_status alar_record_input_rewind(struct alar_record_input *source)
{
    return source->pack != NULL ? alar_pack_rewind(source->pack)
                                : alar_lines_rewind(&source->lines);
}

uint64_t alar_record_input_bytes(const struct alar_record_input *source)
{
    return source->pack != NULL ? alar_pack_bytes(source->pack) : source->lines.bytes;
}

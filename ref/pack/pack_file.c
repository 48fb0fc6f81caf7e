/* Lines in, blocks out, and back. */
#include "pack/pack_file.h"

#include "pack/pack_read.h"
#include "sys/line_read.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum {
    ZEROS_MOST = 64 << 20 /* behind the last line; a text's are fewer than its longest line */
};

static enum alar_status lines_pack(struct alar_lines *lines, struct alar_pack_writer *writer)
{
    struct alar_line line = {NULL, 0, false};
    enum alar_status status = alar_lines_next(lines, &line);

    for (; status == ALAR_OK && line.is_ended; status = alar_lines_next(lines, &line)) {
        ALAR_TRY(alar_pack_write_line(writer, line.text, line.length));
    }
    if (status != ALAR_OK && status != ALAR_E_EMPTY) {
        return status;
    }
    return alar_pack_write_end(writer, line.text, status == ALAR_OK ? line.length : 0,
                               lines->buffer + lines->begin, lines->end - lines->begin);
}

enum alar_status alar_pack_file(const struct alar_pack_job *job, struct alar_pack_counts *counts,
                                char *error_line)
{
    struct alar_pack_writer *writer;
    struct alar_lines lines;

    ALAR_TRY(alar_lines_open(&lines, job->in));
    enum alar_status status =
        alar_pack_is(job->in)
            ? alar_complain(error_line, job->name, "expected JSON lines, found a packed history")
            : alar_pack_write_open(&writer, job->out);
    if (status != ALAR_OK) {
        alar_lines_close(&lines);
        return status;
    }
    status = lines_pack(&lines, writer);
    *counts = alar_pack_write_counts(writer);
    if (status == ALAR_E_RANGE) {
        status = alar_complain(error_line, job->name,
                               "expected lines of at most 16 MiB, found a longer one at line %u",
                               lines.number + 1);
    } else if (status == ALAR_E_IO) {
        int error = errno;

        (void)!alar_complain(error_line, job->name,
                             "expected to read and write all of it, found: %s", strerror(error));
    }
    alar_pack_write_close(writer);
    alar_lines_close(&lines);
    return status;
}

static enum alar_status zeros_write(FILE *out, uint64_t count)
{
    while (count > 0 && fputc('\0', out) != EOF) {
        count--;
    }
    return count == 0 ? ALAR_OK : ALAR_E_IO;
}

static enum alar_status piece_write(struct alar_pack_desk *desk,
                                    const struct alar_pack_piece *piece, FILE *out)
{
    struct alar_text text = {piece->text, (size_t)piece->length};

    if (piece->kind == ALAR_PACK_ZEROS) {
        return piece->length <= ZEROS_MOST ? zeros_write(out, piece->length) : ALAR_E_RANGE;
    }
    if (piece->kind == ALAR_PACK_RECORD) {
        ALAR_TRY(alar_pack_text(desk, &text));
    }
    bool is_ended = piece->kind == ALAR_PACK_RECORD || piece->kind == ALAR_PACK_LINE;
    return fwrite(text.data, 1, text.length, out) == text.length &&
                   (!is_ended || fputc('\n', out) != EOF)
               ? ALAR_OK
               : ALAR_E_IO;
}

enum alar_status alar_unpack_file(const struct alar_pack_job *job, char *error_line)
{
    struct alar_pack_reader *reader;
    struct alar_pack_desk *desk;
    struct alar_pack_piece piece;
    enum alar_status status;

    ALAR_TRY(alar_pack_open(&reader, job->in));
    status = alar_pack_desk_open(&desk);
    while (status == ALAR_OK) {
        status = alar_pack_next(reader, desk, &piece);
        if (status == ALAR_OK) {
            status = piece_write(desk, &piece, job->out);
        }
    }
    if (status == ALAR_E_EMPTY) {
        status = ALAR_OK;
    } else if (status == ALAR_E_INPUT) {
        status = alar_complain(error_line, job->name, "%s", alar_pack_error(reader));
    } else if (status == ALAR_E_RANGE) {
        status = alar_complain(error_line, job->name,
                               "expected at most %d zeros at its end, found more", ZEROS_MOST);
    } else if (status == ALAR_E_IO) {
        int error = errno;

        (void)!alar_complain(error_line, job->name,
                             "expected to read and write all of it, found: %s", strerror(error));
    }
    alar_pack_close(reader);
    alar_pack_desk_close(desk);
    return status;
}

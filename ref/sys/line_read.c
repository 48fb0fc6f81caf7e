/* A growing buffer over read(2). */
#include "sys/line_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LINES_BUFFER = 1 << 14
};

enum alar_status alar_lines_open(struct alar_lines *lines, int file)
{
    *lines = (struct alar_lines){.file = file, .room = LINES_BUFFER};
    lines->buffer = malloc(LINES_BUFFER);
    if (lines->buffer == NULL) {
        close(file);
        return ALAR_E_NOMEM;
    }
    return ALAR_OK;
}

void alar_lines_close(struct alar_lines *lines)
{
    if (lines->buffer != NULL) {
        close(lines->file);
        free(lines->buffer);
    }
    *lines = (struct alar_lines){0};
}

/* Moves what is unread to the front, and makes the buffer larger when that does not help. */
static enum alar_status lines_make_room(struct alar_lines *lines)
{
    size_t unread = lines->end - lines->begin;

    memmove(lines->buffer, lines->buffer + lines->begin, unread);
    lines->begin = 0;
    lines->end = unread;
    if (unread < lines->room / 2) {
        return ALAR_OK;
    }
    if (unread > ALAR_LINE_BYTES) {
        return ALAR_E_RANGE;
    }
    char *grown = realloc(lines->buffer, 2 * lines->room);
    if (grown == NULL) {
        return ALAR_E_NOMEM;
    }
    lines->buffer = grown;
    lines->room *= 2;
    return ALAR_OK;
}

static enum alar_status lines_fill(struct alar_lines *lines)
{
    ssize_t got;

    ALAR_TRY(lines_make_room(lines));
    do {
        got = read(lines->file, lines->buffer + lines->end, lines->room - lines->end);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        return ALAR_E_IO;
    }
    lines->is_at_end = got == 0;
    lines->end += (size_t)got;
    lines->bytes += (uint64_t)got;
    return ALAR_OK;
}

enum alar_status alar_lines_next(struct alar_lines *lines, struct alar_line *line)
{
    size_t searched = 0;

    for (;;) {
        size_t unread = lines->end - lines->begin;
        char *start = lines->buffer + lines->begin;
        char *newline = memchr(start + searched, '\n', unread - searched);

        if (newline == NULL && !lines->is_at_end) {
            searched = unread;
            ALAR_TRY(lines_fill(lines));
            continue;
        }
        if (newline == NULL) {
            /* A recorder that was killed leaves zeros where it had reserved room. */
            unread = strnlen(start, unread);
        }
        if (newline == NULL && unread == 0) {
            return ALAR_E_EMPTY;
        }
        lines->number++;
        line->text = start;
        line->is_ended = newline != NULL;
        line->length = newline != NULL ? (size_t)(newline - start) : unread;
        lines->begin += line->length + line->is_ended;
        return line->length <= ALAR_LINE_BYTES ? ALAR_OK : ALAR_E_RANGE;
    }
}

enum alar_status alar_lines_rewind(struct alar_lines *lines)
{
    if (lseek(lines->file, 0, SEEK_SET) != 0) {
        return ALAR_E_IO;
    }
    lines->begin = 0;
    lines->end = 0;
    lines->bytes = 0;
    lines->number = 0;
    lines->is_at_end = false;
    return ALAR_OK;
}

/* Blocks and their check sums. */
#include "pack/pack_state.h"
#include "sys/crc32.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BLOCK_ROOM_LEAST = PACK_BLOCK_BYTES + (2 << 10)
};

enum alar_status pack_damaged(struct alar_pack_reader *reader, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(reader->error, sizeof reader->error, format, arguments);
    va_end(arguments);
    return ALAR_E_INPUT;
}

/* So many bytes from there; fewer only at the end of the file. */
static enum alar_status file_read(const struct alar_pack_reader *reader, uint64_t offset,
                                  unsigned char *bytes, size_t count, size_t *got)
{
    for (*got = 0; *got < count;) {
        ssize_t more = pread(reader->file, bytes + *got, count - *got, (off_t)(offset + *got));

        if (more < 0 && errno != EINTR) {
            return ALAR_E_IO;
        }
        if (more == 0) {
            break;
        }
        *got += more > 0 ? (size_t)more : 0;
    }
    return ALAR_OK;
}

/* The same, where the file may not end before. */
static enum alar_status file_read_all(struct alar_pack_reader *reader, uint64_t offset,
                                      unsigned char *bytes, size_t count)
{
    size_t got;

    ALAR_TRY(file_read(reader, offset, bytes, count, &got));
    return got == count
               ? ALAR_OK
               : pack_damaged(reader, "expected a whole packed history, found it cut at byte %llu",
                              (unsigned long long)(offset + got));
}

bool alar_pack_is(int file)
{
    unsigned char bytes[PACK_MAGIC_BYTES];

    return pread(file, bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes &&
           memcmp(bytes, pack_magic, sizeof bytes) == 0;
}

static enum alar_status head_read(struct alar_pack_reader *reader)
{
    unsigned char head[PACK_HEAD_BYTES];

    ALAR_TRY(file_read_all(reader, 0, head, sizeof head));
    uint64_t version = pack_get(head + PACK_MAGIC_BYTES, 4);
    if (memcmp(head, pack_magic, PACK_MAGIC_BYTES) != 0) {
        return pack_damaged(reader, "expected a packed history, found another file");
    }
    if (version != PACK_VERSION) {
        return pack_damaged(reader, "expected a packed history of version %d, found version %llu",
                            PACK_VERSION, (unsigned long long)version);
    }
    reader->offset = PACK_HEAD_BYTES;
    return ALAR_OK;
}

/* The end of the file, which begins there: where the last block begins, and the number of lines. */
static enum alar_status tail_read(struct alar_pack_reader *reader, uint64_t offset, uint64_t *last,
                                  uint64_t *lines)
{
    unsigned char tail[PACK_TAIL_BYTES + 1];
    size_t got;

    ALAR_TRY(file_read(reader, offset, tail, sizeof tail, &got));
    if (got < PACK_TAIL_BYTES) {
        return pack_damaged(reader, "expected a whole packed history, found it cut at byte %llu",
                            (unsigned long long)(offset + got));
    }
    if (got > PACK_TAIL_BYTES || pack_get(tail, 4) != 0 ||
        pack_get(tail + 4, 4) != alar_crc32(tail + 8, 16)) {
        return pack_damaged(reader, "expected the end of the packed history at byte %llu, found %s",
                            (unsigned long long)offset,
                            got > PACK_TAIL_BYTES ? "more behind it" : "other bytes");
    }
    *last = pack_get(tail + 8, 8);
    *lines = pack_get(tail + 16, 8);
    return ALAR_OK;
}

/* Room for a block, and for one byte behind it. */
static enum alar_status block_room(struct alar_pack_reader *reader, size_t size)
{
    size_t room = size < BLOCK_ROOM_LEAST ? BLOCK_ROOM_LEAST : size;

    if (reader->room < room) {
        unsigned char *grown = realloc(reader->payload, room);

        if (grown == NULL) {
            return ALAR_E_NOMEM;
        }
        reader->payload = grown;
        reader->room = room;
    }
    return ALAR_OK;
}

/* Nothing is known in a block that it does not say itself. */
static void block_begin(struct alar_pack_reader *reader, size_t size)
{
    reader->size = size;
    reader->at = 0;
    reader->shapes = 0;
    reader->last_count = 0;
    reader->texts = 0;
    reader->before_count = 0;
    reader->before_digits = 0;
}

enum alar_status pack_end_check(struct alar_pack_reader *reader)
{
    uint64_t last, lines;

    ALAR_TRY(tail_read(reader, reader->offset, &last, &lines));
    return reader->is_from_last || lines == reader->line
               ? ALAR_OK
               : pack_damaged(reader, "expected %llu lines, found %llu", (unsigned long long)lines,
                              (unsigned long long)reader->line);
}

enum alar_status pack_block_next(struct alar_pack_reader *reader)
{
    unsigned char frame[PACK_FRAME_BYTES];

    if (reader->offset == 0) {
        ALAR_TRY(head_read(reader));
    }
    ALAR_TRY(file_read_all(reader, reader->offset, frame, sizeof frame));
    size_t size = (size_t)pack_get(frame, 4);
    if (size == 0) {
        ALAR_TRY(pack_end_check(reader));
        reader->is_over = true;
        return ALAR_E_EMPTY;
    }
    if (size > PACK_BLOCK_MOST) {
        return pack_damaged(reader, "expected a block of at most %d bytes at byte %llu, found %zu",
                            PACK_BLOCK_MOST, (unsigned long long)reader->offset, size);
    }
    ALAR_TRY(block_room(reader, size));
    ALAR_TRY(file_read_all(reader, reader->offset + sizeof frame, reader->payload, size));
    if (pack_get(frame + 4, 4) != alar_crc32(reader->payload, size)) {
        return pack_damaged(reader,
                            "expected the block at byte %llu as it was packed, found other bytes",
                            (unsigned long long)reader->offset);
    }
    block_begin(reader, size);
    reader->offset += sizeof frame + size;
    return ALAR_OK;
}

enum alar_status alar_pack_seek_last(struct alar_pack_reader *reader)
{
    off_t size = lseek(reader->file, 0, SEEK_END);
    uint64_t last = 0, lines = 0;

    ALAR_TRY(alar_pack_rewind(reader));
    ALAR_TRY(head_read(reader));
    if (size < PACK_HEAD_BYTES + PACK_TAIL_BYTES) {
        return pack_damaged(reader, "expected a whole packed history, found it cut at byte %lld",
                            (long long)size);
    }
    ALAR_TRY(tail_read(reader, (uint64_t)size - PACK_TAIL_BYTES, &last, &lines));
    if (last != 0 && (last < PACK_HEAD_BYTES || last >= (uint64_t)size)) {
        return pack_damaged(reader, "expected a last block in the file, found it at byte %llu",
                            (unsigned long long)last);
    }
    reader->is_from_last = true;
    reader->offset = last != 0 ? last : (uint64_t)size - PACK_TAIL_BYTES;
    return ALAR_OK;
}

enum alar_status alar_pack_rewind(struct alar_pack_reader *reader)
{
    block_begin(reader, 0);
    reader->offset = 0;
    reader->line = 0;
    reader->is_over = false;
    reader->is_from_last = false;
    reader->is_bad = false;
    return lseek(reader->file, 0, SEEK_SET) == 0 ? ALAR_OK : ALAR_E_IO;
}

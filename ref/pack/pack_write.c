/* Blocks to a file. The last whole line has a block of its own, so that whoever wants to see it
   need not read the file. */
#include "pack/pack_write.h"
#include "pack/pack_build.h"
#include "sys/crc32.h"

#include <stdlib.h>
#include <string.h>

struct alar_pack_writer {
    FILE *out;
    struct pack_build build;
    struct alar_pack_counts counts;
    uint64_t last; /* where the last block begins; 0 when there is none */
    char *held;    /* the last line so far */
    size_t held_length, held_room;
    bool has_held;
};

static enum alar_status out_write(struct alar_pack_writer *writer, const void *bytes, size_t count)
{
    writer->counts.bytes += count;
    return fwrite(bytes, 1, count, writer->out) == count ? ALAR_OK : ALAR_E_IO;
}

static enum alar_status block_end(struct alar_pack_writer *writer)
{
    struct pack_build *build = &writer->build;
    unsigned char frame[PACK_FRAME_BYTES];

    if (build->size == 0) {
        return ALAR_OK;
    }
    writer->last = writer->counts.bytes;
    pack_put(frame, build->size, 4);
    pack_put(frame + 4, alar_crc32(build->payload, build->size), 4);
    ALAR_TRY(out_write(writer, frame, sizeof frame));
    ALAR_TRY(out_write(writer, build->payload, build->size));
    pack_build_begin(build);
    return ALAR_OK;
}

enum alar_status alar_pack_write_open(struct alar_pack_writer **opened, FILE *out)
{
    *opened = calloc(1, sizeof **opened);
    if (*opened == NULL) {
        return ALAR_E_NOMEM;
    }
    (*opened)->out = out;
    return ALAR_OK;
}

/* The file begins with its first block, or with its end. */
static enum alar_status head_write(struct alar_pack_writer *writer)
{
    unsigned char head[PACK_HEAD_BYTES];

    memcpy(head, pack_magic, PACK_MAGIC_BYTES);
    pack_put(head + PACK_MAGIC_BYTES, PACK_VERSION, 4);
    return writer->counts.bytes == 0 ? out_write(writer, head, sizeof head) : ALAR_OK;
}

/* The line that was held back goes to the block, which ends when it is full. */
static enum alar_status held_write(struct alar_pack_writer *writer)
{
    bool is_record = false;

    if (!writer->has_held) {
        return ALAR_OK;
    }
    ALAR_TRY(pack_build_line(&writer->build, writer->held, writer->held_length, &is_record));
    writer->has_held = false;
    writer->counts.lines++;
    writer->counts.records += is_record;
    return writer->build.size >= PACK_BLOCK_BYTES ? block_end(writer) : ALAR_OK;
}

enum alar_status alar_pack_write_line(struct alar_pack_writer *writer, const char *line,
                                      size_t length)
{
    ALAR_TRY(head_write(writer));
    ALAR_TRY(held_write(writer));
    if (writer->held_room < length) {
        char *grown = realloc(writer->held, 2 * length);

        if (grown == NULL) {
            return ALAR_E_NOMEM;
        }
        writer->held = grown;
        writer->held_room = 2 * length;
    }
    if (length > 0) {
        memcpy(writer->held, line, length);
    }
    writer->held_length = length;
    writer->has_held = true;
    return ALAR_OK;
}

/* What is behind the last line: mostly zeros, where a recorder was killed. */
static enum alar_status rest_write(struct alar_pack_writer *writer, const char *rest, size_t length)
{
    size_t zeros = 0;

    while (zeros < length && rest[length - 1 - zeros] == '\0') {
        zeros++;
    }
    if (zeros < length) {
        ALAR_TRY(pack_build_bytes(&writer->build, PACK_REST, rest, length - zeros));
    }
    return zeros > 0 ? pack_build_bytes(&writer->build, PACK_ZEROS, NULL, zeros) : ALAR_OK;
}

enum alar_status alar_pack_write_end(struct alar_pack_writer *writer, const char *tail,
                                     size_t tail_length, const char *rest, size_t rest_length)
{
    unsigned char end[PACK_TAIL_BYTES] = {0};

    ALAR_TRY(head_write(writer));
    ALAR_TRY(block_end(writer));
    ALAR_TRY(held_write(writer));
    if (tail_length > 0) {
        ALAR_TRY(pack_build_bytes(&writer->build, PACK_TAIL, tail, tail_length));
        writer->counts.lines++;
    }
    if (rest_length > 0) {
        ALAR_TRY(rest_write(writer, rest, rest_length));
    }
    ALAR_TRY(block_end(writer));
    pack_put(end + 8, writer->last, 8);
    pack_put(end + 16, writer->counts.lines, 8);
    pack_put(end + 4, alar_crc32(end + 8, 16), 4);
    return out_write(writer, end, sizeof end);
}

struct alar_pack_counts alar_pack_write_counts(const struct alar_pack_writer *writer)
{
    return writer->counts;
}

void alar_pack_write_close(struct alar_pack_writer *writer)
{
    if (writer != NULL) {
        pack_build_free(&writer->build);
        free(writer->held);
        free(writer);
    }
}

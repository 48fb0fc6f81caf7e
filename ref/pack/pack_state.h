/* What a reader of packed histories keeps, private to pack_*.c. */
#ifndef ALAR_PACK_STATE_H
#define ALAR_PACK_STATE_H

#include "pack/pack_desk.h"

/* A shape of a block. */
struct pack_known {
    const struct pack_shape *shape; /* the desk's, or our own */
    uint32_t base;                  /* where the last numbers of its slots are */
};

struct alar_pack_reader {
    unsigned char *payload;
    size_t size, at; /* unread bytes are payload[at .. size - 1] */
    bool is_bad;     /* what was read of the block is none */
    bool is_over;    /* the end of the file was read, and is good */
    int64_t *last;   /* numbers of the last line, of all slots of all shapes of this block */
    uint64_t line;   /* number of the last line */
    unsigned shapes; /* of this block */
    unsigned texts;  /* kept ones of this block */
    uint32_t before_count;
    unsigned before_digits;
    uint64_t before[PACK_BEFORE]; /* the last list of values of this block */
    struct pack_known known[PACK_SHAPES];
    struct alar_text text[PACK_TEXTS];

    int file;
    uint64_t offset;   /* where the next block begins */
    bool is_from_last; /* only its last block is read */
    size_t room;       /* of the payload */
    size_t last_count, last_room;
    struct pack_shape *own[PACK_SHAPES]; /* made when the desk is full, kept for later blocks */
    char error[160];
};

/* pack_block.c: the next block to payload, from its beginning, checked; nothing of an older one
   counts any more. Errors: ALAR_E_EMPTY at the end of the file; as alar_pack_next. */
ALAR_MUST_USE enum alar_status pack_block_next(struct alar_pack_reader *reader);

/* Is the next thing in the file its end, and says that as many lines as were read?
   Errors: as alar_pack_next. */
ALAR_MUST_USE enum alar_status pack_end_check(struct alar_pack_reader *reader);

/* Says what is wrong with the file. Returns ALAR_E_INPUT. */
ALAR_MUST_USE enum alar_status pack_damaged(struct alar_pack_reader *reader, const char *format,
                                            ...) __attribute__((format(printf, 2, 3)));

/* pack_value.c: the value of a slot, from the payload; *last is its last number. Sets is_bad when
   there is none. Errors: ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status pack_value_read(struct alar_pack_reader *reader,
                                               struct alar_pack_desk *desk,
                                               const struct pack_slot *slot, int64_t *last,
                                               struct pack_value *value);

/* A number, or a piece of that many bytes; 0 and nothing, with is_bad, when the block ends first.
 */
uint64_t pack_read_long_number(struct alar_pack_reader *reader);
struct alar_text pack_read_bytes(struct alar_pack_reader *reader, uint64_t count);

/* Most numbers are one byte. */
static inline uint64_t pack_read_number(struct alar_pack_reader *reader)
{
    return reader->at < reader->size && reader->payload[reader->at] < 0x80
               ? reader->payload[reader->at++]
               : pack_read_long_number(reader);
}

#endif

/* What a reader of packed histories keeps, private to pack_*.c. */
#ifndef ALAR_PACK_STATE_H
#define ALAR_PACK_STATE_H

#include "pack/pack.h"
#include "pack/pack_read.h"

/* What stands in a slot of the last record. */
struct pack_value {
    int64_t number;
    struct alar_text text; /* or the group of an operation, or of all of a list */
    size_t first;          /* of its items */
    uint32_t count;        /* of them */
};

struct alar_pack_reader {
    int file;
    uint64_t offset;   /* where the next block begins */
    uint64_t line;     /* number of the last line */
    bool is_over;      /* the end of the file was read, and is good */
    bool is_from_last; /* only its last block is read */
    unsigned char *payload;
    size_t room, size, at; /* unread bytes are payload[at .. size - 1] */
    bool is_bad;           /* what was read of the block is none */
    char error[160];

    struct pack_shape *shape[PACK_SHAPES]; /* made when first needed, kept for later blocks */
    unsigned shapes;                       /* of this block */
    struct alar_text text[PACK_TEXTS];     /* kept ones of this block */
    unsigned texts;
    uint64_t before[PACK_BEFORE]; /* the last list of values of this block */
    uint32_t before_count;
    unsigned before_digits;

    const struct pack_shape *current; /* of the last record; NULL when it was none */
    struct pack_value value[PACK_SLOTS];
    struct alar_value *item; /* of all lists of the record */
    size_t items, item_room;
    char group[PACK_TEXT_BYTES + 1];      /* of a list of operations, terminated */
    char decimal[PACK_DECIMAL_BYTES + 1]; /* of the loss, terminated */
    char *rendered;
    size_t rendered_room;
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

/* pack_value.c: the value of a slot, from the payload. Sets is_bad when there is none.
   Errors: ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status pack_value_read(struct alar_pack_reader *reader,
                                               struct pack_slot *slot, struct pack_value *value);

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

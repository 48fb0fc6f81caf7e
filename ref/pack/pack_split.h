/* A line of text taken apart: its shape, and what stands in the slots. Private to pack_*.c. */
#ifndef ALAR_PACK_SPLIT_H
#define ALAR_PACK_SPLIT_H

#include "pack/pack.h"

struct pack_token {
    unsigned kind;         /* enum pack_kind */
    struct alar_text text; /* a text or a group, without quotes; a decimal */
    struct alar_text list; /* values, ranks or operations, commas between them */
    int64_t number;
    uint32_t count; /* items of the list */
};

struct pack_split {
    char shape[PACK_SHAPE_BYTES];
    size_t length; /* of the shape */
    struct pack_token token[PACK_SLOTS];
    unsigned tokens;
};

/* Where in a text; `at` moves on only when something was found. */
struct pack_cursor {
    const char *at, *end;
};

/* Takes a line apart that can be put together again to the same bytes; the tokens point into it.
   False when it can't. */
bool pack_split_line(struct pack_split *split, const char *line, size_t length);

/* One character; a text between quotes, without them; a count without leading zeros;
   "group/number"; a value of lower-case digits between quotes. False when none stands there. */
bool pack_take(struct pack_cursor *cursor, char expected);
bool pack_take_text(struct pack_cursor *cursor, struct alar_text *text);
bool pack_take_count(struct pack_cursor *cursor, int64_t *number);
bool pack_take_op(struct pack_cursor *cursor, struct alar_text *group, int64_t *number);
bool pack_take_bits(struct pack_cursor *cursor, uint64_t *bits, unsigned *digits);

#endif

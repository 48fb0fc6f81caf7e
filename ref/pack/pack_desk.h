/* What readers of packed files share while one of them reads after the other: the values of the
   last record, and shapes and texts that many files have, private to pack_*.c. */
#ifndef ALAR_PACK_DESK_H
#define ALAR_PACK_DESK_H

#include "pack/pack.h"
#include "pack/pack_read.h"

enum {
    DESK_SHAPES = 256, /* known ones */
    DESK_TEXTS = 1024, /* likewise */
    DESK_TEXT_BYTES = 32 << 10,
    DESK_HASHES = 4 * DESK_TEXTS
};

/* What stands in a slot of the last record. */
struct pack_value {
    int64_t number;
    struct alar_text text; /* or the group of an operation, or of all of a list */
    size_t first;          /* of its items */
    uint32_t count;        /* of them */
};

struct alar_pack_desk {
    const struct pack_shape *current; /* of the last record; NULL when it was none */
    struct pack_value value[PACK_SLOTS];
    struct alar_value *item; /* of all lists of the record */
    size_t items, item_room;
    char group[PACK_TEXT_BYTES + 1];      /* of a list of operations, terminated */
    char decimal[PACK_DECIMAL_BYTES + 1]; /* of the loss, terminated */
    char *rendered;
    size_t rendered_room;

    struct pack_shape *shape[DESK_SHAPES]; /* once known never changed: others may point to them */
    unsigned shapes;
    struct alar_text text[DESK_TEXTS]; /* in `bytes` */
    unsigned texts;
    uint16_t hash[DESK_HASHES]; /* 1 + the number of a text; 0 for none */
    char bytes[DESK_TEXT_BYTES];
    size_t bytes_used;
};

/* The shape of that text, which lives as long as the desk; NULL when it is not known and there is
   no room for more. Sets *is_bad when it is no shape. Errors: ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status pack_desk_shape(struct alar_pack_desk *desk, struct alar_text text,
                                               const struct pack_shape **shape, bool *is_bad);

/* The same text, where it lives as long as the desk if there is room for it. */
struct alar_text pack_desk_text(struct alar_pack_desk *desk, struct alar_text text);

#endif

/* A block being built, private to pack_*.c. */
#ifndef ALAR_PACK_BUILD_H
#define ALAR_PACK_BUILD_H

#include "pack/pack_split.h"

enum {
    BUILD_HASHES = 4 * PACK_TEXTS
};

struct pack_build {
    unsigned char *payload;
    size_t size, room;
    struct pack_shape *shape[PACK_SHAPES]; /* made when first needed, kept for later blocks */
    int64_t last[PACK_SHAPES][PACK_SLOTS]; /* numbers of the last line */
    unsigned shapes;                       /* of this block */
    struct {
        size_t at; /* in the payload */
        size_t length;
    } text[PACK_TEXTS]; /* kept ones of this block */
    unsigned texts;
    uint16_t hash[BUILD_HASHES]; /* 1 + the number of a kept text; 0 for none */
    uint64_t before[PACK_BEFORE];
    uint32_t before_count;
    unsigned before_digits;
    struct pack_split split;
};

/* Appends a line to the block; *is_record tells whether as a record.
   Errors: ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status pack_build_line(struct pack_build *build, const char *line,
                                               size_t length, bool *is_record);

/* Appends bytes under a code below PACK_FIRST; NULL bytes for PACK_ZEROS.
   Errors: ALAR_E_NOMEM. */
ALAR_MUST_USE enum alar_status pack_build_bytes(struct pack_build *build, enum pack_code code,
                                                const char *bytes, size_t length);

/* An empty block, in which nothing is known of older ones. */
void pack_build_begin(struct pack_build *build);

void pack_build_free(struct pack_build *build);

#endif

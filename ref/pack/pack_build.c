/* Blocks, record by record: the mirror of pack_value.c. Room is made before a record is written, so
   that writing one can't fail. */
#include "pack/pack_build.h"

#include <stdlib.h>
#include <string.h>

enum {
    RECORD_BYTES = 2048, /* a record but for its texts and lists */
    LINE_GROWS = 6,      /* no line gets longer than this many times itself */
    LINE_BYTES = 1 << 20 /* longer lines are left as they stand */
};

static enum alar_status build_room(struct pack_build *build, size_t more)
{
    size_t room = build->room;

    while (room < build->size + more) {
        room = room ? 2 * room : 2 * PACK_BLOCK_BYTES;
    }
    if (room > build->room) {
        unsigned char *grown = realloc(build->payload, room);

        if (grown == NULL) {
            return ALAR_E_NOMEM;
        }
        build->payload = grown;
        build->room = room;
    }
    return ALAR_OK;
}

static void put_number(struct pack_build *build, uint64_t number)
{
    build->size += pack_varint(build->payload + build->size, number);
}

static void put_bytes(struct pack_build *build, struct alar_text text)
{
    put_number(build, text.length);
    memcpy(build->payload + build->size, text.data, text.length);
    build->size += text.length;
}

/* Where a text is noted, or may be. */
static uint16_t *text_place(struct pack_build *build, struct alar_text text)
{
    size_t at = (size_t)alar_text_hash(text) % BUILD_HASHES;

    for (;; at = (at + 1) % BUILD_HASHES) {
        unsigned k = build->hash[at];

        if (k == 0 ||
            (build->text[k - 1].length == text.length &&
             memcmp(build->payload + build->text[k - 1].at, text.data, text.length) == 0)) {
            return &build->hash[at];
        }
    }
}

static void put_text(struct pack_build *build, struct alar_text text)
{
    uint16_t *place = text_place(build, text);
    bool is_kept = build->texts < PACK_TEXTS;

    if (*place != 0) {
        put_number(build, 1U + *place);
        return;
    }
    put_number(build, is_kept);
    put_bytes(build, text);
    if (is_kept) {
        build->text[build->texts].at = build->size - text.length;
        build->text[build->texts].length = text.length;
        *place = (uint16_t)++build->texts;
    }
}

static void put_step(struct pack_build *build, int64_t *last, int64_t number)
{
    put_number(build, pack_zigzag((int64_t)((uint64_t)number - (uint64_t)*last)));
    *last = number;
}

static void put_ranks(struct pack_build *build, const struct pack_token *token)
{
    struct pack_cursor cursor = {token->list.data, token->list.data + token->list.length};
    int64_t before = -1, rank = 0;

    put_number(build, token->count);
    while (pack_take_count(&cursor, &rank)) {
        put_number(build, (uint64_t)(rank - before - 1));
        before = rank;
        pack_take(&cursor, ',');
    }
}

static bool next_op(struct pack_cursor *cursor, const struct pack_token *token, int64_t *number)
{
    struct alar_text group;
    bool is_one = token->kind == PACK_OPS ? pack_take_op(cursor, &group, number)
                                          : pack_take_count(cursor, number);

    return is_one && (pack_take(cursor, ',') || cursor->at == cursor->end);
}

/* Runs of numbers that follow each other. */
static void put_ops(struct pack_build *build, const struct pack_token *token, int64_t *last)
{
    struct pack_cursor cursor = {token->list.data, token->list.data + token->list.length};
    int64_t first = 0, next = 0;
    bool is_more = next_op(&cursor, token, &next);

    if (token->kind == PACK_OPS) {
        put_text(build, token->text);
    }
    put_number(build, token->count);
    while (is_more) {
        uint64_t more = 0;

        for (first = next;
             (is_more = next_op(&cursor, token, &next)) && next - first == (int64_t)more + 1;) {
            more++;
        }
        put_step(build, last, first);
        put_number(build, more);
        *last = first + (int64_t)more;
    }
}

/* The bytes that differ from the value before, without the zeros on both sides. */
static void put_difference(struct pack_build *build, uint64_t difference)
{
    unsigned below = (unsigned)__builtin_ctzll(difference) / 8;
    unsigned bytes = 8 - (unsigned)__builtin_clzll(difference) / 8 - below;

    build->payload[build->size++] = (unsigned char)(bytes << 4 | below);
    pack_put(build->payload + build->size, difference >> 8 * below, bytes);
    build->size += bytes;
}

/* A run of up to 16 values that are as before is one byte, written when it is over. */
static void put_bits(struct pack_build *build, const struct pack_token *token)
{
    struct pack_cursor cursor = {token->list.data, token->list.data + token->list.length};
    unsigned digits = pack_digits(token->kind), same = 0;
    uint64_t bits;

    if (token->kind < PACK_BIT) {
        put_number(build, token->count);
    }
    if (build->before_digits != digits) {
        build->before_count = 0;
    }
    for (uint32_t k = 0; k < token->count && pack_take_bits(&cursor, &bits, &digits); k++) {
        uint64_t difference = bits ^ (k < build->before_count ? build->before[k] : 0);

        if (same > 0 && (difference != 0 || same == 16)) {
            build->payload[build->size++] = (unsigned char)(same - 1);
            same = 0;
        }
        same += difference == 0;
        if (difference != 0) {
            put_difference(build, difference);
        }
        if (k < PACK_BEFORE) {
            build->before[k] = bits;
        }
        pack_take(&cursor, ',');
    }
    if (same > 0) {
        build->payload[build->size++] = (unsigned char)(same - 1);
    }
    build->before_digits = digits;
    build->before_count = token->count < PACK_BEFORE ? token->count : PACK_BEFORE;
}

static void put_token(struct pack_build *build, const struct pack_token *token, int64_t *last)
{
    switch (token->kind) {
    case PACK_INTEGER:
        put_step(build, last, token->number);
        break;
    case PACK_TEXT:
        put_text(build, token->text);
        break;
    case PACK_OP:
        put_text(build, token->text);
        put_step(build, last, token->number);
        break;
    case PACK_RANKS:
        put_ranks(build, token);
        break;
    case PACK_OPS:
    case PACK_NUMBERS:
        put_ops(build, token, last);
        break;
    case PACK_DECIMAL:
        put_bytes(build, token->text);
        break;
    default:
        put_bits(build, token);
    }
}

/* The number of the line's shape in this block; PACK_SHAPES when it has none. */
static unsigned shape_find(const struct pack_build *build)
{
    const struct pack_split *split = &build->split;
    unsigned k = 0;

    while (k < build->shapes && (build->shape[k]->length != split->length ||
                                 memcmp(build->shape[k]->text, split->shape, split->length) != 0)) {
        k++;
    }
    return k < build->shapes ? k : PACK_SHAPES;
}

/* Makes it one more shape of the block, unless there are too many or its lines are no records;
 *is_made tells. */
static enum alar_status shape_make(struct pack_build *build, bool *is_made)
{
    *is_made = false;
    if (build->shapes == PACK_SHAPES) {
        return ALAR_OK;
    }
    struct pack_shape **place = &build->shape[build->shapes];
    *place = *place != NULL ? *place : calloc(1, sizeof **place);
    if (*place == NULL) {
        return ALAR_E_NOMEM;
    }
    memcpy((*place)->text, build->split.shape, build->split.length);
    (*place)->length = build->split.length;
    if (pack_shape_compile(*place)) {
        memset(build->last[build->shapes++], 0, sizeof build->last[0]);
        *is_made = true;
    }
    return ALAR_OK;
}

enum alar_status pack_build_bytes(struct pack_build *build, enum pack_code code, const char *bytes,
                                  size_t length)
{
    ALAR_TRY(build_room(build, 2 * PACK_VARINT_BYTES + (bytes != NULL ? length : 0)));
    put_number(build, code);
    if (bytes != NULL) {
        put_bytes(build, (struct alar_text){bytes, length});
    } else {
        put_number(build, length);
    }
    return ALAR_OK;
}

enum alar_status pack_build_line(struct pack_build *build, const char *line, size_t length,
                                 bool *is_record)
{
    struct pack_split *split = &build->split;
    unsigned k = PACK_SHAPES;
    bool is_new = false;

    *is_record = length <= LINE_BYTES && pack_split_line(split, line, length);
    if (*is_record) {
        k = shape_find(build);
        if (k == PACK_SHAPES) {
            k = build->shapes;
            ALAR_TRY(shape_make(build, &is_new));
            *is_record = is_new;
        }
    }
    if (!*is_record) {
        return pack_build_bytes(build, PACK_LINE, line, length);
    }
    ALAR_TRY(build_room(build, RECORD_BYTES + LINE_GROWS * length));
    put_number(build, is_new ? (unsigned)PACK_SHAPE : PACK_FIRST + k);
    if (is_new) {
        put_bytes(build, (struct alar_text){split->shape, split->length});
    }
    for (unsigned t = 0; t < split->tokens; t++) {
        put_token(build, &split->token[t], &build->last[k][t]);
    }
    return ALAR_OK;
}

void pack_build_begin(struct pack_build *build)
{
    build->size = 0;
    build->shapes = 0;
    build->texts = 0;
    build->before_count = 0;
    build->before_digits = 0;
    memset(build->hash, 0, sizeof build->hash);
}

void pack_build_free(struct pack_build *build)
{
    for (unsigned k = 0; k < PACK_SHAPES; k++) {
        free(build->shape[k]);
    }
    free(build->payload);
}

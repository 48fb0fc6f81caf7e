/* From the bytes of blocks to lines: each record once, as an event or as text. */
#include "pack/pack_state.h"
#include "sys/plain_numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum alar_status alar_pack_open(struct alar_pack_reader **opened, int file)
{
    *opened = calloc(1, sizeof **opened);
    if (*opened == NULL) {
        close(file);
        return ALAR_E_NOMEM;
    }
    (*opened)->file = file;
    return ALAR_OK;
}

void alar_pack_close(struct alar_pack_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    close(reader->file);
    for (unsigned k = 0; k < PACK_SHAPES; k++) {
        free(reader->own[k]);
    }
    free(reader->payload);
    free(reader->last);
    free(reader);
}

/* A shape of our own, when the desk has no room for it. Mostly it is the one that an older block
   had in its place. */
static enum alar_status shape_own(struct alar_pack_reader *reader, struct alar_text text,
                                  const struct pack_shape **made)
{
    struct pack_shape **place = &reader->own[reader->shapes];
    struct pack_shape *shape = *place != NULL ? *place : calloc(1, sizeof *shape);

    if (shape == NULL) {
        return ALAR_E_NOMEM;
    }
    *place = shape;
    *made = shape;
    if (shape->length != text.length || memcmp(shape->text, text.data, text.length) != 0) {
        memcpy(shape->text, text.data, text.length);
        shape->length = text.length;
        reader->is_bad = !pack_shape_compile(shape);
        shape->length = reader->is_bad ? 0 : text.length;
    }
    return ALAR_OK;
}

/* Numbers of so many slots more, all 0. */
static enum alar_status last_add(struct alar_pack_reader *reader, unsigned slots)
{
    if (reader->last_room < reader->last_count + slots) {
        size_t room = 2 * (reader->last_count + slots);
        int64_t *grown = realloc(reader->last, room * sizeof *grown);

        if (grown == NULL) {
            return ALAR_E_NOMEM;
        }
        reader->last = grown;
        reader->last_room = room;
    }
    for (unsigned k = 0; k < slots; k++) {
        reader->last[reader->last_count++] = 0;
    }
    return ALAR_OK;
}

/* A new shape of this block. */
static enum alar_status shape_read(struct alar_pack_reader *reader, struct alar_pack_desk *desk)
{
    struct alar_text text = pack_read_bytes(reader, pack_read_number(reader));
    struct pack_known known = {NULL, (uint32_t)reader->last_count};

    if (reader->is_bad || reader->shapes == PACK_SHAPES || text.length >= PACK_SHAPE_BYTES) {
        reader->is_bad = true;
        return ALAR_OK;
    }
    ALAR_TRY(pack_desk_shape(desk, text, &known.shape, &reader->is_bad));
    if (known.shape == NULL && !reader->is_bad) {
        ALAR_TRY(shape_own(reader, text, &known.shape));
    }
    if (!reader->is_bad) {
        ALAR_TRY(last_add(reader, known.shape->slots));
        reader->known[reader->shapes++] = known;
    }
    return ALAR_OK;
}

/* A line of that shape. */
static enum alar_status values_read(struct alar_pack_reader *reader, struct alar_pack_desk *desk,
                                    const struct pack_known *known)
{
    const struct pack_shape *shape = known->shape;
    int64_t *last = reader->last + known->base;

    desk->items = 0;
    for (unsigned k = 0; k < shape->slots && !reader->is_bad; k++) {
        ALAR_TRY(pack_value_read(reader, desk, &shape->slot[k], &last[k], &desk->value[k]));
    }
    desk->current = shape;
    return ALAR_OK;
}

/* What is no record. Behind the last line nothing but what is none may follow. */
static void bytes_read(struct alar_pack_reader *reader, uint64_t code,
                       struct alar_pack_piece *piece)
{
    static const enum alar_pack_kind kinds[] = {
        [PACK_LINE] = ALAR_PACK_LINE,
        [PACK_TAIL] = ALAR_PACK_TAIL,
        [PACK_REST] = ALAR_PACK_REST,
        [PACK_ZEROS] = ALAR_PACK_ZEROS,
    };

    piece->kind = kinds[code];
    piece->length = pack_read_number(reader);
    piece->text = NULL;
    if (code != PACK_ZEROS) {
        struct alar_text text = pack_read_bytes(reader, piece->length);

        piece->text = text.data;
        reader->is_bad =
            reader->is_bad || (code == PACK_LINE && memchr(text.data, '\n', text.length) != NULL);
    }
}

static enum alar_status piece_read(struct alar_pack_reader *reader, struct alar_pack_desk *desk,
                                   struct alar_pack_piece *piece)
{
    uint64_t code = pack_read_number(reader);

    desk->current = NULL;
    if (code < PACK_FIRST && code != PACK_SHAPE) {
        bytes_read(reader, code, piece);
        return ALAR_OK;
    }
    *piece = (struct alar_pack_piece){.kind = ALAR_PACK_RECORD};
    if (code == PACK_SHAPE) {
        ALAR_TRY(shape_read(reader, desk));
        code = PACK_FIRST + (uint64_t)reader->shapes - 1;
    }
    reader->is_bad = reader->is_bad || code - PACK_FIRST >= reader->shapes;
    return reader->is_bad ? ALAR_OK : values_read(reader, desk, &reader->known[code - PACK_FIRST]);
}

enum alar_status alar_pack_next(struct alar_pack_reader *reader, struct alar_pack_desk *desk,
                                struct alar_pack_piece *piece)
{
    if (reader->is_over) {
        return ALAR_E_EMPTY;
    }
    if (reader->at == reader->size) {
        ALAR_TRY(pack_block_next(reader));
    }
    ALAR_TRY(piece_read(reader, desk, piece));
    if (reader->is_bad) {
        return pack_damaged(reader, "expected lines in the block before byte %llu, found none",
                            (unsigned long long)reader->offset);
    }
    reader->line += piece->kind <= ALAR_PACK_TAIL;
    /* Whoever sees a line that was cut reads no further, and has to know that it was cut before. */
    return piece->kind == ALAR_PACK_TAIL ? pack_end_check(reader) : ALAR_OK;
}

/* One slot of a field. */
static void event_value(struct alar_pack_desk *desk, const struct pack_slot *slot,
                        const struct pack_value *value, struct alar_event *event)
{
    unsigned field = slot->field;

    event->number[field] = 0;
    switch (slot->kind) {
    case PACK_INTEGER:
        event->number[field] = slot->counts ? value->number : 0;
        if (field == ALAR_FIELD_OP) {
            event->text[field] = (struct alar_text){"world", 5};
        }
        break;
    case PACK_TEXT:
        event->text[field] = value->text;
        break;
    case PACK_OP:
        event->number[field] = value->number;
        event->text[field] = value->text;
        break;
    case PACK_DECIMAL:
        memcpy(desk->decimal, value->text.data, value->text.length);
        desk->decimal[value->text.length] = '\0';
        event->loss = alar_plain_read(desk->decimal, NULL);
        event->text[field] = (struct alar_text){desk->decimal, value->text.length};
        break;
    default:
        event->number[field] = value->count;
        event->list[field] = value->count > 0 ? &desk->item[value->first] : NULL;
    }
}

/* The group of each operation in the list. */
static void event_group(struct alar_pack_desk *desk, const struct pack_value *value)
{
    memcpy(desk->group, value->text.data, value->text.length);
    desk->group[value->text.length] = '\0';
    for (uint32_t k = 0; k < value->count; k++) {
        desk->item[value->first + k].text = desk->group;
    }
}

void alar_pack_event(struct alar_pack_desk *desk, struct alar_event *event)
{
    const struct pack_shape *shape = desk->current;

    event->record = shape->record;
    memcpy(event->has, shape->has, sizeof event->has);
    event->loss = shape->loss;
    event->loss_is_empty = shape->loss_is_empty;
    event->text[ALAR_FIELD_LOSS] = (struct alar_text){NULL, 0};
    for (unsigned k = 0; k < shape->constants; k++) {
        const struct pack_constant *constant = &shape->constant[k];

        event->number[constant->field] = constant->number;
        event->text[constant->field] = constant->text;
    }
    for (unsigned k = 0; k < shape->slots; k++) {
        const struct pack_slot *slot = &shape->slot[k];

        if (slot->field == ALAR_FIELD_COUNT) {
            continue;
        }
        if (slot->kind == PACK_OPS) {
            event_group(desk, &desk->value[k]);
        }
        event_value(desk, slot, &desk->value[k], event);
    }
}

bool alar_pack_has_record(const struct alar_pack_desk *desk)
{
    return desk->current != NULL;
}

const char *alar_pack_error(const struct alar_pack_reader *reader)
{
    return reader->error;
}

uint32_t alar_pack_line(const struct alar_pack_reader *reader)
{
    return (uint32_t)reader->line;
}

uint64_t alar_pack_bytes(const struct alar_pack_reader *reader)
{
    return reader->offset;
}

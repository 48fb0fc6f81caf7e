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
        free(reader->shape[k]);
    }
    free(reader->payload);
    free(reader->item);
    free(reader->rendered);
    free(reader);
}

/* A new shape of this block. Mostly it is the one that an older block had in its place. */
static enum alar_status shape_read(struct alar_pack_reader *reader, struct pack_shape **made)
{
    struct alar_text text = pack_read_bytes(reader, pack_read_number(reader));
    struct pack_shape **place = &reader->shape[reader->shapes % PACK_SHAPES];

    if (reader->is_bad || reader->shapes == PACK_SHAPES || text.length >= PACK_SHAPE_BYTES) {
        reader->is_bad = true;
        return ALAR_OK;
    }
    struct pack_shape *shape = *place != NULL ? *place : calloc(1, sizeof *shape);
    if (shape == NULL) {
        return ALAR_E_NOMEM;
    }
    *place = shape;
    if (shape->length == text.length && memcmp(shape->text, text.data, text.length) == 0) {
        for (unsigned k = 0; k < shape->slots; k++) {
            shape->slot[k].last = 0;
        }
    } else {
        memcpy(shape->text, text.data, text.length);
        shape->length = text.length;
        reader->is_bad = !pack_shape_compile(shape);
        shape->length = reader->is_bad ? 0 : text.length;
    }
    reader->shapes++;
    *made = shape;
    return ALAR_OK;
}

/* A line of that shape. */
static enum alar_status values_read(struct alar_pack_reader *reader, struct pack_shape *shape)
{
    reader->items = 0;
    for (unsigned k = 0; k < shape->slots && !reader->is_bad; k++) {
        ALAR_TRY(pack_value_read(reader, &shape->slot[k], &reader->value[k]));
    }
    reader->current = shape;
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

static enum alar_status piece_read(struct alar_pack_reader *reader, struct alar_pack_piece *piece)
{
    uint64_t code = pack_read_number(reader);
    struct pack_shape *shape = NULL;

    reader->current = NULL;
    if (code == PACK_SHAPE) {
        ALAR_TRY(shape_read(reader, &shape));
    } else if (code >= PACK_FIRST) {
        reader->is_bad = reader->is_bad || code - PACK_FIRST >= reader->shapes;
        shape = reader->is_bad ? NULL : reader->shape[code - PACK_FIRST];
    } else {
        bytes_read(reader, code, piece);
        return ALAR_OK;
    }
    *piece = (struct alar_pack_piece){.kind = ALAR_PACK_RECORD};
    return shape != NULL && !reader->is_bad ? values_read(reader, shape) : ALAR_OK;
}

enum alar_status alar_pack_next(struct alar_pack_reader *reader, struct alar_pack_piece *piece)
{
    if (reader->is_over) {
        return ALAR_E_EMPTY;
    }
    if (reader->at == reader->size) {
        ALAR_TRY(pack_block_next(reader));
    }
    ALAR_TRY(piece_read(reader, piece));
    if (reader->is_bad) {
        return pack_damaged(reader, "expected lines in the block before byte %llu, found none",
                            (unsigned long long)reader->offset);
    }
    reader->line += piece->kind <= ALAR_PACK_TAIL;
    /* Whoever sees a line that was cut reads no further, and has to know that it was cut before. */
    return piece->kind == ALAR_PACK_TAIL ? pack_end_check(reader) : ALAR_OK;
}

/* One slot of a field. */
static void event_value(struct alar_pack_reader *reader, const struct pack_slot *slot,
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
        memcpy(reader->decimal, value->text.data, value->text.length);
        reader->decimal[value->text.length] = '\0';
        event->loss = alar_plain_read(reader->decimal, NULL);
        event->text[field] = (struct alar_text){reader->decimal, value->text.length};
        break;
    default:
        event->number[field] = value->count;
        event->list[field] = value->count > 0 ? &reader->item[value->first] : NULL;
    }
}

/* The group of each operation in the list. */
static void event_group(struct alar_pack_reader *reader, const struct pack_value *value)
{
    memcpy(reader->group, value->text.data, value->text.length);
    reader->group[value->text.length] = '\0';
    for (uint32_t k = 0; k < value->count; k++) {
        reader->item[value->first + k].text = reader->group;
    }
}

void alar_pack_event(struct alar_pack_reader *reader, struct alar_event *event)
{
    const struct pack_shape *shape = reader->current;

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
            event_group(reader, &reader->value[k]);
        }
        event_value(reader, slot, &reader->value[k], event);
    }
}

bool alar_pack_has_record(const struct alar_pack_reader *reader)
{
    return reader->current != NULL;
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

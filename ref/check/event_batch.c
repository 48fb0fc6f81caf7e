/* An event is three kilobytes, of which a record fills a tenth: only that is copied. */
#include "check/event_batch.h"

#include <stdlib.h>
#include <string.h>

enum {
    STEP = 8 /* everything begins at a multiple of this */
};

struct batch_head {
    struct alar_place place;
    double loss;
    uint16_t fields;
    uint8_t record;
    bool loss_is_empty;
};

/* Behind it the text, then the items, then the texts of the items. */
struct batch_field {
    int64_t number;
    uint32_t length; /* of the text */
    uint32_t items;
    uint8_t field;
    bool has_text;
};

static size_t rounded(size_t bytes)
{
    return (bytes + STEP - 1) / STEP * STEP;
}

static const uint8_t types[] = {
#define FIELD(token, name, type, choices) ALAR_TYPE_##type,
#include "judge/record.def"
};

static enum alar_status batch_grow(struct alar_event_batch *batch, size_t bytes)
{
    size_t room = batch->room ? batch->room : 1 << 10;

    while (room < batch->used + bytes) {
        room *= 2;
    }
    unsigned char *grown = realloc(batch->bytes, room);
    if (grown == NULL) {
        return ALAR_E_NOMEM;
    }
    batch->bytes = grown;
    batch->room = room;
    return ALAR_OK;
}

/* Room for so many bytes behind what is used; it moves what is there. */
static inline enum alar_status batch_room(struct alar_event_batch *batch, size_t bytes)
{
    return batch->used + bytes <= batch->room ? ALAR_OK : batch_grow(batch, bytes);
}

/* PRE: there is room. */
static inline void batch_put(struct alar_event_batch *batch, const void *bytes, size_t count)
{
    memcpy(batch->bytes + batch->used, bytes, count);
    batch->used += rounded(count);
}

/* All items, then their texts. Several that stand side by side may have one text. */
static enum alar_status add_items(struct alar_event_batch *batch, const struct alar_value *item,
                                  uint32_t count)
{
    const char *before = NULL;

    ALAR_TRY(batch_room(batch, count * sizeof *item));
    batch_put(batch, item, count * sizeof *item);
    for (uint32_t k = 0; k < count; k++) {
        const char *text = item[k].text;

        if (text != NULL && text != before) {
            size_t bytes = strlen(text) + 1;

            ALAR_TRY(batch_room(batch, rounded(bytes)));
            batch_put(batch, text, bytes);
        }
        before = text;
    }
    return ALAR_OK;
}

static enum alar_status add_field(struct alar_event_batch *batch, const struct alar_event *event,
                                  unsigned f)
{
    struct batch_field head = {.field = (uint8_t)f, .number = event->number[f]};
    struct alar_text text = {NULL, 0};

    switch (types[f]) {
    case ALAR_TYPE_TEXT:
    case ALAR_TYPE_OP:
    case ALAR_TYPE_LOSS:
        text = event->text[f];
        head.has_text = text.data != NULL;
        head.length = (uint32_t)text.length;
        break;
    case ALAR_TYPE_VALUES:
    case ALAR_TYPE_RANKS:
    case ALAR_TYPE_OPS:
        head.items = (uint32_t)event->number[f];
        break;
    default:
        break;
    }
    ALAR_TRY(batch_room(batch, sizeof head + rounded(head.length)));
    batch_put(batch, &head, sizeof head);
    if (head.length > 0) {
        batch_put(batch, text.data, head.length);
    }
    return head.items > 0 ? add_items(batch, event->list[f], head.items) : ALAR_OK;
}

/* Most fields are not given: eight are passed over at once. */
static enum alar_status add_fields(struct alar_event_batch *batch, const struct alar_event *event,
                                   uint16_t *count)
{
    const unsigned whole = ALAR_FIELD_COUNT / STEP * STEP;

    for (unsigned f = 0; f < ALAR_FIELD_COUNT; f++) {
        uint64_t given = 1;

        if (f % STEP == 0 && f < whole) {
            memcpy(&given, event->has + f, sizeof given);
        }
        if (given == 0) {
            f += STEP - 1;
        } else if (event->has[f] && f != ALAR_FIELD_EV) {
            ALAR_TRY(add_field(batch, event, f));
            (*count)++;
        }
    }
    return ALAR_OK;
}

enum alar_status alar_event_batch_add(struct alar_event_batch *batch,
                                      const struct alar_event *event)
{
    struct batch_head head = {.place = event->place,
                              .loss = event->loss,
                              .record = (uint8_t)event->record,
                              .loss_is_empty = event->loss_is_empty};
    size_t begin = batch->used;

    ALAR_TRY(batch_room(batch, sizeof head));
    batch->used += sizeof head;
    enum alar_status status = add_fields(batch, event, &head.fields);
    if (status != ALAR_OK) {
        batch->used = begin;
        return status;
    }
    memcpy(batch->bytes + begin, &head, sizeof head);
    return ALAR_OK;
}

/* The next piece of so many bytes. */
static unsigned char *batch_get(struct alar_event_batch *batch, size_t bytes)
{
    unsigned char *at = batch->bytes + batch->at;

    batch->at += rounded(bytes);
    return at;
}

/* The texts of items are where they were put. */
static struct alar_value *take_items(struct alar_event_batch *batch, uint32_t count)
{
    void *items = batch_get(batch, count * sizeof(struct alar_value));
    struct alar_value *item = items;
    const char *before = NULL, *copied = NULL;

    for (uint32_t k = 0; k < count; k++) {
        const char *text = item[k].text;

        if (text != NULL && text != before) {
            copied = (const char *)batch->bytes + batch->at;
            batch_get(batch, strlen(copied) + 1);
        }
        item[k].text = text != NULL ? copied : NULL;
        before = text;
    }
    return item;
}

bool alar_event_batch_take(struct alar_event_batch *batch, struct alar_event *event)
{
    struct batch_head head;

    if (batch->at == batch->used) {
        return false;
    }
    memcpy(&head, batch_get(batch, sizeof head), sizeof head);
    event->record = (enum alar_record)head.record;
    event->place = head.place;
    event->loss = head.loss;
    event->loss_is_empty = head.loss_is_empty;
    event->text[ALAR_FIELD_LOSS] = (struct alar_text){NULL, 0};
    memset(event->has, 0, sizeof event->has);
    event->has[ALAR_FIELD_EV] = true;
    event->number[ALAR_FIELD_EV] = 0;
    for (unsigned k = 0; k < head.fields; k++) {
        struct batch_field field;

        memcpy(&field, batch_get(batch, sizeof field), sizeof field);
        event->has[field.field] = true;
        event->number[field.field] = field.number;
        if (field.has_text) {
            event->text[field.field] =
                (struct alar_text){(const char *)batch_get(batch, field.length), field.length};
        }
        if (field.items > 0) {
            event->list[field.field] = take_items(batch, field.items);
        }
    }
    return true;
}

void alar_event_batch_clear(struct alar_event_batch *batch)
{
    batch->used = 0;
    batch->at = 0;
}

void alar_event_batch_free(struct alar_event_batch *batch)
{
    free(batch->bytes);
    *batch = (struct alar_event_batch){0};
}

/* Values of slots, from the bytes of a block. */
#include "pack/pack_state.h"

#include <stdlib.h>
#include <string.h>

uint64_t pack_read_long_number(struct alar_pack_reader *reader)
{
    uint64_t number = 0;

    for (unsigned shift = 0; shift < 64 && reader->at < reader->size; shift += 7) {
        unsigned char byte = reader->payload[reader->at++];

        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            return number;
        }
    }
    reader->is_bad = true;
    return 0;
}

struct alar_text pack_read_bytes(struct alar_pack_reader *reader, uint64_t count)
{
    struct alar_text text = {(const char *)reader->payload + reader->at, (size_t)count};

    if (count > reader->size - reader->at) {
        reader->is_bad = true;
        return (struct alar_text){"", 0};
    }
    reader->at += (size_t)count;
    return text;
}

/* A text: a kept one by its number, or its own bytes. */
static inline struct alar_text text_read(struct alar_pack_reader *reader,
                                         struct alar_pack_desk *desk)
{
    uint64_t code = pack_read_number(reader);

    if (code >= 2) {
        reader->is_bad = reader->is_bad || code - 2 >= reader->texts;
        return reader->is_bad ? (struct alar_text){"", 0} : reader->text[code - 2];
    }
    uint64_t length = pack_read_number(reader);
    struct alar_text text = pack_read_bytes(reader, length);
    if (length > PACK_TEXT_BYTES || (code == 1 && reader->texts == PACK_TEXTS) ||
        !pack_is_plain(text.data, text.length)) {
        reader->is_bad = true;
        return (struct alar_text){"", 0};
    }
    if (code == 1) {
        text = pack_desk_text(desk, text);
        reader->text[reader->texts++] = text;
    }
    return text;
}

/* A number beside the last one of its slot. */
static inline int64_t number_read(struct alar_pack_reader *reader, int64_t *last)
{
    int64_t step = pack_unzigzag(pack_read_number(reader));

    *last = (int64_t)((uint64_t)*last + (uint64_t)step);
    return *last;
}

/* Room for the items of a list. */
static enum alar_status items_begin(struct alar_pack_reader *reader, struct alar_pack_desk *desk,
                                    struct pack_value *value, uint64_t count)
{
    if (count > PACK_ITEMS) {
        reader->is_bad = true;
        count = 0;
    }
    value->first = desk->items;
    value->count = (uint32_t)count;
    if (desk->item_room < desk->items + count) {
        size_t room = 2 * (desk->items + (size_t)count) + 32;
        struct alar_value *grown = realloc(desk->item, room * sizeof *grown);

        if (grown == NULL) {
            return ALAR_E_NOMEM;
        }
        desk->item = grown;
        desk->item_room = room;
    }
    if (count > 0) {
        memset(desk->item + value->first, 0, (size_t)count * sizeof *desk->item);
    }
    desk->items += (size_t)count;
    return ALAR_OK;
}

/* How a value differs from the one before: the bits that do, and of how many values none do. */
static uint64_t difference_read(struct alar_pack_reader *reader, unsigned digits, uint32_t *same)
{
    unsigned token = reader->at < reader->size ? reader->payload[reader->at++] : 0xff;
    unsigned bytes = token >> 4, below = token & 15;

    if (bytes == 0) {
        *same = below;
        return 0;
    }
    if (bytes + below > digits / 2 || bytes > reader->size - reader->at) {
        reader->is_bad = true;
        return 0;
    }
    reader->at += bytes;
    return pack_get(reader->payload + reader->at - bytes, bytes) << 8 * below;
}

static enum alar_status bits_read(struct alar_pack_reader *reader, struct alar_pack_desk *desk,
                                  unsigned kind, struct pack_value *value)
{
    unsigned digits = pack_digits(kind);
    uint32_t same = 0;

    ALAR_TRY(items_begin(reader, desk, value, kind >= PACK_BIT ? 1 : pack_read_number(reader)));
    if (reader->before_digits != digits) {
        reader->before_count = 0;
    }
    for (uint32_t k = 0; k < value->count && !reader->is_bad; k++) {
        struct alar_value *item = &desk->item[value->first + k];

        item->bits = k < reader->before_count ? reader->before[k] : 0;
        item->digits = digits;
        if (same > 0) {
            same--;
        } else {
            item->bits ^= difference_read(reader, digits, &same);
        }
        if (k < PACK_BEFORE) {
            reader->before[k] = item->bits;
        }
    }
    reader->is_bad = reader->is_bad || same > 0;
    reader->before_digits = digits;
    reader->before_count = value->count < PACK_BEFORE ? value->count : PACK_BEFORE;
    return ALAR_OK;
}

/* Each of them as what it is more than the one before it, which is 1 at least. */
static enum alar_status ranks_read(struct alar_pack_reader *reader, struct alar_pack_desk *desk,
                                   struct pack_value *value)
{
    uint64_t rank = 0;

    ALAR_TRY(items_begin(reader, desk, value, pack_read_number(reader)));
    for (uint32_t k = 0; k < value->count && !reader->is_bad; k++) {
        uint64_t more = pack_read_number(reader);

        rank += k == 0 ? more : more + 1;
        reader->is_bad = reader->is_bad || more >= UINT32_MAX || rank >= UINT32_MAX;
        desk->item[value->first + k].bits = rank;
    }
    return ALAR_OK;
}

/* Runs of numbers that follow each other, all of one group. */
static enum alar_status ops_read(struct alar_pack_reader *reader, struct alar_pack_desk *desk,
                                 bool has_group, int64_t *last, struct pack_value *value)
{
    uint32_t known = 0;

    if (has_group) {
        value->text = text_read(reader, desk);
        reader->is_bad = reader->is_bad || value->text.length == 0;
    }
    ALAR_TRY(items_begin(reader, desk, value, pack_read_number(reader)));
    while (known < value->count && !reader->is_bad) {
        int64_t number = number_read(reader, last);
        uint64_t more = pack_read_number(reader);

        if (number < 0 || more >= value->count - known ||
            (uint64_t)number > (uint64_t)INT64_MAX - more) {
            reader->is_bad = true;
            break;
        }
        for (uint64_t k = 0; k <= more; k++) {
            desk->item[value->first + known++].bits = (uint64_t)number + k;
        }
        *last = number + (int64_t)more;
    }
    return ALAR_OK;
}

static bool may_be_negative(unsigned field)
{
    enum alar_field_type type =
        field < ALAR_FIELD_COUNT ? alar_field_type((enum alar_field)field) : ALAR_TYPE_ANY;

    return type == ALAR_TYPE_SIGNED || type == ALAR_TYPE_ANY;
}

enum alar_status pack_value_read(struct alar_pack_reader *reader, struct alar_pack_desk *desk,
                                 const struct pack_slot *slot, int64_t *last,
                                 struct pack_value *value)
{
    switch (slot->kind) {
    case PACK_INTEGER:
        value->number = number_read(reader, last);
        reader->is_bad =
            reader->is_bad ||
            (value->number < 0 && (value->number == INT64_MIN || !may_be_negative(slot->field)));
        return ALAR_OK;
    case PACK_TEXT:
        value->text = text_read(reader, desk);
        return ALAR_OK;
    case PACK_OP:
        value->text = text_read(reader, desk);
        value->number = number_read(reader, last);
        reader->is_bad = reader->is_bad || value->number < 0 || value->text.length == 0;
        return ALAR_OK;
    case PACK_RANKS:
        return ranks_read(reader, desk, value);
    case PACK_OPS:
    case PACK_NUMBERS:
        return ops_read(reader, desk, slot->kind == PACK_OPS, last, value);
    case PACK_DECIMAL:
        value->text = pack_read_bytes(reader, pack_read_number(reader));
        reader->is_bad = reader->is_bad || value->text.length > PACK_DECIMAL_BYTES ||
                         !pack_is_decimal(value->text);
        return ALAR_OK;
    default:
        return bits_read(reader, desk, slot->kind, value);
    }
}

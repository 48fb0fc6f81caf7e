/* A packed record as the text that it was. */
#include "pack/pack_desk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NUMBER_BYTES = 20, /* "-9223372036854775808" */
    MARKS_BYTES = 8    /* quotes, brackets, a slash and a comma */
};

/* Most bytes of an item of that slot. */
static size_t item_bytes(const struct pack_slot *slot, const struct pack_value *value)
{
    return MARKS_BYTES + (slot->kind >= PACK_BITS ? pack_digits(slot->kind) : NUMBER_BYTES) +
           (slot->kind == PACK_OPS ? value->text.length : 0);
}

/* Most bytes of the line. */
static size_t line_bytes(const struct alar_pack_desk *desk)
{
    const struct pack_shape *shape = desk->current;
    size_t bytes = shape->length + 1;

    for (unsigned k = 0; k < shape->slots; k++) {
        const struct pack_value *value = &desk->value[k];
        bool has_text = shape->slot[k].kind == PACK_TEXT || shape->slot[k].kind == PACK_OP ||
                        shape->slot[k].kind == PACK_DECIMAL;

        bytes += NUMBER_BYTES + MARKS_BYTES + (has_text ? value->text.length : 0);
        bytes += shape->slot[k].kind >= PACK_RANKS && shape->slot[k].kind != PACK_DECIMAL
                     ? value->count * item_bytes(&shape->slot[k], value)
                     : 0;
    }
    return bytes;
}

static char *put_bytes(char *to, struct alar_text text)
{
    memcpy(to, text.data, text.length);
    return to + text.length;
}

static char *put_number(char *to, int64_t number)
{
    char digits[NUMBER_BYTES];
    uint64_t left = number < 0 ? UINT64_C(0) - (uint64_t)number : (uint64_t)number;
    size_t at = NUMBER_BYTES;

    do {
        digits[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left != 0);
    if (number < 0) {
        *to++ = '-';
    }
    return put_bytes(to, (struct alar_text){digits + at, NUMBER_BYTES - at});
}

static char *put_op(char *to, struct alar_text group, int64_t number)
{
    *to++ = '"';
    to = put_bytes(to, group);
    *to++ = '/';
    to = put_number(to, number);
    *to++ = '"';
    return to;
}

static char *put_bits(char *to, uint64_t bits, unsigned digits)
{
    *to++ = '"';
    for (unsigned k = digits; k-- > 0;) {
        *to++ = "0123456789abcdef"[bits >> 4 * k & 15];
    }
    *to++ = '"';
    return to;
}

static char *put_list(char *to, const struct pack_slot *slot, const struct pack_value *value,
                      const struct alar_value *item)
{
    *to++ = '[';
    for (uint32_t k = 0; k < value->count; k++) {
        if (k > 0) {
            *to++ = ',';
        }
        if (slot->kind >= PACK_BITS) {
            to = put_bits(to, item[k].bits, pack_digits(slot->kind));
        } else if (slot->kind == PACK_OPS) {
            to = put_op(to, value->text, (int64_t)item[k].bits);
        } else {
            to = put_number(to, (int64_t)item[k].bits);
        }
    }
    *to++ = ']';
    return to;
}

static char *put_value(char *to, const struct pack_slot *slot, const struct pack_value *value,
                       const struct alar_value *items)
{
    switch (slot->kind) {
    case PACK_INTEGER:
        return put_number(to, value->number);
    case PACK_TEXT:
        *to++ = '"';
        to = put_bytes(to, value->text);
        *to++ = '"';
        return to;
    case PACK_OP:
        return put_op(to, value->text, value->number);
    case PACK_DECIMAL:
        return put_bytes(to, value->text);
    default:
        return slot->kind >= PACK_BIT
                   ? put_bits(to, items[value->first].bits, pack_digits(slot->kind))
                   : put_list(to, slot, value, items + value->first);
    }
}

enum alar_status alar_pack_text(struct alar_pack_desk *desk, struct alar_text *line)
{
    const struct pack_shape *shape = desk->current;
    size_t room = line_bytes(desk), from = 0;

    if (desk->rendered_room < room) {
        char *grown = realloc(desk->rendered, room);

        if (grown == NULL) {
            return ALAR_E_NOMEM;
        }
        desk->rendered = grown;
        desk->rendered_room = room;
    }
    char *to = desk->rendered;
    for (unsigned k = 0; k < shape->slots; k++) {
        const struct pack_slot *slot = &shape->slot[k];

        to = put_bytes(to, (struct alar_text){shape->text + from, slot->at - from});
        to = put_value(to, slot, &desk->value[k], desk->item);
        from = slot->at + 1U;
    }
    to = put_bytes(to, (struct alar_text){shape->text + from, shape->length - from});
    *line = (struct alar_text){desk->rendered, (size_t)(to - desk->rendered)};
    return ALAR_OK;
}

/* A shape is a line of the plain form with slots in it: what its lines have in common is looked up
   once. What is refused here is written, and read, as it stands. */
#include "pack/pack.h"

#include <math.h>
#include <string.h>

const unsigned char pack_magic[PACK_MAGIC_BYTES] = {0x89, 'a', 'l', 'a', 'r', '\r', '\n', 0x1a};

bool pack_is_plain(const char *text, size_t length)
{
    for (size_t k = 0; k < length; k++) {
        if (text[k] < ' ' || text[k] > '~' || text[k] == '"' || text[k] == '\\') {
            return false;
        }
    }
    return true;
}

bool pack_is_decimal(struct alar_text text)
{
    const char *at = text.data, *end = at + text.length;

    at += at < end && *at == '-';
    const char *first = at;
    while (at < end && *at >= '0' && *at <= '9') {
        at++;
    }
    bool is_number = at > first && (*first != '0' || at == first + 1);
    if (is_number && at < end && *at == '.') {
        for (first = ++at; at < end && *at >= '0' && *at <= '9';) {
            at++;
        }
        is_number = at > first;
    }
    if (is_number && at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '-' || *at == '+');
        for (first = at; at < end && *at >= '0' && *at <= '9';) {
            at++;
        }
        is_number = at > first;
    }
    return is_number && at == end;
}

unsigned pack_digits(unsigned kind)
{
    return 2U << (kind & 3);
}

size_t pack_varint(unsigned char *to, uint64_t number)
{
    size_t count = 0;

    for (; number >= 0x80; number >>= 7) {
        to[count++] = (unsigned char)(number | 0x80);
    }
    to[count++] = (unsigned char)number;
    return count;
}

void pack_put(unsigned char *to, uint64_t number, unsigned bytes)
{
    for (unsigned k = 0; k < bytes; k++) {
        to[k] = (unsigned char)(number >> 8 * k);
    }
}

uint64_t pack_get(const unsigned char *from, unsigned bytes)
{
    uint64_t number = 0;

    for (unsigned k = 0; k < bytes; k++) {
        number |= (uint64_t)from[k] << 8 * k;
    }
    return number;
}

/* May a field of that type be written so? A key that is no field is of type ANY. */
static bool slot_fits(unsigned kind, enum alar_field_type type)
{
    switch (kind) {
    case PACK_INTEGER:
        return type == ALAR_TYPE_INT || type == ALAR_TYPE_SIGNED || type == ALAR_TYPE_OP ||
               type == ALAR_TYPE_ANY;
    case PACK_TEXT:
        return type == ALAR_TYPE_TEXT || type == ALAR_TYPE_ANY;
    case PACK_OP:
        return type == ALAR_TYPE_OP;
    case PACK_RANKS:
        return type == ALAR_TYPE_RANKS;
    case PACK_OPS:
    case PACK_NUMBERS:
        return type == ALAR_TYPE_OPS;
    case PACK_DECIMAL:
        return type == ALAR_TYPE_LOSS || type == ALAR_TYPE_ANY;
    default:
        return kind >= PACK_BITS && kind < PACK_KINDS && type == ALAR_TYPE_VALUES;
    }
}

/* A text that all lines have. */
static bool constant_text(struct pack_shape *shape, unsigned field, struct alar_text text)
{
    struct pack_constant *constant = &shape->constant[shape->constants];

    switch (alar_field_type((enum alar_field)field)) {
    case ALAR_TYPE_TEXT:
        constant->text = text;
        return field != ALAR_FIELD_EV || alar_record_find(text, &shape->record) == ALAR_OK;
    case ALAR_TYPE_WORD:
        return alar_field_word((enum alar_field)field, text, &constant->number) == ALAR_OK;
    case ALAR_TYPE_LOSS:
        shape->loss = alar_text_is(text, "nan")   ? (double)NAN
                      : alar_text_is(text, "inf") ? (double)INFINITY
                                                  : -(double)INFINITY;
        return isnan(shape->loss) || shape->loss > 0 || alar_text_is(text, "-inf");
    default:
        return alar_field_type((enum alar_field)field) == ALAR_TYPE_ANY;
    }
}

/* `true`, `false` or `null`. */
static bool constant_name(struct pack_shape *shape, unsigned field, struct alar_text name)
{
    enum alar_field_type type = alar_field_type((enum alar_field)field);
    bool is_null = alar_text_is(name, "null");

    if (type == ALAR_TYPE_LOSS && is_null) {
        shape->loss = (double)NAN;
        shape->loss_is_empty = true;
        return true;
    }
    shape->constant[shape->constants].number = type == ALAR_TYPE_FLAG && name.data[0] == 't';
    return type == ALAR_TYPE_ANY || (type == ALAR_TYPE_FLAG && !is_null);
}

/* Behind what stands in the shape for a value, or 0. */
static size_t value_compile(struct pack_shape *shape, size_t at, unsigned field)
{
    static const char *const names[] = {"true", "false", "null"};
    bool is_known = field < ALAR_FIELD_COUNT;
    unsigned char kind = (unsigned char)shape->text[at];
    struct alar_text text = {shape->text + at, 0};

    if (kind < ' ') {
        enum alar_field_type type =
            is_known ? alar_field_type((enum alar_field)field) : ALAR_TYPE_ANY;

        if (field == ALAR_FIELD_EV || shape->slots == PACK_SLOTS || !slot_fits(kind, type)) {
            return 0;
        }
        shape->slot[shape->slots++] = (struct pack_slot){.kind = kind,
                                                         .field = (uint8_t)field,
                                                         .at = (uint16_t)at,
                                                         .counts = type != ALAR_TYPE_ANY};
        return at + 1;
    }
    if (shape->constants == PACK_SLOTS) {
        return 0;
    }
    shape->constant[shape->constants] = (struct pack_constant){.field = (uint8_t)field};
    if (kind == '"') {
        const char *quote = memchr(++text.data, '"', shape->length - at - 1);

        text.length = quote != NULL ? (size_t)(quote - text.data) : 0;
        if (quote == NULL || !pack_is_plain(text.data, text.length) ||
            (is_known && !constant_text(shape, field, text))) {
            return 0;
        }
        shape->constants += is_known;
        return at + text.length + 2;
    }
    for (unsigned k = 0; k < 3; k++) {
        text.length = strlen(names[k]);
        if (shape->length - at > text.length && alar_text_is(text, names[k])) {
            bool is_good = !is_known || constant_name(shape, field, text);

            shape->constants += is_known;
            return is_good ? at + text.length : 0;
        }
    }
    return 0;
}

/* Behind the key and its colon, or 0; the field goes to *field, ALAR_FIELD_COUNT for none. */
static size_t key_compile(struct pack_shape *shape, size_t at, unsigned *field)
{
    const char *name = shape->text + at + 1;
    const char *quote = shape->text[at] == '"' ? memchr(name, '"', shape->length - at - 1) : NULL;
    enum alar_field found = ALAR_FIELD_COUNT;

    if (quote == NULL || !pack_is_plain(name, (size_t)(quote - name)) || quote[1] != ':') {
        return 0;
    }
    struct alar_text text = {name, (size_t)(quote - name)};
    *field = alar_field_find(text, &found) == ALAR_OK ? found : ALAR_FIELD_COUNT;
    if (*field < ALAR_FIELD_COUNT && shape->has[*field]) {
        return 0;
    }
    if (*field < ALAR_FIELD_COUNT) {
        shape->has[*field] = true;
    }
    return (size_t)(quote + 2 - shape->text);
}

/* Is there everything that such a record can't do without? */
static bool shape_is_whole(const struct pack_shape *shape)
{
    struct alar_event event;

    event.record = shape->record;
    memcpy(event.has, shape->has, sizeof event.has);
    return shape->has[ALAR_FIELD_EV] && alar_event_missing(&event) == ALAR_FIELD_COUNT;
}

bool pack_shape_compile(struct pack_shape *shape)
{
    size_t at = 1;

    memset(&shape->slots, 0, sizeof *shape - offsetof(struct pack_shape, slots));
    if (shape->length < 2 || shape->length >= PACK_SHAPE_BYTES || shape->text[0] != '{') {
        return false;
    }
    shape->text[shape->length] = '\0'; /* one byte may be looked at behind each */
    do {
        unsigned field;

        at = key_compile(shape, at, &field);
        at = at > 0 ? value_compile(shape, at, field) : 0;
    } while (at > 0 && at < shape->length && shape->text[at++] == ',');
    return at > 0 && at == shape->length && shape->text[at - 1] == '}' && shape_is_whole(shape);
}

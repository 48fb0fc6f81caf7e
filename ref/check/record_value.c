/* Values of fields, by type, and what is said when one has another type. */
#include "check/record_state.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Says what was expected of the current field; always 0, which ends the parse. */
int record_expected(struct alar_record_reader *reader, const char *format, ...)
{
    va_list arguments;

    if (reader->error->text[0] == '\0') {
        va_start(arguments, format);
        vsnprintf(reader->error->text, sizeof reader->error->text, format, arguments);
        va_end(arguments);
        size_t end = yajl_get_bytes_consumed(reader->json);

        reader->error->column = end >= reader->token ? end - reader->token + 1 : 1;
    }
    return 0;
}

static const char *type_words(enum alar_field field)
{
    switch (alar_field_type(field)) {
    case ALAR_TYPE_INT:
        return "an integer from 0";
    case ALAR_TYPE_SIGNED:
        return "an integer";
    case ALAR_TYPE_FLAG:
        return "true or false";
    case ALAR_TYPE_TEXT:
        return "text";
    case ALAR_TYPE_OP:
        return "\"group/number\" or a number";
    case ALAR_TYPE_VALUES:
        return "values: hex digits, numbers, \"nan\", \"inf\", \"-inf\"";
    case ALAR_TYPE_RANKS:
        return "ascending ranks";
    case ALAR_TYPE_OPS:
        return "a list of operations";
    case ALAR_TYPE_LOSS:
        return "a number, null, \"nan\", \"inf\" or \"-inf\"";
    default:
        return alar_field_choices(field);
    }
}

int record_wrong(struct alar_record_reader *reader, const char *found, size_t length)
{
    bool is_word = alar_field_type(reader->field) == ALAR_TYPE_WORD;

    return record_expected(reader, "expected %s%s in `%s`, found %.*s%s", is_word ? "one of: " : "",
                           type_words(reader->field), alar_field_name(reader->field),
                           (int)(length < 40 ? length : 40), found, length < 40 ? "" : "...");
}

/* A terminated copy that lasts as long as the line's event; NULL when memory ran out. There was
   room for the whole line before it was parsed, so that copies never move. */
char *record_keep(struct alar_record_reader *reader, const char *text, size_t length)
{
    if (reader->text_room - reader->text_used < length + 1) {
        reader->is_out_of_memory = true;
        return NULL;
    }
    char *copy = reader->text + reader->text_used;
    memcpy(copy, text, length);
    copy[length] = '\0';
    reader->text_used += length + 1;
    return copy;
}

static struct alar_value *add_item(struct alar_record_reader *reader)
{
    if (reader->items == reader->item_room) {
        size_t room = reader->item_room ? 2 * reader->item_room : 64;
        struct alar_value *grown = realloc(reader->item, room * sizeof *grown);

        if (grown == NULL) {
            reader->is_out_of_memory = true;
            return NULL;
        }
        reader->item = grown;
        reader->item_room = room;
    }
    reader->event->number[reader->field]++;
    reader->item[reader->items] = (struct alar_value){0, NULL, 0};
    return &reader->item[reader->items++];
}

/* 1 + its value; 0 of what is no lower-case hex digit. */
static const uint8_t hex_digits[256] = {
    ['0'] = 1, ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9, ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
};

int record_add_value(struct alar_record_reader *reader, const char *text, size_t length)
{
    bool is_special =
        (length == 3 && (memcmp(text, "nan", 3) == 0 || memcmp(text, "inf", 3) == 0)) ||
        (length == 4 && memcmp(text, "-inf", 4) == 0);
    uint64_t bits = 0;

    for (size_t k = 0; !is_special && k < length; k++) {
        unsigned digit = hex_digits[(unsigned char)text[k]];

        if (digit == 0) {
            return record_wrong(reader, text, length);
        }
        bits = bits << 4 | (digit - 1);
    }
    if (!is_special && (length == 0 || length > 16)) {
        return record_wrong(reader, text, length);
    }
    struct alar_value *item = add_item(reader);
    if (item != NULL) {
        item->bits = bits;
        item->digits = is_special ? 0 : (uint32_t)length;
        item->text = is_special ? record_keep(reader, text, length) : NULL;
    }
    return item != NULL;
}

int record_add_decimal(struct alar_record_reader *reader, const char *text, size_t length)
{
    struct alar_value *item = add_item(reader);

    if (item != NULL) {
        item->text = record_keep(reader, text, length);
    }
    return item != NULL;
}

/* Decimal digits only, up to INT64_MAX. */
bool record_read_count(const char *text, size_t length, int64_t *number)
{
    uint64_t value = 0;

    if (length == 0 || length > 19) { /* 19 digits always fit into 64 bits without sign */
        return false;
    }
    for (size_t k = 0; k < length; k++) {
        unsigned digit = (unsigned)(text[k] - '0');

        if (digit > 9) {
            return false;
        }
        value = value * 10 + digit;
    }
    *number = (int64_t)value;
    return value <= INT64_MAX;
}

/* "group/number" to its parts. */
static bool read_op(const char *text, size_t length, size_t *group, int64_t *number)
{
    size_t slash = length;

    while (slash > 0 && text[slash - 1] != '/') {
        slash--;
    }
    *group = slash > 0 ? slash - 1 : 0;
    return slash > 1 && record_read_count(text + slash, length - slash, number);
}

int record_add_op(struct alar_record_reader *reader, const char *text, size_t length, bool is_text)
{
    size_t group = 0;
    int64_t number;

    if (is_text ? !read_op(text, length, &group, &number)
                : !record_read_count(text, length, &number)) {
        return record_wrong(reader, text, length);
    }
    if (reader->type == ALAR_TYPE_OPS) {
        struct alar_value *item = add_item(reader);

        if (item != NULL) {
            item->bits = (uint64_t)number;
            item->text = is_text ? record_keep(reader, text, group) : NULL;
        }
        return item != NULL;
    }
    reader->event->number[reader->field] = number;
    reader->event->text[reader->field] =
        is_text ? (struct alar_text){text, group} : (struct alar_text){"world", 5};
    return 1;
}

int record_add_rank(struct alar_record_reader *reader, const char *text, size_t length)
{
    const struct alar_value *before =
        reader->event->number[reader->field] > 0 ? &reader->item[reader->items - 1] : NULL;
    int64_t rank;

    if (!record_read_count(text, length, &rank) || rank >= UINT32_MAX ||
        (before != NULL && before->bits >= (uint64_t)rank)) {
        return record_wrong(reader, text, length);
    }
    struct alar_value *item = add_item(reader);
    if (item != NULL) {
        item->bits = (uint64_t)rank;
    }
    return item != NULL;
}

int record_set_loss(struct alar_record_reader *reader, const char *text, size_t length)
{
    struct alar_text word = {text, length};

    if (alar_text_is(word, "nan")) {
        reader->event->loss = (double)NAN;
    } else if (alar_text_is(word, "inf") || alar_text_is(word, "-inf")) {
        reader->event->loss = text[0] == '-' ? -(double)INFINITY : (double)INFINITY;
    } else {
        return record_wrong(reader, text, length);
    }
    return 1;
}

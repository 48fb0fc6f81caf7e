/* What each token of a line says of its event, whoever read the token. */
#include "check/record_state.h"

#include "sys/plain_numbers.h"

#include <math.h>
#include <string.h>

int record_take_number(struct alar_record_reader *reader, const char *text, size_t length)
{
    bool is_negative = length > 0 && text[0] == '-';
    int64_t number;

    reader->token = length;
    if (reader->depth == 0) {
        return record_expected(reader, "expected a record, found a number");
    }
    switch (reader->type) {
    case ALAR_TYPE_ANY:
        return 1;
    case ALAR_TYPE_VALUES:
        return record_add_decimal(reader, text, length);
    case ALAR_TYPE_RANKS:
        return reader->in_list ? record_add_rank(reader, text, length)
                               : record_wrong(reader, text, length);
    case ALAR_TYPE_OPS:
        return reader->in_list ? record_add_op(reader, text, length, false)
                               : record_wrong(reader, text, length);
    case ALAR_TYPE_OP:
        return record_add_op(reader, text, length, false);
    case ALAR_TYPE_LOSS: {
        char *copy = record_keep(reader, text, length);

        reader->event->loss = copy != NULL ? alar_plain_read(copy, NULL) : 0;
        reader->event->text[reader->field] = (struct alar_text){copy, length};
        return copy != NULL;
    }
    case ALAR_TYPE_SIGNED:
    case ALAR_TYPE_INT:
        if (!record_read_count(text + is_negative, length - is_negative, &number) ||
            (is_negative && reader->type == ALAR_TYPE_INT && number != 0)) {
            return record_wrong(reader, text, length);
        }
        reader->event->number[reader->field] = is_negative ? -number : number;
        return 1;
    default:
        return record_wrong(reader, text, length);
    }
}

/* A string points into the line, unless it was decoded: yajl reuses that memory for the next one.
 */
static const char *lasting(struct alar_record_reader *reader, const char *text, size_t length)
{
    uintptr_t at = (uintptr_t)text, line = (uintptr_t)reader->line;

    return at >= line && at < line + reader->line_length ? text : record_keep(reader, text, length);
}

int record_take_text(struct alar_record_reader *reader, const char *bytes, size_t length)
{
    struct alar_event *event = reader->event;

    reader->token = length + 2;
    if (reader->depth == 0) {
        return record_expected(reader, "expected a record, found text");
    }
    if (reader->type == ALAR_TYPE_ANY) {
        return 1;
    }
    enum alar_field field = reader->field;
    const char *text = lasting(reader, bytes, length);
    struct alar_text word = {text, length};
    if (text == NULL) {
        return 0;
    }
    switch (reader->type) {
    case ALAR_TYPE_TEXT:
        event->text[field] = word;
        return field != ALAR_FIELD_EV || alar_record_find(word, &event->record) == ALAR_OK
                   ? 1
                   : record_expected(reader, "expected a known record in `ev`, found %.*s",
                                     (int)(length < 40 ? length : 40), text);
    case ALAR_TYPE_WORD:
        return alar_field_word(field, word, &event->number[field]) == ALAR_OK
                   ? 1
                   : record_wrong(reader, text, length);
    case ALAR_TYPE_OP:
        return record_add_op(reader, text, length, true);
    case ALAR_TYPE_OPS:
        return reader->in_list ? record_add_op(reader, text, length, true)
                               : record_wrong(reader, text, length);
    case ALAR_TYPE_VALUES:
        return record_add_value(reader, text, length);
    case ALAR_TYPE_LOSS:
        return record_set_loss(reader, text, length);
    default:
        return record_wrong(reader, text, length);
    }
}

int record_take_truth(struct alar_record_reader *reader, bool truth)
{
    reader->token = truth ? 4 : 5;
    if (reader->depth == 0) {
        return record_expected(reader, "expected a record, found true or false");
    }
    if (reader->type == ALAR_TYPE_ANY) {
        return 1;
    }
    if (reader->type != ALAR_TYPE_FLAG) {
        return record_wrong(reader, truth ? "true" : "false", truth ? 4 : 5);
    }
    reader->event->number[reader->field] = truth;
    return 1;
}

int record_take_null(struct alar_record_reader *reader)
{
    reader->token = 4;
    if (reader->depth == 0) {
        return record_expected(reader, "expected a record, found null");
    }
    if (reader->type == ALAR_TYPE_ANY) {
        return 1;
    }
    if (reader->type != ALAR_TYPE_LOSS) {
        return record_wrong(reader, "null", 4);
    }
    reader->event->loss = (double)NAN;
    reader->event->loss_is_empty = true;
    return 1;
}

int record_take_object(struct alar_record_reader *reader)
{
    reader->token = 1;
    if (reader->depth++ == 0) {
        return reader->objects == 0
                   ? 1
                   : record_expected(reader, "expected one record a line, found two");
    }
    return reader->type == ALAR_TYPE_ANY ? 1 : record_wrong(reader, "an object", 9);
}

int record_take_object_end(struct alar_record_reader *reader)
{
    reader->objects += --reader->depth == 0;
    return 1;
}

static bool is_list(enum alar_field_type type)
{
    return type == ALAR_TYPE_VALUES || type == ALAR_TYPE_RANKS || type == ALAR_TYPE_OPS;
}

int record_take_key(struct alar_record_reader *reader, const char *name, size_t length, size_t end)
{
    struct alar_text text = {name, length};
    enum alar_field field = record_guess(reader);

    reader->token = length + 2;
    if (reader->depth > 1) {
        return 1; /* inside the value of a field that is not looked at */
    }
    if (!alar_field_is(field, text) && alar_field_find(text, &field) != ALAR_OK) {
        reader->field = ALAR_FIELD_COUNT;
        reader->type = ALAR_TYPE_ANY;
        return 1;
    }
    reader->follower[reader->event->record][reader->before] = (uint8_t)field;
    return record_take_field(reader, field, end);
}

int record_take_field(struct alar_record_reader *reader, enum alar_field field, size_t end)
{
    struct alar_event *event = reader->event;

    reader->token = reader->name[field].length + 2;
    reader->before = field;
    reader->field = field;
    reader->type = reader->name[field].type;
    if (event->has[field]) {
        return record_expected(reader, "expected `%s` once, found it twice",
                               alar_field_name(field));
    }
    event->has[field] = true;
    event->number[field] = 0;
    if (is_list(reader->type)) {
        if (reader->lists < RECORD_LISTS) {
            reader->list[reader->lists++] = field;
        }
        event->list[field] = NULL;
        reader->first[field] = reader->items;
    }
    reader->column[field] = end > reader->token - 1 ? end - reader->token + 1 : 1;
    return 1;
}

int record_take_list(struct alar_record_reader *reader)
{
    reader->token = 1;
    if (reader->depth++ == 0) {
        return record_expected(reader, "expected a record, found a list");
    }
    if (reader->type == ALAR_TYPE_ANY) {
        return 1;
    }
    enum alar_field_type type = reader->type;
    if (reader->in_list || !is_list(type)) {
        return record_wrong(reader, "a list", 6);
    }
    reader->in_list = true;
    return 1;
}

int record_take_list_end(struct alar_record_reader *reader)
{
    reader->depth--;
    reader->in_list = false;
    return 1;
}

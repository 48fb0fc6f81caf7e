/* yajl calls back for each JSON token; one object of known fields becomes one event. */
#include "check/record_state.h"

#include "sys/plain_numbers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int on_number(void *context, const char *text, size_t length)
{
    struct alar_record_reader *reader = context;
    bool is_negative = length > 0 && text[0] == '-';
    int64_t number;

    reader->token = length;
    if (reader->field == ALAR_FIELD_COUNT || reader->depth == 0) {
        return reader->depth > 0 ? 1 : record_expected(reader, "expected a record, found a number");
    }
    switch (alar_field_type(reader->field)) {
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
            (is_negative && alar_field_type(reader->field) == ALAR_TYPE_INT && number != 0)) {
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
static const char *lasting(struct alar_record_reader *reader, const unsigned char *bytes,
                           size_t length)
{
    uintptr_t at = (uintptr_t)bytes, line = (uintptr_t)reader->line;
    const char *text = (const char *)bytes;

    return at >= line && at < line + reader->line_length ? text : record_keep(reader, text, length);
}

static int on_string(void *context, const unsigned char *bytes, size_t length)
{
    struct alar_record_reader *reader = context;
    struct alar_event *event = reader->event;

    reader->token = length + 2;
    if (reader->field == ALAR_FIELD_COUNT || reader->depth == 0) {
        return reader->depth > 0 ? 1 : record_expected(reader, "expected a record, found text");
    }
    enum alar_field field = reader->field;
    const char *text = lasting(reader, bytes, length);
    struct alar_text word = {text, length};
    if (text == NULL) {
        return 0;
    }
    switch (alar_field_type(field)) {
    case ALAR_TYPE_ANY:
        return 1;
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

static int on_boolean(void *context, int truth)
{
    struct alar_record_reader *reader = context;

    reader->token = truth ? 4 : 5;
    if (reader->depth == 0) {
        return record_expected(reader, "expected a record, found true or false");
    }
    if (reader->field == ALAR_FIELD_COUNT || alar_field_type(reader->field) == ALAR_TYPE_ANY) {
        return 1;
    }
    if (alar_field_type(reader->field) != ALAR_TYPE_FLAG) {
        return record_wrong(reader, truth ? "true" : "false", truth ? 4 : 5);
    }
    reader->event->number[reader->field] = truth;
    return 1;
}

static int on_null(void *context)
{
    struct alar_record_reader *reader = context;

    reader->token = 4;
    if (reader->depth == 0) {
        return record_expected(reader, "expected a record, found null");
    }
    if (reader->field == ALAR_FIELD_COUNT || alar_field_type(reader->field) == ALAR_TYPE_ANY) {
        return 1;
    }
    if (alar_field_type(reader->field) != ALAR_TYPE_LOSS) {
        return record_wrong(reader, "null", 4);
    }
    reader->event->loss = (double)NAN;
    reader->event->loss_is_empty = true;
    return 1;
}

static int on_map(void *context)
{
    struct alar_record_reader *reader = context;

    reader->token = 1;
    if (reader->depth++ == 0) {
        return reader->objects == 0
                   ? 1
                   : record_expected(reader, "expected one record a line, found two");
    }
    return reader->field == ALAR_FIELD_COUNT || alar_field_type(reader->field) == ALAR_TYPE_ANY
               ? 1
               : record_wrong(reader, "an object", 9);
}

static int on_map_end(void *context)
{
    struct alar_record_reader *reader = context;

    reader->objects += --reader->depth == 0;
    return 1;
}

static bool is_list(enum alar_field_type type)
{
    return type == ALAR_TYPE_VALUES || type == ALAR_TYPE_RANKS || type == ALAR_TYPE_OPS;
}

/* Records repeat: what followed this field in the last record of this kind is most likely to follow
   it again. */
static enum alar_status find_field(struct alar_record_reader *reader, struct alar_text name,
                                   enum alar_field *field)
{
    uint8_t *follower = &reader->follower[reader->event->record][reader->before];
    enum alar_field guess = (enum alar_field) * follower;

    if (!alar_field_is(guess, name)) {
        ALAR_TRY(alar_field_find(name, &guess));
        *follower = (uint8_t)guess;
    }
    *field = guess;
    reader->before = guess;
    return ALAR_OK;
}

static int on_key(void *context, const unsigned char *bytes, size_t length)
{
    struct alar_record_reader *reader = context;
    size_t end = yajl_get_bytes_consumed(reader->json);

    reader->token = length + 2;
    if (reader->depth > 1) {
        return 1; /* inside the value of a field that is not looked at */
    }
    reader->field = ALAR_FIELD_COUNT;
    if (find_field(reader, (struct alar_text){(const char *)bytes, length}, &reader->field) !=
        ALAR_OK) {
        return 1;
    }
    if (reader->event->has[reader->field]) {
        return record_expected(reader, "expected `%s` once, found it twice",
                               alar_field_name(reader->field));
    }
    reader->event->has[reader->field] = true;
    reader->event->number[reader->field] = 0;
    if (reader->lists < RECORD_LISTS && is_list(alar_field_type(reader->field))) {
        reader->list[reader->lists++] = reader->field;
    }
    reader->column[reader->field] = end > length + 1 ? end - length - 1 : 1;
    reader->event->list[reader->field] = NULL;
    reader->first[reader->field] = reader->items;
    return 1;
}

static int on_array(void *context)
{
    struct alar_record_reader *reader = context;

    reader->token = 1;
    if (reader->depth++ == 0) {
        return record_expected(reader, "expected a record, found a list");
    }
    if (reader->field == ALAR_FIELD_COUNT || alar_field_type(reader->field) == ALAR_TYPE_ANY) {
        return 1;
    }
    enum alar_field_type type = alar_field_type(reader->field);
    if (reader->in_list || !is_list(type)) {
        return record_wrong(reader, "a list", 6);
    }
    reader->in_list = true;
    return 1;
}

static int on_array_end(void *context)
{
    struct alar_record_reader *reader = context;

    reader->depth--;
    reader->in_list = false;
    return 1;
}

static const yajl_callbacks callbacks = {
    on_null, on_boolean, NULL,       NULL,     on_number,    on_string,
    on_map,  on_key,     on_map_end, on_array, on_array_end,
};

static enum alar_status open_json(struct alar_record_reader *reader)
{
    reader->json = yajl_alloc(&callbacks, NULL, reader);
    if (reader->json == NULL) {
        return ALAR_E_NOMEM;
    }
    yajl_config(reader->json, yajl_allow_multiple_values, 1);
    return ALAR_OK;
}

enum alar_status alar_record_reader_open(struct alar_record_reader **opened)
{
    struct alar_record_reader *reader = calloc(1, sizeof *reader);

    if (reader == NULL || open_json(reader) != ALAR_OK) {
        free(reader);
        return ALAR_E_NOMEM;
    }
    *opened = reader;
    return ALAR_OK;
}

void alar_record_reader_close(struct alar_record_reader *reader)
{
    if (reader != NULL) {
        if (reader->json != NULL) {
            yajl_free(reader->json);
        }
        free(reader->item);
        free(reader->text);
        free(reader);
    }
}

/* Every string and number of a line, terminated, fits into twice its length. */
static enum alar_status reader_prepare(struct alar_record_reader *reader, size_t length)
{
    size_t room = 2 * length + 64;

    reader->items = 0;
    reader->lists = 0;
    reader->before = ALAR_FIELD_EV;
    reader->text_used = 0;
    reader->depth = 0;
    reader->objects = 0;
    reader->in_list = false;
    reader->token = 1;
    reader->field = ALAR_FIELD_COUNT;
    reader->is_out_of_memory = false;
    if (reader->text_room < room) {
        char *grown = realloc(reader->text, room);

        if (grown == NULL) {
            return ALAR_E_NOMEM;
        }
        reader->text = grown;
        reader->text_room = room;
    }
    return reader->json != NULL ? ALAR_OK : open_json(reader);
}

/* yajl's own words for broken JSON, first line only. */
static void json_error(struct alar_record_reader *reader)
{
    unsigned char *words = yajl_get_error(reader->json, 0, NULL, 0);
    const char *text = words != NULL ? (const char *)words : "broken JSON";

    snprintf(reader->error->text, sizeof reader->error->text, "expected JSON, found %.*s",
             (int)strcspn(text, "\n"), text);
    reader->error->column = yajl_get_bytes_consumed(reader->json);
    reader->error->column += reader->error->column == 0;
    if (words != NULL) {
        yajl_free_error(reader->json, words);
    }
}

static enum alar_status reader_failed(struct alar_record_reader *reader, bool is_broken)
{
    if (is_broken && reader->error->text[0] == '\0' && !reader->is_out_of_memory) {
        json_error(reader);
    }
    yajl_free(reader->json);
    reader->json = NULL; /* a parser that failed can't go on; the next line gets a new one */
    return reader->is_out_of_memory ? ALAR_E_NOMEM : ALAR_E_INPUT;
}

static enum alar_status reader_require(struct alar_record_reader *reader)
{
    struct alar_event *event = reader->event;
    enum alar_field missing;

    reader->token =
        yajl_get_bytes_consumed(reader->json); /* it is the record that lacks something */
    if (!event->has[ALAR_FIELD_EV]) {
        record_expected(reader, "expected `ev`, found none");
        return ALAR_E_INPUT;
    }
    missing = alar_event_missing(event);
    if (missing != ALAR_FIELD_COUNT) {
        record_expected(reader, "expected `%s` in `%s`, found none", alar_field_name(missing),
                        alar_record_name(event->record));
        return ALAR_E_INPUT;
    }
    return ALAR_OK;
}

enum alar_status alar_record_read(struct alar_record_reader *reader, const char *line,
                                  size_t length, struct alar_event *event,
                                  struct alar_record_error *error)
{
    memset(error, 0, sizeof *error);
    memset(event->has, 0, sizeof event->has);
    event->loss_is_empty = false;
    event->text[ALAR_FIELD_LOSS] =
        (struct alar_text){0};         /* also unset beside a loss that is a word */
    event->record = ALAR_RECORD_ISSUE; /* until `ev` says otherwise */
    reader->event = event;
    reader->error = error;
    reader->line = line;
    reader->line_length = length;
    ALAR_TRY(reader_prepare(reader, length));
    if (yajl_parse(reader->json, (const unsigned char *)line, length) != yajl_status_ok) {
        return reader_failed(reader, true);
    }
    if (reader->objects != 1 || reader->depth != 0) {
        error->is_cut = true;
        error->column = length + 1;
        snprintf(error->text, sizeof error->text,
                 "expected the end of the record, found the end of the line");
        return reader_failed(reader, false);
    }
    for (unsigned k = 0; k < reader->lists && reader->item != NULL; k++) {
        event->list[reader->list[k]] = &reader->item[reader->first[reader->list[k]]];
    }
    return reader_require(reader);
}

size_t alar_record_column(const struct alar_record_reader *reader, enum alar_field field)
{
    bool is_given = (unsigned)field < ALAR_FIELD_COUNT && reader->event->has[field];

    return is_given ? reader->column[field] : 1;
}

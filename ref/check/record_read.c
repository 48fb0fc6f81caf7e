/* One object of known fields becomes one event. Nearly every line has the plain shape that
   record_scan.c reads; yajl reads the others, and alone says what is wrong with a line. */
#include "check/record_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int on_null(void *context)
{
    return record_take_null(context);
}

static int on_boolean(void *context, int truth)
{
    return record_take_truth(context, truth != 0);
}

static int on_number(void *context, const char *text, size_t length)
{
    return record_take_number(context, text, length);
}

static int on_string(void *context, const unsigned char *text, size_t length)
{
    return record_take_text(context, (const char *)text, length);
}

static int on_map(void *context)
{
    return record_take_object(context);
}

static int on_key(void *context, const unsigned char *name, size_t length)
{
    struct alar_record_reader *reader = context;

    return record_take_key(reader, (const char *)name, length,
                           yajl_get_bytes_consumed(reader->json));
}

static int on_map_end(void *context)
{
    struct alar_record_reader *reader = context;

    reader->past = yajl_get_bytes_consumed(reader->json);
    return record_take_object_end(reader);
}

static int on_array(void *context)
{
    return record_take_list(context);
}

static int on_array_end(void *context)
{
    return record_take_list_end(context);
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

static void name_fields(struct record_name *name)
{
    for (unsigned f = 0; f < ALAR_FIELD_COUNT; f++) {
        const char *text = alar_field_name((enum alar_field)f);
        size_t length = strlen(text),
               first = length < sizeof name->word ? length : sizeof name->word;

        name[f] = (struct record_name){
            .text = text, .length = length, .type = alar_field_type((enum alar_field)f)};
        memcpy(&name[f].word, text, first);
        memset(&name[f].mask, 0xff, first);
    }
}

enum alar_status alar_record_reader_open(struct alar_record_reader **opened)
{
    struct alar_record_reader *reader = calloc(1, sizeof *reader);

    if (reader == NULL || open_json(reader) != ALAR_OK ||
        alar_pack_desk_open(&reader->desk) != ALAR_OK) {
        alar_record_reader_close(reader);
        return ALAR_E_NOMEM;
    }
    name_fields(reader->name);
    *opened = reader;
    return ALAR_OK;
}

void alar_record_reader_close(struct alar_record_reader *reader)
{
    if (reader != NULL) {
        if (reader->json != NULL) {
            yajl_free(reader->json);
        }
        alar_pack_desk_close(reader->desk);
        free(reader->item);
        free(reader->text);
        free(reader);
    }
}

/* Every string and number of a line, terminated, fits into twice its length. */
static enum alar_status reader_prepare(struct alar_record_reader *reader)
{
    size_t room = 2 * reader->line_length + 64;

    reader->items = 0;
    reader->lists = 0;
    reader->before = ALAR_FIELD_EV;
    reader->text_used = 0;
    reader->depth = 0;
    reader->objects = 0;
    reader->in_list = false;
    reader->token = 1;
    reader->field = ALAR_FIELD_COUNT;
    reader->type = ALAR_TYPE_ANY;
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

/* The event begins anew: before a line, and before yajl reads what record_scan left to it. */
static enum alar_status reader_begin(struct alar_record_reader *reader)
{
    struct alar_event *event = reader->event;

    reader->error->text[0] = '\0';
    reader->error->column = 0;
    reader->error->is_cut = false;
    memset(event->has, 0, sizeof event->has);
    event->loss_is_empty = false;
    event->text[ALAR_FIELD_LOSS] =
        (struct alar_text){0};         /* also unset beside a loss that is a word */
    event->record = ALAR_RECORD_ISSUE; /* until `ev` says otherwise */
    return reader_prepare(reader);
}

/* Half a token behind the record is none to the library: it would go on with the next line. */
static enum alar_status reader_finish(struct alar_record_reader *reader)
{
    size_t at = reader->past;

    while (at < reader->line_length && memchr(" \t\r\f\v", reader->line[at], 5) != NULL) {
        at++;
    }
    if (at == reader->line_length) {
        return ALAR_OK;
    }
    reader->error->column = at + 1;
    snprintf(reader->error->text, sizeof reader->error->text,
             "expected the end of the line behind the record, found more");
    return reader_failed(reader, false);
}

static enum alar_status reader_parse(struct alar_record_reader *reader)
{
    const unsigned char *line = (const unsigned char *)reader->line;

    ALAR_TRY(reader_begin(reader));
    if (yajl_parse(reader->json, line, reader->line_length) != yajl_status_ok) {
        return reader_failed(reader, true);
    }
    if (reader->objects != 1 || reader->depth != 0) {
        reader->error->is_cut = true;
        reader->error->column = reader->line_length + 1;
        snprintf(reader->error->text, sizeof reader->error->text,
                 "expected the end of the record, found the end of the line");
        return reader_failed(reader, false);
    }
    ALAR_TRY(reader_finish(reader));
    return reader_require(reader);
}

enum alar_status alar_record_read(struct alar_record_reader *reader, const char *line,
                                  size_t length, struct alar_event *event,
                                  struct alar_record_error *error)
{
    reader->event = event;
    reader->error = error;
    reader->line = line;
    reader->line_length = length;
    ALAR_TRY(reader_begin(reader));
    if (!record_scan(reader) || !event->has[ALAR_FIELD_EV] ||
        alar_event_missing(event) != ALAR_FIELD_COUNT) {
        ALAR_TRY(reader_parse(reader));
    }
    for (unsigned k = 0; k < reader->lists && reader->item != NULL; k++) {
        event->list[reader->list[k]] = &reader->item[reader->first[reader->list[k]]];
    }
    return ALAR_OK;
}

struct alar_pack_desk *alar_record_desk(struct alar_record_reader *reader)
{
    return reader->desk;
}

size_t alar_record_column(const struct alar_record_reader *reader, enum alar_field field)
{
    bool is_given = (unsigned)field < ALAR_FIELD_COUNT && reader->event->has[field];

    return is_given ? reader->column[field] : 1;
}

/* Names, types and requirements of records and fields, all from record.def. */
#include "judge/event.h"

#include "base/check.h"

#include <string.h>

struct record_row {
    const char *name;
    size_t length;     /* of the name */
    uint64_t required; /* mask of fields */
};

struct field_row {
    const char *name;
    size_t length; /* of the name */
    enum alar_field_type type;
    const char *choices;
};

static const struct record_row records[] = {
#define RECORD(token, name, required) {name, sizeof name - 1, required},
#include "judge/record.def"
};

static const struct field_row fields[] = {
#define FIELD(token, name, type, choices) {name, sizeof name - 1, ALAR_TYPE_##type, choices},
#include "judge/record.def"
};

const char *alar_record_name(enum alar_record record)
{
    return (unsigned)record < ALAR_RECORD_COUNT ? records[record].name : "?";
}

const char *alar_field_name(enum alar_field field)
{
    return (unsigned)field < ALAR_FIELD_COUNT ? fields[field].name : "?";
}

enum alar_field_type alar_field_type(enum alar_field field)
{
    PRE((unsigned)field < ALAR_FIELD_COUNT);
    return fields[field].type;
}

const char *alar_field_choices(enum alar_field field)
{
    return (unsigned)field < ALAR_FIELD_COUNT ? fields[field].choices : "";
}

enum alar_status alar_record_find(struct alar_text name, enum alar_record *record)
{
    for (unsigned r = 0; r < ALAR_RECORD_COUNT; r++) {
        if (records[r].length == name.length &&
            memcmp(records[r].name, name.data, name.length) == 0) {
            *record = (enum alar_record)r;
            return ALAR_OK;
        }
    }
    return ALAR_E_INPUT;
}

bool alar_field_is(enum alar_field field, struct alar_text name)
{
    PRE((unsigned)field < ALAR_FIELD_COUNT);
    return fields[field].length == name.length &&
           memcmp(fields[field].name, name.data, name.length) == 0;
}

enum alar_status alar_field_find(struct alar_text name, enum alar_field *field)
{
    for (unsigned f = 0; f < ALAR_FIELD_COUNT; f++) {
        if (alar_field_is((enum alar_field)f, name)) {
            *field = (enum alar_field)f;
            return ALAR_OK;
        }
    }
    return ALAR_E_INPUT;
}

enum alar_status alar_field_word(enum alar_field field, struct alar_text word, int64_t *index)
{
    const char *choice = alar_field_choices(field);

    for (int64_t k = 0; *choice; k++) {
        size_t length = 0;

        while (choice[length] != ' ' && choice[length] != '\0') {
            length++;
        }
        if (length == word.length && memcmp(choice, word.data, length) == 0) {
            *index = k;
            return ALAR_OK;
        }
        choice += length + (choice[length] == ' ');
    }
    return ALAR_E_INPUT;
}

enum alar_field alar_event_missing(const struct alar_event *event)
{
    PRE((unsigned)event->record < ALAR_RECORD_COUNT);
    uint64_t required = records[event->record].required;

    for (unsigned f = 0; required >> f; f++) {
        if (required >> f & 1 && !event->has[f]) {
            return (enum alar_field)f;
        }
    }
    return ALAR_FIELD_COUNT;
}

int64_t alar_event_number(const struct alar_event *event, enum alar_field field, int64_t otherwise)
{
    return event->has[field] ? event->number[field] : otherwise;
}

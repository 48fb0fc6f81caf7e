/* One record of a history, as the judge reads it. Which records and fields there are is stated in
   record.def; what they mean in spec/history.md. An event borrows everything it points to. */
#ifndef ALAR_EVENT_H
#define ALAR_EVENT_H

#include "api/dtype.h"
#include "api/terms.h"
#include "base/text.h"

/* A rank that is no rank: all of them, or none, as the place says. */
#define ALAR_RANK_ALL UINT32_MAX

enum alar_record {
#define RECORD(token, name, required) ALAR_RECORD_##token,
#include "judge/record.def"
    ALAR_RECORD_COUNT
};

enum alar_field {
#define FIELD(token, name, type, choices) ALAR_FIELD_##token,
#include "judge/record.def"
    ALAR_FIELD_COUNT
};

enum alar_field_type {
    ALAR_TYPE_INT,
    ALAR_TYPE_SIGNED,
    ALAR_TYPE_FLAG,
    ALAR_TYPE_WORD,
    ALAR_TYPE_TEXT,
    ALAR_TYPE_OP,
    ALAR_TYPE_VALUES,
    ALAR_TYPE_RANKS,
    ALAR_TYPE_OPS,
    ALAR_TYPE_LOSS,
    ALAR_TYPE_ANY,
};

/* Where a record stands. */
struct alar_place {
    uint32_t file; /* index of the file within the history */
    uint32_t line; /* from 1; 0: nowhere */
};

/* One item of a list: a value, a rank, or an operation. */
struct alar_value {
    uint64_t bits;    /* hex value; rank; number of an operation */
    const char *text; /* terminated: a decimal value still to be rounded to its dtype, or the group
                         of an operation; NULL otherwise */
    uint32_t digits;  /* hex digits given; 0 for a decimal value */
};

struct alar_event {
    enum alar_record record;
    struct alar_place place;
    bool has[ALAR_FIELD_COUNT]; /* was the field given? nothing else of it counts if not */
    int64_t
        number[ALAR_FIELD_COUNT]; /* INT, SIGNED, FLAG, WORD; number of an OP; items of a list */
    struct alar_text
        text[ALAR_FIELD_COUNT]; /* TEXT; group of an OP, with no data for a bare number */
    const struct alar_value *list[ALAR_FIELD_COUNT]; /* VALUES, RANKS, OPS: number[] items */
    double loss;                                     /* LOSS; NaN when null, see loss_is_empty */
    bool loss_is_empty;                              /* LOSS was null */
};

/* "issue"; "?" for a number that is no record. Static storage. */
const char *alar_record_name(enum alar_record record);

/* "rank"; "?" for a number that is no field. Static storage. */
const char *alar_field_name(enum alar_field field);

/* How a field is written. PRE: it is a field. */
enum alar_field_type alar_field_type(enum alar_field field);

/* The words of a WORD field, blanks between them; "" for other fields. Static storage. */
const char *alar_field_choices(enum alar_field field);

/* The record, or field, of that name.
   Errors: ALAR_E_INPUT when there is none. */
ALAR_MUST_USE enum alar_status alar_record_find(struct alar_text name, enum alar_record *record);
ALAR_MUST_USE enum alar_status alar_field_find(struct alar_text name, enum alar_field *field);

/* Is this the field's name? PRE: it is a field. */
bool alar_field_is(enum alar_field field, struct alar_text name);

/* The index of a word among the choices of a WORD field.
   Errors: ALAR_E_INPUT when it is not one of them. */
ALAR_MUST_USE enum alar_status alar_field_word(enum alar_field field, struct alar_text word,
                                               int64_t *index);

/* The first field the record can't do without and `event` does not give; ALAR_FIELD_COUNT when
   nothing is missing. */
enum alar_field alar_event_missing(const struct alar_event *event);

/* The field's number if it was given, else `otherwise`. */
int64_t alar_event_number(const struct alar_event *event, enum alar_field field, int64_t otherwise);

#endif

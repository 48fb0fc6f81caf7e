/* What a reader of lines keeps, private to record_*.c. */
#ifndef ALAR_RECORD_STATE_H
#define ALAR_RECORD_STATE_H

#include "check/record_read.h"

#include <yajl/yajl_parse.h>

enum {
    RECORD_LISTS = 16 /* more than there are fields that hold a list */
};

/* A field's name, for a reader that compares eight bytes at once. */
struct record_name {
    uint64_t word, mask; /* its first bytes, and which of eight they are */
    const char *text;
    size_t length;
    enum alar_field_type type;
};

struct alar_record_reader {
    yajl_handle json;
    struct alar_pack_desk *desk;
    const char *line;
    size_t line_length;
    struct alar_event *event;
    struct alar_record_error *error;
    size_t column[ALAR_FIELD_COUNT];
    enum alar_field field;     /* whose value comes next; ALAR_FIELD_COUNT: an unknown one */
    enum alar_field_type type; /* of it; ALAR_TYPE_ANY of an unknown one */
    size_t token;              /* bytes of the current token */
    unsigned depth;            /* open objects and arrays */
    unsigned objects;          /* whole ones so far */
    size_t past;               /* bytes up to the end of the last object, of what yajl reads */
    bool in_list;
    struct alar_value *item; /* items of all lists of the line */
    size_t items, item_room;
    enum alar_field list[RECORD_LISTS]; /* fields of the line that hold a list */
    unsigned lists;
    enum alar_field before;                                /* last known field of the line */
    uint8_t follower[ALAR_RECORD_COUNT][ALAR_FIELD_COUNT]; /* that came after it last time */
    size_t first[ALAR_FIELD_COUNT];                        /* item of each list */
    struct record_name name[ALAR_FIELD_COUNT];
    char *text; /* copies: decoded strings, terminated numbers */
    size_t text_used, text_room;
    bool is_out_of_memory;
};

/* Records repeat: what followed this field in the last record of this kind is most likely to follow
   it again. */
static inline enum alar_field record_guess(const struct alar_record_reader *reader)
{
    return (enum alar_field)reader->follower[reader->event->record][reader->before];
}

/* record_scan.c: reads the line without yajl, as nearly every line can be: one object, without
   escapes, beyond ASCII or objects inside. False: left to yajl, or wrong; nothing of it counts. */
bool record_scan(struct alar_record_reader *reader);

/* record_take.c: tokens, in their order. All return 1 when the parse may go on, and 0 after an
   error or when memory ran out. `end`: bytes of the line up to the end of the key. A field is a key
   whose name is known, as when the guess was right. */
int record_take_number(struct alar_record_reader *reader, const char *text, size_t length);
int record_take_text(struct alar_record_reader *reader, const char *bytes, size_t length);
int record_take_truth(struct alar_record_reader *reader, bool truth);
int record_take_null(struct alar_record_reader *reader);
int record_take_object(struct alar_record_reader *reader);
int record_take_object_end(struct alar_record_reader *reader);
int record_take_key(struct alar_record_reader *reader, const char *name, size_t length, size_t end);
int record_take_field(struct alar_record_reader *reader, enum alar_field field, size_t end);
int record_take_list(struct alar_record_reader *reader);
int record_take_list_end(struct alar_record_reader *reader);

/* record_value.c: typed values of fields. All but record_keep and record_read_count return 1 when
   the parse may go on, and 0 after an error or when memory ran out. */
int record_expected(struct alar_record_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int record_wrong(struct alar_record_reader *reader, const char *found, size_t length);
int record_add_value(struct alar_record_reader *reader, const char *text, size_t length);
int record_add_decimal(struct alar_record_reader *reader, const char *text, size_t length);
int record_add_op(struct alar_record_reader *reader, const char *text, size_t length, bool is_text);
int record_add_rank(struct alar_record_reader *reader, const char *text, size_t length);
int record_set_loss(struct alar_record_reader *reader, const char *text, size_t length);
char *record_keep(struct alar_record_reader *reader, const char *text, size_t length);
bool record_read_count(const char *text, size_t length, int64_t *number);

#endif

/* What a reader of lines keeps, private to record_*.c. */
#ifndef ALAR_RECORD_STATE_H
#define ALAR_RECORD_STATE_H

#include "check/record_read.h"

#include <yajl/yajl_parse.h>

enum {
    RECORD_LISTS = 16 /* more than there are fields that hold a list */
};

struct alar_record_reader {
    yajl_handle json;
    const char *line;
    size_t line_length;
    struct alar_event *event;
    struct alar_record_error *error;
    size_t column[ALAR_FIELD_COUNT];
    enum alar_field field; /* whose value comes next; ALAR_FIELD_COUNT: an unknown one */
    size_t token;          /* bytes of the current token */
    unsigned depth;        /* open objects and arrays */
    unsigned objects;      /* whole ones so far */
    bool in_list;
    struct alar_value *item; /* items of all lists of the line */
    size_t items, item_room;
    enum alar_field list[RECORD_LISTS]; /* fields of the line that hold a list */
    unsigned lists;
    enum alar_field before;                                /* last known field of the line */
    uint8_t follower[ALAR_RECORD_COUNT][ALAR_FIELD_COUNT]; /* that came after it last time */
    size_t first[ALAR_FIELD_COUNT];                        /* item of each list */
    char *text; /* copies: decoded strings, terminated numbers */
    size_t text_used, text_room;
    bool is_out_of_memory;
};

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

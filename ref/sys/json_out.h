/* Composes one JSON object in memory the caller gave, without printf where speed matters: the lines
   of a history and of a report file. Text comes out as valid UTF-8 whatever came in. */
#ifndef ALAR_JSON_OUT_H
#define ALAR_JSON_OUT_H

#include "api/dtype.h"

/* Bits of a value, or of several; borrowed. Little-endian, as in memory. */
struct alar_elements {
    const void *values;
    size_t count;
    enum alar_dtype dtype;
};

/* Bytes of the UTF-8 character at `text`, 1 to 4; 0 when it is none. */
size_t alar_utf8_bytes(const char *text);

/* A line being composed. What does not fit is left out, and `is_full` says so. */
struct alar_json {
    char *bytes; /* the caller's, `room` bytes */
    size_t room;
    size_t length;
    bool is_full;
};

/* Begins an object; ends it with a newline. */
void alar_json_begin(struct alar_json *json);
void alar_json_end(struct alar_json *json);

/* One field each. `key` needs no escape. A NULL text makes no field. */
void alar_json_text(struct alar_json *json, const char *key, const char *text);
void alar_json_count(struct alar_json *json, const char *key, uint64_t number);
void alar_json_signed(struct alar_json *json, const char *key, int64_t number);
void alar_json_flag(struct alar_json *json, const char *key, bool truth);
void alar_json_null(struct alar_json *json, const char *key);

/* The first value of `elements` as people read it: the shortest number that reads back as the same
   bits, or "nan", "inf", "-inf". */
void alar_json_value(struct alar_json *json, const char *key, struct alar_elements elements);

/* The first value of `elements` as a string of hex digits; then all of them, as an array of such.
 */
void alar_json_bits(struct alar_json *json, const char *key, struct alar_elements elements);
void alar_json_elements(struct alar_json *json, const char *key, struct alar_elements elements);

/* "group/number"; then an array of `count` of them, numbered from `first`. */
void alar_json_op(struct alar_json *json, const char *key, const char *group, uint64_t number);
void alar_json_ops(struct alar_json *json, const char *key, const char *group, uint64_t first,
                   uint64_t count);

/* An array of numbers. */
void alar_json_ranks(struct alar_json *json, const char *key, const uint32_t *ranks, size_t count);

#endif

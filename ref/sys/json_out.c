/* The JSON composer. Every append checks the room once; a line that did not fit is marked and never
   runs over. */
#include "sys/json_out.h"

#include "base/check.h"
#include "sys/decimal.h"

#include <string.h>

enum {
    DECIMAL_DIGITS = 20
}; /* of UINT64_MAX */

/* `count` bytes at the end of the line; NULL when they do not fit, now or earlier. */
static char *reserve(struct alar_json *json, size_t count)
{
    char *at = json->bytes + json->length;

    if (json->is_full || count > json->room - json->length) {
        json->is_full = true;
        return NULL;
    }
    json->length += count;
    return at;
}

static void append(struct alar_json *json, const char *bytes, size_t count)
{
    char *at = reserve(json, count);

    if (at != NULL) {
        memcpy(at, bytes, count);
    }
}

static void append_text(struct alar_json *json, const char *text)
{
    append(json, text, strlen(text));
}

/* `,"key":`, without the comma behind an opening brace. */
static void append_key(struct alar_json *json, const char *key)
{
    size_t comma = json->length > 1 ? 1 : 0;
    size_t length = strlen(key);
    char *at = reserve(json, comma + length + 3);

    if (at != NULL) {
        memcpy(at, ",\"", 2);
        at[comma] = '"';
        memcpy(at + comma + 1, key, length);
        memcpy(at + comma + 1 + length, "\":", 2);
    }
}

static void append_count(struct alar_json *json, uint64_t number)
{
    char digits[DECIMAL_DIGITS];
    size_t at = DECIMAL_DIGITS;

    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    append(json, digits + at, DECIMAL_DIGITS - at);
}

size_t alar_utf8_bytes(const char *text)
{
    const unsigned char *byte = (const unsigned char *)text;
    size_t count = byte[0] < 0x80   ? 1
                   : byte[0] < 0xc2 ? 0
                   : byte[0] < 0xe0 ? 2
                   : byte[0] < 0xf0 ? 3
                   : byte[0] < 0xf5 ? 4
                                    : 0;

    for (size_t i = 1; i < count; i++) {
        if ((byte[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    /* Overlong forms, surrogates, and what lies beyond U+10FFFF. */
    if ((byte[0] == 0xe0 && byte[1] < 0xa0) || (byte[0] == 0xed && byte[1] > 0x9f) ||
        (byte[0] == 0xf0 && byte[1] < 0x90) || (byte[0] == 0xf4 && byte[1] > 0x8f)) {
        return 0;
    }
    return count;
}

static void append_escaped(struct alar_json *json, unsigned char byte)
{
    static const char digits[] = "0123456789abcdef";
    char escape[] = "\\u0000";

    if (byte == '"' || byte == '\\') {
        escape[1] = (char)byte;
        append(json, escape, 2);
    } else {
        escape[4] = digits[byte >> 4];
        escape[5] = digits[byte & 15];
        append(json, escape, 6);
    }
}

/* How many bytes from here stand for themselves: most texts are nothing else. */
static size_t plain_bytes(const char *text)
{
    size_t count = 0;

    while (text[count] >= ' ' && text[count] != '"' && text[count] != '\\' && text[count] != 0x7f) {
        count++;
    }
    return count;
}

/* A string's inside: bytes that are no UTF-8 become '?'. */
static void append_string(struct alar_json *json, const char *text)
{
    while (*text != '\0') {
        size_t plain = plain_bytes(text);
        size_t bytes = plain > 0 ? plain : alar_utf8_bytes(text);

        if (plain > 0) {
            append(json, text, plain);
        } else if (bytes == 0) {
            append(json, "?", 1);
        } else if (*text == '"' || *text == '\\' || (unsigned char)*text < ' ') {
            append_escaped(json, (unsigned char)*text);
        } else {
            append(json, text, bytes);
        }
        text += bytes == 0 ? 1 : bytes;
    }
}

/* One value between quotes, most significant digit first. Returns where it ends. */
static char *hex_write(char *to, const unsigned char *value, size_t bytes)
{
    static const char digits[] = "0123456789abcdef";

    *to++ = '"';
    for (size_t i = bytes; i-- > 0;) {
        *to++ = digits[value[i] >> 4];
        *to++ = digits[value[i] & 15];
    }
    *to++ = '"';
    return to;
}

static void append_op(struct alar_json *json, const char *group, uint64_t number)
{
    append(json, "\"", 1);
    append_string(json, group);
    append(json, "/", 1);
    append_count(json, number);
    append(json, "\"", 1);
}

void alar_json_begin(struct alar_json *json)
{
    json->length = 0;
    json->is_full = false;
    append(json, "{", 1);
}

void alar_json_end(struct alar_json *json)
{
    append(json, "}\n", 2);
}

void alar_json_text(struct alar_json *json, const char *key, const char *text)
{
    if (text == NULL) {
        return;
    }
    append_key(json, key);
    append(json, "\"", 1);
    append_string(json, text);
    append(json, "\"", 1);
}

void alar_json_count(struct alar_json *json, const char *key, uint64_t number)
{
    append_key(json, key);
    append_count(json, number);
}

void alar_json_signed(struct alar_json *json, const char *key, int64_t number)
{
    append_key(json, key);
    append(json, "-", number < 0 ? 1 : 0);
    append_count(json, number < 0 ? UINT64_C(0) - (uint64_t)number : (uint64_t)number);
}

void alar_json_flag(struct alar_json *json, const char *key, bool truth)
{
    append_key(json, key);
    append_text(json, truth ? "true" : "false");
}

void alar_json_null(struct alar_json *json, const char *key)
{
    append_key(json, key);
    append(json, "null", 4);
}

void alar_json_value(struct alar_json *json, const char *key, struct alar_elements elements)
{
    char text[ALAR_DECIMAL_MAX];
    uint64_t bits = 0;

    PRE(elements.count >= 1);
    memcpy(&bits, elements.values, alar_dtype_bytes(elements.dtype));
    alar_decimal_print(elements.dtype, bits, text);
    if (alar_dtype_is_float(elements.dtype) && !alar_fp_is_finite(elements.dtype, bits)) {
        alar_json_text(json, key, text);
        return;
    }
    append_key(json, key);
    append_text(json, text);
}

void alar_json_bits(struct alar_json *json, const char *key, struct alar_elements elements)
{
    size_t bytes = alar_dtype_bytes(elements.dtype);

    PRE(elements.count >= 1);
    append_key(json, key);
    char *at = reserve(json, 2 * bytes + 2);
    if (at != NULL) {
        hex_write(at, elements.values, bytes);
    }
}

/* The room is reserved once for all elements: there may be many. */
void alar_json_elements(struct alar_json *json, const char *key, struct alar_elements elements)
{
    const unsigned char *value = elements.values;
    size_t bytes = alar_dtype_bytes(elements.dtype);
    size_t commas = elements.count > 0 ? elements.count - 1 : 0;

    append_key(json, key);
    append(json, "[", 1);
    char *at = reserve(json, elements.count * (2 * bytes + 2) + commas);
    for (size_t i = 0; at != NULL && i < elements.count; i++) {
        if (i > 0) {
            *at++ = ',';
        }
        at = hex_write(at, value + i * bytes, bytes);
    }
    append(json, "]", 1);
}

void alar_json_op(struct alar_json *json, const char *key, const char *group, uint64_t number)
{
    append_key(json, key);
    append_op(json, group, number);
}

void alar_json_ops(struct alar_json *json, const char *key, const char *group, uint64_t first,
                   uint64_t count)
{
    append_key(json, key);
    append(json, "[", 1);
    for (uint64_t i = 0; i < count; i++) {
        append(json, ",", i > 0 ? 1 : 0);
        append_op(json, group, first + i);
    }
    append(json, "]", 1);
}

void alar_json_ranks(struct alar_json *json, const char *key, const uint32_t *ranks, size_t count)
{
    append_key(json, key);
    append(json, "[", 1);
    for (size_t i = 0; i < count; i++) {
        append(json, ",", i > 0 ? 1 : 0);
        append_count(json, ranks[i]);
    }
    append(json, "]", 1);
}

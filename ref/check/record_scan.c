/* The plain shape of a line: one object of texts, numbers, truths and flat lists, in ASCII and
   without escapes. What it accepts yajl accepts, with the same tokens; it judges nothing and words
   nothing. Each function goes on from `at` and returns where it came to, or NULL: not for us, or
   wrong. */
#include "check/record_state.h"

#include <string.h>

static inline const char *scan_blanks(const char *at, const char *end)
{
    while (at < end && (unsigned char)*at <= ' ' && (*at == ' ' || *at == '\t' || *at == '\r')) {
        at++;
    }
    return at;
}

/* Behind blanks and this one. Mostly there are none. */
static inline const char *scan_one(const char *at, const char *end, char expected)
{
    if (at < end && *at == expected) {
        return at + 1;
    }
    at = scan_blanks(at, end);
    return at < end && *at == expected ? at + 1 : NULL;
}

/* Behind the comma that goes on, or behind what closes; which of them, *is_over says. */
static inline const char *scan_more(const char *at, const char *end, char closing, bool *is_over)
{
    if (at < end && *at == ',') {
        return at + 1;
    }
    at = scan_blanks(at, end);
    *is_over = at < end && *at == closing;
    return *is_over || (at < end && *at == ',') ? at + 1 : NULL;
}

/* Eight bytes, the first one lowest. */
static inline uint64_t word_at(const char *text)
{
    const unsigned char *byte = (const unsigned char *)text;

    return (uint64_t)byte[0] | (uint64_t)byte[1] << 8 | (uint64_t)byte[2] << 16 |
           (uint64_t)byte[3] << 24 | (uint64_t)byte[4] << 32 | (uint64_t)byte[5] << 40 |
           (uint64_t)byte[6] << 48 | (uint64_t)byte[7] << 56;
}

/* The highest bit of each byte that is a quote, a backslash, a control character, or none of ASCII.
   The lowest of them is certain; what is above it may be told because it borrowed. */
static inline uint64_t specials(uint64_t word)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    uint64_t quote = word ^ (each * '"'), slash = word ^ (each * '\\');

    return (((quote - each) & ~quote) | ((slash - each) & ~slash) | (word - each * 0x20) | word) &
           (each << 7);
}

static bool is_plain(char c)
{
    return c != '"' && c != '\\' && (unsigned char)c >= 0x20 && (unsigned char)c < 0x80;
}

/* To the quote that ends a text. */
static const char *scan_text(const char *at, const char *end)
{
    while (end - at >= 8) {
        uint64_t found = specials(word_at(at));

        if (found) {
            at += __builtin_ctzll(found) / 8;
            return *at == '"' ? at : NULL;
        }
        at += 8;
    }
    while (at < end && is_plain(*at)) {
        at++;
    }
    return at < end && *at == '"' ? at : NULL;
}

static inline const char *scan_digits(const char *at, const char *end)
{
    const char *first = at;

    while (at < end && (unsigned)(*at - '0') <= 9) {
        at++;
    }
    return at > first ? at : NULL;
}

/* A number without its sign. */
static inline const char *scan_number(const char *at, const char *end)
{
    const char *first = at;

    at = scan_digits(at, end);
    if (at == NULL || (*first == '0' && at > first + 1)) {
        return NULL;
    }
    if (at < end && *at == '.') {
        at = scan_digits(at + 1, end);
    }
    if (at != NULL && at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '-' || *at == '+');
        at = scan_digits(at, end);
    }
    return at;
}

/* A count where one belongs, as nearly every number is. */
static inline const char *scan_count(struct alar_record_reader *reader, const char *at,
                                     const char *end)
{
    const char *first = at;
    uint64_t value = 0;

    if (reader->type != ALAR_TYPE_INT && reader->type != ALAR_TYPE_SIGNED) {
        return NULL;
    }
    while (at < end && (unsigned)(*at - '0') <= 9) {
        value = value * 10 + (unsigned)(*at++ - '0');
    }
    if (at == first || at - first > 18 || (*first == '0' && at > first + 1) ||
        (at < end && *at != ',' && *at != '}')) {
        return NULL; /* or not as plain as that */
    }
    reader->event->number[reader->field] = (int64_t)value;
    return at;
}

static const char *scan_word(const char *at, const char *end, const char *word, size_t length)
{
    return (size_t)(end - at) >= length && memcmp(at, word, length) == 0 ? at + length : NULL;
}

/* A truth or null. */
static const char *scan_name(struct alar_record_reader *reader, const char *at, const char *end)
{
    const char *past = scan_word(at, end, "true", 4);
    bool is_true = past != NULL;

    past = is_true ? past : scan_word(at, end, "false", 5);
    if (past != NULL) {
        return record_take_truth(reader, is_true) ? past : NULL;
    }
    past = scan_word(at, end, "null", 4);
    return past != NULL && record_take_null(reader) ? past : NULL;
}

/* A value that is no list; no blank stands before it. */
static const char *scan_scalar(struct alar_record_reader *reader, const char *at, const char *end)
{
    const char *first = at;

    if (at == end) {
        return NULL;
    }
    if (*at == '"') {
        at = scan_text(++first, end);
        return at != NULL && record_take_text(reader, first, (size_t)(at - first)) ? at + 1 : NULL;
    }
    if (*at != '-' && (unsigned)(*at - '0') > 9) {
        return scan_name(reader, at, end);
    }
    at = scan_count(reader, at, end);
    if (at != NULL) {
        return at;
    }
    at = scan_number(first + (*first == '-'), end);
    return at != NULL && record_take_number(reader, first, (size_t)(at - first)) ? at : NULL;
}

/* A list of such values, behind its bracket. */
static const char *scan_list(struct alar_record_reader *reader, const char *at, const char *end)
{
    const char *past = scan_one(at, end, ']');
    bool is_over = past != NULL;

    if (!record_take_list(reader)) {
        return NULL;
    }
    at = is_over ? past : at;
    while (!is_over) {
        at = scan_scalar(reader, scan_blanks(at, end), end);
        at = at != NULL ? scan_more(at, end, ']', &is_over) : NULL;
        if (at == NULL) {
            return NULL;
        }
    }
    return record_take_list_end(reader) ? at : NULL;
}

/* Is it the field that mostly comes here? */
static inline const char *scan_guess(const char *at, const char *end,
                                     const struct record_name *name)
{
    uint64_t word;

    if (end - at <= (ptrdiff_t)(sizeof word + name->length)) {
        return NULL; /* near the end of a line no guess is worth it */
    }
    memcpy(&word, at, sizeof word);
    return ((word ^ name->word) & name->mask) == 0 && at[name->length] == '"' &&
                   (name->length <= sizeof word || memcmp(at, name->text, name->length) == 0)
               ? at + name->length + 1
               : NULL;
}

/* A key, behind its quote. */
static const char *scan_key(struct alar_record_reader *reader, const char *at, const char *end)
{
    enum alar_field guess = record_guess(reader);
    const char *past = scan_guess(at, end, &reader->name[guess]);

    if (past != NULL) {
        return record_take_field(reader, guess, (size_t)(past - reader->line)) ? past : NULL;
    }
    past = scan_text(at, end);
    return past != NULL && record_take_key(reader, at, (size_t)(past - at),
                                           (size_t)(past + 1 - reader->line))
               ? past + 1
               : NULL;
}

/* A key and its value. */
static inline const char *scan_field(struct alar_record_reader *reader, const char *at,
                                     const char *end)
{
    at = scan_one(at, end, '"');
    at = at != NULL ? scan_key(reader, at, end) : NULL;
    at = at != NULL ? scan_one(at, end, ':') : NULL;
    if (at == NULL) {
        return NULL;
    }
    at = scan_blanks(at, end);
    return at < end && *at == '[' ? scan_list(reader, at + 1, end) : scan_scalar(reader, at, end);
}

bool record_scan(struct alar_record_reader *reader)
{
    const char *end = reader->line + reader->line_length;
    const char *at = scan_one(reader->line, end, '{');
    bool is_over = false;

    if (at == NULL || !record_take_object(reader)) {
        return false;
    }
    while (!is_over) {
        at = scan_field(reader, at, end);
        at = at != NULL ? scan_more(at, end, '}', &is_over) : NULL;
        if (at == NULL) {
            return false;
        }
    }
    return record_take_object_end(reader) && scan_blanks(at, end) == end;
}

/* Pieces of a line, in the one spelling in which packed records come back: no blanks, no escapes,
   no superfluous zeros. */
#include "pack/pack_split.h"

#include <string.h>

bool pack_take(struct pack_cursor *cursor, char expected)
{
    bool is = cursor->at < cursor->end && *cursor->at == expected;

    cursor->at += is;
    return is;
}

bool pack_take_text(struct pack_cursor *cursor, struct alar_text *text)
{
    const char *first = cursor->at + 1;

    if (cursor->at == cursor->end || *cursor->at != '"') {
        return false;
    }
    const char *quote = memchr(first, '"', (size_t)(cursor->end - first));
    if (quote == NULL || !pack_is_plain(first, (size_t)(quote - first))) {
        return false;
    }
    *text = (struct alar_text){first, (size_t)(quote - first)};
    cursor->at = quote + 1;
    return true;
}

bool pack_take_count(struct pack_cursor *cursor, int64_t *number)
{
    const char *at = cursor->at;
    int64_t value = 0;

    while (at < cursor->end && *at >= '0' && *at <= '9' && at - cursor->at < 18) {
        value = value * 10 + (*at++ - '0');
    }
    if (at == cursor->at || (*cursor->at == '0' && at > cursor->at + 1) ||
        (at < cursor->end && *at >= '0' && *at <= '9')) {
        return false;
    }
    *number = value;
    cursor->at = at;
    return true;
}

bool pack_take_op(struct pack_cursor *cursor, struct alar_text *group, int64_t *number)
{
    struct pack_cursor after = *cursor;
    struct alar_text text;

    if (!pack_take_text(&after, &text)) {
        return false;
    }
    size_t slash = text.length;
    while (slash > 0 && text.data[slash - 1] != '/') {
        slash--;
    }
    struct pack_cursor digits = {text.data + slash, text.data + text.length};
    if (slash < 2 || slash - 1 > PACK_TEXT_BYTES || !pack_take_count(&digits, number) ||
        digits.at != digits.end) {
        return false;
    }
    *group = (struct alar_text){text.data, slash - 1};
    *cursor = after;
    return true;
}

bool pack_take_bits(struct pack_cursor *cursor, uint64_t *bits, unsigned *digits)
{
    struct pack_cursor after = *cursor;
    struct alar_text text;

    if (!pack_take_text(&after, &text) || text.length < 2 || text.length > 16 ||
        (text.length & (text.length - 1)) != 0) {
        return false;
    }
    *bits = 0;
    for (size_t k = 0; k < text.length; k++) {
        char c = text.data[k];

        if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) {
            return false;
        }
        *bits = *bits << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    *digits = (unsigned)text.length;
    *cursor = after;
    return true;
}

/* Which pieces of a line become slots: those that differ from line to line. Words stay in the
   shape. */
#include "pack/pack_split.h"

#include <string.h>

static bool shape_add(struct pack_split *split, const char *bytes, size_t count)
{
    if (split->length + count >= PACK_SHAPE_BYTES) {
        return false;
    }
    memcpy(split->shape + split->length, bytes, count);
    split->length += count;
    return true;
}

static bool slot_add(struct pack_split *split, struct pack_token token)
{
    char kind = (char)token.kind;

    if (split->tokens == PACK_SLOTS) {
        return false;
    }
    split->token[split->tokens++] = token;
    return shape_add(split, &kind, 1);
}

static unsigned bits_kind(unsigned digits)
{
    return digits == 2 ? 0 : digits == 4 ? 1 : digits == 8 ? 2 : 3;
}

static bool split_text(struct pack_split *split, struct pack_cursor *cursor, unsigned field,
                       enum alar_field_type type)
{
    struct pack_token token = {.kind = PACK_TEXT};
    const char *first = cursor->at;
    unsigned digits;
    uint64_t bits;

    switch (type) {
    case ALAR_TYPE_OP:
        token.kind = PACK_OP;
        return pack_take_op(cursor, &token.text, &token.number) && slot_add(split, token);
    case ALAR_TYPE_VALUES:
        if (!pack_take_bits(cursor, &bits, &digits)) {
            return false;
        }
        token.kind = PACK_BIT + bits_kind(digits);
        token.count = 1;
        token.list = (struct alar_text){first, (size_t)(cursor->at - first)};
        return slot_add(split, token);
    default:
        if (!pack_take_text(cursor, &token.text)) {
            return false;
        }
        if (field == ALAR_FIELD_EV || (type != ALAR_TYPE_TEXT && type != ALAR_TYPE_ANY)) {
            return shape_add(split, first, (size_t)(cursor->at - first));
        }
        return token.text.length <= PACK_TEXT_BYTES && slot_add(split, token);
    }
}

/* Any number that ends here. */
static bool take_decimal(struct pack_cursor *cursor, struct alar_text *text)
{
    const char *at = cursor->at;

    while (at < cursor->end && strchr("+-.0123456789Ee", *at) != NULL && *at != '\0') {
        at++;
    }
    *text = (struct alar_text){cursor->at, (size_t)(at - cursor->at)};
    cursor->at = at;
    return text->length <= PACK_DECIMAL_BYTES && pack_is_decimal(*text);
}

static bool split_number(struct pack_split *split, struct pack_cursor *cursor,
                         enum alar_field_type type)
{
    struct pack_cursor after = *cursor;
    struct pack_token token = {.kind = PACK_INTEGER};
    bool is_negative = pack_take(&after, '-');
    bool may_be_negative = type == ALAR_TYPE_SIGNED || type == ALAR_TYPE_ANY;
    bool is_integer = pack_take_count(&after, &token.number) && after.at < after.end &&
                      (*after.at == ',' || *after.at == '}') &&
                      (!is_negative || (may_be_negative && token.number != 0));

    if (is_integer && type != ALAR_TYPE_LOSS) {
        token.number = is_negative ? -token.number : token.number;
        *cursor = after;
        return slot_add(split, token);
    }
    token.kind = PACK_DECIMAL;
    return (type == ALAR_TYPE_LOSS || type == ALAR_TYPE_ANY) && take_decimal(cursor, &token.text) &&
           slot_add(split, token);
}

/* The next item of a list whose items are all of the kind of the first. */
static bool split_item(struct pack_cursor *cursor, enum alar_field_type type,
                       struct pack_token *token)
{
    bool is_first = token->count++ == 0;
    struct alar_text group;
    unsigned digits;
    uint64_t bits;
    int64_t number = 0;

    if (type == ALAR_TYPE_VALUES) {
        if (!pack_take_bits(cursor, &bits, &digits)) {
            return false;
        }
        unsigned kind = PACK_BITS + bits_kind(digits);
        token->kind = is_first ? kind : token->kind;
        return token->kind == kind;
    }
    if (type == ALAR_TYPE_RANKS) {
        bool is_good = pack_take_count(cursor, &number) && number < UINT32_MAX &&
                       (is_first || number > token->number);
        token->number = number;
        return is_good;
    }
    if (is_first && pack_take_op(cursor, &token->text, &number)) {
        token->kind = PACK_OPS;
        return true;
    }
    return token->kind == PACK_NUMBERS
               ? pack_take_count(cursor, &number)
               : pack_take_op(cursor, &group, &number) && group.length == token->text.length &&
                     memcmp(group.data, token->text.data, group.length) == 0;
}

static bool split_list(struct pack_split *split, struct pack_cursor *cursor,
                       enum alar_field_type type)
{
    struct pack_token token = {.kind = type == ALAR_TYPE_RANKS ? PACK_RANKS
                                       : type == ALAR_TYPE_OPS ? PACK_NUMBERS
                                                               : PACK_BITS + bits_kind(8)};

    if (type != ALAR_TYPE_RANKS && type != ALAR_TYPE_OPS && type != ALAR_TYPE_VALUES) {
        return false;
    }
    pack_take(cursor, '[');
    const char *first = cursor->at;
    if (!pack_take(cursor, ']')) {
        do {
            if (token.count == PACK_ITEMS || !split_item(cursor, type, &token)) {
                return false;
            }
        } while (pack_take(cursor, ','));
        if (!pack_take(cursor, ']')) {
            return false;
        }
    }
    token.list = (struct alar_text){first, (size_t)(cursor->at - 1 - first)};
    return slot_add(split, token);
}

static bool split_value(struct pack_split *split, struct pack_cursor *cursor, unsigned field)
{
    static const char *const names[] = {"true", "false", "null"};
    enum alar_field_type type =
        field < ALAR_FIELD_COUNT ? alar_field_type((enum alar_field)field) : ALAR_TYPE_ANY;

    if (cursor->at == cursor->end) {
        return false;
    }
    if (*cursor->at == '"') {
        return split_text(split, cursor, field, type);
    }
    if (*cursor->at == '[') {
        return split_list(split, cursor, type);
    }
    for (unsigned k = 0; k < 3; k++) {
        size_t length = strlen(names[k]);

        if ((size_t)(cursor->end - cursor->at) > length &&
            memcmp(cursor->at, names[k], length) == 0) {
            cursor->at += length;
            return shape_add(split, names[k], length);
        }
    }
    return split_number(split, cursor, type);
}

bool pack_split_line(struct pack_split *split, const char *line, size_t length)
{
    struct pack_cursor cursor = {line, line + length};

    split->length = 0;
    split->tokens = 0;
    if (!pack_take(&cursor, '{') || !shape_add(split, line, 1)) {
        return false;
    }
    do {
        const char *first = cursor.at;
        enum alar_field field = ALAR_FIELD_COUNT;
        struct alar_text name;

        if (!pack_take_text(&cursor, &name) || !pack_take(&cursor, ':') ||
            !shape_add(split, first, (size_t)(cursor.at - first))) {
            return false;
        }
        unsigned known = alar_field_find(name, &field) == ALAR_OK ? field : ALAR_FIELD_COUNT;
        if (!split_value(split, &cursor, known)) {
            return false;
        }
    } while (pack_take(&cursor, ',') && shape_add(split, ",", 1));
    return pack_take(&cursor, '}') && cursor.at == cursor.end && shape_add(split, "}", 1);
}

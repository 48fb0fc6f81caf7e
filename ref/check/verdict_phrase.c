/* Pieces of a sentence: lists of ranks, places, values. */
#include "check/verdict_state.h"
#include "sys/decimal.h"
#include <stdarg.h>
#include <string.h>

void verdict_say(struct verdict_phrase *phrase, const char *format, ...)
{
    va_list arguments;
    size_t room = phrase->size - phrase->length;

    va_start(arguments, format);
    int length = vsnprintf(phrase->text + phrase->length, room, format, arguments);
    va_end(arguments);
    if (length > 0) {
        phrase->length += (size_t)length < room ? (size_t)length : room - 1;
    }
}

void verdict_say_list(struct verdict_phrase *phrase, const struct alar_list *list)
{
    for (uint32_t k = 0; k < list->count && k < ALAR_LIST_MAX; k++) {
        verdict_say(phrase, "%s%llu", k ? ", " : "", (unsigned long long)list->item[k]);
    }
    if (list->count > ALAR_LIST_MAX) {
        verdict_say(phrase, " and %u more", list->count - ALAR_LIST_MAX);
    }
}

void verdict_say_place(struct verdict_phrase *phrase, const struct alar_history_files *files,
                       struct alar_place place)
{
    if (place.line > 0 && place.file < files->count) {
        verdict_say(phrase, "%s:%u", files->path[place.file], place.line);
    }
}

void verdict_say_value(struct verdict_phrase *phrase, enum alar_dtype dtype, uint64_t bits)
{
    char decimal[ALAR_DECIMAL_MAX];

    alar_decimal_print(dtype, bits, decimal);
    verdict_say(phrase, "%s (%0*llx)", decimal, (int)(2 * alar_dtype_bytes(dtype)),
                (unsigned long long)bits);
}

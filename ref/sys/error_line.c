/* How readers say that an input can't be used. */
#include "sys/error_line.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
    WHERE_BYTES = 200
};

enum alar_status alar_complain(char *error_line, const char *where, const char *format, ...)
{
    size_t length = strlen(where);
    bool is_long = length > WHERE_BYTES;
    va_list arguments;
    int head = snprintf(error_line, ALAR_ERROR_LINE_BYTES, "%s%s: ", is_long ? "..." : "",
                        is_long ? where + length - WHERE_BYTES : where);

    va_start(arguments, format);
    vsnprintf(error_line + head, ALAR_ERROR_LINE_BYTES - (size_t)head, format, arguments);
    va_end(arguments);
    for (char *at = error_line; *at != '\0'; at++) {
        if ((unsigned char)*at < ' ' || *at == '\x7f') {
            *at = '?';
        }
    }
    return ALAR_E_INPUT;
}

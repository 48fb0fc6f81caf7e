/* A host may have set a locale whose decimal point is a comma; a history may not. */
#include "sys/plain_numbers.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* The locale "C" is there without memory or files (glibc keeps it as a constant); it is never
   freed, for there is one. */
static locale_t plain(void)
{
    static _Atomic(locale_t) kept;

    if (kept == (locale_t)0) {
        kept = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    }
    return kept;
}

double alar_plain_read(const char *text, char **end)
{
    locale_t before = uselocale(plain());
    double value = strtod(text, end);

    (void)uselocale(before);
    return value;
}

int alar_plain_print(char *text, size_t size, const char *format, ...)
{
    locale_t before = uselocale(plain());
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(text, size, format, arguments);
    va_end(arguments);
    (void)uselocale(before);
    return length;
}

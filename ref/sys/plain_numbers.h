/* Numbers read and written the same whatever the host's locale is: a point, no grouping. */
#ifndef ALAR_PLAIN_NUMBERS_H
#define ALAR_PLAIN_NUMBERS_H

#include <stddef.h>

/* strtod and snprintf, as in the locale "C", for this thread alone and for this call alone. */
double alar_plain_read(const char *text, char **end);
int alar_plain_print(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

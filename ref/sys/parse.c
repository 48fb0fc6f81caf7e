/* Numbers from text, and the name that was meant. */
#include "sys/parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_MAX_BYTES = 64
};

/* Edit distance of two short texts, one row at a time; longer ones count as far away. */
size_t alar_edit_distance(const char *a, const char *b)
{
    size_t row[NAME_MAX_BYTES + 1];
    size_t length = strlen(b);

    if (length > NAME_MAX_BYTES || strlen(a) > NAME_MAX_BYTES) {
        return NAME_MAX_BYTES;
    }
    for (size_t j = 0; j <= length; j++) {
        row[j] = j;
    }
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t diagonal = row[0];

        row[0] = i + 1;
        for (size_t j = 0; j < length; j++) {
            size_t substitute = diagonal + (a[i] != b[j]);
            size_t best = row[j] < row[j + 1] ? row[j] + 1 : row[j + 1] + 1;

            diagonal = row[j + 1];
            row[j + 1] = substitute < best ? substitute : best;
        }
    }
    return row[length];
}

int alar_nearest(const char *text, const char *const *names)
{
    int nearest = -1;
    size_t least = SIZE_MAX;

    for (int i = 0; names[i] != NULL; i++) {
        size_t distance = alar_edit_distance(text, names[i]);

        if (distance < least) {
            least = distance;
            nearest = i;
        }
    }
    return nearest;
}

const char *alar_meant(const char *text, const char *const *names)
{
    int nearest = alar_nearest(text, names);

    if (nearest < 0) {
        return NULL;
    }
    size_t length = strlen(names[nearest]);
    size_t limit = length < 6 ? (length > 3 ? 2 : 1) : length / 3;

    return alar_edit_distance(text, names[nearest]) <= limit ? names[nearest] : NULL;
}

enum alar_status alar_number_parse(const char *text, uint64_t least, uint64_t most,
                                   uint64_t *number)
{
    char *end = NULL;

    if (text[0] < '0' || text[0] > '9') {
        return ALAR_E_INPUT;
    }
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || value < least || value > most) {
        return ALAR_E_INPUT;
    }
    *number = value;
    return ALAR_OK;
}

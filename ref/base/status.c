/* Names, texts and classes of the status codes, all from status.def. */
#include "api/status.h"

#include <stddef.h>

struct status_row {
    const char *name;
    const char *text;
    enum alar_class class;
};

static const struct status_row rows[] = {
#define X(code, class, text) {#code, text, ALAR_CLASS_##class},
#include "api/status.def"
#undef X
};

static const struct status_row *status_row(enum alar_status status)
{
    return (size_t)status < ALAR_STATUS_COUNT ? &rows[status] : NULL;
}

const char *alar_status_name(enum alar_status status)
{
    const struct status_row *row = status_row(status);

    return row ? row->name : "?";
}

const char *alar_status_text(enum alar_status status)
{
    const struct status_row *row = status_row(status);

    return row ? row->text : "unknown status";
}

enum alar_class alar_status_class(enum alar_status status)
{
    const struct status_row *row = status_row(status);

    return row ? row->class : ALAR_CLASS_DEFECT;
}

enum alar_class alar_class_worst(enum alar_class a, enum alar_class b)
{
    static const unsigned char weight[] = {
        [ALAR_CLASS_GOOD] = 0,  [ALAR_CLASS_INCOMPLETE] = 1, [ALAR_CLASS_UNUSABLE] = 2,
        [ALAR_CLASS_WRONG] = 3, [ALAR_CLASS_DEFECT] = 4,
    };

    return weight[a] >= weight[b] ? a : b;
}

/* Pieces of text: the same, their hash (FNV-1a), and a copy that fits. */
#include "base/text.h"

#include "base/check.h"

#include <string.h>

bool alar_text_is(struct alar_text text, const char *other)
{
    return text.data && strlen(other) == text.length && memcmp(text.data, other, text.length) == 0;
}

uint64_t alar_text_hash(struct alar_text text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t k = 0; k < text.length; k++) {
        hash = (hash ^ (unsigned char)text.data[k]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

void alar_text_keep(struct alar_text text, char *copy, size_t room)
{
    PRE(room >= 4);
    if (text.length < room) {
        memcpy(copy, text.data ? text.data : "", text.length);
        copy[text.length] = '\0';
        return;
    }
    size_t kept = room - 3;
    memcpy(copy, "..", 2);
    memcpy(copy + 2, text.data + text.length - kept, kept);
    copy[room - 1] = '\0';
}

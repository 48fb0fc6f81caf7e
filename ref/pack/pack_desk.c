/* Files of one history have the same shapes and mostly the same texts. Kept once, they stay in the
   caches of the processor while a thousand files take turns. */
#include "pack/pack_desk.h"

#include <stdlib.h>
#include <string.h>

enum alar_status alar_pack_desk_open(struct alar_pack_desk **opened)
{
    *opened = calloc(1, sizeof **opened);
    return *opened != NULL ? ALAR_OK : ALAR_E_NOMEM;
}

void alar_pack_desk_close(struct alar_pack_desk *desk)
{
    if (desk == NULL) {
        return;
    }
    for (unsigned k = 0; k < desk->shapes; k++) {
        free(desk->shape[k]);
    }
    free(desk->item);
    free(desk->rendered);
    free(desk);
}

enum alar_status pack_desk_shape(struct alar_pack_desk *desk, struct alar_text text,
                                 const struct pack_shape **shape, bool *is_bad)
{
    *shape = NULL;
    for (unsigned k = 0; k < desk->shapes; k++) {
        if (desk->shape[k]->length == text.length &&
            memcmp(desk->shape[k]->text, text.data, text.length) == 0) {
            *shape = desk->shape[k];
            return ALAR_OK;
        }
    }
    if (desk->shapes == DESK_SHAPES) {
        return ALAR_OK;
    }
    struct pack_shape *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return ALAR_E_NOMEM;
    }
    memcpy(made->text, text.data, text.length);
    made->length = text.length;
    if (!pack_shape_compile(made)) {
        free(made);
        *is_bad = true;
        return ALAR_OK;
    }
    desk->shape[desk->shapes++] = made;
    *shape = made;
    return ALAR_OK;
}

struct alar_text pack_desk_text(struct alar_pack_desk *desk, struct alar_text text)
{
    size_t at = (size_t)alar_text_hash(text) % DESK_HASHES;

    for (; desk->hash[at] != 0; at = (at + 1) % DESK_HASHES) {
        struct alar_text known = desk->text[desk->hash[at] - 1];

        if (known.length == text.length && memcmp(known.data, text.data, text.length) == 0) {
            return known;
        }
    }
    if (desk->texts == DESK_TEXTS || text.length > DESK_TEXT_BYTES - desk->bytes_used) {
        return text;
    }
    char *copy = desk->bytes + desk->bytes_used;
    memcpy(copy, text.data, text.length);
    desk->bytes_used += text.length;
    desk->text[desk->texts] = (struct alar_text){copy, text.length};
    desk->hash[at] = (uint16_t)++desk->texts;
    return desk->text[desk->texts - 1];
}

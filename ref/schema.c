/* Names sorted, joined and hashed. */
#include "schema.h"

#include "event.h"

#include <string.h>

/* Puts a name where it belongs; false when it is there already. */
static bool schema_insert(struct alar_schema *schema, const char *name, uint32_t origin)
{
    uint32_t at = schema->count;

    while (at > 0 && strcmp(schema->name[at - 1], name) > 0) {
        schema->name[at] = schema->name[at - 1];
        schema->origin[at] = schema->origin[at - 1];
        at--;
    }
    schema->name[at] = name;
    schema->origin[at] = origin;
    schema->count++;
    return at == 0 || strcmp(schema->name[at - 1], name) != 0;
}

/* False when they don't fit. */
static bool schema_join(struct alar_schema *schema)
{
    size_t used = 0;

    for (uint32_t i = 0; i < schema->count; i++) {
        size_t length = strlen(schema->name[i]);

        if (length >= sizeof(schema->key) - used) {
            return false;
        }
        memcpy(&schema->key[used], schema->name[i], length);
        used += length;
        schema->key[used++] = ',';
    }
    schema->key[used - 1] = '\0';
    schema->hash = alar_text_hash((struct alar_text){schema->key, used - 1});
    return true;
}

enum alar_status alar_schema_init(struct alar_schema *schema, const char *const *names,
                                  uint32_t count)
{
    static const char *const otherwise[] = {ALAR_METRIC_DEFAULT};
    struct alar_schema made = {.count = 0};

    if (count > ALAR_METRICS_MAX) {
        return ALAR_E_RANGE;
    }
    names = count > 0 ? names : otherwise;
    for (uint32_t i = 0; i < (count > 0 ? count : 1); i++) {
        if (names[i] == NULL || names[i][0] == '\0' || strchr(names[i], ',') != NULL ||
            !schema_insert(&made, names[i], i)) {
            return ALAR_E_RANGE;
        }
    }
    if (!schema_join(&made)) {
        return ALAR_E_RANGE;
    }
    *schema = made;
    return ALAR_OK;
}

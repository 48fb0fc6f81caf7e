/* Metrics sorted, their names joined and hashed. */
#include "engine/schema.h"

#include "base/check.h"
#include "base/text.h"

#include <string.h>

enum {
    KIND_BITS = 2
};

_Static_assert(ALAR_METRIC_KINDS <= 1 << KIND_BITS, "a kind fits its bits");
_Static_assert(ALAR_METRICS_MAX *KIND_BITS <= 32, "all kinds fit one word");

enum alar_metric_kind alar_kinds_get(uint32_t kinds, uint32_t metric)
{
    return (enum alar_metric_kind)(kinds >> metric * KIND_BITS & ((1U << KIND_BITS) - 1));
}

uint32_t alar_kinds_put(uint32_t kinds, uint32_t metric, enum alar_metric_kind kind)
{
    uint32_t mask = ((1U << KIND_BITS) - 1) << metric * KIND_BITS;

    PRE(metric < ALAR_METRICS_MAX);
    return (kinds & ~mask) | (uint32_t)kind << metric * KIND_BITS;
}

bool alar_metric_is_extreme(enum alar_metric_kind kind)
{
    return kind == ALAR_METRIC_MIN || kind == ALAR_METRIC_MAX;
}

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

/* The key, and behind it, where not all are means, what no key holds: two commas and the kinds. */
static uint64_t schema_hash(const struct alar_schema *schema, size_t length)
{
    char text[ALAR_SCHEMA_KEY_BYTES + 2 + ALAR_METRICS_MAX];

    PRE(length < ALAR_SCHEMA_KEY_BYTES);
    memcpy(text, schema->key, length);
    if (schema->kinds != 0) {
        text[length++] = ',';
        text[length++] = ',';
        for (uint32_t i = 0; i < schema->count; i++) {
            text[length++] = (char)('0' + (int)alar_kinds_get(schema->kinds, i));
        }
    }
    return alar_text_hash((struct alar_text){text, length});
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
    schema->hash = schema_hash(schema, used - 1);
    return true;
}

enum alar_status alar_schema_init(struct alar_schema *schema, const struct alar_metric *metrics,
                                  uint32_t count)
{
    static const struct alar_metric otherwise[] = {{ALAR_METRIC_DEFAULT, ALAR_METRIC_MEAN}};
    struct alar_schema made = {.count = 0};

    if (count > ALAR_METRICS_MAX) {
        return ALAR_E_RANGE;
    }
    metrics = count > 0 ? metrics : otherwise;
    for (uint32_t i = 0; i < (count > 0 ? count : 1); i++) {
        const char *name = metrics[i].name;

        if (name == NULL || name[0] == '\0' || strchr(name, ',') != NULL ||
            (unsigned)metrics[i].kind >= ALAR_METRIC_KINDS || !schema_insert(&made, name, i)) {
            return ALAR_E_RANGE;
        }
    }
    for (uint32_t i = 0; i < made.count; i++) {
        made.kinds = alar_kinds_put(made.kinds, i, metrics[made.origin[i]].kind);
    }
    if (!schema_join(&made)) {
        return ALAR_E_RANGE;
    }
    *schema = made;
    return ALAR_OK;
}

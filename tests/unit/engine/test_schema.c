/* Names of metrics: sorted, told apart, refused. */
#include "engine/schema.h"
#include "judge/event.h"

#include <criterion/criterion.h>
#include <string.h>

/* The order in which a rank lists its names changes nothing but where they came from. spec: N-52 */
Test(schema, the_order_of_names_does_not_matter)
{
    static const struct alar_metric one[] = {
        {"lm loss", ALAR_METRIC_MEAN}, {"aux", ALAR_METRIC_MAX}, {"z", ALAR_METRIC_SUM}};
    static const struct alar_metric two[] = {
        {"z", ALAR_METRIC_SUM}, {"lm loss", ALAR_METRIC_MEAN}, {"aux", ALAR_METRIC_MAX}};
    static const uint32_t from_one[] = {1, 0, 2};
    static const uint32_t from_two[] = {2, 1, 0};
    struct alar_schema a;
    struct alar_schema b;

    cr_assert_eq(alar_schema_init(&a, one, 3), ALAR_OK);
    cr_assert_eq(alar_schema_init(&b, two, 3), ALAR_OK);

    cr_assert_str_eq(a.key, "aux,lm loss,z");
    cr_assert_str_eq(b.key, a.key);
    cr_assert_eq(a.hash, b.hash);
    cr_assert_eq(a.kinds, b.kinds);
    cr_assert_eq(alar_kinds_get(a.kinds, 0), ALAR_METRIC_MAX);
    cr_assert_eq(alar_kinds_get(a.kinds, 1), ALAR_METRIC_MEAN);
    cr_assert_eq(alar_kinds_get(a.kinds, 2), ALAR_METRIC_SUM);
    cr_assert_eq(memcmp(a.origin, from_one, sizeof(from_one)), 0);
    cr_assert_eq(memcmp(b.origin, from_two, sizeof(from_two)), 0);
}

/* Without names there is one, and it is the same log as one that names it. */
Test(schema, the_default_is_the_lm_loss)
{
    static const struct alar_metric named[] = {{ALAR_METRIC_DEFAULT, ALAR_METRIC_MEAN}};
    struct alar_schema a;
    struct alar_schema b;

    cr_assert_eq(alar_schema_init(&a, NULL, 0), ALAR_OK);
    cr_assert_eq(alar_schema_init(&b, named, 1), ALAR_OK);
    cr_assert_eq(a.count, 1);
    cr_assert_str_eq(a.name[0], "lm loss");
    cr_assert_eq(a.hash, b.hash);
}

/* Means are hashed by their names alone, as they were before there was anything else; with any
   other kind the hash is another one, and another for each choice of kinds. spec: N-52 */
Test(schema, the_hash_covers_names_and_kinds)
{
    uint64_t seen[ALAR_METRIC_KINDS * ALAR_METRIC_KINDS];
    struct alar_schema schema;

    for (int i = 0; i < ALAR_METRIC_KINDS * ALAR_METRIC_KINDS; i++) {
        const struct alar_metric pair[] = {{"a", (enum alar_metric_kind)(i % ALAR_METRIC_KINDS)},
                                           {"b", (enum alar_metric_kind)(i / ALAR_METRIC_KINDS)}};

        cr_assert_eq(alar_schema_init(&schema, pair, 2), ALAR_OK);
        seen[i] = schema.hash;
        cr_assert_str_eq(schema.key, "a,b");
        for (int k = 0; k < i; k++) {
            cr_assert_neq(seen[k], seen[i], "%d and %d", k, i);
        }
    }
    cr_assert_eq(seen[0], alar_text_hash((struct alar_text){"a,b", 3}));
}

/* What could be taken for something else is refused, and nothing is changed. */
Test(schema, names_that_are_none_are_refused)
{
    static const char long_name[ALAR_SCHEMA_KEY_BYTES + 1] = {0};
    static const struct alar_metric bad[][3] = {
        {{"a", 0}, {"", 0}, {"b", 0}},    {{"a", 0}, {NULL, 0}, {"b", 0}},
        {{"a", 0}, {"b,c", 0}, {"d", 0}}, {{"a", 0}, {"b", 0}, {"a", ALAR_METRIC_MIN}},
        {{"b", 0}, {"a", 0}, {"a", 0}},   {{"a", 0}, {"b", ALAR_METRIC_KINDS}, {"c", 0}}};
    struct alar_metric many[ALAR_METRICS_MAX + 1] = {{NULL, 0}};
    struct alar_schema schema = {.count = 77};
    char name[ALAR_SCHEMA_KEY_BYTES + 1];
    const struct alar_metric too_long[] = {{name, ALAR_METRIC_MEAN}};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cr_assert_eq(alar_schema_init(&schema, bad[i], 3), ALAR_E_RANGE, "%zu", i);
    }
    for (size_t i = 0; i <= ALAR_METRICS_MAX; i++) {
        many[i].name = &"abcdefghijklmnopqrstuvwxyz"[i];
    }
    cr_assert_eq(alar_schema_init(&schema, many, ALAR_METRICS_MAX + 1), ALAR_E_RANGE);
    memcpy(name, long_name, sizeof(name));
    memset(name, 'x', ALAR_SCHEMA_KEY_BYTES);
    cr_assert_eq(alar_schema_init(&schema, too_long, 1), ALAR_E_RANGE);
    cr_assert_eq(schema.count, 77);

    cr_assert_eq(alar_schema_init(&schema, many, ALAR_METRICS_MAX), ALAR_OK);
    name[ALAR_SCHEMA_KEY_BYTES - 1] = '\0';
    cr_assert_eq(alar_schema_init(&schema, too_long, 1), ALAR_OK, "511 letters fit");
}

/* Names of metrics: sorted, told apart, refused. */
#include "schema.h"

#include <criterion/criterion.h>
#include <string.h>

/* The order in which a rank lists its names changes nothing but where they came from. spec: N-52 */
Test(schema, the_order_of_names_does_not_matter)
{
    static const char *const one[] = {"lm loss", "aux", "z"};
    static const char *const two[] = {"z", "lm loss", "aux"};
    static const uint32_t from_one[] = {1, 0, 2};
    static const uint32_t from_two[] = {2, 1, 0};
    struct alar_schema a;
    struct alar_schema b;

    cr_assert_eq(alar_schema_init(&a, one, 3), ALAR_OK);
    cr_assert_eq(alar_schema_init(&b, two, 3), ALAR_OK);

    cr_assert_str_eq(a.key, "aux,lm loss,z");
    cr_assert_str_eq(b.key, a.key);
    cr_assert_eq(a.hash, b.hash);
    cr_assert_eq(memcmp(a.origin, from_one, sizeof(from_one)), 0);
    cr_assert_eq(memcmp(b.origin, from_two, sizeof(from_two)), 0);
}

/* Without names there is one, and it is the same log as one that names it. */
Test(schema, the_default_is_the_lm_loss)
{
    static const char *const named[] = {ALAR_METRIC_DEFAULT};
    struct alar_schema a;
    struct alar_schema b;

    cr_assert_eq(alar_schema_init(&a, NULL, 0), ALAR_OK);
    cr_assert_eq(alar_schema_init(&b, named, 1), ALAR_OK);
    cr_assert_eq(a.count, 1);
    cr_assert_str_eq(a.name[0], "lm loss");
    cr_assert_eq(a.hash, b.hash);
}

/* What could be taken for something else is refused, and nothing is changed. */
Test(schema, names_that_are_none_are_refused)
{
    static const char long_name[ALAR_SCHEMA_KEY_BYTES + 1] = {0};
    static const char *const bad[][3] = {
        {"a", "", "b"}, {"a", NULL, "b"}, {"a", "b,c", "d"}, {"a", "b", "a"}, {"b", "a", "a"}};
    const char *many[ALAR_METRICS_MAX + 1];
    struct alar_schema schema = {.count = 77};
    char name[ALAR_SCHEMA_KEY_BYTES + 1];
    const char *too_long[] = {name};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cr_assert_eq(alar_schema_init(&schema, bad[i], 3), ALAR_E_RANGE, "%zu", i);
    }
    for (size_t i = 0; i <= ALAR_METRICS_MAX; i++) {
        many[i] = &"abcdefghijklmnopqrstuvwxyz"[i];
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

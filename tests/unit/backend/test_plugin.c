/* What the loader makes of a back end's table. Where it looks for files is tests/mpi/plugin.sh. */
#include "backend/plugin.h"

#include <criterion/criterion.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Any address will do: the loader calls none of the functions. */
static int never_called(void *context)
{
    (void)context;
    cr_expect_fail("the loader called the back end");
    return 1;
}

enum {
    FUNCTIONS =
        (sizeof(struct alar_backend) - offsetof(struct alar_backend, init)) / sizeof(int (*)(void))
};

/* A back end with every function, seen as the list of pointers that it is. */
union table {
    struct alar_backend backend;
    struct {
        unsigned char head[offsetof(struct alar_backend, init)];
        int (*function[FUNCTIONS])(void *context);
    } raw;
};

static union table whole_table(void)
{
    union table table = {.backend = {.size = 0}};

    for (int i = 0; i < FUNCTIONS; i++) {
        table.raw.function[i] = never_called;
    }
    table.backend.size = sizeof(table.backend);
    table.backend.abi = ALAR_BACKEND_ABI;
    table.backend.name = "mine";
    return table;
}

static enum alar_status load(const union table *table, struct alar_backend *backend,
                             char *error_line)
{
    const struct alar_backend *const builtin[] = {&table->backend, NULL};

    error_line[0] = '\0';
    return alar_plugin_load("mine", builtin, backend, error_line);
}

static void refuses(const union table *table, const char *why)
{
    struct alar_backend backend;
    char error_line[ALAR_ERROR_LINE_BYTES];
    unsigned char before[sizeof(backend)];

    memset(&backend, 0x5a, sizeof(backend));
    memcpy(before, &backend, sizeof(backend));

    cr_expect_eq(load(table, &backend, error_line), ALAR_E_INPUT, "%s", why);

    cr_expect(strstr(error_line, why) != NULL, "expected '%s' in '%s'", why, error_line);
    cr_expect(strchr(error_line, '\n') == NULL);
    cr_expect_eq(memcmp(before, &backend, sizeof(backend)), 0, "untouched on failure");
}

Test(plugin, takes_a_whole_table)
{
    union table table = whole_table();
    struct alar_backend backend;
    char error_line[ALAR_ERROR_LINE_BYTES];

    cr_expect_eq(load(&table, &backend, error_line), ALAR_OK, "%s", error_line);

    cr_expect_eq(memcmp(&backend, &table, sizeof(backend)), 0);
}

/* A back end of an older build lacks the last functions: for us it has none of them. */
Test(plugin, fills_a_short_table_up)
{
    union table table = whole_table();
    struct alar_backend backend;
    char error_line[ALAR_ERROR_LINE_BYTES];

    table.backend.size = offsetof(struct alar_backend, progress);
    cr_expect_eq(load(&table, &backend, error_line), ALAR_OK, "%s", error_line);

    cr_expect(backend.request_free != NULL);
    cr_expect(backend.progress == NULL && backend.leave == NULL);
}

Test(plugin, refuses_a_table_too_short)
{
    union table table = whole_table();

    table.backend.size = offsetof(struct alar_backend, request_free);
    refuses(&table, "bytes, found");
}

Test(plugin, refuses_another_version)
{
    union table table = whole_table();

    table.backend.abi = ALAR_BACKEND_ABI + 1;
    refuses(&table, "found another version");
}

/* Each of the nine by name, in the order of the interface. */
Test(plugin, refuses_without_a_mandatory_function)
{
    const char *const names[] = {"init",      "caps", "fini", "comm_create", "comm_free",
                                 "allreduce", "test", "wait", "request_free"};

    for (int i = 0; i < 9; i++) {
        union table table = whole_table();
        char why[64];

        table.raw.function[i] = NULL;
        snprintf(why, sizeof(why), "found no %s", names[i]);
        refuses(&table, why);
    }
}

/* The last four are the roll call's: of the 16 sets of them only none and all will do. */
Test(plugin, wants_all_of_a_roll_call_or_none)
{
    for (int set = 0; set < 16; set++) {
        union table table = whole_table();
        struct alar_backend backend;
        char error_line[ALAR_ERROR_LINE_BYTES];

        for (int i = 0; i < 4; i++) {
            if ((set >> i & 1) == 0) {
                table.raw.function[FUNCTIONS - 4 + i] = NULL;
            }
        }
        if (set == 0 || set == 15) {
            cr_expect_eq(load(&table, &backend, error_line), ALAR_OK, "%s", error_line);
        } else {
            refuses(&table, "expected all or none");
        }
    }
}

Test(plugin, refuses_an_unknown_name)
{
    const struct alar_backend *const none[] = {NULL};
    struct alar_backend backend;
    char error_line[ALAR_ERROR_LINE_BYTES];

    cr_expect_eq(alar_plugin_load("mine", none, &backend, error_line), ALAR_E_INPUT);

    cr_expect(strstr(error_line, "found 'mine'") != NULL, "%s", error_line);
}

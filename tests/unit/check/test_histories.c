/* The histories on file, as the unit suites see them: also under sanitizers and valgrind. */
#include "tests/lib/scratch.h"
#include "tests/lib/told.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(histories, .init = scratch_make, .fini = scratch_remove);

/* Splits a line of the table at its tabs. */
static void split(char *line, char *field[3])
{
    for (int k = 0; k < 3; k++) {
        field[k] = line;
        line += strcspn(line, "\t\n");
        if (*line != '\0') {
            *line++ = '\0';
        }
    }
}

/* The histories on file, verdict and worst anomaly: what the command-line test compares in full.
   spec: O-51, O-53, O-54, O-55, O-56, O-58, O-59, O-60, O-61 */
Test(histories, are_judged_as_their_table_says)
{
    static const char *const verdicts[] = {"PASS", "FAIL", "UNKNOWN"};
    static char text[1 << 17];
    FILE *table = fopen("tests/histories/expected.tsv", "r");
    char line[1024], path[256], *field[3];
    unsigned count = 0;

    cr_assert_not_null(table);
    while (fgets(line, sizeof line, table) != NULL) {
        struct told judged;

        split(line, field);
        if (field[0][0] == '#') {
            continue;
        }
        snprintf(path, sizeof path, "tests/histories/%s.jsonl", field[0]);
        FILE *file = fopen(path, "r");
        cr_assert_not_null(file, "%s", path);
        size_t length = fread(text, 1, sizeof text, file);
        fclose(file);
        cr_assert_lt(length, sizeof text, "%s", path);
        told_bytes(&judged, text, length);
        count++;
        if (strcmp(field[1], "REFUSED") == 0) {
            cr_assert_eq(judged.status, ALAR_E_INPUT, "%s", path);
        } else {
            const struct alar_verdict *verdict = told_verdict(&judged);

            cr_assert_str_eq(verdicts[verdict->kind], field[1], "%s: %s", path,
                             told_reason(&judged));
            if (verdict->kind == ALAR_FAIL) {
                const char *name = alar_anomaly_name(verdict->finding[0].anomaly);

                cr_assert(strncmp(field[2], name, strlen(name)) == 0, "%s: %s", path,
                          told_reason(&judged));
            }
        }
        told_free(&judged);
    }
    fclose(table);
    cr_assert_gt(count, 200);
}

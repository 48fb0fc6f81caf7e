/* Every history of tests/histories against its row in expected.tsv: verdict, anomalies in order,
   operation, ranks, missing ranks, excuse; or the complaint. The script tests/cli/histories.sh
   compares the whole row through the program; this suite judges the same in one process, under its
   claims. */
#include "tests/lib/scratch.h"
#include "tests/lib/told.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(histories, .init = scratch_make, .fini = scratch_remove);

enum {
    COLUMNS = 12
};

/* Cuts a line of the table into its columns, in place. */
static unsigned cut(char *line, char *column[COLUMNS])
{
    unsigned count = 0;

    line[strcspn(line, "\n")] = '\0';
    while (count < COLUMNS) {
        column[count++] = line;
        line = strchr(line, '\t');
        if (!line) {
            break;
        }
        *line++ = '\0';
    }
    return count;
}

static void list_text(const struct alar_list *list, char *text, size_t room)
{
    size_t length = 0;

    snprintf(text, room, "-");
    for (uint32_t k = 0; k < list->count && k < ALAR_LIST_MAX; k++) {
        length += (size_t)snprintf(text + length, room - length, "%s%llu", k ? "," : "",
                                   (unsigned long long)list->item[k]);
    }
}

static void assert_verdict(const struct alar_verdict *verdict, char *const column[COLUMNS])
{
    char anomalies[1024] = "", text[512];
    const struct alar_evidence *worst = &verdict->finding[0];

    cr_expect_str_eq(alar_verdict_name(verdict->kind), column[1], "%s", column[0]);
    for (uint32_t k = 0; k < verdict->finding_count; k++) {
        if (!alar_anomaly_is_note(verdict->finding[k].anomaly)) {
            strcat(anomalies, anomalies[0] ? "," : "");
            strcat(anomalies, alar_anomaly_name(verdict->finding[k].anomaly));
        }
    }
    cr_expect_str_eq(anomalies[0] ? anomalies : "-", column[2], "%s", column[0]);
    if (!anomalies[0]) {
        return;
    }
    snprintf(text, sizeof text, worst->has_op ? "%s/%llu" : "-", worst->group,
             (unsigned long long)worst->number);
    cr_expect_str_eq(text, column[3], "%s", column[0]);
    list_text(&worst->ranks, text, sizeof text);
    cr_expect_str_eq(text, column[5], "%s", column[0]);
    list_text(&worst->missing, text, sizeof text);
    cr_expect_str_eq(text, column[6], "%s", column[0]);
    cr_expect_str_eq(worst->excused < 0 ? "-" : verdict->fault[worst->excused].point, column[9],
                     "%s", column[0]);
}

/* The whole table, and not less of it than there was. spec: O-05, O-06 */
Test(histories, are_judged_as_the_table_says, .timeout = 100)
{
    FILE *table = fopen("tests/histories/expected.tsv", "r");
    unsigned rows = 0;
    char line[4096];

    cr_assert_not_null(table);
    while (fgets(line, sizeof line, table)) {
        static char text[1 << 20];
        char *column[COLUMNS], path[512];
        struct told judged;

        if (line[0] == '#') {
            continue;
        }
        unsigned columns = cut(line, column);
        snprintf(path, sizeof path, "tests/histories/%s.jsonl", column[0]);
        FILE *file = fopen(path, "r");
        cr_assert_not_null(file, "%s", path);
        size_t length = fread(text, 1, sizeof text, file);
        fclose(file);
        told_bytes(&judged, text, length);
        if (strcmp(column[1], "REFUSED") == 0) {
            const char *where = strchr(column[2], ':');

            cr_expect_eq(judged.status, ALAR_E_INPUT, "%s", column[0]);
            cr_expect_not_null(strstr(judged.reading.complaint, where), "%s: %s", column[0],
                               judged.reading.complaint);
        } else {
            cr_assert_eq(columns, COLUMNS, "%s", column[0]);
            assert_verdict(told_verdict(&judged), column);
        }
        told_free(&judged);
        rows++;
    }
    fclose(table);
    cr_assert_geq(rows, 200);
}

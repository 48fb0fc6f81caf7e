/* `alar explain`: what an anomaly is, the smallest history that shows it and the nearest good one.
 */
#include "cli/cli.h"
#include "judge/explain.h"
#include "sys/parse.h"

#include <stdio.h>

static void explain_list(void)
{
    for (unsigned a = 0; a < ALAR_ANOMALY_COUNT; a++) {
        enum alar_anomaly anomaly = (enum alar_anomaly)a;

        printf("%-18s %s  %s\n", alar_anomaly_name(anomaly), alar_anomaly_rule(anomaly),
               alar_anomaly_sentence(anomaly));
    }
}

static void explain_one(enum alar_anomaly anomaly)
{
    struct alar_example lines = alar_explain(anomaly);

    printf("%s (%s%s): %s.\n", alar_anomaly_name(anomaly), alar_anomaly_rule(anomaly),
           alar_anomaly_is_note(anomaly) ? ", a note beside a PASS" : "",
           alar_anomaly_sentence(anomaly));
    printf("Allowed instead: %s.\n", alar_anomaly_allowed(anomaly));
    if (lines.bad[0]) {
        printf("\nThe smallest history that shows it:\n\n%s\nThe nearest good one:\n\n%s",
               lines.bad, lines.good);
    } else {
        printf("\nIt takes two histories to show: alar check --rerun A B.\n");
    }
}

static int explain_unknown(const char *name)
{
    const char *names[ALAR_ANOMALY_COUNT + 1] = {NULL};
    char text[ALAR_ERROR_LINE_BYTES];

    for (unsigned a = 0; a < ALAR_ANOMALY_COUNT; a++) {
        names[a] = alar_anomaly_name((enum alar_anomaly)a);
    }
    const char *meant = alar_meant(name, names);
    snprintf(text, sizeof text, "expected an anomaly, found '%.200s'; %s%s%s", name,
             meant ? "did you mean '" : "alar explain lists them", meant ? meant : "",
             meant ? "'?" : "");
    return alar_cli_complain("explain", text);
}

int alar_cli_explain(int argc, char **argv)
{
    const struct alar_option options[] = {
        {NULL, ALAR_OPTION_FLAG, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct alar_command command = {
        "explain",
        "say what an anomaly is, with its smallest history",
        "[ANOMALY]",
        options,
        "  alar explain                lists all anomalies, causes before their echoes\n"
        "  alar explain early-read\n",
    };
    enum alar_anomaly anomaly;
    int count;
    int code = alar_cli_options(&command, argc, argv, &count);

    if (code >= 0) {
        return code;
    }
    if (count > 1) {
        return alar_cli_complain("explain", "expected one anomaly, found several");
    }
    if (count == 1 && alar_anomaly_find(argv[1], &anomaly) != ALAR_OK) {
        return explain_unknown(argv[1]);
    }
    if (count == 1) {
        explain_one(anomaly);
    } else {
        explain_list();
    }
    return ALAR_CLASS_GOOD;
}

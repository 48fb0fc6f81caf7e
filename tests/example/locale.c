/* A host whose locale has a decimal comma, as a program with setlocale(LC_ALL, "") in Germany has:
   what it prints itself has the comma, and the history that alar writes for it has not. */
#include <alar.h>
#include <locale.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    struct alar_config config = {
        .log_interval = 2, .history = argc > 1 ? argv[1] : NULL, .waits_at_log = true};
    struct alar_report report;
    struct alar *log = NULL;
    char complaint[512];

    if (setlocale(LC_ALL, "") == NULL) {
        fprintf(stderr, "no such locale\n");
        return 3;
    }
    if (alar_open(&log, &config, complaint) != ALAR_OK) {
        fprintf(stderr, "%s\n", complaint);
        return 3;
    }
    for (int step = 0; step < 4; step++) {
        if (alar_post(log, 10.3 + alar_rank(log), 7) != ALAR_OK || alar_step_end(log) != ALAR_OK) {
            return 1;
        }
        while (alar_report(log, &report) == ALAR_OK) {
            if (alar_rank(log) == 0) {
                printf("%g\n", report.loss);
            }
        }
    }
    return alar_close(log) != ALAR_OK;
}

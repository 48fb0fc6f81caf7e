// A C++ program as a host of the log; it is built and run against the installed headers and library.
#include <alar.h>
#include <backend.h>

#include <cstdio>

int main()
{
    alar *log = nullptr;
    alar_config config{};
    char why[512];
    struct alar_report report;

    config.log_interval = 2;
    if (alar_open(&log, &config, why) != ALAR_OK) {
        std::fprintf(stderr, "%s\n", why);
        return 3;
    }
    for (int step = 0; step < 2; step++) {
        if (alar_post(log, 3.0, 2) != ALAR_OK || alar_step_end(log) != ALAR_OK) {
            return 1;
        }
    }
    while (alar_report(log, &report) == ALAR_OK) {
        if (alar_rank(log) == 0) {
            std::printf("loss %g over %g tokens\n", report.loss, report.tokens);
        }
    }
    return alar_close(log) != ALAR_OK;
}

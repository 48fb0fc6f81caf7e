/* Any bytes as a history: refused or judged, never a crash, a leak, or a PASS of nothing. */
#define _GNU_SOURCE
#include "check/history_judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One anonymous file for all runs. */
static const char *file_of(const uint8_t *data, size_t size)
{
    static char path[64];
    static int file = -1;

    if (file < 0) {
        file = memfd_create("history", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    if (file < 0 || ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size) {
        abort();
    }
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = file_of(data, size);
    struct alar_history_files files = {"fuzz", &path, 1};
    struct alar_reading reading;

    if (alar_reading_judge(&reading, &files, NULL) == ALAR_OK) {
        const struct alar_verdict *verdict = alar_judge_verdict(reading.judge);

        if (verdict->kind == ALAR_PASS && verdict->judged == 0) {
            abort();
        }
    } else if (reading.error_line[0] == '\0') {
        abort();
    }
    alar_reading_free(&reading);
    return 0;
}

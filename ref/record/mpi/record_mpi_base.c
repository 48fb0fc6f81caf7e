/* What all of the recorder stands on: its lock, its clock, what it says, how it hashes. */
#include "record_mpi.h"

#include "sys/error_line.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct recorder recorder = {.lock = PTHREAD_MUTEX_INITIALIZER};

void record_lock(void)
{
    pthread_mutex_lock(&recorder.lock);
}

void record_unlock(void)
{
    pthread_mutex_unlock(&recorder.lock);
}

static uint64_t now_ns(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t record_now(void)
{
    return now_ns() - recorder.t0;
}

void record_say(const char *format, ...)
{
    char line[ALAR_ERROR_LINE_BYTES];
    va_list arguments;
    int head = snprintf(line, sizeof(line), "alar record: rank %u: ", recorder.rank);

    va_start(arguments, format);
    vsnprintf(line + head, sizeof(line) - (size_t)head - 1, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s\n", line);
}

/* FNV-1a over words, then over what is left. */
uint64_t record_hash(const void *bytes, uint64_t count)
{
    const unsigned char *at = bytes;
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    uint64_t word = 0;

    for (; count >= sizeof(word); count -= sizeof(word), at += sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        hash = (hash ^ word) * UINT64_C(0x100000001B3);
        hash ^= hash >> 32;
    }
    for (; count > 0; count--, at++) {
        hash = (hash ^ *at) * UINT64_C(0x100000001B3);
    }
    return hash != 0 ? hash : 1;
}

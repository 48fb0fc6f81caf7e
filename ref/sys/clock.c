/* The monotonic clock. */
#include "sys/clock.h"

#include <errno.h>
#include <time.h>

uint64_t alar_clock_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

uint64_t alar_clock_now(void *unused)
{
    (void)unused;
    return alar_clock_now_ns() / 1000U;
}

void alar_clock_sleep(uint64_t until_us)
{
    struct timespec until = {
        .tv_sec = (time_t)(until_us / 1000000U),
        .tv_nsec = (long)(until_us % 1000000U) * 1000L,
    };

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
        /* Hydra signals the survivors of an abnormal exit; the time still has to pass. */
    }
}

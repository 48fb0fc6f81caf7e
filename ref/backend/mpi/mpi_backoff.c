/* The rests between two polls. MPICH itself never yields: where ranks outnumber cores, a rank that
   spins keeps the very rank it waits for from running. */
#include "backend/mpi/mpi_state.h"

#include <errno.h>
#include <sched.h>
#include <time.h>

enum {
    YIELDS = 200,       /* polls with a yield before the first sleep */
    POLLS_PER_LOOK = 8, /* a poll costs about 0.1 us; the clock must not be most of it */
    NANOSECONDS_PER_MICROSECOND = 1000
};

static uint64_t clock_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000) +
           (uint64_t)now.tv_nsec / NANOSECONDS_PER_MICROSECOND;
}

/* hydra sends SIGUSR1 to the others when a rank has gone: a signal must not cut the rest short. */
static void rest(uint64_t duration_us)
{
    struct timespec left = {
        .tv_sec = (time_t)(duration_us / 1000000),
        .tv_nsec = (long)(duration_us % 1000000) * NANOSECONDS_PER_MICROSECOND,
    };

    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
    }
}

bool alar_mpi_backoff_next(struct alar_mpi_backoff *backoff,
                           const struct alar_mpi_patience *patience, uint64_t limit_us)
{
    uint32_t poll = backoff->polls;
    bool is_asleep = poll >= patience->spins + YIELDS;
    uint64_t passed_us = 0;

    backoff->is_due = poll >= patience->spins || poll % POLLS_PER_LOOK == POLLS_PER_LOOK - 1;
    if (backoff->is_due) {
        uint64_t now_us = clock_us();

        backoff->start_us = backoff->start_us > 0 ? backoff->start_us : now_us;
        passed_us = now_us - backoff->start_us;
    }
    if (passed_us >= limit_us) {
        return false;
    }
    if (is_asleep) {
        uint64_t left_us = limit_us - passed_us;

        rest(left_us < patience->sleep_us ? left_us : patience->sleep_us);
        return true;
    }
    if (poll >= patience->spins) {
        sched_yield();
    }
    backoff->polls++;
    return true;
}

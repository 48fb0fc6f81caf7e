/* A thread that looks at a moment which others move. */
#include "sys/guard.h"

#include "sys/clock.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    LOOK_US = 50000
};

static struct {
    _Atomic uint64_t until_us; /* 0: nothing to guard */
    bool (*expired)(void *data, const char *what);
    void *data;
    const char *what;
    uint64_t limit_us;
    bool is_started;
} guard;

static void *guard_watch(void *unused)
{
    for (;;) {
        uint64_t until_us = atomic_load(&guard.until_us);
        uint64_t now_us = alar_clock_now(NULL);

        if (until_us != 0 && now_us >= until_us) {
            if (!guard.expired(guard.data, guard.what)) {
                return unused;
            }
            /* Unless it was cleared meanwhile. */
            atomic_compare_exchange_strong(&guard.until_us, &until_us, now_us + guard.limit_us);
        }
        alar_clock_sleep(now_us + LOOK_US);
    }
}

/* Signals are for the others' threads. */
static void guard_start(void)
{
    pthread_t thread;
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    guard.is_started = true;
    if (pthread_create(&thread, NULL, guard_watch, NULL) == 0) {
        pthread_detach(thread);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void alar_guard_set(uint64_t limit_us, bool (*expired)(void *data, const char *what), void *data,
                    const char *what)
{
    alar_guard_clear();
    guard.expired = expired;
    guard.data = data;
    guard.what = what;
    guard.limit_us = limit_us;
    atomic_store(&guard.until_us, alar_clock_now(NULL) + limit_us);
    if (!guard.is_started) {
        guard_start();
    }
}

void alar_guard_clear(void)
{
    atomic_store(&guard.until_us, 0);
}

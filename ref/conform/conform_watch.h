/* Watches the seats of a world: who is through, who hangs, who is gone. */
#ifndef ALAR_CONFORM_WATCH_H
#define ALAR_CONFORM_WATCH_H

#include "conform/conform_shared.h"

struct conform_watch {
    struct conform_shared *shared;
    uint64_t until_us;   /* the whole run's end, on alar_clock_now */
    uint64_t since_us;   /* when it began to look; 0: not yet */
    uint64_t over_us;    /* when all were through; 0: not yet */
    uint64_t stopped_us; /* when a rank gave up; 0: none did */
    uint64_t hung;       /* ranks that hang, a bit each */
    uint64_t gone;       /* ranks that had ended before the others were made to */
    bool is_late;        /* the time was over */
};

/* Is there anything to wait for? */
bool conform_watch_go_on(struct conform_watch *watch);

/* All processes are gone: writes what became of those that did not come to their end. */
void conform_watch_end(struct conform_watch *watch);

#endif

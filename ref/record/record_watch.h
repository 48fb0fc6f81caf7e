/* What `alar record` and the recorders in the ranks tell each other while a job runs: a file of the
   recording's directory that all of them have in memory. Where ranks run on other machines it may
   not be seen; then nobody is told, and the recording is what the ranks wrote by themselves. */
#ifndef ALAR_RECORD_WATCH_H
#define ALAR_RECORD_WATCH_H

#include <stdint.h>

enum {
    ALAR_WATCH_RANKS = 65536 /* that can be told apart */
};

enum alar_watch_state {
    ALAR_WATCH_ABSENT, /* never started MPI, or not seen */
    ALAR_WATCH_RUNS,
    ALAR_WATCH_TOLD, /* has put its last words on record */
    ALAR_WATCH_ENDED /* has finalized, or left */
};

enum alar_watch_stop {
    ALAR_WATCH_NOT,
    ALAR_WATCH_DEADLINE, /* every rank stood still for as long as the deadline */
    ALAR_WATCH_SIGNAL    /* `alar record` was told to end */
};

struct alar_watch {
    volatile uint32_t ranks; /* of the world; 0: none has started */
    volatile uint32_t stop;  /* enum alar_watch_stop: say your last words */
    struct {
        volatile uint32_t state;     /* enum alar_watch_state */
        volatile uint64_t stands_ms; /* for so long no thread of it has moved */
    } rank[ALAR_WATCH_RANKS];
};

#endif

/* Runs of `alar run` on the simulator with a fault plan, and what a test wants to know of them. */
#ifndef ALAR_TEST_BROKEN_H
#define ALAR_TEST_BROKEN_H

#include "run/run_state.h"

enum {
    BROKEN_RANKS = 4,
    BROKEN_MICROBATCHES = 4,
    BROKEN_LINES_MAX = 16,
    BROKEN_LINE_BYTES = 256,
    BROKEN_DEADLINE_US = 500000
};

/* What became of a run. */
struct broken {
    int code;
    int64_t fired;
    size_t reports; /* of each rank */
    size_t same;    /* which have the bits of the synchronous twin, on the rank that has fewest */
    size_t lines;   /* verdict lines */
    char line[BROKEN_LINES_MAX][BROKEN_LINE_BYTES];
    uint32_t line_rank[BROKEN_LINES_MAX];
    uint64_t line_tick[BROKEN_LINES_MAX];
    uint64_t wait_us[BROKEN_LINES_MAX]; /* how long the rank had waited when it wrote the line */
    struct alar_finding finding[BROKEN_RANKS];
    uint64_t findings[BROKEN_RANKS]; /* how many each rank knows of */
};

/* The whole shipped data, async-microbatch, 500 ms. */
struct alar_run_options broken_options(void);

/* Runs `plan` (text) with `seed`; NULL: no faults. */
struct broken broken_run(struct alar_run_options options, const char *plan, uint64_t seed);

#endif

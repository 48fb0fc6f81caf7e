/* The swarm: runs on the simulator in which everything is drawn from one number. */
#ifndef ALAR_TESTS_SWARM_H
#define ALAR_TESTS_SWARM_H

#include "faults/plan.h"
#include "judge/verdict.h"
#include "run/run_state.h"

#include <stdio.h>

enum {
    SWARM_RANKS = 8,
    SWARM_STEPS = 32,
    SWARM_MICROBATCHES = 4,
    SWARM_FAULTS = 4,
    SWARM_PATH = 512
};

/* Everything a seed decides. */
struct swarm_case {
    uint64_t seed;
    struct alar_run_options run; /* but for paths, steps and faults */
    struct alar_sim_options sim;
    uint32_t microbatches;
    uint32_t steps;
    bool is_benign; /* nothing in the plan may change what is logged, or the exit code */
    struct alar_faults faults;
};

/* What one run came to. */
struct swarm_outcome {
    int code;
    enum alar_verdict_kind verdict;
    bool is_excused; /* every finding is explained by an injected fault */
    uint64_t fired;
    int64_t leaked;
    bool has_twin;
    bool ranks_differ; /* two ranks logged different values */
    size_t logged;
    size_t same;    /* bits as the twin's */
    size_t illegal; /* values that no order of addition gives */
    int64_t last_step;
    char reason[ALAR_ERROR_LINE_BYTES];
};

/* Draws a case. */
void swarm_draw(uint64_t seed, struct swarm_case *drawn);

/* Prints all of it in one line. */
void swarm_print(const struct swarm_case *drawn, FILE *file);

/* The plan in the form of faults/plan.h. */
void swarm_print_plan(const struct swarm_case *drawn, FILE *file);

/* Writes the losses that all cases share below the directory. */
void swarm_losses_write(const char *directory);

/* Runs the case, once with its faults and once without, from where the first left off. Returns why
   that is wrong, or NULL. The histories stay in DIRECTORY/safety and DIRECTORY/progress. */
const char *swarm_run(const struct swarm_case *drawn, const char *directory,
                      struct swarm_outcome *outcome);

_Noreturn void swarm_give_up(const char *what, const char *why);

#endif

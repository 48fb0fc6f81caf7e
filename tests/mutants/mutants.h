/* The score: what the oracle says of back ends that are wrong on purpose, and of healthy ones. */
#ifndef ALAR_TESTS_MUTANTS_H
#define ALAR_TESTS_MUTANTS_H

#include "backend/sim/sim.h"
#include "cli/options.h"
#include "exercise.h"
#include "faults/mutant_backend.h"
#include "judge/judge.h"
#include "run/dataset.h"
#include "tests/lib/history_more.h"

enum {
    HEALTHY = -1, /* in place of a mutant */
    PATH_BYTES = 256,
    FAMILY_RUN = 3, /* all-reduces of one family in a row, so that neighbours have one shape */
};

enum input_kind {
    INPUT_LOSSES,
    INPUT_HOSTILE,
    INPUT_LEDGER, /* only for defects of which the verdict has to name cause and rank */
    INPUT_KINDS
};

enum platform {
    ON_SIM,
    ON_MPICH,
    PLATFORMS
};

/* One run, drawn in whole from its seed. */
struct witness {
    int mutant; /* HEALTHY, or a kind */
    enum input_kind input;
    enum platform platform;
    uint64_t seed;
    uint32_t ranks;
    enum alar_mutant_promise promise;
};

/* The recorded losses of both data sets. */
struct losses {
    struct alar_dataset train;
    struct alar_dataset diverge;
};

/* What all ranks of a run reduce. */
struct input {
    const struct witness *witness;
    const struct losses *losses;
    uint64_t ops;
    int family[32]; /* dealt out anew for each run */
    uint32_t families;
    uint64_t *room; /* of one vector */
};

enum verdict_class {
    KILLED,   /* FAIL for the expected reason, with the culprit */
    BLURRED,  /* FAIL for another reason, or with another culprit */
    SURVIVED, /* PASS */
    UNDECIDED,
    IDLE, /* the defect showed nowhere */
    VERDICT_CLASSES
};

/* Has the verdict on a ledger to name this mutant's cause, uniquely? */
bool mutant_has_cause(int mutant, enum alar_cause *cause);

/* Opens the recorded losses, or ends the program. */
void losses_open(struct losses *losses);
void losses_close(struct losses *losses);

/* The witness of a platform, a mutant or none, an input, and a number of a run. */
struct witness witness_draw(enum platform platform, int mutant, enum input_kind input,
                            uint64_t seed, uint64_t run);

/* room: ALAR_HOSTILE_ELEMENTS_MAX * 6 values. */
void input_open(struct input *input, const struct witness *witness, const struct losses *losses,
                uint64_t *room);
struct alar_exercise_source input_source(struct input *input);

/* The contract that a witness's back end is held to; deadline in units of the history. */
struct alar_history_contract witness_contract(const struct witness *witness, uint64_t deadline);

/* Runs all ranks of a witness on the simulator, into the directory; adds up the strikes. */
void sim_witness(const struct witness *witness, const struct losses *losses, const char *directory,
                 struct alar_strike *strikes, uint32_t *count);

/* One rank's share of all witnesss, under MPICH; returns the exit code. */
int mpich_witnesss(const struct witness *witness, uint32_t witnesss, const struct losses *losses,
                   const char *plugin, const char *directory);

/* The strikes that the ranks of a witness left beside its history. */
void strikes_read(const char *directory, uint32_t ranks, struct alar_strike *strikes,
                  uint32_t *count);

/* Judges the history in the directory as `alar check` does. */
enum verdict_class witness_judge(const struct witness *witness, const char *directory,
                                 const struct alar_strike *strikes, uint32_t count, bool *is_fail,
                                 char *reason);

/* Makes a directory for a history, or clears it. */
void directory_prepare(const char *directory);

/* Ends the program with a line. */
_Noreturn void give_up(const char *what, const char *why);

#endif

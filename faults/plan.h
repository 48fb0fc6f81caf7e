/* What a process is asked to break: a plan file, or what fiu-run left in the environment.

   A plan is a text file. Lines that begin with # are for people, and for the matrix that runs all
   plans; empty lines are passed over; every other line is

       POINT RANK FIRST-HIT REPEAT VALUE

   POINT is a name of points.def. RANK is a number, or * for every rank. The point fires at the hit
   FIRST-HIT (from 1) and the REPEAT - 1 hits behind it; a REPEAT of * means: from then on.
   FIRST-HIT may be a range A..B, and RANK a question mark: they are drawn from the seed when the
   plan is read, each line from a stream of its own, so a seed is a plan. spec: F-11, F-12 */
#ifndef ALAR_FAULTS_PLAN_H
#define ALAR_FAULTS_PLAN_H

#include "point.h"
#include "sys/error_line.h"

#include <string.h>

enum {
    ALAR_FAULT_LINES_MAX = 64,
    ALAR_FAULT_COMMANDS_MAX = 32,
    ALAR_FAULT_EVERY_RANK = -1, /* of a line's rank */
    ALAR_FAULT_SOME_RANK = -2   /* drawn once the number of ranks is known */
};

struct alar_fault_line {
    enum alar_point point;
    int64_t rank;
    uint64_t first;
    uint64_t repeat; /* UINT64_MAX: from then on */
    int64_t value;
    uint64_t draw; /* 64 random bits of the line's own */
};

/* A command of fiu-run for every rank: "enable name=" point "/" RANK parameters. */
struct alar_fault_command {
    char verb[16];
    enum alar_point point;
    char parameters[64]; /* ",failinfo=5", or "" */
};

struct alar_faults {
    struct alar_fault_line line[ALAR_FAULT_LINES_MAX];
    size_t line_count;
    struct alar_fault_command command[ALAR_FAULT_COMMANDS_MAX];
    size_t command_count;
    int64_t highest_rank; /* named by any line or command; -1: none is */
    bool is_plan;         /* a plan was given */
    bool is_fiu;          /* libfiu is asked too */
};

/* The point with that name; false, and the nearest one, when there is none. */
bool alar_point_find(const char *name, enum alar_point *point);

#if ALAR_FAULTS

/* Adds a plan to `faults`, which the caller zeroed.
   Errors: ALAR_E_INPUT, with one line in `error_line`: file:line:column, expected, found. */
ALAR_MUST_USE enum alar_status alar_plan_read(struct alar_faults *faults, const char *path,
                                              uint64_t seed, char *error_line);

/* Reads the text of FIU_ENABLE itself, because libfiu accepts misspelt points, parameters and units
   in silence. What is for one rank goes to libfiu at once; what is for all ranks goes there by the
   exact name of each rank, when it opens its points. `control` is FIU_CTRL_FIFO: what fiu-ctrl
   says later is not checked. Both may be NULL.
   Errors: ALAR_E_INPUT, with one line in `error_line` that names the nearest. spec: F-13 */
ALAR_MUST_USE enum alar_status alar_fiu_read(struct alar_faults *faults, const char *text,
                                             const char *control, char *error_line);

#else

static inline enum alar_status alar_plan_read(struct alar_faults *faults, const char *path,
                                              uint64_t seed, char *error_line)
{
    (void)faults;
    (void)seed;
    return alar_complain(error_line, path,
                         "expected a build with failure points, found one made with FAULTS=0");
}

static inline enum alar_status alar_fiu_read(struct alar_faults *faults, const char *text,
                                             const char *control, char *error_line)
{
    (void)faults;
    (void)control;
    if (text == NULL || strstr(text, "alar/") == NULL) {
        return ALAR_OK;
    }
    return alar_complain(error_line, "FIU_ENABLE",
                         "expected a build with failure points, found one made with FAULTS=0");
}

#endif

#endif

/* Shared by the files of `alar run`: the one that parses, the one that shows, the one that breaks.
 */
#ifndef ALAR_CLI_RUN_H
#define ALAR_CLI_RUN_H

#include "faults/mutant_backend.h"
#include "run/run.h"

extern const struct alar_run_view alar_cli_run_view;

/* A back end that is wrong on purpose. */
struct alar_cli_mutant {
    enum alar_mutant_kind kind;
    uint64_t seed;
    struct alar_run_wrap wrap;
};

/* Puts the mutant of that name into the run; NULL: none.
   Errors: ALAR_E_INPUT, with one line in `error_line`. */
ALAR_MUST_USE enum alar_status alar_cli_mutant(const char *name, struct alar_run_options *run,
                                               struct alar_cli_mutant *mutant, char *error_line);

/* Where ALAR_STRIKES names a file, a rank leaves there where its defect showed, a line each:
   communicator, number, rank. For the score; the judge never sees it. */
void alar_cli_strikes_leave(const struct alar_mutant *mutant);

#endif

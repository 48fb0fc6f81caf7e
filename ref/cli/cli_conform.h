/* Shared by the files of `alar conform`: the one that parses, the one that shows, the one that
   breaks. */
#ifndef ALAR_CLI_CONFORM_H
#define ALAR_CLI_CONFORM_H

#include "conform/conform.h"
#include "faults/mutant_backend.h"

struct alar_cli_conform_view {
    const struct alar_conform_options *options;
    const struct alar_conform_result *result;
    const char *mutant; /* NULL: none */
};

/* The same table for people and for machines; false when the file can't be written. */
void alar_cli_conform_table(const struct alar_cli_conform_view *view);
void alar_cli_conform_tap(const struct alar_cli_conform_view *view);
bool alar_cli_conform_json(const struct alar_cli_conform_view *view, const char *path);
bool alar_cli_conform_junit(const struct alar_cli_conform_view *view, const char *path);

/* A back end that is wrong on purpose. */
struct alar_cli_conform_mutant {
    enum alar_mutant_kind kind;
    uint64_t seed;
    struct alar_conform_wrap wrap;
};

/* Errors: ALAR_E_INPUT when no mutant has the name, with one line in `error_line`. */
ALAR_MUST_USE enum alar_status alar_cli_conform_mutant(const char *name, uint64_t seed,
                                                       struct alar_cli_conform_mutant *mutant,
                                                       char *error_line);

#endif

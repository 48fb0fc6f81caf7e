/* The subcommands of the `alar` program. Each gets argv with its own name in argv[0] and returns an
   exit code (enum alar_class). Only the files named cli*.c print or decide an exit code. */
#ifndef ALAR_CLI_H
#define ALAR_CLI_H

#include "api/status.h"
#include "cli/options.h"

#include <stdio.h>

int alar_cli_faults(int argc, char **argv);
int alar_cli_run(int argc, char **argv);
int alar_cli_check(int argc, char **argv);
int alar_cli_explain(int argc, char **argv);
int alar_cli_record(int argc, char **argv);
int alar_cli_order(int argc, char **argv);
int alar_cli_hostile(int argc, char **argv);
int alar_cli_conform(int argc, char **argv);
int alar_cli_table(int argc, char **argv);
int alar_cli_view(int argc, char **argv);
int alar_cli_cost(int argc, char **argv);
int alar_cli_export(int argc, char **argv);
int alar_cli_pack(int argc, char **argv);
int alar_cli_unpack(int argc, char **argv);
int alar_cli_help(int argc, char **argv);
int alar_cli_version(int argc, char **argv);
int alar_cli_completion(int argc, char **argv);

struct alar_subcommand {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
};

/* All of them, in the order of the help; ended by one whose name is NULL. */
extern const struct alar_subcommand alar_subcommands[];

/* Exit codes and what they mean, in the order of their numbers; ended by NULL. */
extern const char *const alar_exit_meanings[];

/* The subcommand of that name; NULL, after a complaint of `who` (NULL: alar itself) with the name
   that was meant, when there is none. */
const struct alar_subcommand *alar_cli_find(const char *who, const char *name);

/* What `alar` alone says: the subcommands and the exit codes. Returns the exit code: 0 when that
   was asked for, on stdout. */
int alar_cli_usage(FILE *file);
int alar_cli_version_print(void);

/* Has the subcommand show its own table of options instead of running. */
void alar_cli_describe(const struct alar_subcommand *subcommand,
                       void (*show)(void *context, const struct alar_command *command),
                       void *context);

/* Is this process one of several ranks that an MPI launcher started? */
bool alar_cli_is_launched(void);

/* Parses options as alar_options_parse does. Returns -1 when the subcommand may go on; otherwise
   the exit code with which it ends: 0 after --help, 3 after an error_line on stderr. Comes first in
   every subcommand: alar_cli_describe stops here. */
int alar_cli_options(const struct alar_command *command, int argc, char **argv, int *operands);

/* Writes one error_line line to stderr, `alar NAME: text`, once per job: under a launcher of
   several ranks only rank 0 writes it. Returns ALAR_CLASS_UNUSABLE. */
int alar_cli_complain(const char *name, const char *text);

/* Where a file of the tree lies: at `path` itself, or, for an installed program, in share/alar
   beside its bin, without the leading tests/data/ or faults/. Returns `path` where there is
   neither; else `found`, which has PATH_MAX bytes. */
const char *alar_cli_data(const char *path, char *found);

/* Writes what standard output holds. Returns 0, or the errno of the first failure so far. */
int alar_cli_flush(void);

/* The words of --color: auto|always|never, and what they come to for standard output: auto is
   a terminal, unless the environment has NO_COLOR. */
extern const char *const alar_cli_colors[];
bool alar_cli_has_colors(int color);

/* How far a command is that may take longer than a second: one line of a terminal's stderr that is
   overwritten, at most four times a second and not in the first one. Zero it before use. */
struct alar_cli_progress {
    const char *what;     /* being read */
    uint64_t began, told; /* clock, microseconds */
    bool is_shown;
};
void alar_cli_progress_say(struct alar_cli_progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void alar_cli_progress_tell(struct alar_cli_progress *progress, uint64_t bytes); /* are read */
/* Takes the line away, before other lines and at the end. */
void alar_cli_progress_end(struct alar_cli_progress *progress);

#endif

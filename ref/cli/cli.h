/* The subcommands of the `alar` program. Each gets argv with its own name in argv[0] and returns an
   exit code (enum alar_class). Only the files named cli*.c print or decide an exit code. */
#ifndef ALAR_CLI_H
#define ALAR_CLI_H

#include "api/status.h"
#include "cli/options.h"

int alar_cli_faults(int argc, char **argv);
int alar_cli_run(int argc, char **argv);
int alar_cli_check(int argc, char **argv);
int alar_cli_explain(int argc, char **argv);
int alar_cli_record(int argc, char **argv);
int alar_cli_order(int argc, char **argv);
int alar_cli_hostile(int argc, char **argv);
int alar_cli_table(int argc, char **argv);

/* Is this process one of several ranks that an MPI launcher started? */
bool alar_cli_is_launched(void);

/* Parses options as alar_options_parse does. Returns -1 when the subcommand may go on; otherwise
   the exit code with which it ends: 0 after --help, 3 after a error_line on stderr. */
int alar_cli_options(const struct alar_command *command, int argc, char **argv, int *operands);

/* Writes one error_line line to stderr, `alar NAME: text`, once per job: under a launcher of
   several ranks only rank 0 writes it. Returns ALAR_CLASS_UNUSABLE. */
int alar_cli_complain(const char *name, const char *text);

#endif

/* Manual pages, written from the tables of options. */
#ifndef ALAR_CLI_MAN_H
#define ALAR_CLI_MAN_H

#include "cli/cli.h"

/* The page alar-NAME(1), and the page alar(1), as troff source. */
void cli_man_command(FILE *file, const struct alar_command *command);
void cli_man_alar(FILE *file);

#endif

/* What all subcommands share: their options and their one-line complaints. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Hydra and Open MPI tell each process its rank before any library starts. */
static const char *launcher_rank(void)
{
    const char *rank = getenv("PMI_RANK");

    return rank ? rank : getenv("OMPI_COMM_WORLD_RANK");
}

bool alar_cli_is_launched(void)
{
    return launcher_rank() != NULL;
}

static bool is_first_rank(void)
{
    return !alar_cli_is_launched() || strcmp(launcher_rank(), "0") == 0;
}

int alar_cli_complain(const char *name, const char *text)
{
    if (is_first_rank()) {
        fprintf(stderr, "alar%s%s: %s\n", name ? " " : "", name ? name : "", text);
    }
    return ALAR_CLASS_UNUSABLE;
}

int alar_cli_options(const struct alar_command *command, int argc, char **argv, int *operands)
{
    char error_line[ALAR_ERROR_LINE_BYTES];
    bool wants_help = false;

    if (alar_options_parse(command, argc, argv, operands, &wants_help, error_line) != ALAR_OK) {
        return alar_cli_complain(command->name, error_line);
    }
    if (wants_help) {
        if (is_first_rank()) {
            alar_options_help(command, stdout);
        }
        return ALAR_CLASS_GOOD;
    }
    return -1;
}

/* The program: finds the subcommand, hands over, and sees to it that what was printed arrived. */
#include "cli/cli.h"
#include "cli/cli_apart.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

const struct alar_subcommand alar_subcommands[] = {
    {"run", "log losses over ranks and prove the log against its synchronous twin", alar_cli_run},
    {"check", "judge recorded histories", alar_cli_check},
    {"explain", "say what an anomaly is, with its smallest history", alar_cli_explain},
    {"faults", "list the failure points and how to try them", alar_cli_faults},
    {"record", "record the all-reduces of an unmodified MPI program", alar_cli_record},
    {"view", "draw a history and its verdict as a page", alar_cli_view},
    {"cost", "say what the all-reduces of a history cost, and who was late", alar_cli_cost},
    {"export", "write a history as a trace for other tools", alar_cli_export},
    {"pack", "pack a history: smaller, and read faster", alar_cli_pack},
    {"unpack", "unpack a history: the bytes that were packed", alar_cli_unpack},
    {"order", "reveal the order in which a back end adds", alar_cli_order},
    {"conform", "try every promise of a back end", alar_cli_conform},
    {"hostile", "make hostile inputs, as histories to be filled in", alar_cli_hostile},
    {"table", "print the handle's state machine", alar_cli_table},
    {"help", "print the help of a command, or its manual page", alar_cli_help},
    {"version", "print the version", alar_cli_version},
    {"completion", "print a shell's completion of this command line", alar_cli_completion},
    {NULL, NULL, NULL},
};

/* A file opened later must not be taken for a standard one that came closed: whoever closed it
   gets an error from it, not somebody else's bytes. */
static void standard_files_open(void)
{
    for (int file = 0; file <= 2; file++) {
        if (fcntl(file, F_GETFD) < 0) {
            (void)open("/dev/null", file == 0 ? O_WRONLY : O_RDONLY);
        }
    }
}

static int command_run(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";

    if (argc < 2) {
        return alar_cli_usage(stderr);
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        return alar_cli_version_print();
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        return alar_cli_usage(stdout);
    }
    const struct alar_subcommand *found = alar_cli_find(NULL, name);
    return found == NULL ? ALAR_CLASS_UNUSABLE : found->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    char text[ALAR_ERROR_LINE_BYTES];

    standard_files_open();
    int code = command_run(argc, argv);
    int error = alar_cli_flush();
    if (error != 0) {
        snprintf(text, sizeof(text), "expected to write all of standard output, found: %s",
                 strerror(error));
        alar_cli_complain(NULL, text);
        code = (int)alar_class_worst((enum alar_class)code, ALAR_CLASS_INCOMPLETE);
    }
    alar_cli_apart_end(code);
    return code;
}

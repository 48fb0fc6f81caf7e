/* The program: finds the subcommand and hands over. */
#include "cli/cli.h"
#include "sys/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct subcommand {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
};

static const struct subcommand subcommands[] = {
    {"run", "log losses over ranks and prove the log against its synchronous twin", alar_cli_run},
    {"check", "judge recorded histories", alar_cli_check},
    {"explain", "say what an anomaly is, with its smallest history", alar_cli_explain},
    {"faults", "list the failure points and how to try them", alar_cli_faults},
    {"record", "record the all-reduces of an unmodified MPI program", alar_cli_record},
    {"order", "reveal the order in which a back end adds", alar_cli_order},
    {"vectors", "make hostile inputs, as histories to be filled in", alar_cli_hostile},
    {"table", "print the handle's state machine", alar_cli_table},
};

enum {
    SUBCOMMAND_COUNT = sizeof(subcommands) / sizeof(subcommands[0])
};

static void usage(FILE *file)
{
    fputs("alar: the reference engine and correctness oracle for asynchronous log all-reduce\n\n"
          "usage: alar SUBCOMMAND [OPTION]...    (alar SUBCOMMAND --help tells more)\n\n",
          file);
    for (int i = 0; i < SUBCOMMAND_COUNT; i++) {
        fprintf(file, "  %-10s %s\n", subcommands[i].name, subcommands[i].summary);
    }
    fputs("\nexit codes: 0 good, 1 wrong, 2 incomplete, 3 unusable command line or input, "
          "4 a defect of alar\n",
          file);
}

static int unknown(const char *name)
{
    const char *names[SUBCOMMAND_COUNT + 1] = {NULL};
    char text[ALAR_ERROR_LINE_BYTES];

    for (int i = 0; i < SUBCOMMAND_COUNT; i++) {
        names[i] = subcommands[i].name;
    }
    snprintf(text, sizeof(text), "expected a subcommand, found '%s'; did you mean '%s'?", name,
             names[alar_nearest(name, names)]);
    return alar_cli_complain(NULL, text);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";

    if (argc > 1 && strcmp(name, "--version") == 0) {
        puts("alar " ALAR_VERSION);
        return ALAR_CLASS_GOOD;
    }
    if (argc > 1 && (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)) {
        usage(stdout);
        return ALAR_CLASS_GOOD;
    }
    for (int i = 0; i < SUBCOMMAND_COUNT; i++) {
        if (strcmp(subcommands[i].name, name) == 0) {
            return subcommands[i].run(argc - 1, argv + 1);
        }
    }
    if (argc > 1) {
        return unknown(name);
    }
    usage(stderr);
    return ALAR_CLASS_UNUSABLE;
}

/* `alar help`, `alar version`: what the commands say of themselves, for people and for man. */
#include "cli/cli.h"
#include "cli/cli_man.h"

#include <stdio.h>

int alar_cli_usage(FILE *file)
{
    fputs("alar: the reference engine and correctness oracle for asynchronous log all-reduce\n\n"
          "usage: alar SUBCOMMAND [OPTION]...    (alar help SUBCOMMAND tells more)\n\n",
          file);
    for (const struct alar_subcommand *at = alar_subcommands; at->name != NULL; at++) {
        fprintf(file, "  %-10s %s\n", at->name, at->summary);
    }
    fputs("\nexit codes:", file);
    for (int k = 0; alar_exit_meanings[k] != NULL; k++) {
        fprintf(file, "%s %d %s", k ? "," : "", k, alar_exit_meanings[k]);
    }
    fputs("\n", file);
    return file == stdout ? ALAR_CLASS_GOOD : ALAR_CLASS_UNUSABLE;
}

static void help_show(void *context, const struct alar_command *command)
{
    (void)context;
    alar_options_help(command, stdout);
}

static void man_show(void *context, const struct alar_command *command)
{
    (void)context;
    cli_man_command(stdout, command);
}

int alar_cli_help(int argc, char **argv)
{
    bool is_man = false;
    int count;
    const struct alar_option options[] = {
        {"man", ALAR_OPTION_FLAG, &is_man, NULL,
         "as the source of a manual page; without COMMAND, alar's own", NULL, 0, 0},
        {NULL, ALAR_OPTION_FLAG, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct alar_command command = {
        .name = "help",
        .summary = "print the help of a command, or its manual page",
        .operands = "[COMMAND]",
        .options = options,
        .examples = "  alar help check\n  alar help --man run | man -l -\n",
    };
    int code = alar_cli_options(&command, argc, argv, &count);

    if (code >= 0) {
        return code;
    }
    if (count > 1) {
        return alar_cli_complain("help", "expected one command, found several");
    }
    if (count == 0 && !is_man) {
        return alar_cli_usage(stdout);
    }
    if (count == 0) {
        cli_man_alar(stdout);
        return ALAR_CLASS_GOOD;
    }
    const struct alar_subcommand *found = alar_cli_find("help", argv[1]);
    if (found == NULL) {
        return ALAR_CLASS_UNUSABLE;
    }
    alar_cli_describe(found, is_man ? man_show : help_show, NULL);
    return ALAR_CLASS_GOOD;
}

int alar_cli_version(int argc, char **argv)
{
    const struct alar_option options[] = {{NULL, ALAR_OPTION_FLAG, NULL, NULL, NULL, NULL, 0, 0}};
    const struct alar_command command = {
        .name = "version",
        .summary = "print the version",
        .options = options,
        .examples = "  alar version\n",
    };
    int count;
    int code = alar_cli_options(&command, argc, argv, &count);

    return code >= 0 ? code : alar_cli_version_print();
}

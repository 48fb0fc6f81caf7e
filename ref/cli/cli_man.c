/* Manual pages as troff source: nothing stands in them that the tables do not know. */
#include "cli/cli_man.h"

#include <ctype.h>

/* Text in which every character stands for itself; `is_at_start` of a line. */
static void man_text(FILE *file, const char *text)
{
    bool is_at_start = true;

    for (; *text != '\0'; text++) {
        if (is_at_start && (*text == '.' || *text == '\'')) {
            fputs("\\&", file);
        }
        if (*text == '\\') {
            fputs("\\e", file);
        } else if (*text == '-') {
            fputs("\\-", file);
        } else {
            fputc(*text, file);
        }
        is_at_start = *text == '\n';
    }
}

static void man_upper(FILE *file, const char *text)
{
    for (; *text != '\0'; text++) {
        fputc(toupper((unsigned char)*text), file);
    }
}

static void man_head(FILE *file, const char *name)
{
    fputs(".TH ALAR", file);
    if (name != NULL) {
        fputs("\\-", file);
        man_upper(file, name);
    }
    fputs(" 1 \"\" \"alar " ALAR_VERSION "\" \"User Commands\"\n.SH NAME\nalar", file);
    if (name != NULL) {
        fprintf(file, "\\-%s", name);
    }
}

static void man_option(FILE *file, const char *name, const char *argument, const char *help)
{
    char letter = alar_option_letter(name);

    fputs(".TP\n", file);
    if (letter != '\0') {
        fprintf(file, "\\fB\\-%c\\fR, ", letter);
    }
    fputs("\\fB\\-\\-", file);
    man_text(file, name);
    fputs("\\fR", file);
    if (argument != NULL) {
        fputs(" \\fI", file);
        man_text(file, argument);
        fputs("\\fR", file);
    }
    fputc('\n', file);
    man_text(file, help);
    fputc('\n', file);
}

static void man_exits(FILE *file)
{
    fputs(".SH EXIT STATUS\n", file);
    for (int code = 0; alar_exit_meanings[code] != NULL; code++) {
        fprintf(file, ".TP\n.B %d\n%s\n", code, alar_exit_meanings[code]);
    }
    fputs(".PP\nOver several inputs, or ranks, the order of precedence is 4, 1, 3, 2, 0.\n", file);
}

static void man_examples(FILE *file, const char *examples)
{
    fputs(".SH EXAMPLES\n.nf\n", file);
    man_text(file, examples);
    fputs(".fi\n", file);
}

void cli_man_command(FILE *file, const struct alar_command *command)
{
    man_head(file, command->name);
    fputs(" \\- ", file);
    man_text(file, command->summary);
    fprintf(file, "\n.SH SYNOPSIS\n.B alar %s\n.RI [ OPTION ]...\n", command->name);
    if (command->operands != NULL) {
        man_text(file, command->operands);
        fputc('\n', file);
    }
    fputs(".SH OPTIONS\n", file);
    for (const struct alar_option *option = command->options; option->name != NULL; option++) {
        char text[ALAR_OPTION_ARGUMENT_BYTES];

        man_option(file, option->name, alar_option_argument(option, text), option->help);
    }
    man_option(file, "help", NULL, "print these options and the examples");
    man_exits(file);
    man_examples(file, command->examples);
    fputs(".SH SEE ALSO\n.BR alar (1)\n", file);
}

void cli_man_alar(FILE *file)
{
    man_head(file, NULL);
    fputs(" \\- reference engine and correctness oracle for asynchronous log all\\-reduce\n"
          ".SH SYNOPSIS\n.B alar\n.I SUBCOMMAND\n.RI [ OPTION ]...\n"
          ".SH DESCRIPTION\n"
          "A training job reduces its loss over all data\\-parallel ranks only to print it.\n"
          "Done with a non\\-blocking all\\-reduce that is waited for at the log line this costs\n"
          "next to nothing; done carelessly it prints wrong numbers.\n"
          ".B alar\n"
          "is a small engine that does it, and a judge of what others did.\n"
          ".SH SUBCOMMANDS\n",
          file);
    for (const struct alar_subcommand *at = alar_subcommands; at->name != NULL; at++) {
        fprintf(file, ".TP\n.BR alar\\-%s (1)\n", at->name);
        man_text(file, at->summary);
        fputc('\n', file);
    }
    man_exits(file);
    fputs(
        ".SH ENVIRONMENT\n"
        ".TP\n.B ALAR_MPI\n"
        ".I openmpi\nmakes the back end\n.I mpi\n"
        "load alar\\-openmpi.so; otherwise alar\\-mpich.so is loaded, unless Open MPI's launcher\n"
        "started the process.\n"
        ".TP\n.B NO_COLOR\nwhen set to anything, nothing is coloured unless \\-\\-color asks for "
        "it.\n",
        file);
    man_examples(file, "mpiexec.mpich -n 4 alar run --async-log-allreduce\n"
                       "alar run --wait log --log-interval 20 --async-log-allreduce --history h\n"
                       "alar check h\n"
                       "alar record -o r -- mpiexec.mpich -n 4 ./prog\n"
                       "mpiexec.mpich -n 5 alar order\n");
    fputs(".SH SEE ALSO\n.BR mpiexec.mpich (1),\n.BR fiu\\-run (1)\n", file);
}

/* Command lines and lists of names: one table per subcommand, one parser, one kind of error_line.
 */
#ifndef ALAR_OPTIONS_H
#define ALAR_OPTIONS_H

#include "sys/error_line.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum alar_option_kind {
    ALAR_OPTION_FLAG,   /* bool *: set to true */
    ALAR_OPTION_TEXT,   /* const char **: borrowed from argv */
    ALAR_OPTION_NUMBER, /* uint64_t *: decimal, from `least` to `most` */
    ALAR_OPTION_CHOICE, /* int *: the index of a name in `choices` */
};

struct alar_option {
    const char *name; /* without the dashes */
    enum alar_option_kind kind;
    void *target;               /* keeps its value, the default, when the option is not given */
    const char *argument;       /* "N" or "DIR"; NULL for a flag, and where the choices say it */
    const char *help;           /* one line */
    const char *const *choices; /* CHOICE: NULL-terminated */
    uint64_t least;             /* NUMBER */
    uint64_t most;              /* NUMBER */
};

struct alar_command {
    const char *name;                  /* "run" */
    const char *summary;               /* one line */
    const char *operands;              /* "[PATH]...", or NULL when it takes none */
    const struct alar_option *options; /* ended by one whose name is NULL */
    const char *examples;              /* lines, each ended by a newline */
};

enum {
    ALAR_OPTION_ARGUMENT_BYTES = 256
};

/* What stands for the value in help, manual and errors: the argument, or the choices as "a|b|c";
   NULL for a flag. `text` is where choices are joined. */
const char *alar_option_argument(const struct alar_option *option,
                                 char text[ALAR_OPTION_ARGUMENT_BYTES]);

/* The letter that stands for an option of that name in every command that has one ("output": 'o');
   '\0' when there is none. */
char alar_option_letter(const char *name);

/* Reads argv[1..argc-1] as `--name value`, `--name=value`, `-l value`, `-lvalue` and operands; `--`
   ends the options, and a lone `-` is an operand. Operands are moved to argv[1..], their number
   goes to *operands. Sets *wants_help and stops at --help or -h. Errors: ALAR_E_INPUT, with one
   line in `error_line` (ALAR_ERROR_LINE_BYTES) that says what was expected, what was found and,
   when one is near, the name that was meant. */
ALAR_MUST_USE enum alar_status alar_options_parse(const struct alar_command *command, int argc,
                                                  char **argv, int *operands, bool *wants_help,
                                                  char *error_line);

/* Writes the command's help, made from its table, to `file` (a FILE *). */
void alar_options_help(const struct alar_command *command, void *file);

#endif

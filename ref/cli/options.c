/* One parser for every subcommand, and the help made from the same table. */
#include "cli/options.h"
#include "sys/parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_MAX_BYTES = 64,
    OPTIONS_MAX = 64 /* of a command, that can be suggested */
};

/* One letter means one thing, whatever the command. */
static const struct {
    const char *name;
    char letter;
} letters[] = {{"output", 'o'}, {"quiet", 'q'}, {"help", 'h'}, {"version", 'V'}};

char alar_option_letter(const char *name)
{
    for (size_t k = 0; k < sizeof letters / sizeof *letters; k++) {
        if (strcmp(letters[k].name, name) == 0) {
            return letters[k].letter;
        }
    }
    return '\0';
}

const char *alar_option_argument(const struct alar_option *option,
                                 char text[ALAR_OPTION_ARGUMENT_BYTES])
{
    size_t used = 0;

    if (option->argument != NULL || option->choices == NULL) {
        return option->argument;
    }
    for (int i = 0; option->choices[i] != NULL && used < ALAR_OPTION_ARGUMENT_BYTES; i++) {
        used += (size_t)snprintf(text + used, ALAR_OPTION_ARGUMENT_BYTES - used, "%s%s",
                                 i > 0 ? "|" : "", option->choices[i]);
    }
    return text;
}

static enum alar_status choice_parse(const struct alar_option *option, const char *value,
                                     char *error_line)
{
    for (int i = 0; option->choices[i] != NULL; i++) {
        if (strcmp(option->choices[i], value) == 0) {
            *(int *)option->target = i;
            return ALAR_OK;
        }
    }
    const char *meant = alar_meant(value, option->choices);
    char text[ALAR_OPTION_ARGUMENT_BYTES];

    snprintf(error_line, ALAR_ERROR_LINE_BYTES, "--%s: expected %s, found '%s'%s%s%s", option->name,
             alar_option_argument(option, text), value, meant ? "; did you mean '" : "",
             meant ? meant : "", meant ? "'?" : "");
    return ALAR_E_INPUT;
}

static enum alar_status value_store(const struct alar_option *option, const char *value,
                                    char *error_line)
{
    switch (option->kind) {
    case ALAR_OPTION_FLAG:
        *(bool *)option->target = true;
        return ALAR_OK;
    case ALAR_OPTION_TEXT:
        *(const char **)option->target = value;
        return ALAR_OK;
    case ALAR_OPTION_CHOICE:
        return choice_parse(option, value, error_line);
    case ALAR_OPTION_NUMBER:
        break;
    }
    if (alar_number_parse(value, option->least, option->most, option->target) != ALAR_OK) {
        snprintf(error_line, ALAR_ERROR_LINE_BYTES,
                 "--%s: expected a whole number from %llu to %llu, found '%s'", option->name,
                 (unsigned long long)option->least, (unsigned long long)option->most, value);
        return ALAR_E_INPUT;
    }
    return ALAR_OK;
}

static const struct alar_option *option_find(const struct alar_command *command, const char *name,
                                             size_t length)
{
    for (const struct alar_option *option = command->options; option->name != NULL; option++) {
        if (strlen(option->name) == length && strncmp(option->name, name, length) == 0) {
            return option;
        }
    }
    return NULL;
}

/* `dashes` is what stood before the name. */
static enum alar_status option_unknown(const struct alar_command *command, const char *dashes,
                                       const char *name, size_t length, char *error_line)
{
    const char *names[OPTIONS_MAX + 2] = {"help"};
    char text[NAME_MAX_BYTES + 1];
    size_t count = 1;

    snprintf(text, sizeof(text), "%.*s", (int)length, name);
    for (const struct alar_option *option = command->options;
         option->name != NULL && count <= OPTIONS_MAX; option++) {
        names[count++] = option->name;
    }
    const char *meant = alar_meant(text, names);
    snprintf(error_line, ALAR_ERROR_LINE_BYTES,
             "expected an option of 'alar %s', found '%s%s'; %s%s%s", command->name, dashes, text,
             meant ? "did you mean '--" : "see: alar help ", meant ? meant : command->name,
             meant ? "'?" : "");
    return ALAR_E_INPUT;
}

/* Stores the option, with its value from behind it when it is not part of it (`value` NULL). */
static enum alar_status option_store(const struct alar_option *option, const char *value, int argc,
                                     char **argv, int *at, char *error_line)
{
    if (option->kind == ALAR_OPTION_FLAG && value != NULL) {
        snprintf(error_line, ALAR_ERROR_LINE_BYTES, "--%s: expected no value, found '%s'",
                 option->name, value);
        return ALAR_E_INPUT;
    }
    if (option->kind != ALAR_OPTION_FLAG && value == NULL) {
        if (*at + 1 >= argc) {
            char text[ALAR_OPTION_ARGUMENT_BYTES];

            snprintf(error_line, ALAR_ERROR_LINE_BYTES,
                     "--%s: expected a value (%s), found the end of the line", option->name,
                     alar_option_argument(option, text));
            return ALAR_E_INPUT;
        }
        value = argv[++*at];
    }
    return value_store(option, value, error_line);
}

/* Takes the option `--name` or `--name=value` at argv[*at]. */
static enum alar_status option_take(const struct alar_command *command, int argc, char **argv,
                                    int *at, char *error_line)
{
    const char *name = argv[*at] + 2;
    size_t length = strcspn(name, "=");
    const char *value = name[length] == '=' ? name + length + 1 : NULL;
    const struct alar_option *option = option_find(command, name, length);

    if (option == NULL) {
        return option_unknown(command, "--", name, length, error_line);
    }
    return option_store(option, value, argc, argv, at, error_line);
}

/* Takes the option `-l` or `-lvalue` at argv[*at]. */
static enum alar_status letter_take(const struct alar_command *command, int argc, char **argv,
                                    int *at, char *error_line)
{
    const char *word = argv[*at] + 1;

    for (const struct alar_option *option = command->options; option->name != NULL; option++) {
        bool is_whole = word[1] == '\0' || option->kind != ALAR_OPTION_FLAG;

        if (alar_option_letter(option->name) == word[0] && is_whole) {
            return option_store(option, word[1] ? word + 1 : NULL, argc, argv, at, error_line);
        }
    }
    return option_unknown(command, "-", word, strlen(word), error_line);
}

enum alar_status alar_options_parse(const struct alar_command *command, int argc, char **argv,
                                    int *operands, bool *wants_help, char *error_line)
{
    int kept = 1;
    bool is_open = true;

    for (int at = 1; at < argc; at++) {
        const char *word = argv[at];

        if (is_open && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
            *wants_help = true;
            return ALAR_OK;
        }
        if (is_open && strcmp(word, "--") == 0) {
            is_open = false;
        } else if (is_open && strncmp(word, "--", 2) == 0) {
            ALAR_TRY(option_take(command, argc, argv, &at, error_line));
        } else if (is_open && word[0] == '-' && word[1] != '\0') {
            ALAR_TRY(letter_take(command, argc, argv, &at, error_line));
        } else if (command->operands == NULL) {
            snprintf(error_line, ALAR_ERROR_LINE_BYTES, "expected options only, found '%s'", word);
            return ALAR_E_INPUT;
        } else {
            argv[kept++] = argv[at];
        }
    }
    *operands = kept - 1;
    return ALAR_OK;
}

static void help_row(FILE *file, const char *name, const char *argument, const char *help)
{
    char letter = alar_option_letter(name);
    char left[NAME_MAX_BYTES + ALAR_OPTION_ARGUMENT_BYTES];
    char before[] = "-?, ";

    before[1] = letter;
    snprintf(left, sizeof(left), "%s--%s%s%s", letter ? before : "    ", name, argument ? " " : "",
             argument ? argument : "");
    fprintf(file, strlen(left) > 28 ? "  %s\n%32s%s\n" : "  %-28s%s  %s\n", left, "", help);
}

void alar_options_help(const struct alar_command *command, void *file)
{
    fprintf(file, "alar %s: %s\n\nusage: alar %s [OPTION]...%s%s\n\n", command->name,
            command->summary, command->name, command->operands ? " " : "",
            command->operands ? command->operands : "");
    for (const struct alar_option *option = command->options; option->name != NULL; option++) {
        char text[ALAR_OPTION_ARGUMENT_BYTES];

        help_row(file, option->name, alar_option_argument(option, text), option->help);
    }
    help_row(file, "help", NULL, "this text");
    fprintf(file, "\nexamples:\n%s", command->examples);
}

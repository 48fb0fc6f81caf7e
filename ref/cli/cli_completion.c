/* `alar completion`: what a shell needs to complete this command line, from the tables of options.
 */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

static const char *const shells[] = {"bash", "zsh", "fish", NULL};

/* Text inside single quotes of a shell: bash and zsh. */
static void put_quoted(const char *text)
{
    putchar('\'');
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            fputs("'\\''", stdout);
        } else {
            putchar(*text);
        }
    }
    putchar('\'');
}

/* ---- bash -------------------------------------------------------------------------------------
 */

static void bash_command(void *context, const struct alar_command *command)
{
    (void)context;
    printf("    %s)\n        options='--help", command->name);
    for (const struct alar_option *at = command->options; at->name != NULL; at++) {
        printf(" --%s", at->name);
        if (alar_option_letter(at->name) != '\0') {
            printf(" -%c", alar_option_letter(at->name));
        }
    }
    fputs("'\n        case $before in\n", stdout);
    for (const struct alar_option *at = command->options; at->name != NULL; at++) {
        if (at->kind == ALAR_OPTION_CHOICE) {
            printf("        --%s) words='", at->name);
            for (int k = 0; at->choices[k] != NULL; k++) {
                printf("%s%s", k ? " " : "", at->choices[k]);
            }
            fputs("' ;;\n", stdout);
        } else if (at->kind == ALAR_OPTION_TEXT) {
            printf("        --%s) files=1 ;;\n", at->name);
        } else if (at->kind == ALAR_OPTION_NUMBER) {
            printf("        --%s) return ;;\n", at->name);
        }
    }
    fputs("        esac\n        ;;\n", stdout);
}

static void bash_print(void)
{
    fputs("# Completion of alar for bash: source it, or install it as\n"
          "# share/bash-completion/completions/alar. Made by: alar completion bash\n"
          "_alar()\n{\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    local options= words= files=\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        COMPREPLY=($(compgen -W '",
          stdout);
    for (const struct alar_subcommand *at = alar_subcommands; at->name != NULL; at++) {
        printf("%s ", at->name);
    }
    fputs("--help --version' -- \"$word\"))\n        return\n    fi\n"
          "    case ${COMP_WORDS[1]} in\n",
          stdout);
    for (const struct alar_subcommand *at = alar_subcommands; at->name != NULL; at++) {
        alar_cli_describe(at, bash_command, NULL);
    }
    fputs("    *) return ;;\n    esac\n"
          "    if [ -n \"$words\" ]; then\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
          "    elif [ -n \"$files\" ] || [[ $word != -* ]]; then\n"
          "        COMPREPLY=($(compgen -f -- \"$word\"))\n"
          "    else\n"
          "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
          "    fi\n}\n"
          "complete -o filenames -F _alar alar\n",
          stdout);
}

/* ---- zsh --------------------------------------------------------------------------------------
 */

/* A description in an argument of _arguments: brackets and colons mean something there. */
static void zsh_option(const struct alar_option *option)
{
    char text[512];
    size_t length = 0;

    for (const char *at = option->help; *at != '\0' && length + 2 < sizeof text; at++) {
        if (strchr("[]:\\", *at) != NULL) {
            text[length++] = '\\';
        }
        text[length++] = *at;
    }
    text[length] = '\0';
    fputs("        ", stdout);
    char line[1024];
    size_t used = (size_t)snprintf(line, sizeof line, "--%s[%s]", option->name, text);
    if (option->kind == ALAR_OPTION_CHOICE) {
        used += (size_t)snprintf(line + used, sizeof line - used, ":%s:(", option->name);
        for (int k = 0; option->choices[k] != NULL; k++) {
            used += (size_t)snprintf(line + used, sizeof line - used, "%s%s", k ? " " : "",
                                     option->choices[k]);
        }
        snprintf(line + used, sizeof line - used, ")");
    } else if (option->kind == ALAR_OPTION_TEXT) {
        snprintf(line + used, sizeof line - used, ":%s:_files", option->name);
    } else if (option->kind == ALAR_OPTION_NUMBER) {
        snprintf(line + used, sizeof line - used, ":%s:", option->name);
    }
    put_quoted(line);
    fputs(" \\\n", stdout);
}

static void zsh_command(void *context, const struct alar_command *command)
{
    (void)context;
    printf("    %s) _arguments \\\n", command->name);
    for (const struct alar_option *at = command->options; at->name != NULL; at++) {
        zsh_option(at);
    }
    fputs("        '--help[this text]' '*:file:_files' ;;\n", stdout);
}

static void zsh_print(void)
{
    fputs("#compdef alar\n# Completion of alar for zsh: put it into a folder of $fpath as _alar.\n"
          "# Made by: alar completion zsh\n"
          "local -a commands\ncommands=(\n",
          stdout);
    for (const struct alar_subcommand *at = alar_subcommands; at->name != NULL; at++) {
        char line[256];

        snprintf(line, sizeof line, "%s:%s", at->name, at->summary);
        fputs("    ", stdout);
        put_quoted(line);
        putchar('\n');
    }
    fputs(")\nif (( CURRENT == 2 )); then\n    _describe command commands\n    return\nfi\n"
          "local command=$words[2]\nshift words\n(( CURRENT-- ))\ncase $command in\n",
          stdout);
    for (const struct alar_subcommand *at = alar_subcommands; at->name != NULL; at++) {
        alar_cli_describe(at, zsh_command, NULL);
    }
    fputs("esac\n", stdout);
}

/* ---- fish -------------------------------------------------------------------------------------
 */

static void fish_command(void *context, const struct alar_command *command)
{
    (void)context;
    for (const struct alar_option *at = command->options; at->name != NULL; at++) {
        char letter = alar_option_letter(at->name);

        printf("complete -c alar -n '__fish_seen_subcommand_from %s' -l %s", command->name,
               at->name);
        if (letter != '\0') {
            printf(" -s %c", letter);
        }
        if (at->kind == ALAR_OPTION_CHOICE) {
            fputs(" -x -a '", stdout);
            for (int k = 0; at->choices[k] != NULL; k++) {
                printf("%s%s", k ? " " : "", at->choices[k]);
            }
            putchar('\'');
        } else if (at->kind != ALAR_OPTION_FLAG) {
            fputs(at->kind == ALAR_OPTION_TEXT ? " -r" : " -x", stdout);
        }
        fputs(" -d ", stdout);
        put_quoted(at->help);
        putchar('\n');
    }
}

static void fish_print(void)
{
    fputs(
        "# Completion of alar for fish: install it as share/fish/vendor_completions.d/alar.fish.\n"
        "# Made by: alar completion fish\n",
        stdout);
    for (const struct alar_subcommand *at = alar_subcommands; at->name != NULL; at++) {
        printf("complete -c alar -n __fish_use_subcommand -f -a %s -d ", at->name);
        put_quoted(at->summary);
        putchar('\n');
        alar_cli_describe(at, fish_command, NULL);
    }
}

int alar_cli_completion(int argc, char **argv)
{
    static void (*const prints[])(void) = {bash_print, zsh_print, fish_print};
    char text[ALAR_ERROR_LINE_BYTES];
    int count;
    const struct alar_option options[] = {{NULL, ALAR_OPTION_FLAG, NULL, NULL, NULL, NULL, 0, 0}};
    const struct alar_command command = {
        .name = "completion",
        .summary = "print a shell's completion of this command line",
        .operands = "bash|zsh|fish",
        .options = options,
        .examples = "  . <(alar completion bash)\n"
                    "  alar completion fish > ~/.config/fish/completions/alar.fish\n",
    };
    int code = alar_cli_options(&command, argc, argv, &count);

    if (code >= 0) {
        return code;
    }
    for (int k = 0; count == 1 && shells[k] != NULL; k++) {
        if (strcmp(argv[1], shells[k]) == 0) {
            prints[k]();
            return ALAR_CLASS_GOOD;
        }
    }
    snprintf(text, sizeof text, "expected bash, zsh or fish, found %s%.100s%s", count ? "'" : "",
             count ? argv[1] : "none", count ? "'" : "");
    return alar_cli_complain("completion", text);
}

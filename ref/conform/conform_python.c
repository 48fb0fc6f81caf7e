/* torch.distributed on trial: a Python forks the ranks, each of which hands its table to us through
   alar-rank.so, see ref/python/alar/conform.py. */
#include "backend/plugin.h"
#include "conform/conform_launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ALAR_PYTHON, or the first python3 there is. */
static const char *python(void)
{
    const char *given = getenv("ALAR_PYTHON");

    return given != NULL && *given != '\0' ? given : "python3";
}

/* The last line it prints, without its end; "" for none. Returns its exit code, or -1. */
static int line_last(const char *command, char *line, size_t bytes)
{
    FILE *output = popen(command, "r");
    char read[ALAR_ERROR_LINE_BYTES];

    line[0] = '\0';
    if (output == NULL) {
        return -1;
    }
    while (fgets(read, sizeof(read), output) != NULL) {
        read[strcspn(read, "\n")] = '\0';
        snprintf(line, bytes, "%s", read);
    }
    int status = pclose(output);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

enum alar_status conform_python_find(struct conform_launch *launch, const char *transport,
                                     char *error_line)
{
    char command[PATH_MAX];
    char said[ALAR_ERROR_LINE_BYTES];

    if (launch->options->is_launched || launch->options->rank_argv != NULL) {
        return alar_complain(error_line, launch->options->backend,
                             "expected neither --launched nor --mutant with it");
    }
    if (strchr(python(), '\'') != NULL ||
        strspn(transport, "abcdefghijklmnopqrstuvwxyz") != strlen(transport)) {
        return alar_complain(error_line, launch->options->backend,
                             "expected torch:gloo, or the like");
    }
    ALAR_TRY(alar_plugin_find("alar-rank.so", launch->plugin, error_line));
    snprintf(command, sizeof(command), "'%.3000s' -m alar.conform --check '%.64s' 2>&1", python(),
             transport);
    if (line_last(command, said, sizeof(said)) != 0) {
        return alar_complain(error_line, launch->options->backend,
                             "expected a Python with the packages alar and torch (%.80s; "
                             "ALAR_PYTHON names another), found: %.200s",
                             python(), said);
    }
    return ALAR_OK;
}

_Noreturn void conform_python_become(const struct conform_launch *launch, uint32_t ranks)
{
    char number[16];
    const struct alar_conform_options *options = launch->options;
    char *const words[] = {(char *)python(),
                           (char *)"-m",
                           (char *)"alar.conform",
                           (char *)launch->plugin,
                           (char *)launch->file,
                           number,
                           (char *)options->backend + strlen("torch:"),
                           (char *)options->config,
                           NULL};

    snprintf(number, sizeof(number), "%u", ranks);
    execvp(words[0], words);
    _exit(127);
}

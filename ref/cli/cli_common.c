/* What all subcommands share: their options, their one-line complaints, colours and progress. */
#include "cli/cli.h"
#include "sys/clock.h"
#include "sys/parse.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SUBCOMMANDS_MAX = 32
};

const char *const alar_exit_meanings[] = {
    "good", "wrong", "incomplete", "unusable command line or input", "a defect of alar", NULL};

const char *const alar_cli_colors[] = {"auto", "always", "never", NULL};

/* Who wants to see a command's table of options; nobody as a rule. */
static struct {
    void (*show)(void *context, const struct alar_command *command);
    void *context;
} describing;

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

const struct alar_subcommand *alar_cli_find(const char *who, const char *name)
{
    const char *names[SUBCOMMANDS_MAX + 1] = {NULL};
    char text[ALAR_ERROR_LINE_BYTES];

    for (int k = 0; k < SUBCOMMANDS_MAX && alar_subcommands[k].name != NULL; k++) {
        names[k] = alar_subcommands[k].name;
        if (strcmp(names[k], name) == 0) {
            return &alar_subcommands[k];
        }
    }
    const char *meant = alar_meant(name, names);
    snprintf(text, sizeof(text), "expected a subcommand, found '%.200s'; %s%s%s", name,
             meant ? "did you mean '" : "alar help lists them", meant ? meant : "",
             meant ? "'?" : "");
    alar_cli_complain(who, text);
    return NULL;
}

void alar_cli_describe(const struct alar_subcommand *subcommand,
                       void (*show)(void *context, const struct alar_command *command),
                       void *context)
{
    char *argv[] = {(char *)subcommand->name, NULL};

    describing.show = show;
    describing.context = context;
    (void)subcommand->run(1, argv);
    describing.show = NULL;
}

int alar_cli_options(const struct alar_command *command, int argc, char **argv, int *operands)
{
    char error_line[ALAR_ERROR_LINE_BYTES];
    bool wants_help = false;

    if (describing.show != NULL) {
        describing.show(describing.context, command);
        return ALAR_CLASS_GOOD;
    }
    if (argc > 1 && (strcmp(argv[1], "-V") == 0 || strcmp(argv[1], "--version") == 0)) {
        return alar_cli_version_print();
    }
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

const char *alar_cli_data(const char *path, char *found)
{
    static const char *const folders[] = {"tests/data/", "faults/"};
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

    if (access(path, F_OK) == 0 || length <= 0) {
        return path;
    }
    program[length] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(program, '/');

        if (slash == NULL) {
            return path;
        }
        *slash = '\0';
    }
    for (size_t k = 0; k < sizeof folders / sizeof *folders; k++) {
        size_t bytes = strlen(folders[k]);
        bool is_of_tree = strncmp(path, folders[k], bytes) == 0;
        int used =
            snprintf(found, PATH_MAX, "%s/share/alar/%s", program, path + bytes * is_of_tree);

        if (is_of_tree && used > 0 && used < PATH_MAX && access(found, F_OK) == 0) {
            return found;
        }
    }
    return path;
}

int alar_cli_flush(void)
{
    static int first;

    errno = 0;
    if (fflush(stdout) != 0 && first == 0) {
        first = errno;
    }
    if (first == 0 && ferror(stdout)) {
        /* Some print failed in between. The output is torn already: one more byte tells why. */
        errno = 0;
        first = fputc('\n', stdout) == EOF || fflush(stdout) != 0 ? errno : EIO;
    }
    return first;
}

bool alar_cli_has_colors(int color)
{
    const char *none = getenv("NO_COLOR");
    bool is_wanted = isatty(STDOUT_FILENO) != 0 && (none == NULL || none[0] == '\0');

    return color == 1 || (color == 0 && is_wanted);
}

void alar_cli_progress_say(struct alar_cli_progress *progress, const char *format, ...)
{
    va_list arguments;
    uint64_t now = alar_clock_now(NULL);

    if (progress->began == 0) {
        progress->began = now;
    }
    if (now - progress->began < 1000000 || now - progress->told < 250000 ||
        isatty(STDERR_FILENO) == 0) {
        return;
    }
    progress->told = now;
    progress->is_shown = true;
    va_start(arguments, format);
    fputc('\r', stderr);
    vfprintf(stderr, format, arguments);
    fputs("\033[K", stderr);
    va_end(arguments);
}

void alar_cli_progress_tell(struct alar_cli_progress *progress, uint64_t bytes)
{
    alar_cli_progress_say(progress, "%s: %llu MB read", progress->what,
                          (unsigned long long)(bytes >> 20));
}

void alar_cli_progress_end(struct alar_cli_progress *progress)
{
    if (progress->is_shown) {
        fputs("\r\033[K", stderr);
    }
    progress->is_shown = false;
}

int alar_cli_version_print(void)
{
    puts("alar " ALAR_VERSION);
    return ALAR_CLASS_GOOD;
}

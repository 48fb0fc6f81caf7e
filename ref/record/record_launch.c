/* Launchers' command lines. realpath and the like are plain POSIX; environ is not declared there.
 */
#define _GNU_SOURCE
#include "record/record_launch.h"

#include "sys/error_line.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    WORDS_MORE = 12 /* that may be added to a command */
};

const char *const alar_launch_names[] = {"auto", "mpich", "openmpi", NULL};

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* The file that a command's first word names, through PATH and links; false when there is none. */
static bool file_find(const char *word, char *path)
{
    char candidate[PATH_MAX];
    const char *at = getenv("PATH");

    if (strchr(word, '/') != NULL) {
        return realpath(word, path) != NULL;
    }
    for (at = at != NULL ? at : "/usr/bin:/bin"; *at != '\0';) {
        size_t length = strcspn(at, ":");

        if (snprintf(candidate, sizeof(candidate), "%.*s/%s", (int)length, at, word) < PATH_MAX &&
            access(candidate, X_OK) == 0) {
            return realpath(candidate, path) != NULL;
        }
        at += length + (at[length] == ':');
    }
    return false;
}

static bool is_launcher_name(const char *base)
{
    return strncmp(base, "mpiexec", 7) == 0 || strncmp(base, "mpirun", 6) == 0 ||
           strcmp(base, "orterun") == 0 || strcmp(base, "prterun") == 0;
}

static enum alar_launch_mpi name_tells(const char *base)
{
    if (strstr(base, "mpich") != NULL || strstr(base, "hydra") != NULL) {
        return ALAR_LAUNCH_MPICH;
    }
    if (strstr(base, "openmpi") != NULL || strcmp(base, "orterun") == 0 ||
        strcmp(base, "prterun") == 0) {
        return ALAR_LAUNCH_OPENMPI;
    }
    return ALAR_LAUNCH_AUTO;
}

/* Which library a program was linked with, by the name it needs. */
static enum alar_launch_mpi program_tells(const char *path)
{
    enum alar_launch_mpi mpi = ALAR_LAUNCH_AUTO;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat stat = {0};

    if (file < 0 || fstat(file, &stat) != 0 || stat.st_size == 0) {
        if (file >= 0) {
            close(file);
        }
        return ALAR_LAUNCH_AUTO;
    }
    size_t size = (size_t)stat.st_size;
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (bytes == MAP_FAILED) {
        return ALAR_LAUNCH_AUTO;
    }
    if (memmem(bytes, size, "libmpich.so", 11) != NULL) {
        mpi = ALAR_LAUNCH_MPICH;
    } else if (memmem(bytes, size, "libmpi.so", 9) != NULL) {
        mpi = ALAR_LAUNCH_OPENMPI;
    }
    munmap(bytes, size);
    return mpi;
}

enum alar_status alar_launch_find(struct alar_launch *launch, char *const *command,
                                  enum alar_launch_mpi given, char *error_line)
{
    char path[PATH_MAX];

    launch->is_launcher = is_launcher_name(base_of(command[0]));
    if (!file_find(command[0], path)) {
        return alar_complain(error_line, command[0], "expected a program, found none");
    }
    launch->launcher = name_tells(base_of(command[0]));
    if (launch->launcher == ALAR_LAUNCH_AUTO) {
        launch->launcher = launch->is_launcher ? name_tells(base_of(path)) : program_tells(path);
    }
    launch->mpi = given != ALAR_LAUNCH_AUTO ? given : launch->launcher;
    if (launch->launcher == ALAR_LAUNCH_AUTO) {
        launch->launcher = given;
    }
    if (launch->mpi == ALAR_LAUNCH_AUTO) {
        return alar_complain(error_line, command[0],
                             "expected a launcher or program of MPICH or Open MPI, found neither; "
                             "say which with --mpi");
    }
    return ALAR_OK;
}

/* The value that a launcher's option in the command gives LD_PRELOAD, and where its text stands:
   `-genv LD_PRELOAD X`, `-env LD_PRELOAD X`, `-x LD_PRELOAD=X`. */
static const char *preload_given(char *const *command, int count, int *at)
{
    for (int k = 1; k + 1 < count; k++) {
        bool is_env = strstr(command[k], "env") != NULL && command[k][0] == '-';

        if (is_env && k + 2 < count && strcmp(command[k + 1], "LD_PRELOAD") == 0) {
            *at = k + 2;
            return command[k + 2];
        }
        if (strcmp(command[k], "-x") == 0 && strncmp(command[k + 1], "LD_PRELOAD=", 11) == 0) {
            *at = k + 1;
            return command[k + 1] + 11;
        }
    }
    return NULL;
}

/* Our library, then what the user asked for. `prefix` is "" or "LD_PRELOAD=". */
static char *preload_join(const char *prefix, const char *library, const char *others)
{
    size_t bytes = strlen(prefix) + strlen(library) + (others != NULL ? strlen(others) : 0) + 2;
    char *text = malloc(bytes);

    if (text != NULL) {
        bool has_others = others != NULL && others[0] != '\0';

        snprintf(text, bytes, "%s%s%s%s", prefix, library, has_others ? ":" : "",
                 has_others ? others : "");
    }
    return text;
}

/* Where the program of a fiu-run at `at` begins: behind its options, four of which take a value. */
static int fiu_program(char *const *command, int count, int at)
{
    int k = at + 1;

    while (k < count && command[k][0] == '-') {
        k += command[k][1] != '\0' && strchr("cflp", command[k][1]) != NULL && command[k][2] == '\0'
                 ? 2
                 : 1;
    }
    return k;
}

/* What a launcher must be told, in its own way. */
static int options_add(struct alar_launch *launch, char **to, char **command, int count)
{
    static char *hand_on[] = {"-x", "ALAR_RECORD_DIR",     "-x", "ALAR_RECORD_TAG",
                              "-x", "ALAR_RECORD_CONTRACT"};
    bool is_openmpi = launch->launcher == ALAR_LAUNCH_OPENMPI;
    int given = 0;
    const char *others = preload_given(command, count, &given);
    int added = 0;

    others = others != NULL ? others : getenv("LD_PRELOAD");
    launch->preload = preload_join(is_openmpi ? "LD_PRELOAD=" : "", launch->library, others);
    if (given > 0) {
        command[given] = launch->preload;
    } else if (is_openmpi) {
        to[added++] = "-x";
        to[added++] = launch->preload;
    } else {
        to[added++] = "-genv";
        to[added++] = "LD_PRELOAD";
        to[added++] = launch->preload;
    }
    for (size_t k = 0; is_openmpi && k < sizeof(hand_on) / sizeof(hand_on[0]); k++) {
        to[added++] = hand_on[k];
    }
    return added;
}

enum alar_status alar_launch_build(struct alar_launch *launch, char **command, int count)
{
    /* A shell, because what fiu-run sets is known only behind it. */
    static char *shell[] = {"sh", "-c", "LD_PRELOAD=\"$0${LD_PRELOAD:+:$LD_PRELOAD}\" exec \"$@\""};
    int words = 0;

    launch->argv = calloc((size_t)count + (size_t)count * 4 + WORDS_MORE, sizeof(char *));
    if (launch->argv == NULL) {
        return ALAR_E_NOMEM;
    }
    launch->argv[words++] = command[0];
    if (launch->is_launcher) {
        words += options_add(launch, launch->argv + words, command, count);
    } else {
        launch->preload = preload_join("", launch->library, getenv("LD_PRELOAD"));
    }
    if (launch->preload == NULL) {
        return ALAR_E_NOMEM;
    }
    int program = strcmp(base_of(command[0]), "fiu-run") == 0 ? fiu_program(command, count, 0) : -1;
    for (int k = 1; k < count; k++) {
        if (strcmp(base_of(command[k]), "fiu-run") == 0) {
            program = fiu_program(command, count, k);
        }
        for (size_t word = 0; k == program && word < sizeof(shell) / sizeof(shell[0]); word++) {
            launch->argv[words++] = shell[word];
        }
        if (k == program) {
            launch->argv[words++] = launch->library;
        }
        launch->argv[words++] = command[k];
    }
    return ALAR_OK;
}

/* The environment's LD_PRELOAD is for a rank alone, never for a launcher. Does not return. */
static void child_run(const struct alar_launch *launch, int told)
{
    int error = 0;

    if (!launch->is_launcher) {
        (void)setenv("LD_PRELOAD", launch->preload, 1);
    }
    execvp(launch->argv[0], launch->argv);
    error = errno;
    (void)!write(told, &error, sizeof(error));
    _exit(127);
}

enum alar_status alar_launch_run(const struct alar_launch *launch, int *code, char *error_line)
{
    int told[2];
    int error = 0;
    int status = 0;

    if (pipe2(told, O_CLOEXEC) != 0) {
        return alar_complain(error_line, launch->argv[0], "expected a pipe, found: %s",
                             strerror(errno));
    }
    pid_t child = fork();
    if (child == 0) {
        child_run(launch, told[1]);
    }
    close(told[1]);
    /* The terminal interrupts both; the child decides what that means. */
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction before;
    sigaction(SIGINT, &ignore, &before);
    bool is_failed = child < 0 || read(told[0], &error, sizeof(error)) == (ssize_t)sizeof(error);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
        /* Only the child's end ends the wait. */
    }
    close(told[0]);
    sigaction(SIGINT, &before, NULL);
    if (is_failed) {
        return alar_complain(error_line, launch->argv[0],
                             "expected a program that starts, found: %s",
                             strerror(child < 0 ? errno : error));
    }
    *code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return ALAR_OK;
}

void alar_launch_free(struct alar_launch *launch)
{
    free(launch->argv);
    free(launch->preload);
}

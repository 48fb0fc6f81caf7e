/* Launchers' command lines. memmem is an extension. */
#define _GNU_SOURCE
#include "record/record_launch.h"

#include "sys/error_line.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    WORDS_MORE = 20 /* that may be added to a command */
};

const char *const alar_launch_names[] = {"auto", "mpich", "openmpi", NULL};

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

bool alar_launch_file(const char *word, char *path)
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

/* Which library a program was linked with, by the name it needs; of a script, which it speaks of.
 */
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
    if (size > 2 && memcmp(bytes, "#!", 2) == 0) {
        mpi = memmem(bytes, size, "mpich", 5) != NULL || memmem(bytes, size, "hydra", 5) != NULL
                  ? ALAR_LAUNCH_MPICH
              : memmem(bytes, size, "openmpi", 7) != NULL ? ALAR_LAUNCH_OPENMPI
                                                          : ALAR_LAUNCH_AUTO;
        munmap(bytes, size);
        return mpi;
    }
    /* Debian's MPICH has a name of its own, and libmpi.so.12 is what all others of its family need.
     */
    if (memmem(bytes, size, "libmpich.so", 11) != NULL ||
        memmem(bytes, size, "libmpi.so.12", 12) != NULL) {
        mpi = ALAR_LAUNCH_MPICH;
    } else if (memmem(bytes, size, "libmpi.so", 9) != NULL) {
        mpi = ALAR_LAUNCH_OPENMPI;
    }
    munmap(bytes, size);
    return mpi;
}

/* The launcher behind words that only wrap it, as `timeout 60`; 0: there is none, or it is first.
 */
static int launcher_find(char *const *command, int count)
{
    for (int k = 0; k < count; k++) {
        if (is_launcher_name(base_of(command[k]))) {
            return k;
        }
    }
    return 0;
}

/* Which library a shell's words or a script's name speak of. */
static enum alar_launch_mpi words_tell(char *const *command, int count)
{
    enum alar_launch_mpi mpi = ALAR_LAUNCH_AUTO;

    for (int k = 0; k < count && mpi == ALAR_LAUNCH_AUTO; k++) {
        mpi = name_tells(command[k]);
    }
    return mpi;
}

enum alar_status alar_launch_find(struct alar_launch *launch, char *const *command, int count,
                                  enum alar_launch_mpi given, char *error_line)
{
    char path[PATH_MAX];

    if (!alar_launch_file(command[0], path)) {
        return alar_complain(error_line, command[0], "expected a program, found none");
    }
    enum alar_launch_mpi own = program_tells(path);
    launch->at = own == ALAR_LAUNCH_AUTO ? launcher_find(command, count) : 0;
    const char *base = base_of(command[launch->at]);
    launch->is_launcher = is_launcher_name(base);
    launch->launcher = name_tells(base);
    if (launch->launcher == ALAR_LAUNCH_AUTO && launch->is_launcher &&
        alar_launch_file(command[launch->at], path)) {
        launch->launcher = name_tells(base_of(path));
    }
    if (launch->launcher == ALAR_LAUNCH_AUTO && !launch->is_launcher) {
        launch->launcher = own != ALAR_LAUNCH_AUTO ? own : words_tell(command, count);
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
    static char *hand_on[] = {"-x", "ALAR_RECORD_DIR",      "-x", "ALAR_RECORD_TAG",
                              "-x", "ALAR_RECORD_CONTRACT", "-x", "ALAR_RECORD_DEADLINE_MS",
                              "-x", "ALAR_RECORD_WATCH",    "-x", "ALAR_RECORD_UNHASHED"};
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
    while (words <= launch->at) {
        launch->argv[words] = command[words];
        words++;
    }
    if (launch->is_launcher) {
        words += options_add(launch, launch->argv + words, command, count);
    } else {
        launch->preload = preload_join("", launch->library, getenv("LD_PRELOAD"));
    }
    if (launch->preload == NULL) {
        return ALAR_E_NOMEM;
    }
    int program = strcmp(base_of(command[0]), "fiu-run") == 0 ? fiu_program(command, count, 0) : -1;
    for (int k = launch->at + 1; k < count; k++) {
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

void alar_launch_free(struct alar_launch *launch)
{
    free(launch->argv);
    free(launch->preload);
}

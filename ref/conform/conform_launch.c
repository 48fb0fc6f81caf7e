/* Processes: a nanny of their own for the ranks of a world, so that they share a parent that no
   other world has, and a process group that can be ended. environ and memmem are no POSIX. */
#define _GNU_SOURCE
#include "conform/conform_launch.h"

#include "backend/plugin.h"
#include "sys/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    WORDS = 32,
    POLL_US = 1000
};

/* ---- which launcher ----------------------------------------------------------------------------
 */

/* Does the file need the library? Names of what is needed stand between a zero and a version. */
static bool file_needs(const char *path, const char *library, size_t length)
{
    struct stat stat = {0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    bool is_held = false;

    if (file >= 0 && fstat(file, &stat) == 0 && stat.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, file, 0);

        if (bytes != MAP_FAILED) {
            is_held = memmem(bytes, (size_t)stat.st_size, library, length) != NULL;
            munmap(bytes, (size_t)stat.st_size);
        }
    }
    if (file >= 0) {
        close(file);
    }
    return is_held;
}

enum alar_status conform_launch_find(struct conform_launch *launch, char *error_line)
{
    static const char mpich[] = "\0libmpich.so.";
    static const char openmpi[] = "\0libmpi.so.";
    const char *name = launch->options->backend;
    const char *library = getenv("ALAR_MPI");

    if (strcmp(name, "sim") == 0) {
        launch->launcher = LAUNCH_SIM;
        snprintf(launch->plugin, sizeof(launch->plugin), "sim");
        return ALAR_OK;
    }
    if (strcmp(name, "mpi") == 0 || strncmp(name, "mpi:", 4) == 0) {
        char file[64];

        library = name[3] == ':' ? name + 4 : library != NULL && *library ? library : "mpich";
        snprintf(file, sizeof(file), "alar-%.40s.so", library);
        ALAR_TRY(alar_plugin_find(file, launch->plugin, error_line));
    } else if (strncmp(name, "torch:", 6) == 0) {
        launch->launcher = LAUNCH_PYTHON;
        return conform_python_find(launch, name + 6, error_line);
    } else if (strchr(name, '/') != NULL) {
        if (access(name, R_OK) != 0) {
            return alar_complain(error_line, name, "expected a back end, found: %s",
                                 strerror(errno));
        }
        snprintf(launch->plugin, sizeof(launch->plugin), "%s", name);
    } else {
        return alar_complain(
            error_line, name,
            "expected sim, mpi, mpi:mpich, mpi:openmpi, torch:gloo, or a path with "
            "a slash");
    }
    launch->launcher = launch->options->is_launched                               ? LAUNCH_GIVEN
                       : file_needs(launch->plugin, mpich, sizeof(mpich) - 1)     ? LAUNCH_MPICH
                       : file_needs(launch->plugin, openmpi, sizeof(openmpi) - 1) ? LAUNCH_OPENMPI
                                                                                  : LAUNCH_FORK;
    return ALAR_OK;
}

/* ---- starting ----------------------------------------------------------------------------------
 */

static void set_number(const char *name, uint32_t number)
{
    char text[16];

    snprintf(text, sizeof(text), "%u", number);
    setenv(name, text, 1);
}

/* The words that make this program a rank. */
static void rank_words(const struct conform_launch *launch, char **words, int *count)
{
    static char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *const *more = launch->options->rank_argv;

    self[length > 0 ? length : 0] = '\0';
    words[(*count)++] = self;
    words[(*count)++] = (char *)"conform";
    words[(*count)++] = (char *)launch->plugin;
    words[(*count)++] = (char *)"--rank-of";
    words[(*count)++] = (char *)launch->file;
    words[(*count)++] = (char *)"--config";
    words[(*count)++] = (char *)launch->options->config;
    for (; more != NULL && *more != NULL && *count < WORDS - 1; more++) {
        words[(*count)++] = *more;
    }
    words[*count] = NULL;
}

_Noreturn void conform_launch_become(const struct conform_launch *launch)
{
    char *words[WORDS];
    int count = 0;

    rank_words(launch, words, &count);
    execv(words[0], words);
    _exit(127);
}

static void rank_start(const struct conform_launch *launch, uint32_t rank, uint32_t ranks)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    set_number("ALAR_RANK", rank);
    set_number("ALAR_RANKS", ranks);
    set_number("RANK", rank);
    set_number("LOCAL_RANK", rank);
    set_number("WORLD_SIZE", ranks);
    conform_launch_become(launch);
}

/* Starts the ranks, and writes into their seats how they ended. Does not return. */
static void nanny(const struct conform_launch *launch, struct conform_shared *shared)
{
    pid_t child[CONFORM_RANKS_MAX];
    int status = 0;

    set_number("ALAR_JOB", (uint32_t)getpid());
    for (uint32_t r = 0; r < shared->ranks; r++) {
        child[r] = fork();
        if (child[r] == 0) {
            rank_start(launch, r, shared->ranks);
        }
    }
    for (pid_t pid = wait(&status); pid > 0; pid = wait(&status)) {
        for (uint32_t r = 0; r < shared->ranks; r++) {
            if (child[r] == pid) {
                atomic_store(&shared->seat[r].status, status);
                atomic_store(&shared->seat[r].exited, 1);
            }
        }
    }
    _exit(0);
}

static void launcher_start(const struct conform_launch *launch, uint32_t ranks)
{
    char *words[WORDS];
    char number[16];
    int count = 0;

    snprintf(number, sizeof(number), "%u", ranks);
    setenv("UCX_TLS", "self,sm", 0);
    setenv("UCX_LOG_LEVEL", "error", 0);
    setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 0);
    if (launch->launcher == LAUNCH_OPENMPI) {
        words[count++] = (char *)"mpiexec.openmpi";
        words[count++] = (char *)"--oversubscribe";
        words[count++] = (char *)"--allow-run-as-root";
    } else {
        words[count++] = (char *)"mpiexec.mpich";
    }
    words[count++] = (char *)"-n";
    words[count++] = number;
    rank_words(launch, words, &count);
    execvp(words[0], words);
    _exit(127);
}

/* In a process of its own: the nanny, the launcher, or all ranks of the simulator. */
static pid_t start(const struct conform_launch *launch, struct conform_shared *shared)
{
    pid_t pid = launch->launcher == LAUNCH_PYTHON ? conform_python_fork(launch, shared->ranks) : -1;

    pid = pid < 0 ? fork() : pid;
    if (pid != 0) {
        return pid;
    }
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* whoever ends this program ends its ranks */
    int log = open(launch->log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    int none = open("/dev/null", O_RDONLY);
    if (log >= 0 && none >= 0) {
        dup2(none, STDIN_FILENO);
        dup2(log, STDOUT_FILENO);
        dup2(log, STDERR_FILENO);
    }
    if (launch->launcher == LAUNCH_FORK) {
        nanny(launch, shared);
    } else if (launch->launcher == LAUNCH_SIM || launch->launcher == LAUNCH_GIVEN) {
        conform_launch_become(launch);
    } else if (launch->launcher != LAUNCH_PYTHON) { /* that one has ended */
        launcher_start(launch, shared->ranks);
    }
    _exit(127);
}

/* ---- the end of it -----------------------------------------------------------------------------
 */

/* Ends every process of the world, and waits until none is left. */
static void end_all(const struct conform_shared *shared, pid_t pid)
{
    uint64_t until = alar_clock_now(NULL) + 5000000;
    int left = 1;

    kill(-pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
        /* Only its end ends the wait. */
    }
    while (left > 0 && alar_clock_now(NULL) < until) {
        left = kill(-pid, SIGKILL) == 0;
        for (uint32_t r = 0; r < shared->ranks; r++) {
            int32_t rank = atomic_load(&shared->seat[r].pid);

            left += rank > 0 && rank != pid && kill(rank, SIGKILL) == 0;
        }
        alar_clock_sleep(alar_clock_now(NULL) + POLL_US);
    }
}

bool conform_launch_run(struct conform_launch *launch, struct conform_shared *shared)
{
    struct conform_watch watch = {.shared = shared, .until_us = launch->until_us};
    const struct alar_conform_options *options = launch->options;
    pid_t pid = start(launch, shared);
    uint32_t told = UINT32_MAX;

    setpgid(pid, pid);
    while (conform_watch_go_on(&watch)) {
        uint32_t scene = atomic_load(&shared->seat[0].scene);
        siginfo_t info = {0};

        if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
            info.si_pid == pid) {
            break;
        }
        if (scene != told && options->progress != NULL) {
            options->progress(options->data, shared->ranks, scene, shared->scenes);
            told = scene;
        }
        alar_clock_sleep(alar_clock_now(NULL) + POLL_US);
    }
    end_all(shared, pid);
    conform_watch_end(&watch);
    launch->hangs += watch.hung != 0;
    return !watch.is_late;
}

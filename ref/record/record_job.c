/* Running a job. flock, pipe2 and prctl are extensions. */
#define _GNU_SOURCE
#include "record/record_job.h"

#include "history/history.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    LOOK_MS = 50,
    TELL_MS = 2000, /* the ranks have so long for their last words */
    LEAVE_MS = 3000 /* and the launcher for its end */
};

/* The watch's file stands beside the ranks'. An older one is a crashed recorder's. */
static enum alar_status watch_open(struct alar_job *job, const char *directory, char *error_line)
{
    char path[PATH_MAX];
    void *memory = MAP_FAILED;

    if (realpath(directory, path) == NULL ||
        snprintf(job->path, sizeof(job->path), "%s/.alar-watch", path) >= (int)sizeof(job->path)) {
        return alar_complain(error_line, directory, "expected a path, found: %s", strerror(errno));
    }
    (void)unlink(job->path);
    int file = open(job->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0 && ftruncate(file, sizeof(struct alar_watch)) == 0) {
        memory = mmap(NULL, sizeof(struct alar_watch), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    int error = errno;
    if (file >= 0) {
        close(file);
    }
    if (memory == MAP_FAILED) {
        return alar_complain(error_line, job->path, "expected a file to watch with, found: %s",
                             strerror(error));
    }
    job->watch = memory;
    return ALAR_OK;
}

enum alar_status alar_job_open(struct alar_job *job, const char *directory, bool may_replace,
                               char *error_line)
{
    job->directory = -1;
    if (mkdir(directory, 0777) != 0 && errno != EEXIST) {
        return alar_complain(error_line, directory, "expected a directory to record to, found: %s",
                             strerror(errno));
    }
    job->directory = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (job->directory < 0) {
        bool is_link = errno == ELOOP || errno == ENOTDIR;

        return alar_complain(error_line, directory, "expected a directory to record to, found: %s",
                             is_link ? "a link or a file" : strerror(errno));
    }
    if (flock(job->directory, LOCK_EX | LOCK_NB) != 0) {
        return alar_complain(error_line, directory,
                             "expected a directory of one's own, found another recording that is "
                             "being written to it");
    }
    ALAR_TRY(alar_history_prepare(directory, may_replace, error_line));
    return watch_open(job, directory, error_line);
}

void alar_job_close(struct alar_job *job)
{
    if (job->watch != NULL) {
        munmap(job->watch, sizeof(*job->watch));
        (void)unlink(job->path);
    }
    if (job->directory >= 0) {
        close(job->directory);
    }
    job->watch = NULL;
    job->directory = -1;
}

/* The launcher does not outlive us, and signals for our group are ours to hand on, unless the
   terminal is the job's. Does not return. */
static void child_run(const struct alar_launch *launch, const sigset_t *mask, bool is_apart,
                      int told)
{
    int error = 0;

    if (is_apart) {
        (void)setpgid(0, 0);
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    (void)sigprocmask(SIG_SETMASK, mask, NULL);
    if (!launch->is_launcher) {
        (void)setenv("LD_PRELOAD", launch->preload, 1);
    }
    execvp(launch->argv[0], launch->argv);
    error = errno;
    (void)!write(told, &error, sizeof(error));
    _exit(127);
}

/* Has every rank come to its end, or stood still for the deadline, one at least? */
static bool job_hangs(const struct alar_job *job)
{
    const struct alar_watch *watch = job->watch;
    uint32_t ranks = watch->ranks;
    bool is_one = false;

    for (uint32_t r = 0; r < ranks && r < ALAR_WATCH_RANKS; r++) {
        uint32_t state = watch->rank[r].state;
        bool stands = state == ALAR_WATCH_RUNS && watch->rank[r].stands_ms >= job->deadline_ms;

        if (!stands && state != ALAR_WATCH_ENDED) {
            return false;
        }
        is_one = is_one || stands;
    }
    return is_one && ranks <= ALAR_WATCH_RANKS;
}

static bool job_has_told(const struct alar_watch *watch)
{
    for (uint32_t r = 0; r < watch->ranks && r < ALAR_WATCH_RANKS; r++) {
        if (watch->rank[r].state == ALAR_WATCH_RUNS) {
            return false;
        }
    }
    return true;
}

/* Did the child end within so many milliseconds? *signal: one of ours that came meanwhile; 0. */
static bool child_wait(pid_t child, int ms, const sigset_t *signals, int *signal, int *status)
{
    const struct timespec rest = {ms / 1000, ms % 1000 * 1000000L};
    int got = 0;

    *signal = 0;
    if (waitpid(child, status, WNOHANG) == child) {
        return true;
    }
    got = sigtimedwait(signals, NULL, &rest);
    *signal = got > 0 && got != SIGCHLD ? got : 0;
    return waitpid(child, status, WNOHANG) == child;
}

/* The ranks say where they stand, then the launcher is told to end, and at last made to. */
static void job_end(struct alar_job *job, pid_t child, bool is_apart, const sigset_t *signals,
                    int *status)
{
    pid_t whom = is_apart ? -child : child;
    int again = 0;
    bool is_over = false;

    job->watch->stop = job->stop;
    for (int ms = 0; ms < TELL_MS && !is_over && !job_has_told(job->watch); ms += LOOK_MS) {
        is_over = child_wait(child, LOOK_MS, signals, &again, status);
    }
    for (int ms = 0; ms < LEAVE_MS && !is_over; ms += LOOK_MS) {
        if (ms == 0) {
            (void)kill(whom, SIGTERM);
        }
        is_over = child_wait(child, LOOK_MS, signals, &again, status);
    }
    if (!is_over) {
        (void)kill(whom, SIGKILL);
        (void)waitpid(child, status, 0);
    }
}

static void job_watch(struct alar_job *job, pid_t child, bool is_apart, const sigset_t *signals)
{
    int status = 0;

    while (!child_wait(child, LOOK_MS, signals, &job->signal, &status)) {
        if (job->signal == SIGINT && !is_apart) {
            job->watch->stop = ALAR_WATCH_SIGNAL; /* the terminal interrupts the job, too */
        } else if (job->signal != 0) {
            job->stop = ALAR_WATCH_SIGNAL;
        } else if (job->deadline_ms > 0 && job_hangs(job)) {
            job->stop = ALAR_WATCH_DEADLINE;
        }
        if (job->stop != ALAR_WATCH_NOT) {
            job_end(job, child, is_apart, signals, &status);
            break;
        }
    }
    job->code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

enum alar_status alar_job_run(struct alar_job *job, const struct alar_launch *launch,
                              char *error_line)
{
    bool is_apart = !isatty(STDIN_FILENO) || tcgetpgrp(STDIN_FILENO) != getpgrp();
    sigset_t signals, before;
    int told[2];
    int error = 0;

    if (pipe2(told, O_CLOEXEC) != 0) {
        return alar_complain(error_line, launch->argv[0], "expected a pipe, found: %s",
                             strerror(errno));
    }
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, &before);
    pid_t child = fork();
    if (child == 0) {
        child_run(launch, &before, is_apart, told[1]);
    }
    close(told[1]);
    bool is_failed = child < 0 || read(told[0], &error, sizeof(error)) == (ssize_t)sizeof(error);
    close(told[0]);
    if (is_failed) {
        error = child < 0 ? errno : error;
        (void)waitpid(child, NULL, child < 0 ? WNOHANG : 0);
    } else {
        job_watch(job, child, is_apart, &signals);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return is_failed ? alar_complain(error_line, launch->argv[0],
                                     "expected a program that starts, found: %s", strerror(error))
                     : ALAR_OK;
}

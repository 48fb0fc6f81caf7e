/* Processes for strangers' back ends. prctl and MAP_ANONYMOUS are extensions. */
#define _GNU_SOURCE
#include "cli/cli_apart.h"

#include "cli/cli.h"
#include "sys/clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LOOK_US = 1000
};

struct apart {
    atomic_bool is_loaded, is_over;
    int code; /* once it is over */
};

static struct apart *apart; /* what parent and child share; NULL where there is one process */

void alar_cli_apart_end(int code)
{
    if (apart != NULL) {
        apart->code = code;
        atomic_store(&apart->is_over, true);
    }
}

/* Loads the back end, so that what it does there is done before anything else: loading it again
   later runs nothing. What does not load is complained of then. */
static void child_load(const char *backend, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(ALAR_CLASS_INCOMPLETE); /* it has ended already */
    }
    (void)dlopen(backend, RTLD_NOW | RTLD_LOCAL);
    atomic_store(&apart->is_loaded, true);
}

/* Waits for the child's end; ends it where it is not through with loading in time. Is it? */
static bool child_wait(pid_t child, uint64_t load_ms, int *status)
{
    uint64_t since_us = alar_clock_now(NULL);

    while (!atomic_load(&apart->is_loaded)) {
        if (waitpid(child, status, WNOHANG) == child) {
            return true;
        }
        if (load_ms > 0 && alar_clock_now(NULL) - since_us > load_ms * 1000) {
            kill(child, SIGKILL);
            waitpid(child, status, 0);
            return false;
        }
        alar_clock_sleep(alar_clock_now(NULL) + LOOK_US);
    }
    while (waitpid(child, status, 0) < 0 && errno == EINTR) {
        /* Only its end ends the wait. */
    }
    return true;
}

/* The exit code, after a line about an end that was not the command's own. */
static int judge(const char *command, const char *backend, bool is_in_time, int status)
{
    bool is_loaded = atomic_load(&apart->is_loaded);
    bool is_over = atomic_load(&apart->is_over);
    bool is_signal = WIFSIGNALED(status);
    char line[ALAR_ERROR_LINE_BYTES], how[100] = "does not come back";

    if (is_over && !is_signal) {
        return apart->code;
    }
    if (is_in_time && is_signal) {
        snprintf(how, sizeof(how), "ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    } else if (is_in_time) {
        snprintf(how, sizeof(how), "ended with code %d", WEXITSTATUS(status));
    }
    snprintf(line, sizeof(line), "%.300s: expected a back end that %s, found: the process %s",
             backend,
             !is_loaded ? "loads"
             : is_over  ? "can be unloaded"
                        : "leaves the end to alar",
             how);
    alar_cli_complain(command, line);
    if (is_over) {
        return (int)alar_class_worst((enum alar_class)apart->code, ALAR_CLASS_INCOMPLETE);
    }
    if (is_loaded && !is_signal && WEXITSTATUS(status) == ALAR_CLASS_DEFECT) {
        return ALAR_CLASS_DEFECT; /* a claim of ours did not hold */
    }
    return is_loaded || !is_in_time ? ALAR_CLASS_INCOMPLETE : ALAR_CLASS_UNUSABLE;
}

int alar_cli_apart(const char *command, const char *backend, uint64_t load_ms)
{
    bool is_launched = alar_cli_is_launched();
    pid_t parent = getpid(), child;
    int status = 0;

    if (strchr(backend, '/') == NULL) {
        return -1;
    }
    apart = mmap(NULL, sizeof(*apart), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    apart = apart != MAP_FAILED ? apart : NULL;
    child = apart != NULL ? fork() : -1;
    if (child < 0) {
        return -1; /* then as it is */
    }
    if (child == 0) {
        child_load(backend, parent);
        if (is_launched) {
            _exit(ALAR_CLASS_GOOD);
        }
        return -1;
    }
    bool is_in_time = child_wait(child, load_ms, &status);

    if (is_launched && atomic_load(&apart->is_loaded)) {
        return -1;
    }
    return judge(command, backend, is_in_time, status);
}

/* Ends without MPI_Finalize: the program's own, and the library's, which ends the job where an
   error is fatal. Both ask the C library to end the process; the return address tells who. dladdr
   and on_exit are extensions. */
#define _GNU_SOURCE
#include "record_mpi.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const void *volatile exit_caller; /* of exit; NULL: main returned */
static bool has_last_call;               /* what the library ended the job in is on record */

static bool is_library(const void *caller)
{
    static const char *const files[] = {"libmpi",   "libmpich", "libopen-rte", "libopen-pal",
                                        "libprrte", "libpmi",   "mca_"};
    Dl_info info = {0};

    if (caller == NULL || dladdr(caller, &info) == 0 || info.dli_fname == NULL) {
        return false;
    }
    const char *slash = strrchr(info.dli_fname, '/');
    const char *base = slash != NULL ? slash + 1 : info.dli_fname;
    for (size_t k = 0; k < sizeof(files) / sizeof(files[0]); k++) {
        if (strncmp(base, files[k], strlen(files[k])) == 0) {
            return true;
        }
    }
    return false;
}

/* Whoever holds the lock may be the one who ends the process: then nothing is said. */
static bool lock_try(void)
{
    const struct timespec rest = {0, 1000000};

    for (int k = 0; k < 100; k++) {
        if (pthread_mutex_trylock(&recorder.lock) == 0) {
            return true;
        }
        nanosleep(&rest, NULL);
    }
    return false;
}

/* The library is about to end the job, if it does what it does when it has said why. */
static void last_call_try(const void *caller)
{
    const struct record_slot *slot = record_slot_own();

    if (recorder.history == NULL || has_last_call || slot == NULL || slot->name == NULL ||
        !is_library(caller) || !lock_try()) {
        return;
    }
    if (recorder.history != NULL) {
        has_last_call = true;
        record_write_refuse(slot->name, NULL, "the library ended the job in this call", true,
                            slot->caller);
    }
    record_unlock();
}

static void ending_record(int code, const void *caller)
{

    last_call_try(caller);
    if (recorder.history != NULL && lock_try()) {
        bool is_own = !is_library(caller);

        if (recorder.history == NULL) {
            record_unlock();
            return;
        }
        if (is_own && recorder.is_session && recorder.sessions == 0) {
            alar_history_end(recorder.history, record_now());
            record_close();
        } else {
            record_exit(code, ALAR_E_LOST, "ended without MPI_Finalize");
        }
        record_unlock();
    }
    record_watch_end();
}

static void exit_record(int code, void *unused)
{
    (void)unused;
    ending_record(code, exit_caller);
}

void record_endings_start(void)
{
    on_exit(exit_record, NULL);
}

#pragma GCC visibility push(default)

/* The C library's, and who calls it. */
void exit(int code)
{
    void (*next)(int) = NULL;
    void *found = dlsym(RTLD_NEXT, "exit");

    memcpy(&next, &found, sizeof(next));
    exit_caller = __builtin_return_address(0);
    if (next != NULL) {
        next(code);
    }
    abort();
}

/* MPICH says what a fatal error is, flushes that, and has the job killed: us too, at once. */
int fflush(FILE *stream)
{
    int (*next)(FILE *) = NULL;
    void *found = dlsym(RTLD_NEXT, "fflush");

    memcpy(&next, &found, sizeof(next));
    if (stream == stderr) {
        last_call_try(__builtin_return_address(0));
    }
    return next != NULL ? next(stream) : EOF;
}

/* These run no handler. */
void _exit(int code)
{
    int error = errno;

    ending_record(code, __builtin_return_address(0));
    errno = error;
    syscall(SYS_exit_group, code);
    __builtin_unreachable();
}

void _Exit(int code)
{
    ending_record(code, __builtin_return_address(0));
    syscall(SYS_exit_group, code);
    __builtin_unreachable();
}

#pragma GCC visibility pop

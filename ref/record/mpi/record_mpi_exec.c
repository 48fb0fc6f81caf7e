/* A program that replaces itself by another one before MPI_Finalize: its recording stops, and its
   last record says why. execvpe and RTLD_NEXT are extensions. */
#define _GNU_SOURCE
#include "record_mpi.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

enum {
    WORDS = 1024 /* of a command that is given as a list */
};

/* A child is no rank, and one of vfork has our memory: whose is it? */
static bool is_rank(void)
{
    return recorder.history != NULL && getpid() == recorder.process;
}

/* Until it comes back, and then it went wrong. */
static struct record_slot *replace_begin(const char *name, const void *caller)
{
    if (!is_rank()) {
        return NULL;
    }
    struct record_slot *slot = record_arrive(name, RECORD_NO_PEER, caller);
    record_lock();
    if (recorder.history != NULL) {
        record_write_stand(slot, record_now(), "another program takes this one's place");
    }
    record_unlock();
    return slot;
}

static int replace_end(struct record_slot *slot, int code)
{
    if (slot != NULL) {
        record_depart(slot);
    }
    return code;
}

#define NEXT(name, next)                       \
    do {                                       \
        void *found = dlsym(RTLD_NEXT, name);  \
                                               \
        memcpy(&(next), &found, sizeof(next)); \
    } while (0)

#pragma GCC visibility push(default)

int execve(const char *path, char *const argv[], char *const envp[])
{
    int (*next)(const char *, char *const[], char *const[]) = NULL;
    struct record_slot *slot = replace_begin("execve", __builtin_return_address(0));

    NEXT("execve", next);
    return replace_end(slot, next(path, argv, envp));
}

int execv(const char *path, char *const argv[])
{
    int (*next)(const char *, char *const[]) = NULL;
    struct record_slot *slot = replace_begin("execv", __builtin_return_address(0));

    NEXT("execv", next);
    return replace_end(slot, next(path, argv));
}

int execvp(const char *file, char *const argv[])
{
    int (*next)(const char *, char *const[]) = NULL;
    struct record_slot *slot = replace_begin("execvp", __builtin_return_address(0));

    NEXT("execvp", next);
    return replace_end(slot, next(file, argv));
}

/* The words of a list, up to the null pointer that ends it. */
#define LIST(argv, list)                                      \
    do {                                                      \
        int words = 0;                                        \
                                                              \
        do {                                                  \
            (argv)[++words] = va_arg(list, char *);           \
        } while ((argv)[words] != NULL && words + 1 < WORDS); \
        (argv)[words] = NULL;                                 \
    } while (0)

int execl(const char *path, const char *first, ...)
{
    int (*next)(const char *, char *const[]) = NULL;
    struct record_slot *slot = replace_begin("execl", __builtin_return_address(0));
    char *argv[WORDS];
    va_list list;

    memcpy(&argv[0], &first, sizeof(first));
    va_start(list, first);
    LIST(argv, list);
    va_end(list);
    NEXT("execv", next);
    return replace_end(slot, next(path, argv));
}

int execlp(const char *file, const char *first, ...)
{
    int (*next)(const char *, char *const[]) = NULL;
    struct record_slot *slot = replace_begin("execlp", __builtin_return_address(0));
    char *argv[WORDS];
    va_list list;

    memcpy(&argv[0], &first, sizeof(first));
    va_start(list, first);
    LIST(argv, list);
    va_end(list);
    NEXT("execvp", next);
    return replace_end(slot, next(file, argv));
}

#pragma GCC visibility pop

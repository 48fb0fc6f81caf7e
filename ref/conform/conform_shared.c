/* The shared mapping, the barrier over it, and the log of a seat. */
#include "conform/conform_shared.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const conform_call_names[CONFORM_CALLS] = {
    "load",      "init",     "caps",  "fini",         "comm_create", "comm_free",
    "allreduce", "test",     "wait",  "request_free", "progress",    "note_set",
    "roll_call", "farewell", "leave", "comm_abort",   "none",
};

static struct conform_shared *shared_map(int file, size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

    close(file);
    return memory == MAP_FAILED ? NULL : memory;
}

static void hidden_name(const char *path, char hidden[PATH_MAX])
{
    snprintf(hidden, PATH_MAX, "%.4000s.new", path);
}

/* All at once, so that nobody opens what is not filled in. */
bool conform_shared_show(const char *path)
{
    char hidden[PATH_MAX];

    hidden_name(path, hidden);
    return rename(hidden, path) == 0;
}

struct conform_shared *conform_shared_make(const char *path, bool is_hidden, uint32_t ranks)
{
    char hidden[PATH_MAX];

    size_t bytes = sizeof(struct conform_shared) + ranks * sizeof(struct conform_seat);

    hidden_name(path, hidden);
    int file = open(is_hidden ? hidden : path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (file < 0 || ftruncate(file, (off_t)bytes) != 0) {
        if (file >= 0) {
            close(file);
        }
        return NULL;
    }
    struct conform_shared *shared = shared_map(file, bytes);
    if (shared != NULL) {
        shared->ranks = ranks;
        for (uint32_t r = 0; r < ranks; r++) {
            atomic_store(&shared->seat[r].call, CONFORM_NO_CALL);
            atomic_store(&shared->seat[r].op, UINT32_MAX);
        }
    }
    return shared;
}

struct conform_shared *conform_shared_open(const char *path)
{
    struct stat stat = {0};
    int file = open(path, O_RDWR | O_CLOEXEC);

    if (file < 0 || fstat(file, &stat) != 0) {
        if (file >= 0) {
            close(file);
        }
        return NULL;
    }
    return shared_map(file, (size_t)stat.st_size);
}

void conform_shared_close(struct conform_shared *shared)
{
    if (shared != NULL) {
        munmap(shared, sizeof(struct conform_shared) + shared->ranks * sizeof(struct conform_seat));
    }
}

bool conform_meet(struct conform_shared *shared, void (*rest)(void *), void *data)
{
    uint32_t turn = atomic_load(&shared->turn);

    if (atomic_fetch_add(&shared->arrived, 1) + 1 == shared->ranks) {
        atomic_store(&shared->arrived, 0);
        atomic_fetch_add(&shared->turn, 1);
    }
    while (atomic_load(&shared->turn) == turn && !atomic_load(&shared->is_stopped)) {
        rest(data);
    }
    return !atomic_load(&shared->is_stopped);
}

struct conform_event *conform_tell(struct conform_seat *seat, const struct conform_event *event,
                                   const void *data, uint32_t bytes)
{
    if (seat->events == CONFORM_EVENTS_MAX || seat->bytes + bytes > CONFORM_BYTES_MAX) {
        return NULL;
    }
    struct conform_event *kept = &seat->event[seat->events];

    *kept = *event;
    kept->data = seat->bytes;
    kept->bytes = bytes;
    if (bytes > 0) {
        memcpy(&seat->byte[seat->bytes], data, bytes);
        seat->bytes += bytes;
    }
    /* Counted once it is whole: a process can be killed at any moment, and others read on. */
    atomic_store(&seat->events, seat->events + 1);
    return kept;
}

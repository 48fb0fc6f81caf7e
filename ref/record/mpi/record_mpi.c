/* The recorder's life: from MPI_Init to MPI_Finalize, MPI_Abort, or an end without a word. on_exit,
   which tells the exit code, is an extension. */
#define _GNU_SOURCE
#include "record_mpi.h"

#include "sys/error_line.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct recorder recorder = {.lock = PTHREAD_MUTEX_INITIALIZER};

void record_lock(void)
{
    pthread_mutex_lock(&recorder.lock);
}

void record_unlock(void)
{
    pthread_mutex_unlock(&recorder.lock);
}

static uint64_t now_ns(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t record_now(void)
{
    return now_ns() - recorder.t0;
}

void record_say(const char *format, ...)
{
    char line[ALAR_ERROR_LINE_BYTES];
    va_list arguments;
    int head = snprintf(line, sizeof(line), "alar record: rank %u: ", recorder.rank);

    va_start(arguments, format);
    vsnprintf(line + head, sizeof(line) - (size_t)head - 1, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s\n", line);
}

/* A child has its parent's file open and is no rank: it records nothing. */
static void child_forget(void)
{
    recorder.history = NULL;
}

/* The rank ends here, and its recording too. */
static void recording_end(int code, enum alar_status status, const char *text)
{
    const struct alar_history_exit record = {.code = code, .status = status, .text = text};

    alar_history_exit(recorder.history, record_now(), &record);
    (void)!alar_history_close(recorder.history, NULL);
    recorder.history = NULL;
}

/* Says that the rank ended before it finalized. */
static void exit_record(int code, void *unused)
{
    (void)unused;
    if (recorder.history != NULL) {
        recording_end(code, ALAR_E_LOST, "ended without MPI_Finalize");
    }
}

/* Faults that can't be injected end the job. What a rank prints now may be lost with it: the reason
   is on record, where `alar record` finds it. */
static void faults_start(void)
{
    char error_line[ALAR_ERROR_LINE_BYTES];

    if (record_faults_start(error_line) != ALAR_OK) {
        recording_end(ALAR_CLASS_UNUSABLE, ALAR_E_INPUT, error_line);
        PMPI_Abort(MPI_COMM_WORLD, ALAR_CLASS_UNUSABLE);
    }
}

/* A library of the other family has handles of another size: nothing can be passed on to it. */
static void library_check(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    int version = 0;
    int sub = 0;

    PMPI_Get_library_version(text, &length);
    if (strstr(text, RECORD_LIBRARY) == NULL) {
        text[strcspn(text, "\n")] = '\0';
        record_say("this recorder is for %s, and the program runs on %.80s: give --mpi %s",
                   RECORD_LIBRARY, text, RECORD_OTHER);
        _exit(ALAR_CLASS_UNUSABLE);
    }
    PMPI_Get_version(&version, &sub);
    if (version < 3) {
        record_say("expected MPI 3.0 or later, which has MPI_Iallreduce, found MPI %d.%d", version,
                   sub);
        _exit(ALAR_CLASS_UNUSABLE);
    }
}

static bool history_start(int level)
{
    const char *directory = getenv("ALAR_RECORD_DIR");
    char error_line[ALAR_ERROR_LINE_BYTES];
    int rank = 0;
    int ranks = 0;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    recorder.rank = (uint32_t)rank;
    recorder.ranks = (uint32_t)ranks;
    const struct alar_history_options options = {
        .directory = directory != NULL ? directory : ".",
        .rank = recorder.rank,
        .elements = RECORD_ELEMENTS,
        /* Room for the members of a group. */
        .ops = recorder.ranks,
    };
    if (alar_history_open(&recorder.history, &options, error_line) != ALAR_OK) {
        record_say("%s: this process is not recorded", error_line);
        return false;
    }
    recorder.t0 = now_ns();
    record_write_trace(level);
    return true;
}

/* After MPI's own initialization. */
static void record_begin_all(int level)
{
    record_lock();
    if (!recorder.is_started && history_start(level)) {
        record_groups_start();
        pthread_atfork(NULL, NULL, child_forget);
        on_exit(exit_record, NULL);
        faults_start();
    }
    recorder.is_started = true;
    record_unlock();
}

int MPI_Init(int *argc, char ***argv)
{
    library_check();
    int code = PMPI_Init(argc, argv);
    int level = MPI_THREAD_SINGLE;

    if (code == MPI_SUCCESS) {
        PMPI_Query_thread(&level);
        record_begin_all(level);
    }
    return code;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    library_check();
    int code = PMPI_Init_thread(argc, argv, required, provided);

    if (code == MPI_SUCCESS) {
        record_begin_all(*provided);
    }
    return code;
}

/* Nothing of this rank can follow: what hangs in MPI_Finalize is complete on record. */
int MPI_Finalize(void)
{
    char error_line[ALAR_ERROR_LINE_BYTES];

    record_lock();
    if (recorder.history != NULL) {
        alar_history_end(recorder.history, record_now());
        if (alar_history_close(recorder.history, error_line) != ALAR_OK) {
            record_say("%s", error_line);
        }
        recorder.history = NULL;
    }
    record_unlock();
    return PMPI_Finalize();
}

int MPI_Abort(MPI_Comm comm, int code)
{
    record_lock();
    if (recorder.history != NULL) {
        struct record_group *group = record_group_of(comm);

        alar_history_abort(recorder.history, record_now(), group != NULL ? group->name : NULL);
        exit_record(code, NULL);
    }
    record_unlock();
    return PMPI_Abort(comm, code);
}

/* The recorder's life: from MPI_Init to MPI_Finalize or MPI_Abort. */
#include "record_mpi.h"

#include "sys/error_line.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A child has its parent's file open and is no rank: it records nothing. */
static void child_forget(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

    recorder.history = NULL;
    recorder.lock = fresh;
}

/* Faults that can't be injected end the job. What a rank prints now may be lost with it: the reason
   is on record, where `alar record` finds it. */
static void faults_start(void)
{
    char error_line[ALAR_ERROR_LINE_BYTES];

    if (record_faults_start(error_line) != ALAR_OK) {
        record_exit(ALAR_CLASS_UNUSABLE, ALAR_E_INPUT, error_line);
        PMPI_Abort(MPI_COMM_WORLD, ALAR_CLASS_UNUSABLE);
    }
}

/* A library of the other family has handles of another size: nothing can be passed on to it. */
void record_library_check(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    int version = 0;
    int sub = 0;

    PMPI_Get_library_version(text, &length);
    if (strstr(text, RECORD_LIBRARY) == NULL && strstr(text, RECORD_ALSO) == NULL) {
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

static bool is_set(const char *name, const char *value)
{
    const char *found = getenv(name);

    return found != NULL && strcmp(found, value) == 0;
}

static bool history_start(int level)
{
    const char *directory = getenv("ALAR_RECORD_DIR");
    char error_line[ALAR_ERROR_LINE_BYTES];
    int rank = 0;
    int ranks = 0;

    PMPI_Group_rank(recorder.world, &rank);
    PMPI_Group_size(recorder.world, &ranks);
    recorder.rank = (uint32_t)rank;
    recorder.ranks = (uint32_t)ranks;
    const struct alar_history_options options = {
        .directory = directory != NULL ? directory : ".",
        .rank = recorder.rank,
        .elements = RECORD_PARTS,
        /* Room for the members of a group. */
        .ops = recorder.ranks,
    };
    if (alar_history_open(&recorder.history, &options, error_line) != ALAR_OK) {
        record_say("%s: this process is not recorded (does a rank start MPI twice: spawned, forked "
                   "or after exec?)",
                   error_line);
        return false;
    }
    record_file_start(&recorder.history->append);
    recorder.process = getpid();
    recorder.t0 += record_now(); /* from now on */
    recorder.is_unhashed = is_set("ALAR_RECORD_UNHASHED", "1");
    recorder.has_guards = !recorder.is_unhashed && level != MPI_THREAD_MULTIPLE &&
                          getenv("MPIR_CVAR_ASYNC_PROGRESS") == NULL;
    record_write_trace(level);
    return true;
}

/* After MPI's own initialization. */
static void start_all(int level, MPI_Comm world, MPI_Comm self)
{
    record_lock();
    if (!recorder.is_started && history_start(level)) {
        record_groups_start(world, self);
        pthread_atfork(record_lock, record_unlock, child_forget);
        record_endings_start();
        record_watch_start();
        if (world != MPI_COMM_NULL) {
            faults_start();
        }
    }
    recorder.is_started = true;
    record_unlock();
}

static void world_start(int level)
{
    if (recorder.is_started) {
        return;
    }
    PMPI_Comm_group(MPI_COMM_WORLD, &recorder.world);
    start_all(level, MPI_COMM_WORLD, MPI_COMM_SELF);
}

int MPI_Init(int *argc, char ***argv)
{
    record_library_check();
    int code = PMPI_Init(argc, argv);
    int level = MPI_THREAD_SINGLE;

    if (code == MPI_SUCCESS) {
        PMPI_Query_thread(&level);
        world_start(level);
    }
    return code;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    record_library_check();
    int code = PMPI_Init_thread(argc, argv, required, provided);

    if (code == MPI_SUCCESS) {
        world_start(*provided);
    }
    return code;
}

#if MPI_VERSION >= 4

/* A session knows the world as a set of processes. */
void record_session_begin(MPI_Session session)
{
    int level = MPI_THREAD_MULTIPLE;

    recorder.sessions++;
    if (!recorder.is_started &&
        PMPI_Group_from_session_pset(session, "mpi://WORLD", &recorder.world) == MPI_SUCCESS) {
        recorder.is_session = true;
        start_all(level, MPI_COMM_NULL, MPI_COMM_NULL);
    }
}

/* Another may be opened later: the end of the last is the end of the recording when the process
   ends. */
void record_session_end(void)
{
    recorder.sessions--;
}

#endif

/* Nothing of this rank can follow: what hangs in MPI_Finalize is complete on record. */
int MPI_Finalize(void)
{
    struct record_slot *slot =
        record_arrive("MPI_Finalize", RECORD_NO_PEER, __builtin_return_address(0));

    record_lock();
    if (recorder.history != NULL) {
        alar_history_end(recorder.history, record_now());
        record_close();
    }
    recorder.is_finished = true;
    record_unlock();
    int code = PMPI_Finalize();
    record_watch_end();
    record_depart(slot);
    return code;
}

int MPI_Abort(MPI_Comm comm, int code)
{
    record_lock();
    if (recorder.history != NULL) {
        struct record_group *group = record_group_of(comm);

        alar_history_abort(recorder.history, record_now(), group != NULL ? group->name : NULL);
        record_exit(code, ALAR_E_LOST, "ended without MPI_Finalize");
    }
    record_unlock();
    return PMPI_Abort(comm, code);
}

/* `alar record`: runs somebody's MPI program and records its all-reduces. */
#define _GNU_SOURCE
#include "backend/plugin.h"
#include "cli/cli.h"
#include "history/history.h"
#include "record/record_blame.h"
#include "record/record_job.h"
#include "record/record_summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct record {
    const char *directory;
    int mpi;
    int nan;
    int order;
    uint64_t deadline_ms; /* 0: none */
    bool is_unhashed;
    bool may_replace;
};

/* Two recordings that were mixed later are told apart by it. */
static void environment_set(const struct record *record, const struct alar_job *job)
{
    char path[PATH_MAX];
    char text[96];
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_REALTIME, &now);
    snprintf(text, sizeof(text), "record %llx.%lx",
             (unsigned long long)now.tv_sec * 1000000000ULL + (unsigned long long)now.tv_nsec,
             (unsigned long)getpid());
    (void)setenv("ALAR_RECORD_TAG", text, 1);
    snprintf(text, sizeof(text), "nan=%s,order=%s", alar_nan_names[record->nan],
             alar_order_names[record->order]);
    (void)setenv("ALAR_RECORD_CONTRACT", text, 1);
    snprintf(text, sizeof(text), "%llu", (unsigned long long)record->deadline_ms);
    (void)setenv("ALAR_RECORD_DEADLINE_MS", text, 1);
    (void)setenv("ALAR_RECORD_WATCH", job->path, 1);
    (void)setenv("ALAR_RECORD_UNHASHED", record->is_unhashed ? "1" : "0", 1);
    /* Ranks may have another working directory. */
    (void)setenv("ALAR_RECORD_DIR",
                 realpath(record->directory, path) != NULL ? path : record->directory, 1);
}

static enum alar_status library_find(struct alar_launch *launch, char *error_line)
{
    char file[64];

    snprintf(file, sizeof(file), "alar-record-%s.so", alar_launch_names[launch->mpi]);
    return alar_plugin_find(file, launch->library, error_line);
}

static int empty_complain(const struct record *record, const struct alar_recording *recording,
                          const struct alar_launch *launch, char *const *command, int count)
{
    char text[ALAR_ERROR_LINE_BYTES];
    char cause[256];

    if (recording->ranks == 0) {
        alar_launch_blame(launch, command, count, cause, sizeof(cause));
        snprintf(text, sizeof(text), "%.100s: expected a recording, found none: %s",
                 record->directory, cause);
    } else {
        snprintf(text, sizeof(text),
                 "%.100s: expected all-reduces, found none in %u ranks: does the program call "
                 "MPI_Allreduce or MPI_Iallreduce, from C or C++? mpi_f08 and Open MPI's Fortran "
                 "pass by the names that are recorded",
                 record->directory, recording->ranks);
    }
    return alar_cli_complain("record", text);
}

/* Why it ended before its time. */
static void stop_tell(const struct alar_job *job)
{
    if (job->stop == ALAR_WATCH_DEADLINE) {
        fprintf(stderr,
                "alar record: no rank moved for %llu ms: the job was ended; alar check says where "
                "each one stands\n",
                (unsigned long long)job->deadline_ms);
    } else if (job->stop == ALAR_WATCH_SIGNAL) {
        fprintf(stderr,
                "alar record: ended by signal %d (%s); the recording is whole up to there\n",
                job->signal, strsignal(job->signal));
    }
}

/* What was recorded, in a line on stderr; returns the exit code. */
static int recording_tell(const struct record *record, const struct alar_recording *recording,
                          int code)
{
    fprintf(stderr, "alar record: %llu all-reduces of %u ranks",
            (unsigned long long)recording->operations, recording->ranks);
    if (recording->others > 0) {
        fprintf(stderr, " and %llu other collectives", (unsigned long long)recording->others);
    }
    fprintf(stderr, "; judge them with: alar check %s\n", record->directory);
    if (recording->refused > 0) {
        fprintf(stderr, "alar record: the values of %llu can't be judged; the first: %s\n",
                (unsigned long long)recording->refused, recording->refusal);
    }
    if (recording->ended < recording->ranks) {
        fprintf(stderr, "alar record: %u ranks ended without MPI_Finalize",
                recording->ranks - recording->ended);
        if (recording->replaced > 0) {
            fprintf(stderr, ", %u of them by exec: another program took their place",
                    recording->replaced);
        }
        fputc('\n', stderr);
    }
    if (code != 0) {
        fprintf(stderr, "alar record: the program ended with code %d\n", code);
    }
    return code != 0 || recording->ended < recording->ranks ? ALAR_CLASS_INCOMPLETE
                                                            : ALAR_CLASS_GOOD;
}

/* What the job left: judged by nobody here, but told. */
static int job_tell(const struct record *record, const struct alar_job *job,
                    const struct alar_launch *launch, char *const *command, int count)
{
    struct alar_recording recording;
    char error_line[ALAR_ERROR_LINE_BYTES];

    if (alar_recording_look(record->directory, &recording, error_line) != ALAR_OK) {
        return alar_cli_complain("record", error_line);
    }
    if (recording.ranks > 0 && alar_recording_resolve(record->directory) != ALAR_OK) {
        fputs("alar record: callers are left as addresses: the files can't be rewritten\n", stderr);
    }
    if (recording.unusable[0] != '\0') {
        return alar_cli_complain("record", recording.unusable);
    }
    stop_tell(job);
    if (recording.operations + recording.others == 0 && job->stop == ALAR_WATCH_NOT) {
        return empty_complain(record, &recording, launch, command, count);
    }
    return recording_tell(record, &recording, job->code);
}

static int command_record(const struct record *record, int count, char **command)
{
    struct alar_launch launch = {0};
    struct alar_job job = {.deadline_ms = record->deadline_ms, .directory = -1};
    char error_line[ALAR_ERROR_LINE_BYTES];
    int code = ALAR_CLASS_INCOMPLETE;

    if (alar_launch_find(&launch, command, count, (enum alar_launch_mpi)record->mpi, error_line) !=
            ALAR_OK ||
        library_find(&launch, error_line) != ALAR_OK ||
        alar_job_open(&job, record->directory, record->may_replace, error_line) != ALAR_OK) {
        alar_job_close(&job);
        return alar_cli_complain("record", error_line);
    }
    environment_set(record, &job);
    if (alar_launch_build(&launch, command, count) == ALAR_OK) {
        code = alar_job_run(&job, &launch, error_line) == ALAR_OK
                   ? job_tell(record, &job, &launch, command, count)
                   : alar_cli_complain("record", error_line);
    }
    alar_launch_free(&launch);
    alar_job_close(&job);
    return code;
}

int alar_cli_record(int argc, char **argv)
{
    struct record record = {.deadline_ms = 60000};
    const struct alar_option options[] = {
        {"output", ALAR_OPTION_TEXT, &record.directory, "DIR", "where to", NULL, 0, 0},
        {"mpi", ALAR_OPTION_CHOICE, &record.mpi, NULL, "the library the program runs on (auto)",
         alar_launch_names, 0, 0},
        {"nan", ALAR_OPTION_CHOICE, &record.nan, NULL,
         "what is promised of NaN in MAX and MIN (any)", alar_nan_names, 0, 0},
        {"order", ALAR_OPTION_CHOICE, &record.order, NULL,
         "what is promised of the order of addition (free)", alar_order_names, 0, 0},
        {"deadline-ms", ALAR_OPTION_NUMBER, &record.deadline_ms, "N",
         "when no rank has moved for so long the job hangs, and is ended; 0: never (60000)", NULL,
         0, 86400000},
        {"no-hash", ALAR_OPTION_FLAG, &record.is_unhashed, NULL,
         "do not look for writes into buffers of pending operations", NULL, 0, 0},
        {"replace", ALAR_OPTION_FLAG, &record.may_replace, NULL, "delete an older recording in DIR",
         NULL, 0, 0},
        {NULL, ALAR_OPTION_FLAG, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct alar_command command = {
        .name = "record",
        .summary = "record the all-reduces of an unmodified MPI program",
        .operands = "-- COMMAND...",
        .options = options,
        .examples = "  alar record -o h -- mpiexec.mpich -n 4 ./prog && alar check h\n"
                    "  alar record -o h -- mpiexec.mpich -n 4 \\\n"
                    "      fiu-run -c 'enable name=alar/rank/delay/2,failinfo=50000' ./prog\n",
    };
    int count;

    int code = alar_cli_options(&command, argc, argv, &count);
    if (code >= 0) {
        return code;
    }
    if (count == 0 || record.directory == NULL) {
        return alar_cli_complain("record", count == 0
                                               ? "expected -- and the command to record, found none"
                                               : "expected -o DIR, found none");
    }
    argv[count + 1] = NULL;
    return command_record(&record, count, argv + 1);
}

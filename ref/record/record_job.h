/* A recorded job while it runs: its directory is ours alone, its ranks are watched, and when it has
   to end before its time each rank is asked for its last words. */
#ifndef ALAR_RECORD_JOB_H
#define ALAR_RECORD_JOB_H

#include "record/record_launch.h"
#include "record/record_watch.h"

#include <stdint.h>

struct alar_job {
    uint64_t deadline_ms;      /* no rank moved for so long: the job hangs; 0: it never does */
    enum alar_watch_stop stop; /* why it was ended before its time */
    int signal;                /* that ended it; 0: none */
    int code;                  /* of the command, or 128 and its signal */
    int directory;             /* locked while it is open */
    struct alar_watch *watch;
    char path[PATH_MAX]; /* of the watch's file */
};

/* Makes `directory` unless it is there, and locks it until alar_job_close. Where `may_replace`, an
   older recording in it is deleted, and nothing else. Then the watch's file is made there.
   Errors: ALAR_E_INPUT, with one line in `error_line`: a link, a directory that another recording
   is being written to, one with a recording that may not be replaced. */
ALAR_MUST_USE enum alar_status alar_job_open(struct alar_job *job, const char *directory,
                                             bool may_replace, char *error_line);

/* Runs the command with the preload and waits for its end. SIGTERM, SIGINT and SIGHUP, and the
   deadline, end the job once its ranks have said where they stand.
   Errors: ALAR_E_INPUT, with one line in `error_line`, when it does not start. */
ALAR_MUST_USE enum alar_status alar_job_run(struct alar_job *job, const struct alar_launch *launch,
                                            char *error_line);

void alar_job_close(struct alar_job *job);

#endif

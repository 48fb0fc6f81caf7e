/* Ranks that somebody else started, each a process of `alar conform --launched`, on one machine.
   Each has a child that is the rank, so that what befalls it does not befall the one that tells of
   it. */
#include "conform/conform_launch.h"

#include "sys/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    FIRST_US = 20000000, /* for the first rank to come */
    REST_US = 2000
};

static bool number_given(const char *const *names, uint32_t *number)
{
    for (; *names != NULL; names++) {
        const char *text = getenv(*names);

        if (text != NULL && *text != '\0') {
            *number = (uint32_t)strtoul(text, NULL, 10);
            return true;
        }
    }
    return false;
}

bool conform_given(uint32_t *rank, uint32_t *ranks)
{
    static const char *const own[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "ALAR_RANK", "RANK",
                                      NULL};
    static const char *const all[] = {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "ALAR_RANKS",
                                      "WORLD_SIZE", NULL};

    bool is_given = number_given(own, rank) && number_given(all, ranks) && *rank < *ranks &&
                    *ranks <= CONFORM_RANKS_MAX;
    char text[16];

    if (is_given) {
        snprintf(text, sizeof(text), "%u", *rank);
        setenv("ALAR_RANK", text, 1);
        snprintf(text, sizeof(text), "%u", *ranks);
        setenv("ALAR_RANKS", text, 1);
    }
    return is_given;
}

void conform_given_name(const char *directory, char *path)
{
    static const char *const names[] = {"ALAR_JOB", "PMI_JOBID", "OMPI_MCA_ess_base_jobid",
                                        "SLURM_JOB_ID", NULL};
    const char *job = NULL;

    for (size_t i = 0; names[i] != NULL && job == NULL; i++) {
        job = getenv(names[i]);
    }
    char parent[16];

    snprintf(parent, sizeof(parent), "%d", (int)getppid());
    job = job != NULL && strchr(job, '/') == NULL ? job : parent;
    snprintf(path, PATH_MAX, "%.3000s/alar-conform-of-%.200s", directory, job);
    setenv("ALAR_JOB", job, 1);
}

int conform_given_follow(const struct conform_launch *launch, uint32_t rank)
{
    uint64_t until = alar_clock_now(NULL) + FIRST_US;
    struct conform_shared *shared = NULL;
    int status = 0;

    while (shared == NULL && alar_clock_now(NULL) < until) {
        shared = conform_shared_open(launch->file);
        alar_clock_sleep(alar_clock_now(NULL) + REST_US);
    }
    if (shared == NULL) {
        return ALAR_CLASS_INCOMPLETE;
    }
    pid_t pid = fork();
    if (pid == 0) {
        conform_launch_become(launch);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        /* Only its end ends the wait. */
    }
    atomic_store(&shared->seat[rank].status, status);
    atomic_store(&shared->seat[rank].exited, 1);
    while (!atomic_load(&shared->is_judged) && alar_clock_now(NULL) < launch->until_us + FIRST_US) {
        alar_clock_sleep(alar_clock_now(NULL) + REST_US);
    }
    return atomic_load(&shared->is_judged) ? (int)atomic_load(&shared->code)
                                           : ALAR_CLASS_INCOMPLETE;
}

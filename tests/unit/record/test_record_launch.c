/* A launcher's command line gets the preload in the launcher's own way, and nowhere else. */
#include "record/record_job.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORDS = 24
};

/* The command as it is run, in one line; "L" is the library. */
static const char *built(const char *text, enum alar_launch_mpi launcher, const char *environment)
{
    static char line[1024], words[512];
    char *command[WORDS + 1] = {NULL};
    struct alar_launch launch = {.mpi = launcher, .launcher = launcher, .library = "L"};
    int count = 0;

    snprintf(words, sizeof(words), "%s", text);
    for (char *at = words; *at != '\0' && count < WORDS;) {
        size_t length = strcspn(at, " ");

        command[count++] = at;
        at += length;
        if (*at == ' ') {
            *at++ = '\0';
        }
    }
    launch.is_launcher = launcher != ALAR_LAUNCH_AUTO;
    if (environment != NULL) {
        setenv("LD_PRELOAD", environment, 1);
    } else {
        unsetenv("LD_PRELOAD");
    }
    cr_assert_eq(alar_launch_build(&launch, command, count), ALAR_OK);
    line[0] = '\0';
    for (int k = 0; launch.argv[k] != NULL; k++) {
        size_t used = strlen(line);

        snprintf(line + used, sizeof(line) - used, "%s%s", k > 0 ? " " : "", launch.argv[k]);
    }
    if (!launch.is_launcher) {
        size_t used = strlen(line);

        snprintf(line + used, sizeof(line) - used, " <%s>", launch.preload);
    }
    unsetenv("LD_PRELOAD");
    alar_launch_free(&launch);
    return line;
}

#define HANDED_ON                                                    \
    "-x ALAR_RECORD_DIR -x ALAR_RECORD_TAG -x ALAR_RECORD_CONTRACT " \
    "-x ALAR_RECORD_DEADLINE_MS -x ALAR_RECORD_WATCH -x ALAR_RECORD_UNHASHED "
#define SHELL "sh -c LD_PRELOAD=\"$0${LD_PRELOAD:+:$LD_PRELOAD}\" exec \"$@\" L "

/* Every way to ask for a preload of one's own goes on working beside ours. */
Test(launch, the_preload_is_for_the_ranks_alone)
{
    static const struct {
        const char *command;
        enum alar_launch_mpi launcher;
        const char *environment;
        const char *built;
    } table[] = {
        {"mpiexec.mpich -n 4 p a", ALAR_LAUNCH_MPICH, NULL,
         "mpiexec.mpich -genv LD_PRELOAD L -n 4 p a"},
        {"mpiexec.mpich -n 4 p a", ALAR_LAUNCH_MPICH, "Y",
         "mpiexec.mpich -genv LD_PRELOAD L:Y -n 4 p a"},
        {"mpiexec.mpich -genv LD_PRELOAD Y -n 4 p", ALAR_LAUNCH_MPICH, NULL,
         "mpiexec.mpich -genv LD_PRELOAD L:Y -n 4 p"},
        {"mpiexec.mpich -n 4 -env LD_PRELOAD Y p", ALAR_LAUNCH_MPICH, "Z",
         "mpiexec.mpich -n 4 -env LD_PRELOAD L:Y p"},
        {"mpirun.openmpi -n 2 p", ALAR_LAUNCH_OPENMPI, NULL,
         "mpirun.openmpi -x LD_PRELOAD=L " HANDED_ON "-n 2 p"},
        {"mpirun.openmpi -x LD_PRELOAD=Y p", ALAR_LAUNCH_OPENMPI, NULL,
         "mpirun.openmpi " HANDED_ON "-x LD_PRELOAD=L:Y p"},
        {"mpiexec.mpich -n 4 fiu-run -x -c X -f Y p a", ALAR_LAUNCH_MPICH, NULL,
         "mpiexec.mpich -genv LD_PRELOAD L -n 4 fiu-run -x -c X -f Y " SHELL "p a"},
        {"p a b", ALAR_LAUNCH_AUTO, NULL, "p a b <L>"},
        {"p", ALAR_LAUNCH_AUTO, "Y", "p <L:Y>"},
        {"fiu-run -c X p a", ALAR_LAUNCH_AUTO, NULL, "fiu-run -c X " SHELL "p a <L>"},
    };

    for (size_t k = 0; k < sizeof(table) / sizeof(table[0]); k++) {
        cr_expect_str_eq(built(table[k].command, table[k].launcher, table[k].environment),
                         table[k].built);
    }
}

Test(launch, a_program_that_is_not_there_is_refused)
{
    char *command[] = {"/nowhere/prog", NULL};
    struct alar_launch launch = {0};
    char error_line[ALAR_ERROR_LINE_BYTES];

    cr_assert_eq(alar_launch_find(&launch, command, 1, ALAR_LAUNCH_AUTO, error_line), ALAR_E_INPUT);
    cr_assert_not_null(strstr(error_line, "/nowhere/prog: expected a program, found none"));
}

/* The exit code is the program's; a signal counts from 128; what does not start is an error. */
Test(launch, endings_are_told_apart)
{
    static const struct {
        const char *script;
        int code;
    } table[] = {{"exit 0", 0}, {"exit 7", 7}, {"kill -9 $$", 137}};
    char error_line[ALAR_ERROR_LINE_BYTES];
    static struct alar_watch watch;
    struct alar_job job = {.watch = &watch};

    for (size_t k = 0; k < sizeof(table) / sizeof(table[0]); k++) {
        char script[32];
        char *argv[] = {"sh", "-c", script, NULL};
        const struct alar_launch launch = {.argv = argv, .is_launcher = true};

        snprintf(script, sizeof(script), "%s", table[k].script);
        cr_assert_eq(alar_job_run(&job, &launch, error_line), ALAR_OK);
        cr_expect_eq(job.code, table[k].code, "%s: %d", script, job.code);
    }
    char *argv[] = {"/nowhere/prog", NULL};
    const struct alar_launch launch = {.argv = argv, .is_launcher = true};
    cr_assert_eq(alar_job_run(&job, &launch, error_line), ALAR_E_INPUT);
}

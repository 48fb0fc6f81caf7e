/* torch.distributed on trial: one Python loads torch, and forks the ranks of every world from
   there, each of which hands its table to us through alar-rank.so, see ref/python/alar/conform.py.
   The processes it forks become children of this program, so that it can wait for them. */
#include "backend/plugin.h"
#include "conform/conform_launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    ANSWER_BYTES = 64
};

/* ALAR_PYTHON, or the first python3 there is. */
static const char *python(void)
{
    const char *given = getenv("ALAR_PYTHON");

    return given != NULL && *given != '\0' ? given : "python3";
}

/* The last line of what it printed; "" for none. */
static void line_last(const char *path, char *line, size_t bytes)
{
    FILE *file = fopen(path, "r");
    char read[ALAR_ERROR_LINE_BYTES];

    line[0] = '\0';
    while (file != NULL && fgets(read, sizeof(read), file) != NULL) {
        read[strcspn(read, "\n")] = '\0';
        snprintf(line, bytes, "%s", read);
    }
    if (file != NULL) {
        fclose(file);
    }
}

/* Becomes the Python that answers at `end`; does not return. */
static _Noreturn void python_become(const struct conform_launch *launch, const char *transport,
                                    int end)
{
    char *const words[] = {(char *)python(),
                           (char *)"-m",
                           (char *)"alar.conform",
                           (char *)launch->plugin,
                           (char *)transport,
                           (char *)launch->options->config,
                           NULL};
    int log = open(launch->log, O_WRONLY | O_CREAT | O_APPEND, 0600);

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (log >= 0) {
        dup2(end, STDIN_FILENO);
        dup2(log, STDOUT_FILENO);
        dup2(log, STDERR_FILENO);
        execvp(words[0], words);
        fprintf(stderr, "%s: %s\n", words[0], strerror(errno));
    }
    _exit(127);
}

/* What it answers; "" when it has ended. */
static void answer(const struct conform_launch *launch, char text[ANSWER_BYTES])
{
    ssize_t bytes = -1;

    do {
        bytes = recv(launch->python, text, ANSWER_BYTES - 1, 0);
    } while (bytes < 0 && errno == EINTR);
    text[bytes > 0 ? bytes : 0] = '\0';
}

static bool python_start(struct conform_launch *launch, const char *transport)
{
    char text[ANSWER_BYTES];
    int end[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, end) != 0) {
        return false;
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    launch->python_pid = fork();
    if (launch->python_pid == 0) {
        python_become(launch, transport, end[1]);
    }
    close(end[1]);
    launch->python = end[0];
    answer(launch, text);
    return strcmp(text, "ready") == 0;
}

enum alar_status conform_python_find(struct conform_launch *launch, const char *transport,
                                     char *error_line)
{
    char said[ALAR_ERROR_LINE_BYTES];

    if (launch->options->is_launched || launch->options->rank_argv != NULL) {
        return alar_complain(error_line, launch->options->backend,
                             "expected neither --launched nor --mutant with it");
    }
    if (*transport == '\0' ||
        strspn(transport, "abcdefghijklmnopqrstuvwxyz") != strlen(transport)) {
        return alar_complain(error_line, launch->options->backend,
                             "expected torch:gloo, or the like");
    }
    ALAR_TRY(alar_plugin_find("alar-rank.so", launch->plugin, error_line));
    if (!python_start(launch, transport)) {
        conform_python_end(launch);
        line_last(launch->log, said, sizeof(said));
        unlink(launch->log);
        return alar_complain(error_line, launch->options->backend,
                             "expected a Python with the packages alar and torch (%.80s; "
                             "ALAR_PYTHON names another), found: %.200s",
                             python(), said);
    }
    return ALAR_OK;
}

pid_t conform_python_fork(const struct conform_launch *launch, uint32_t ranks)
{
    char text[ANSWER_BYTES];
    char asked[PATH_MAX + ANSWER_BYTES];
    int length = snprintf(asked, sizeof(asked), "%u %s", ranks, launch->file);

    if (send(launch->python, asked, (size_t)length, MSG_NOSIGNAL) != length) {
        return -1;
    }
    answer(launch, text);
    long pid = strtol(text, NULL, 10);
    return pid > 1 ? (pid_t)pid : -1;
}

void conform_python_end(const struct conform_launch *launch)
{
    if (launch->python_pid > 0) {
        close(launch->python);
        while (waitpid(launch->python_pid, NULL, 0) < 0 && errno == EINTR) {
            /* Only its end ends the wait. */
        }
    }
}

/* What all ranks of a run do together beside its reductions: bounded, and whoever does not come is
   named. */
#include "run/run_state.h"
#include "sys/clock.h"
#include "sys/error_line.h"
#include "sys/guard.h"
#include "sys/siblings.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LINE_BYTES = 512,
    SLACK_US = 200000,        /* of the guard, beyond what bounds itself */
    ROUNDS = 5,               /* of the deadline, that ranks of which none is missing get */
    LINGER_US = 300000,       /* until the others, who stand still as well, have said so, ... */
    LINGER_MOST_US = 1500000, /* ... who take turns on the cores of a busy machine */
    LOOK_US = 10000,
    SIBLINGS_MOST = 4096, /* ranks there may be before their number is known */
    LEAVE_GRACE_US = 100000
};

uint64_t run_limit_us(const struct run *run)
{
    uint64_t limit_us = run->config.deadline_ms * 1000;

    if (!run->is_started) {
        limit_us = run->options->start_deadline_ms * 1000;
    }
    return limit_us == 0 || (run->is_started && run->config.deadline_ms == ALAR_NO_DEADLINE)
               ? UINT64_MAX
               : limit_us;
}

uint64_t run_grace_us(const struct run *run)
{
    bool has_deadline = run->config.deadline_ms != ALAR_NO_DEADLINE;
    uint64_t tenth = has_deadline ? run->config.deadline_ms * 100 : 0;

    return tenth > LEAVE_GRACE_US ? tenth : LEAVE_GRACE_US;
}

/* The more processes there are for each core, the later the others have theirs. */
static uint64_t linger_us(void)
{
    FILE *file = fopen("/proc/loadavg", "r");
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    double load = 0.0;
    bool is_told = file != NULL && fscanf(file, "%lf", &load) == 1;

    if (file != NULL) {
        fclose(file);
    }
    double wanted_us = LINGER_US * (1.0 + (is_told && cores > 0 ? load / 2 / (double)cores : 0.0));
    return wanted_us < LINGER_MOST_US ? (uint64_t)wanted_us : LINGER_MOST_US;
}

static bool is_stopped(char state)
{
    return state == 't' || state == 'T';
}

static bool has_ended(char state)
{
    return state == '\0' || state == 'Z' || state == 'X';
}

/* In the end those are gone who are through. */
static bool is_missed(const struct run *run, const struct alar_sibling *sibling, bool all_here)
{
    bool is_gone = has_ended(sibling->state) && (all_here || sibling->state != '\0');

    return is_stopped(sibling->state) || (is_gone && !run->is_leaving);
}

/* The launcher ends no job whose library has ended, so that a child does it: once this process has
   left with its code, which the launcher then knows of. */
static void stopped_end(struct alar_sibling *sibling, uint32_t ranks)
{
    bool all_here = false;

    alar_siblings_look(sibling, ranks, &all_here);
    if (fork() != 0) {
        return;
    }
    alar_clock_sleep(alar_clock_now(NULL) + 2 * LOOK_US);
    for (uint32_t k = 0; k < ranks; k++) {
        if (is_stopped(sibling[k].state)) {
            kill(sibling[k].pid, SIGKILL);
        }
    }
    _exit(ALAR_CLASS_GOOD);
}

void run_leaving(const struct run *run, int code)
{
    if (run->options->view->leaving != NULL) {
        run->options->view->leaving(code);
    }
}

/* Those who stand still with this one end in the same moment: nobody's line may be cut off. */
static bool guard_expired(void *data, const char *what)
{
    struct run *run = data;
    bool all_here = false;
    uint32_t ranks = run->ranks > 0 ? run->ranks : SIBLINGS_MOST;
    struct alar_sibling *sibling = calloc(ranks, sizeof *sibling);
    int64_t own = alar_sibling_own_rank();
    uint32_t count = 0;
    char line[LINE_BYTES];

    if (sibling != NULL) {
        alar_siblings_look(sibling, ranks, &all_here);
    }
    for (uint32_t k = 0; sibling != NULL && k < ranks; k++) {
        count += is_missed(run, &sibling[k], all_here);
    }
    if (count == 0 && all_here && ++run->guarded < ROUNDS) {
        free(sibling);
        return true; /* every rank runs: the machine is slow, or the library is stuck */
    }
    int used = snprintf(line, sizeof line,
                        "alar run: rank %lld: TIMEOUT in %s, deadline %g ms: the library does not "
                        "return; stopped or gone on this host:%s",
                        (long long)own, what, (double)run_limit_us(run) / 1000.0,
                        count == 0 ? " none that can be seen" : "");

    for (uint32_t k = 0; k < ranks && used < LINE_BYTES - 16; k++) {
        if (count > 0 && is_missed(run, &sibling[k], all_here)) {
            used += snprintf(line + used, sizeof line - (size_t)used, " %u", k);
        }
    }
    line[used++] = '\n';
    if (write(STDERR_FILENO, line, (size_t)used) == used) {
        alar_clock_sleep(alar_clock_now(NULL) + linger_us());
    }
    alar_siblings_abort(ALAR_CLASS_INCOMPLETE);
    alar_clock_sleep(alar_clock_now(NULL) + LINGER_US);
    if (run->is_leaving && sibling != NULL) {
        stopped_end(sibling, ranks);
    }
    run_leaving(run, ALAR_CLASS_INCOMPLETE);
    _exit(ALAR_CLASS_INCOMPLETE);
}

void run_guard(struct run *run, const char *what)
{
    uint64_t limit_us = run_limit_us(run);

    if (limit_us != UINT64_MAX && !run->is_simulated) {
        run->guarded = 0;
        alar_guard_set(limit_us + run_grace_us(run) + SLACK_US, guard_expired, run, what);
    }
}

void run_see_off(const struct run *run)
{
    int64_t own = alar_sibling_own_rank();
    struct alar_sibling *sibling = calloc(run->ranks, sizeof *sibling);
    bool is_last = run_limit_us(run) == UINT64_MAX || run->is_simulated || own < 0;

    while (!is_last && sibling != NULL) { /* a guard is set */
        bool all_here = false;
        bool is_lowest = true;

        alar_siblings_look(sibling, run->ranks, &all_here);
        is_last = true;
        for (uint32_t k = 0; k < run->ranks; k++) {
            is_lowest = is_lowest && (k >= own || sibling[k].state == '\0');
            is_last = is_last && (k == own || (is_lowest ? has_ended(sibling[k].state)
                                                         : !is_stopped(sibling[k].state)));
        }
        if (!is_last) {
            alar_clock_sleep(alar_clock_now(NULL) + LOOK_US);
        }
    }
    free(sibling);
}

/* " 2,5" for the silent; " none" when all answer. */
static void silent_list(char *line, size_t size, const uint8_t *presence, uint32_t ranks)
{
    const char *separator = " ";
    size_t used = 0;

    for (uint32_t i = 0; i < ranks && used < size - 16; i++) {
        if (presence[i] == ALAR_SILENT) {
            used += (size_t)snprintf(line + used, size - used, "%s%u", separator, i);
            separator = ",";
        }
    }
    if (used == 0) {
        snprintf(line, size, " none: all answer, and are late");
    }
}

void run_absent(struct run *run, enum alar_status status, const char *what)
{
    const struct run_rank self = {.rank = run->own, .run = run};
    uint8_t *presence = calloc(run->ranks, 1);
    struct alar_note *note = calloc(run->ranks, sizeof *note);
    char who[LINE_BYTES / 2] = ": this back end can't ask who is there";
    char line[LINE_BYTES];
    uint32_t silent = 0;

    if (presence == NULL || note == NULL || run->backend->leave == NULL) {
        free(presence);
        free(note);
        return;
    }
    alar_guard_clear(); /* what follows is bounded */
    memset(presence, ALAR_HERE, run->ranks);
    if (run->backend->roll_call != NULL &&
        run->backend->roll_call(run->context, run_grace_us(run), presence, note) == 0) {
        silent_list(who, sizeof who, presence, run->ranks);
    }
    for (uint32_t i = 0; i < run->ranks; i++) {
        silent += presence[i] == ALAR_SILENT;
    }
    snprintf(line, sizeof line, "%s in %s, deadline %g ms: %u of %u ranks silent:%s",
             status == ALAR_E_LOST ? "LOST" : "TIMEOUT", what, (double)run_limit_us(run) / 1000.0,
             silent, run->ranks, who);
    run->options->view->ending(&self, line);
    for (uint32_t i = 0; i < run->rank_count; i++) {
        char unread[ALAR_ERROR_LINE_BYTES];
        enum alar_status closed = alar_history_close(run->rank[i].history, unread);

        (void)closed; /* the run is incomplete already */
        run->rank[i].history = NULL;
    }
    fflush(NULL);
    run->backend->leave(run->context, ALAR_CLASS_INCOMPLETE, presence, run_grace_us(run));
}

/* Until all have come. Whoever has left meanwhile may have come before. */
static enum alar_status meet(struct run *run, uint64_t until_us)
{
    int error = -ALAR_E_LOST;

    while (run->backend->farewell != NULL && error == -ALAR_E_LOST) {
        uint64_t now_us = alar_clock_now(NULL);

        if (now_us >= until_us) {
            return ALAR_E_TIMEOUT;
        }
        error = run->backend->farewell(run->context,
                                       until_us == UINT64_MAX ? UINT64_MAX : until_us - now_us);
        if (error == -ALAR_E_LOST) {
            alar_clock_sleep(alar_clock_now(NULL) + 1000);
        }
    }
    return run->backend->farewell == NULL || error == 0 ? ALAR_OK
           : error == -ALAR_E_TIMEOUT                   ? ALAR_E_TIMEOUT
                                                        : ALAR_E_BACKEND;
}

enum alar_status run_sum(struct run *run, uint64_t epoch, const char *what, int64_t *elements,
                         size_t count)
{
    uint64_t limit_us = run_limit_us(run);
    uint64_t until_us = limit_us == UINT64_MAX ? UINT64_MAX : alar_clock_now(NULL) + limit_us;

    if (run->is_simulated) {
        return ALAR_OK;
    }
    run_guard(run, what);
    enum alar_status status = meet(run, until_us);
    if (status == ALAR_OK) {
        uint64_t now_us = alar_clock_now(NULL);
        uint64_t left_us = until_us == UINT64_MAX ? UINT64_MAX
                           : until_us > now_us    ? until_us - now_us
                                                  : 0;

        status = alar_sum_over_ranks(run->backend, run->context, epoch, left_us, elements, count);
    }
    if (status == ALAR_E_TIMEOUT || status == ALAR_E_LOST) {
        run_absent(run, status, what);
    }
    alar_guard_clear();
    return status;
}

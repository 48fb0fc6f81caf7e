/* A rank as a process: finds its seat, loads the back end, and leaves word when it is struck.
   on_exit and RTLD_LOCAL behaviour are those of glibc. */
#define _GNU_SOURCE
#include "backend/plugin.h"
#include "conform/conform_launch.h"
#include "conform/conform_rank.h"
#include "sys/clock.h"
#include "sys/parse.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* The rank of this process, for handlers. */
static struct conform_rank *struck;

static bool beside(const struct conform_buffer *buffer, const void *address)
{
    uintptr_t at = (uintptr_t)address;
    uintptr_t guard = (uintptr_t)buffer->map + buffer->bytes;

    return buffer->map != NULL && at >= guard && at < guard + (uintptr_t)sysconf(_SC_PAGESIZE);
}

/* Leaves word of the signal, and of the buffer beside which it struck. */
static void on_signal(int number, siginfo_t *info, void *unused)
{
    (void)unused;
    for (uint32_t i = 0; struck->slot != NULL && i < struck->slots; i++) {
        if (beside(&struck->slot[i].recv, info->si_addr)) {
            atomic_store(&struck->seat->guard, 2);
        } else if (beside(&struck->slot[i].send, info->si_addr)) {
            atomic_store(&struck->seat->guard, 1);
        }
    }
    atomic_store(&struck->seat->signal, number);
    _exit(128 + number);
}

static void on_end(int code, void *unused)
{
    (void)unused;
    if (atomic_load(&struck->seat->stage) == STAGE_RUNNING ||
        atomic_load(&struck->seat->stage) == STAGE_UNBORN) {
        atomic_store(&struck->seat->status, (code & 0xff) << 8);
        atomic_store(&struck->seat->exited, 1);
    }
}

/* MPI libraries bring handlers of their own, so it is done after init as well. */
static void handlers_set(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
    struct sigaction action = {.sa_flags = SA_SIGINFO};

    action.sa_sigaction = on_signal;
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        sigaction(signals[i], &action, NULL);
    }
}

static uint64_t real_now(void *unused)
{
    (void)unused;
    return alar_clock_now_ns();
}

static void real_rest(void *unused, uint64_t us)
{
    (void)unused;
    alar_clock_sleep(alar_clock_now(NULL) + us);
}

/* Own rank, as the launcher says it. */
static uint32_t rank_given(uint32_t ranks)
{
    static const char *const names[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "ALAR_RANK"};
    uint64_t rank = UINT64_MAX;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *text = getenv(names[i]);

        if (text != NULL && rank == UINT64_MAX) {
            rank = strtoull(text, NULL, 10);
        }
    }
    return rank < ranks ? (uint32_t)rank : UINT32_MAX;
}

static bool load(struct conform_rank *rank, const char *backend, struct alar_backend *table)
{
    const struct alar_backend *const none[] = {NULL};
    char error_line[ALAR_ERROR_LINE_BYTES];

    conform_enter(rank, CONFORM_LOAD, UINT32_MAX);
    enum alar_status status = alar_plugin_load(backend, none, table, error_line);
    conform_leave(rank);
    if (status != ALAR_OK) {
        snprintf(rank->seat->text, CONFORM_TEXT_BYTES, "%.159s", error_line);
        atomic_store(&rank->shared->is_unusable, 1);
        conform_stop(rank, error_line);
        return false;
    }
    if (rank->rank == 0) {
        snprintf(rank->shared->name, sizeof(rank->shared->name), "%s", table->name);
    }
    return true;
}

/* Takes the seat that the launcher gives; false when there is none. */
static bool seat_take(struct conform_rank *rank, struct conform_shared *shared)
{
    rank->shared = shared;
    rank->ranks = shared->ranks;
    rank->rank = rank_given(rank->ranks);
    if (rank->rank == UINT32_MAX) {
        return false;
    }
    rank->seat = &shared->seat[rank->rank];
    rank->clock = (struct conform_clock){NULL, real_now, real_rest, false};
    atomic_store(&rank->seat->pid, (int32_t)getpid());
    struck = rank;
    on_exit(on_end, NULL);
    handlers_set();
    rank->handlers_set = handlers_set;
    return true;
}

static int seat_play(struct conform_rank *rank, const char *config)
{
    struct alar_boot boot = {.rank = (int32_t)rank->rank,
                             .ranks = (int32_t)rank->ranks,
                             .local_rank = -1,
                             .config = config};

    return conform_rank_run(rank, &boot);
}

int alar_conform_rank(const char *file, const char *backend, const char *config,
                      const struct alar_conform_wrap *wrap)
{
    static struct conform_rank rank;
    static struct alar_backend table;
    struct conform_shared *shared = conform_shared_open(file);

    if (shared == NULL) {
        return ALAR_CLASS_UNUSABLE;
    }
    if (strcmp(backend, "sim") == 0) {
        return conform_sim_run(shared, wrap);
    }
    if (!seat_take(&rank, shared)) {
        return ALAR_CLASS_UNUSABLE;
    }
    rank.wrap = wrap;
    rank.backend = &table;
    if (!load(&rank, backend, &table)) {
        atomic_store(&rank.seat->stage, STAGE_STOPPED);
        return ALAR_CLASS_UNUSABLE;
    }
    return seat_play(&rank, config);
}

int conform_serve(const char *file, const struct alar_backend *table, const char *config)
{
    static struct conform_rank rank;
    struct conform_shared *shared = conform_shared_open(file);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (shared == NULL || table->size != sizeof(*table) || !seat_take(&rank, shared)) {
        return ALAR_CLASS_UNUSABLE;
    }
    rank.backend = table;
    if (rank.rank == 0) {
        snprintf(shared->name, sizeof(shared->name), "%s", table->name);
    }
    return seat_play(&rank, config);
}

void conform_ended(const char *file, uint32_t rank, int status)
{
    struct conform_shared *shared = conform_shared_open(file);

    if (shared != NULL && rank < shared->ranks) {
        atomic_store(&shared->seat[rank].status, status);
        atomic_store(&shared->seat[rank].exited, 1);
    }
    conform_shared_close(shared);
}

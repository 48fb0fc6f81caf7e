/* Around the calls into the back end: where a rank is, how long it stays, and whether it was the
   call that kept it or the machine. RUSAGE_THREAD is Linux's. */
#define _GNU_SOURCE
#include "conform/conform_rank.h"

#include "sys/clock.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>

enum {
    PROMPT_US = 250000, /* a call that never blocks may take this long, and no machine is so slow */
    LOOK_US = 50000     /* how old what is known of the machine may be */
};

struct effort {
    uint64_t cpu_us;
    long sleeps; /* voluntary context switches */
};

static struct effort effort_now(void)
{
    struct rusage usage = {0};

    getrusage(RUSAGE_THREAD, &usage);
    return (struct effort){
        .cpu_us = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000U +
                  (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec),
        .sleeps = usage.ru_nvcsw,
    };
}

/* How long the threads of this process have stood ready and had no core, all together: who waits
   for a lock that such a thread holds is kept by the machine. 0 where the kernel does not tell. */
static uint64_t starved_ns(void)
{
    DIR *tasks = opendir("/proc/self/task");
    uint64_t sum = 0;

    for (struct dirent *task = tasks != NULL ? readdir(tasks) : NULL; task != NULL;
         task = readdir(tasks)) {
        char path[300];
        unsigned long long ready = 0;

        snprintf(path, sizeof(path), "/proc/self/task/%s/schedstat", task->d_name);
        FILE *file = fopen(path, "r");
        if (file != NULL) {
            sum += fscanf(file, "%*u %llu", &ready) == 1 ? ready : 0;
            fclose(file);
        }
    }
    if (tasks != NULL) {
        closedir(tasks);
    }
    return sum;
}

/* Of the call this thread is in; and of the machine, some time before it. */
static _Thread_local struct effort before;
static _Thread_local uint64_t starved_before, looked_ns;

uint64_t conform_now(const struct conform_rank *rank)
{
    return rank->clock.now_ns(rank->clock.data);
}

void conform_rest(const struct conform_rank *rank, uint64_t us)
{
    rank->clock.rest(rank->clock.data, us);
}

void conform_enter(struct conform_rank *rank, enum conform_call call, uint32_t op)
{
    if (!rank->clock.is_virtual) {
        uint64_t now = alar_clock_now_ns();

        if (now - looked_ns > LOOK_US * UINT64_C(1000)) {
            starved_before = starved_ns();
            looked_ns = now;
        }
        before = effort_now();
    }
    atomic_store(&rank->seat->op, op);
    rank->entered_ns = conform_now(rank);
    atomic_store(&rank->seat->since_ns, alar_clock_now_ns());
    atomic_store(&rank->seat->call, call);
}

void conform_leave(struct conform_rank *rank)
{
    atomic_store(&rank->seat->call, CONFORM_NO_CALL);
    rank->took_ns = conform_now(rank) - rank->entered_ns;
    rank->was_held = false;
    if (!rank->clock.is_virtual && rank->took_ns > PROMPT_US * UINT64_C(1000)) {
        struct effort after = effort_now();
        uint64_t starved = starved_ns();
        uint64_t machine_ns = starved > starved_before ? starved - starved_before : 0;
        bool is_own = after.sleeps > before.sleeps || after.cpu_us - before.cpu_us > PROMPT_US / 2;

        rank->was_held = is_own && rank->took_ns > machine_ns + PROMPT_US * UINT64_C(1000);
        looked_ns = 0;
    }
}

void conform_record(struct conform_rank *rank, struct conform_event event, const void *data,
                    uint32_t bytes)
{
    event.t = event.t > 0 ? event.t : conform_now(rank);
    event.scene = rank->scene;
    conform_tell(rank->seat, &event, data, bytes);
}

void conform_check_prompt(struct conform_rank *rank, enum conform_call call, uint32_t op)
{
    rank->seat->tried[PROMISE_NO_BLOCKING]++;
    if (rank->was_held) {
        conform_record(rank,
                       (struct conform_event){.kind = EVENT_ANSWER,
                                              .call = (uint8_t)call,
                                              .op = op,
                                              .took = rank->took_ns,
                                              .limit = PROMPT_US * UINT64_C(1000)},
                       NULL, 0);
    }
}

void conform_check_zero(struct conform_rank *rank, enum conform_call call, uint32_t op, int code)
{
    rank->seat->tried[PROMISE_ANSWERS]++;
    if (code != 0) {
        conform_record(rank,
                       (struct conform_event){.kind = EVENT_ANSWER,
                                              .call = (uint8_t)call,
                                              .op = op,
                                              .code = code,
                                              .has_code = true},
                       NULL, 0);
    }
}

void conform_stop(struct conform_rank *rank, const char *why)
{
    rank->is_stopping = true;
    if (rank->seat->text[0] == '\0') {
        snprintf(rank->seat->text, CONFORM_TEXT_BYTES, "%s", why);
    }
    atomic_store(&rank->shared->is_stopped, 1);
}

bool conform_is_stopped(const struct conform_rank *rank)
{
    return atomic_load(&rank->shared->is_stopped) != 0;
}

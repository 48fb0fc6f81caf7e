/* Who is through, who hangs, who is gone, and in which function. */
#include "conform/conform_watch.h"

#include "sys/clock.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

enum {
    HANG_US = 12000000,  /* nothing takes so long but a hang */
    START_US = 40000000, /* for all processes to be there */
    GRACE_US = 1500000,  /* for the others, once one gave up */
    ALIKE_US = 1000000,
    LOOK_US = 300000, /* to tell who still moves */
    FEWER = 10,       /* who hangs goes to sleep so much more seldom than who waits */
    OVER_US = 3000000 /* for processes to end, once all are through */
};

/* How far a rank has come; of ranks that hang, those hang that did the least, as others may wait
   for them. */
static uint64_t progress_of(const struct conform_seat *seat)
{
    uint32_t call = atomic_load(&seat->call);
    uint32_t op = atomic_load(&seat->op);
    bool may_wait = call == CONFORM_WAIT || call == CONFORM_ALLREDUCE;

    return (((uint64_t)atomic_load(&seat->scene) << 1 | may_wait) << 32 |
            (op == UINT32_MAX ? 0 : op))
               << 5 |
           call;
}

static bool is_hanging(const struct conform_seat *seat, uint64_t now_us, uint64_t limit_us)
{
    uint32_t stage = atomic_load(&seat->stage);
    bool is_loading = stage == STAGE_UNBORN && atomic_load(&seat->call) == CONFORM_LOAD;

    return (stage == STAGE_RUNNING || is_loading) && atomic_load(&seat->call) != CONFORM_NO_CALL &&
           now_us > atomic_load(&seat->since_ns) / 1000 + limit_us;
}

/* How often a process went to sleep of its own: one that waits for others looks now and then, one
   that hangs does not. */
static uint64_t sleeps_of(const struct conform_seat *seat)
{
    char path[64];
    char line[128];
    unsigned long long count = 0;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)atomic_load(&seat->pid));
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (sscanf(line, "voluntary_ctxt_switches: %llu", &count) == 1) {
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return count;
}

/* Who waits for a process that the machine has not started yet does not hang. */
static bool is_starting(struct conform_watch *watch, uint64_t now_us)
{
    bool is_whole = true;

    watch->since_us = watch->since_us == 0 ? now_us : watch->since_us;
    for (uint32_t r = 0; r < watch->shared->ranks; r++) {
        is_whole = is_whole && atomic_load(&watch->shared->seat[r].pid) != 0;
    }
    return !is_whole && now_us < watch->since_us + START_US;
}

/* Marks those that hang; false when none does. */
static bool hung_find(struct conform_watch *watch, uint64_t now_us)
{
    uint64_t slept[CONFORM_RANKS_MAX] = {0};
    uint64_t least = UINT64_MAX;

    bool is_any = false;

    watch->hung = 0;
    for (uint32_t r = 0; !is_starting(watch, now_us) && r < watch->shared->ranks; r++) {
        is_any |= is_hanging(&watch->shared->seat[r], now_us, HANG_US);
    }
    /* Those that came a moment later hang as much. */
    for (uint32_t r = 0; r < watch->shared->ranks; r++) {
        const struct conform_seat *seat = &watch->shared->seat[r];

        if (is_any && is_hanging(seat, now_us, HANG_US - ALIKE_US) && progress_of(seat) < least) {
            least = progress_of(seat);
        }
    }
    for (uint32_t r = 0; r < watch->shared->ranks; r++) {
        const struct conform_seat *seat = &watch->shared->seat[r];
        bool is_one =
            is_any && is_hanging(seat, now_us, HANG_US - ALIKE_US) && progress_of(seat) == least;

        watch->hung |= (uint64_t)is_one << r;
        slept[r] = is_one ? sleeps_of(seat) : 0;
    }
    if ((watch->hung & (watch->hung - 1)) == 0) {
        return watch->hung != 0;
    }
    alar_clock_sleep(now_us + LOOK_US);
    uint64_t moving = 0;
    uint64_t most = 0;
    for (uint32_t r = 0; r < watch->shared->ranks; r++) {
        slept[r] = (watch->hung >> r & 1) != 0 ? sleeps_of(&watch->shared->seat[r]) - slept[r] : 0;
        most = slept[r] > most ? slept[r] : most;
    }
    for (uint32_t r = 0; most > 0 && r < watch->shared->ranks; r++) {
        if (slept[r] * FEWER > most) {
            moving |= UINT64_C(1) << r;
        }
    }
    /* Where all move alike it may be any of them. */
    watch->hung = (watch->hung & ~moving) != 0 ? watch->hung & ~moving : watch->hung;
    return true;
}

static bool is_gone(const struct conform_seat *seat)
{
    uint32_t stage = atomic_load(&seat->stage);

    return (atomic_load(&seat->exited) != 0 && stage != STAGE_OVER && stage != STAGE_STOPPED) ||
           atomic_load(&seat->signal) != 0;
}

bool conform_watch_go_on(struct conform_watch *watch)
{
    uint64_t now = alar_clock_now(NULL);
    uint32_t over = 0;

    for (uint32_t r = 0; r < watch->shared->ranks; r++) {
        const struct conform_seat *seat = &watch->shared->seat[r];
        uint32_t stage = atomic_load(&seat->stage);

        over += stage == STAGE_OVER || stage == STAGE_STOPPED;
        watch->gone |= is_gone(seat) ? UINT64_C(1) << r : 0;
    }
    if (watch->gone != 0) {
        return false;
    }
    if (over == watch->shared->ranks && watch->over_us == 0) {
        watch->over_us = now;
    }
    if (atomic_load(&watch->shared->is_stopped) && watch->stopped_us == 0) {
        watch->stopped_us = now;
    }
    bool is_hung = hung_find(watch, now);
    watch->is_late = now >= watch->until_us;
    return !is_hung && !watch->is_late && (watch->over_us == 0 || now < watch->over_us + OVER_US) &&
           (watch->stopped_us == 0 || now < watch->stopped_us + GRACE_US);
}

/* 1 + the word of `gone`, and the code beside it; 0 when the rank came to its end. */
static uint8_t gone_how(const struct conform_seat *seat, int32_t *code)
{
    int status = atomic_load(&seat->status);
    int signal = atomic_load(&seat->signal);

    if (signal == 0 && atomic_load(&seat->exited) != 0 && WIFSIGNALED(status)) {
        signal = WTERMSIG(status);
    }
    *code = signal != 0 ? -signal : WEXITSTATUS(status);
    return signal != 0 ? 1 : atomic_load(&seat->exited) != 0 ? 2 : 0;
}

static void tell_gone(struct conform_seat *seat, uint8_t gone, int32_t code)
{
    uint32_t call = atomic_load(&seat->stage) == STAGE_UNBORN ? (uint32_t)CONFORM_LOAD
                                                              : atomic_load(&seat->call);
    struct conform_event event = {.kind = EVENT_ANSWER,
                                  .t = alar_clock_now_ns(),
                                  .call = (uint8_t)call,
                                  .op = atomic_load(&seat->op),
                                  .scene = atomic_load(&seat->scene),
                                  .has_code = gone != 3,
                                  .code = code,
                                  .gone = gone,
                                  .outside = atomic_load(&seat->guard) != 0 ? 1 : 0};

    event.op = call == CONFORM_NO_CALL || call < CONFORM_ALLREDUCE ? UINT32_MAX : event.op;
    conform_tell(seat, &event, NULL, 0);
}

void conform_watch_end(struct conform_watch *watch)
{
    struct conform_shared *shared = watch->shared;

    for (uint32_t r = 0; r < shared->ranks; r++) {
        struct conform_seat *seat = &shared->seat[r];
        uint32_t stage = atomic_load(&seat->stage);
        int32_t code = 0;

        if ((watch->hung >> r & 1) != 0) {
            tell_gone(seat, 3, 0);
        } else if (stage != STAGE_OVER && stage != STAGE_STOPPED && watch->hung == 0 &&
                   gone_how(seat, &code) != 0 &&
                   (code != -SIGKILL || (watch->gone >> r & 1) != 0)) {
            tell_gone(seat, gone_how(seat, &code), code);
        } else if (stage == STAGE_OVER && atomic_load(&seat->signal) != 0) {
            tell_gone(seat, 1, -atomic_load(&seat->signal));
        }
    }
}

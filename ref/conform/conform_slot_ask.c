/* Questions about an all-reduce that is pending: test, wait, and a free that must be refused. */
#include "conform/conform_rank.h"

#include "sys/clock.h"

/* What came back through the pointers, where it can mean nothing. */
static bool is_nonsense(int done, int error)
{
    return (done != 0 && done != 1) || error > 0 || error <= -(int)ALAR_STATUS_COUNT ||
           (done == 0 && error != 0);
}

bool conform_slot_test(struct conform_rank *rank, struct conform_slot *slot)
{
    struct conform_event event = conform_slot_event(slot, EVENT_ANSWER);
    int done = CONFORM_UNSET;
    int error = CONFORM_UNSET;

    conform_enter(rank, CONFORM_TEST, slot->index);
    int code = rank->backend->test(slot->request, &done, &error);
    conform_leave(rank);
    conform_check_prompt(rank, CONFORM_TEST, slot->index);
    error = done == 0 && error == CONFORM_UNSET ? 0 : error; /* there is none to tell */
    rank->seat->tried[PROMISE_ANSWERS]++;
    event.call = CONFORM_TEST;
    event.told = TOLD_PENDING;
    event.has_code = true;
    event.code = code;
    event.has_gave = is_nonsense(done, error);
    event.gave = done != 0 && done != 1 ? done : error;
    if (code != 0 || event.has_gave) {
        conform_record(rank, event, NULL, 0);
    }
    if (code != 0 || event.has_gave || done != 0) {
        conform_slot_over(rank, slot,
                          code != 0               ? code
                          : done == CONFORM_UNSET ? -ALAR_E_BACKEND
                                                  : error,
                          CONFORM_TEST);
        return true;
    }
    return false;
}

/* In virtual time a wait returns at once, and it is here that the time passes. */
static int wait_call(struct conform_rank *rank, const struct conform_slot *slot,
                     uint64_t timeout_us, int *error)
{
    uint64_t since = conform_now(rank);
    int code;

    do {
        code = rank->backend->wait(slot->request, NULL, rank->clock.is_virtual ? 0 : timeout_us,
                                   error);
        if (rank->clock.is_virtual && code == -ALAR_E_TIMEOUT && timeout_us > 0) {
            conform_rest(rank, timeout_us > 1000 ? 50 : 5);
            atomic_store(&rank->seat->since_ns, alar_clock_now_ns()); /* it is we who wait */
        }
    } while (rank->clock.is_virtual && code == -ALAR_E_TIMEOUT && !conform_is_stopped(rank) &&
             (timeout_us == UINT64_MAX || conform_now(rank) - since < timeout_us * 1000));
    return code;
}

int conform_slot_wait(struct conform_rank *rank, struct conform_slot *slot, uint64_t timeout_us)
{
    const uint64_t slack_ns = UINT64_C(1000000000);
    struct conform_event event = conform_slot_event(slot, EVENT_WAIT);
    bool is_bounded = timeout_us < UINT64_MAX / 2000;
    int error = 0; /* who answers too soon may leave it out: that it is too soon says more */

    conform_record(rank, event, NULL, 0);
    conform_enter(rank, CONFORM_WAIT, slot->index);
    int code = wait_call(rank, slot, timeout_us, &error);
    conform_leave(rank);
    rank->seat->tried[PROMISE_WAIT_DEADLINE]++;
    event.kind = EVENT_ANSWER;
    event.call = CONFORM_WAIT;
    event.told = TOLD_PENDING;
    event.has_code = true;
    event.code = code;
    event.took = rank->took_ns;
    event.deadline = is_bounded ? timeout_us * 1000 : INT64_MAX; /* for ever */
    event.has_gave = code == 0 && is_nonsense(1, error);
    event.gave = error;
    bool overslept = is_bounded && rank->was_held && event.took > event.deadline + slack_ns;
    event.limit = overslept ? event.deadline + slack_ns : 0;
    if ((code != 0 && code != -ALAR_E_TIMEOUT) || event.has_gave || overslept ||
        (code == -ALAR_E_TIMEOUT && (!is_bounded || event.took < event.deadline / 2))) {
        conform_record(rank, event, NULL, 0);
    }
    if (code == 0 || (code != -ALAR_E_TIMEOUT)) {
        conform_slot_over(rank, slot, code != 0 ? code : error, CONFORM_WAIT);
    }
    return code;
}

/* Is it known that it can't have ended since it was last asked? Between calls it stands still, or a
   peer has not issued it yet. */
static bool is_surely_pending(const struct conform_rank *rank, const struct conform_slot *slot)
{
    const struct conform_scene *scene = &rank->shared->scene[rank->scene];
    bool has_late = scene->kind == SCENE_WAIT && rank->ranks > 1 && scene->late_rank >= 0;

    return rank->caps.needs_progress != 0 ||
           (has_late && atomic_load(&rank->shared->seat[scene->late_rank].gather) <= slot->index);
}

void conform_slot_free_pending(struct conform_rank *rank, struct conform_slot *slot)
{
    struct conform_event event = conform_slot_event(slot, EVENT_ANSWER);

    event.call = CONFORM_REQUEST_FREE;
    event.told = TOLD_PENDING;
    event.has_code = true;
    rank->seat->tried[PROMISE_FREE_PENDING]++;
    conform_enter(rank, CONFORM_REQUEST_FREE, slot->index);
    event.code = rank->backend->request_free(slot->request);
    conform_leave(rank);
    if (event.code == 0 && !is_surely_pending(rank, slot)) {
        conform_slot_over(rank, slot, 0, CONFORM_REQUEST_FREE); /* it has ended in between */
        return;
    }
    if (event.code != -ALAR_E_ILLEGAL) {
        conform_record(rank, event, NULL, 0);
    }
    if (event.code == 0) {
        slot->stage = SLOT_LOST; /* it is gone: nothing may be asked of it any more */
        rank->live--;
        conform_stop(rank, "a pending request was freed");
    }
}

/* Scenes with a plot of their own: deadlines of wait, standing still, what caps leaves out, and the
   monitored barrier. */
#include "conform/conform_rank.h"

#include <string.h>

enum {
    SHORT_US = 20000,
    STILL_US = 3000000,
    UNSERVED_US = 100000,
    ROLL_US = 2000000
};

struct resting {
    struct conform_rank *rank;
};

static void rest_little(void *data)
{
    const struct resting *resting = data;

    conform_rest(resting->rank, 100);
}

static bool meet(struct conform_rank *rank)
{
    struct resting resting = {rank};

    return conform_meet(rank->shared, rest_little, &resting);
}

/* Waits until it is over; false when the scene was stopped. */
static bool finish(struct conform_rank *rank, struct conform_slot *slot)
{
    while (slot->stage == SLOT_LIVE && !conform_is_stopped(rank)) {
        if (conform_now(rank) - slot->since_ns > rank->shared->op_deadline_us * 1000) {
            conform_record(rank,
                           (struct conform_event){
                               .kind = EVENT_FAIL, .op = slot->index, .code = -ALAR_E_TIMEOUT},
                           NULL, 0);
            slot->stage = SLOT_LOST;
            rank->live--;
            conform_stop(rank, "an all-reduce did not end");
        } else if (!conform_slot_test(rank, slot)) {
            conform_rest(rank, 100);
        }
    }
    return !conform_is_stopped(rank);
}

/* ---- wait --------------------------------------------------------------------------------------
 */

/* A peer has not issued: asking is answered at once, waiting ends at its deadline. */
static void wait_in_vain(struct conform_rank *rank, struct conform_slot *slot)
{
    if (conform_slot_wait(rank, slot, 0) == -ALAR_E_TIMEOUT && slot->stage == SLOT_LIVE) {
        conform_slot_wait(rank, slot, SHORT_US);
    }
    if (slot->stage == SLOT_LIVE && !conform_slot_test(rank, slot)) {
        conform_slot_free_pending(rank, slot);
    }
}

/* The late rank issues once the others have waited in vain, or after a while. */
static void wait_for_others(struct conform_rank *rank, const struct conform_scene *scene,
                            uint32_t index)
{
    uint64_t since = conform_now(rank);
    uint32_t waited = 0;

    while (waited + 1 < rank->ranks &&
           conform_now(rank) - since < scene->late_us * UINT64_C(1000) &&
           !conform_is_stopped(rank)) {
        waited = 0;
        for (uint32_t r = 0; r < rank->ranks; r++) {
            waited += r != rank->rank && atomic_load(&rank->shared->seat[r].gather) > index;
        }
        conform_rest(rank, 500);
    }
}

bool conform_play_wait(struct conform_rank *rank, const struct conform_scene *scene)
{
    bool is_late = scene->late_rank == (int32_t)rank->rank;

    atomic_store(&rank->seat->gather, 0);
    if (!meet(rank)) {
        return false;
    }
    for (uint32_t index = 0; index < scene->ops && !conform_is_stopped(rank); index++) {
        struct conform_slot *slot = conform_slot_take(rank);

        if (is_late && rank->ranks > 1) {
            wait_for_others(rank, scene, index);
            atomic_store(&rank->seat->gather, index + 1); /* from now on it may end */
        }
        if (slot == NULL || conform_slot_issue(rank, slot, index) != ISSUE_DONE) {
            break;
        }
        if (!is_late && rank->ranks > 1) {
            wait_in_vain(rank, slot);
        }
        atomic_store(&rank->seat->gather, index + 1);
        if (slot->stage == SLOT_LIVE && !conform_is_stopped(rank)) {
            conform_slot_wait(rank, slot,
                              index % 2 == 0 ? UINT64_MAX : rank->shared->op_deadline_us);
        }
        if (!finish(rank, slot)) {
            break;
        }
    }
    return !conform_is_stopped(rank);
}

/* ---- standing still ----------------------------------------------------------------------------
 */

/* The last rank issues and then stands still: the others must come to the end without a call of
   its. It looks at the clock only when they do not, and for long. */
static bool stand_still(struct conform_rank *rank, uint32_t index)
{
    uint64_t since = conform_now(rank);
    uint32_t over = 0;

    while (over + 1 < rank->ranks && !conform_is_stopped(rank) &&
           conform_now(rank) - since < STILL_US * UINT64_C(1000)) {
        over = 0;
        for (uint32_t r = 0; r < rank->ranks; r++) {
            over += r != rank->rank && atomic_load(&rank->shared->seat[r].gather) > index;
        }
        conform_rest(rank, 500);
    }
    return over + 1 >= rank->ranks;
}

/* Pending ones are said to move by themselves. Of two all-reduces one is large: what was handed
   over in the issue does not count. */
bool conform_play_idle(struct conform_rank *rank, const struct conform_scene *scene)
{
    bool is_promised = rank->caps.needs_progress == 0 && rank->ranks > 1;

    atomic_store(&rank->seat->gather, 0);
    for (uint32_t index = 0; index < scene->ops && is_promised && meet(rank); index++) {
        struct conform_slot *slot = conform_slot_take(rank);

        if (slot == NULL || conform_slot_issue(rank, slot, index) != ISSUE_DONE) {
            return false;
        }
        rank->seat->tried[PROMISE_OWN_PROGRESS] += scene->late_rank == (int32_t)rank->rank;
        if (scene->late_rank == (int32_t)rank->rank && !stand_still(rank, index)) {
            conform_record(rank,
                           (struct conform_event){.kind = EVENT_ANSWER,
                                                  .call = CONFORM_NO_CALL,
                                                  .op = index,
                                                  .has_done = true,
                                                  .took = STILL_US * UINT64_C(1000)},
                           NULL, 0);
        }
        if (!finish(rank, slot)) {
            return false;
        }
        atomic_store(&rank->seat->gather, index + 1);
    }
    return !conform_is_stopped(rank);
}

/* ---- what caps leaves out ----------------------------------------------------------------------
 */

/* What is accepted all the same is brought to its end, if it has one, and not judged. */
static void unserved_end(struct conform_rank *rank, void *request)
{
    uint64_t since = conform_now(rank);
    int done = 0;
    int error = 0;

    while (done == 0 && error == 0 && conform_now(rank) - since < UNSERVED_US * UINT64_C(1000)) {
        conform_enter(rank, CONFORM_TEST, UINT32_MAX);
        int code = rank->backend->test(request, &done, &error);
        conform_leave(rank);
        error = code != 0 ? code : error;
        conform_rest(rank, 100);
    }
    if (done != 0) {
        rank->backend->request_free(request);
    }
}

bool conform_play_edge(struct conform_rank *rank, const struct conform_scene *scene)
{
    static uint64_t send[8];
    static uint64_t recv[8];
    const struct alar_op unscaled = {.scale = 1.0};

    for (uint32_t index = 0; index < scene->ops && meet(rank); index++) {
        struct conform_op op = conform_op_get(scene, &rank->caps, rank->ranks, index);
        void *request = NULL;

        if (!op.is_unserved) {
            continue;
        }
        conform_enter(rank, CONFORM_ALLREDUCE, index);
        int code = rank->backend->allreduce(rank->comm[GROUP_WORLD], send, recv, 1, op.dtype,
                                            op.reduction, NULL, &unscaled, &request);
        conform_leave(rank);
        rank->seat->tried[PROMISE_REFUSES]++;
        rank->seat->failed[PROMISE_REFUSES] += code >= 0;
        if (code == 0) {
            unserved_end(rank, request);
        }
    }
    return !conform_is_stopped(rank);
}

/* ---- the monitored barrier ---------------------------------------------------------------------
 */

static void roll_judge(struct conform_rank *rank, int code, const uint8_t *presence,
                       const struct alar_note *note)
{
    struct conform_event event = {.kind = EVENT_ANSWER,
                                  .op = UINT32_MAX,
                                  .call = CONFORM_ROLL_CALL,
                                  .has_code = true,
                                  .code = code};

    rank->seat->tried[PROMISE_ROLLS]++;
    for (uint32_t r = 0; r < rank->ranks && !event.has_gave; r++) {
        event.has_gave = presence[r] != ALAR_HERE || note[r].posted != 70 + r;
        event.gave = (int32_t)r;
    }
    if (code != 0 || event.has_gave) {
        conform_record(rank, event, NULL, 0);
    }
}

static void roll_call(struct conform_rank *rank)
{
    uint8_t presence[CONFORM_RANKS_MAX] = {0};
    struct alar_note notes[CONFORM_RANKS_MAX] = {{0}};

    conform_enter(rank, CONFORM_ROLL_CALL, UINT32_MAX);
    int code = rank->backend->roll_call(rank->context, ROLL_US, presence, notes);
    conform_leave(rank);
    roll_judge(rank, code, presence, notes);
}

/* Every rank but the one that asks answers from its progress. */
bool conform_play_end(struct conform_rank *rank, const struct conform_scene *scene)
{
    const struct alar_note note = {.step = 7, .posted = 70 + rank->rank};

    (void)scene;
    atomic_store(&rank->seat->gather, 0);
    if (rank->backend->note_set == NULL || rank->backend->roll_call == NULL) {
        return meet(rank);
    }
    conform_enter(rank, CONFORM_NOTE_SET, UINT32_MAX);
    int code = rank->backend->note_set(rank->context, &note);
    conform_leave(rank);
    conform_check_zero(rank, CONFORM_NOTE_SET, UINT32_MAX, code);
    if (!meet(rank)) {
        return false;
    }
    if (rank->rank == 0) {
        roll_call(rank);
        atomic_store(&rank->seat->gather, 1);
    }
    while (atomic_load(&rank->shared->seat[0].gather) == 0 && !conform_is_stopped(rank)) {
        if (rank->backend->progress != NULL) {
            conform_enter(rank, CONFORM_PROGRESS, UINT32_MAX);
            rank->backend->progress(rank->context);
            conform_leave(rank);
        }
        conform_rest(rank, 200);
    }
    return meet(rank);
}

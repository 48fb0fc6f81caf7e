/* The usual scene: issues, polls, waits and rests in a drawn order, until all is over. */
#include "conform/conform_rank.h"

enum {
    REST_US = 60,
    GRACE_US = 20000
};

static const struct conform_scene *scene_of(const struct conform_rank *rank)
{
    return &rank->shared->scene[rank->scene];
}

/* One of the pending ones, drawn. */
static struct conform_slot *live_draw(struct conform_rank *rank)
{
    uint32_t at = (uint32_t)alar_rng_below(&rank->rng, rank->live);

    for (uint32_t i = 0; i < rank->slots; i++) {
        if (rank->slot[i].stage == SLOT_LIVE && at-- == 0) {
            return &rank->slot[i];
        }
    }
    return NULL;
}

static void progress(struct conform_rank *rank)
{
    if (rank->backend->progress == NULL) {
        return;
    }
    conform_enter(rank, CONFORM_PROGRESS, UINT32_MAX);
    int code = rank->backend->progress(rank->context);
    conform_leave(rank);
    conform_check_prompt(rank, CONFORM_PROGRESS, UINT32_MAX);
    conform_check_zero(rank, CONFORM_PROGRESS, UINT32_MAX, code);
}

/* An all-reduce that is pending for so long will not end. */
static void expire(struct conform_rank *rank, struct conform_slot *slot)
{
    /* Where all elements of large ones are compared, ranks are busy with that for a while. */
    uint64_t patience = scene_of(rank)->kind == SCENE_SIZES ? 2 : 1;

    if (conform_now(rank) - slot->since_ns < patience * rank->shared->op_deadline_us * 1000) {
        return;
    }
    conform_record(
        rank,
        (struct conform_event){.kind = EVENT_FAIL, .op = slot->index, .code = -ALAR_E_TIMEOUT},
        NULL, 0);
    slot->stage = SLOT_LOST;
    rank->live--;
    conform_stop(rank, "an all-reduce did not end");
}

/* Asks about one that is pending, in one of several ways. */
static void ask(struct conform_rank *rank)
{
    struct conform_slot *slot = live_draw(rank);
    bool is_over = false;

    switch (alar_rng_below(&rank->rng, 8)) {
    case 0:
        progress(rank);
        return;
    case 1:
        is_over =
            conform_slot_wait(rank, slot, alar_rng_below(&rank->rng, 2) * 300) != -ALAR_E_TIMEOUT;
        break;
    case 2:
        is_over = conform_slot_test(rank, slot);
        if (!is_over) {
            conform_slot_free_pending(rank, slot);
            is_over = slot->stage != SLOT_LIVE;
        }
        break;
    default:
        is_over = conform_slot_test(rank, slot);
        break;
    }
    if (!is_over) {
        expire(rank, slot);
    }
}

static uint32_t depth_of(const struct conform_rank *rank)
{
    const struct conform_scene *scene = scene_of(rank);
    uint32_t most = rank->caps.outstanding_max;

    if (scene->kind == SCENE_DEEP) {
        return most > 0 && most + 1 < rank->slots ? most + 1 : scene->depth;
    }
    return most > 0 && most < scene->depth ? most : scene->depth;
}

/* All-reduces of this scene: a deep one needs no more than it takes to be deep. */
static uint32_t ops_of(const struct conform_rank *rank)
{
    const struct conform_scene *scene = scene_of(rank);
    uint32_t enough = depth_of(rank) + 20;

    return scene->kind == SCENE_DEEP && enough < scene->ops ? enough : scene->ops;
}

/* The late rank of the scene stands still, once before it issues and once after. */
static void be_late(struct conform_rank *rank, uint32_t next)
{
    const struct conform_scene *scene = scene_of(rank);

    if (scene->kind == SCENE_LATE && scene->late_rank == (int32_t)rank->rank &&
        (next == 2 || next == 5)) {
        conform_rest(rank, scene->late_us);
    }
}

/* Issues the next one; false when it can't be now. */
static bool issue_next(struct conform_rank *rank, uint32_t *next)
{
    struct conform_slot *slot = conform_slot_take(rank);

    if (slot == NULL) {
        return false;
    }
    be_late(rank, *next);
    enum conform_issue how = conform_slot_issue(rank, slot, *next);
    *next += how != ISSUE_FULL;
    be_late(rank, *next + 1);
    return how != ISSUE_FULL;
}

static bool play_drawn(struct conform_rank *rank)
{
    uint32_t depth = depth_of(rank);
    uint32_t ops = ops_of(rank);
    bool is_deep = scene_of(rank)->kind == SCENE_DEEP;
    bool is_filling = true;
    uint32_t next = 0;

    while (!conform_is_stopped(rank) && (next < ops || rank->live > 0)) {
        bool may_issue = next < ops && rank->live < depth &&
                         (is_deep ? is_filling : alar_rng_below(&rank->rng, 4) > 0);

        if (may_issue || rank->live == 0) {
            is_filling = issue_next(rank, &next);
        } else {
            ask(rank);
            is_filling = is_deep && rank->live < depth / 2;
        }
        if (alar_rng_below(&rank->rng, 4) == 0 || rank->clock.is_virtual) {
            conform_rest(rank, alar_rng_below(&rank->rng, REST_US));
        }
    }
    return !conform_is_stopped(rank);
}

bool conform_play(struct conform_rank *rank)
{
    const struct conform_scene *scene = scene_of(rank);
    bool is_whole;

    rank->rng = alar_rng_stream(scene->seed, 1000 + rank->rank);
    switch (scene->kind) {
    case SCENE_WAIT:
        is_whole = conform_play_wait(rank, scene);
        break;
    case SCENE_IDLE:
        is_whole = conform_play_idle(rank, scene);
        break;
    case SCENE_EDGE:
        is_whole = conform_play_edge(rank, scene);
        break;
    case SCENE_END:
        is_whole = conform_play_end(rank, scene) && play_drawn(rank);
        break;
    default:
        is_whole = play_drawn(rank);
        break;
    }
    for (uint32_t i = 0; i < rank->slots; i++) {
        if (rank->slot[i].stage == SLOT_SPENT) {
            conform_slot_review(rank, &rank->slot[i]);
        }
    }
    return is_whole;
}

/* All ranks of the simulator in one process: contexts that take turns, in virtual time. The rank
   that
   wakes first goes on; so a run is the same each time. Contexts are no POSIX any more, but of every
   C library on Linux. */
#include "backend/sim/sim.h"
#include "conform/conform_launch.h"
#include "conform/conform_rank.h"

#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

enum {
    STACK_BYTES = 1 << 18
};

/* A rank of the simulator. */
struct player {
    struct turns *turns;
    struct conform_rank rank;
    ucontext_t context;
    uint64_t wake_us;
    bool is_over;
};

struct turns {
    struct player *player;
    uint32_t ranks;
    ucontext_t end;
    struct alar_sim_world *world;
};

/* makecontext hands on numbers, not pointers. */
static struct turns turns;

static uint64_t sim_now(void *data)
{
    const struct player *player = data;

    return alar_sim_now(player->turns->world) * 1000;
}

/* The rank that wakes first, at its time; NULL when all are over. */
static struct player *next_find(void)
{
    struct player *next = NULL;

    for (uint32_t r = 0; r < turns.ranks; r++) {
        struct player *player = &turns.player[r];

        if (!player->is_over && (next == NULL || player->wake_us < next->wake_us)) {
            next = player;
        }
    }
    if (next != NULL) {
        alar_sim_now_set(turns.world, next->wake_us);
    }
    return next;
}

static void sim_rest(void *data, uint64_t us)
{
    struct player *player = data;

    player->wake_us = alar_sim_now(turns.world) + us + 1;
    struct player *next = next_find();
    if (next != player) {
        swapcontext(&player->context, &next->context);
    }
}

static void play(int rank)
{
    struct player *player = &turns.player[rank];
    struct alar_boot boot = {
        .rank = rank, .ranks = (int32_t)turns.ranks, .config = "", .world = turns.world};

    conform_rank_run(&player->rank, &boot);
    player->is_over = true;
    struct player *next = next_find();
    setcontext(next != NULL ? &next->context : &turns.end);
}

static bool player_set(struct player *player, struct conform_shared *shared, uint32_t rank,
                       const struct alar_conform_wrap *wrap)
{
    void *stack = malloc(STACK_BYTES);

    player->turns = &turns;
    player->rank = (struct conform_rank){
        .shared = shared,
        .seat = &shared->seat[rank],
        .rank = rank,
        .ranks = shared->ranks,
        .backend = alar_sim_backend(),
        .clock = {player, sim_now, sim_rest, true},
        .wrap = wrap,
    };
    player->wake_us = rank;
    atomic_store(&shared->seat[rank].pid, (int32_t)getpid());
    getcontext(&player->context);
    player->context.uc_stack.ss_sp = stack;
    player->context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&player->context, (void (*)(void))play, 1, (int)rank);
    return stack != NULL;
}

int conform_sim_run(struct conform_shared *shared, const struct alar_conform_wrap *wrap)
{
    struct alar_sim_options options =
        alar_sim_options_default((int32_t)shared->ranks, shared->scene[0].seed);

    options.nan = ALAR_SIM_NAN_PROPAGATE;
    options.spread_us = 30;
    turns.ranks = shared->ranks;
    turns.world = alar_sim_world_create(&options);
    turns.player = calloc(shared->ranks, sizeof(*turns.player));
    bool is_whole = turns.player != NULL && turns.world != NULL;
    for (uint32_t r = 0; is_whole && r < shared->ranks; r++) {
        is_whole = player_set(&turns.player[r], shared, r, wrap);
    }
    if (!is_whole) {
        return ALAR_CLASS_INCOMPLETE;
    }
    memcpy(shared->name, "sim", 4);
    swapcontext(&turns.end, &turns.player[0].context);
    /* Ranks that stopped leave requests behind, which end with the process. */
    return ALAR_CLASS_GOOD;
}

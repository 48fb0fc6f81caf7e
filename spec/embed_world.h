/* The second part of embed.h: what is tracked of several ranks, and what holds of operations over
   all of them. */
#ifndef SPEC_EMBED_WORLD_H
#define SPEC_EMBED_WORLD_H

#include "spec/embed.h"

/* Steps by which log lines lag, under the rules that wait at the log line. */
#ifndef LAG
#define LAG 0
#endif

enum {
    OPS_MAX = STEPS * MICROBATCHES,
    PENDING_DECISION = 0,
    WENT_ON = 1,
    STOPPED = 2
};

struct rank {
    struct alar_engine_state engine;
    struct shelf_memory memory;
    struct book book;
    uint8_t step;         /* steps ended */
    uint8_t microbatch;   /* contributed in the current step */
    uint8_t reported;     /* steps that log lines cover */
    uint8_t contributed;  /* operations that the back end took from this rank */
    uint8_t has_nan;      /* contributed since the last post */
    uint8_t has_learnt;   /* took a value that some rank's loss made non-finite */
    uint8_t is_deciding;  /* a step ended, and whether the run goes on is not said yet */
    uint8_t has_finished; /* no step is left */
    uint8_t is_silent;    /* the process is gone, without a word */
    uint8_t has_ended;    /* STOP was answered */
    uint8_t ending; /* enum alar_status it leaves with; after a roll call when a wait expired */
};

struct world {
    struct rank rank[RANKS];
    uint8_t placement;
    uint8_t is_sync;
    uint8_t waits_at_log;
    uint8_t check;               /* enum alar_check */
    uint8_t nonfinite[OPS_MAX];  /* ranks whose contribution to an operation is not finite */
    uint8_t decision[STEPS + 2]; /* what the first rank decided after each step, and at the end */
    uint8_t faults;              /* injected so far */
    uint8_t faults_but_nan;      /* of which may keep a rank from deciding */
};
static struct world WORLD;

static struct alar_engine engines[RANKS];

static uint32_t lag(void)
{
    return WORLD.waits_at_log ? LAG : 0;
}

static void world_begin(void)
{
    memset(&WORLD, 0, sizeof(WORLD));
    atexit(moves_print);
}

static struct alar_window *rank_window(int r)
{
    return (struct alar_window *)&WORLD.rank[r].memory;
}

/* Sets the rules for all ranks, once. */
static void world_rule(uint8_t placement, bool is_sync, bool waits_at_log, uint8_t check)
{
    WORLD.placement = placement;
    WORLD.is_sync = is_sync;
    WORLD.waits_at_log = waits_at_log;
    WORLD.check = check;
    for (int r = 0; r < RANKS; r++) {
        struct alar_engine_rules rules = {.log_interval = INTERVAL};
        enum alar_status made = alar_window_init(rank_window(r), SLOTS);
        enum alar_status begun = alar_engine_init(&engines[r], &rules, rank_window(r));

        HOLDS("a rank can begin", made == ALAR_OK && begun == ALAR_OK);
        WORLD.rank[r].engine = engines[r].state;
    }
}

/* ---- what holds of operations over all ranks ---------------------------------------------------
 */

static bool is_contributed(int op)
{
    for (int r = 0; r < RANKS; r++) {
        if (WORLD.rank[r].contributed <= op) {
            return false;
        }
    }
    return true;
}

/* Will some rank never contribute to it? */
static bool is_hopeless(int op)
{
    for (int r = 0; r < RANKS; r++) {
        const struct rank *rank = &WORLD.rank[r];
        bool is_leaving =
            rank->engine.phase == ALAR_ACTION_STOP || rank->engine.phase == ALAR_ACTION_CLOSED;

        if (rank->contributed <= op && (rank->is_silent || is_leaving)) {
            return true;
        }
    }
    return false;
}

#endif

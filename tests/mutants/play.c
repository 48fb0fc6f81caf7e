/* Plays a witness: all ranks of it on the simulator, or one rank's share of many under MPICH. */
#include "backend/plugin.h"
#include "base/rng.h"
#include "mutants.h"
#include "numbers/hostile.h"
#include "sys/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RANKS_MAX = ALAR_MUTANT_RANKS_MAX,
    SIM_DEADLINE = 200000,    /* ticks */
    SIM_END = 100 * 1000000,  /* no run takes so many ticks */
    MPICH_DEADLINE = 4000000, /* us; a mutant that never tells costs a rank this much */
    FAREWELL_US = 20000000
};

/* One rank of a witness. */
struct player {
    struct alar_mutant *mutant; /* NULL: healthy */
    struct alar_exercise *exercise;
    struct alar_history *history;
    uint64_t wake_us;
    bool is_over;
};

static void history_start(struct player *player, const struct witness *witness, uint32_t rank,
                          const char *directory, const char *backend)
{
    const struct alar_history_options options = {
        .directory = directory, .rank = rank, .elements = ALAR_EXERCISE_BYTES_MAX / 2};
    bool is_sim = witness->platform == ON_SIM;
    const struct alar_history_trace trace = {
        .world = witness->ranks,
        .backend = backend,
        .tag = "mutants",
        .clock = is_sim ? "ticks" : "monotonic_ns",
        .host = is_sim ? NULL : "one host",
    };
    char error_line[ALAR_ERROR_LINE_BYTES];

    if (alar_history_open(&player->history, &options, error_line) != ALAR_OK) {
        give_up("history", error_line);
    }
    alar_history_trace(player->history, 0, &trace);
}

/* Wraps the back end in the witness's mutant. */
static void mutant_start(struct player *player, const struct witness *witness, uint32_t rank,
                         const struct alar_backend **backend, void **context)
{
    const struct alar_mutant_options options = {
        .kind = (enum alar_mutant_kind)witness->mutant,
        .seed = witness->seed,
        .rank = rank,
        .ranks = witness->ranks,
        .inner = *backend,
        .context = *context,
    };

    if (witness->mutant == HEALTHY) {
        return;
    }
    if (alar_mutant_open(&player->mutant, &options) != ALAR_OK) {
        give_up("mutant", "out of memory");
    }
    *backend = alar_mutant_backend(player->mutant);
    *context = alar_mutant_context(player->mutant);
}

static void player_start(struct player *player, const struct witness *witness, uint32_t rank,
                         const struct alar_backend *backend, void *context,
                         struct alar_exercise_options *options)
{
    bool is_sim = witness->platform == ON_SIM;
    const struct alar_history_contract contract =
        witness_contract(witness, is_sim ? SIM_DEADLINE : MPICH_DEADLINE * UINT64_C(1000));

    options->twin = witness->promise == ALAR_PROMISE_TWIN ? backend : NULL;
    options->twin_context = context;
    options->backend = backend;
    options->context = context;
    mutant_start(player, witness, rank, &options->backend, &options->context);
    options->rank = rank;
    options->ranks = witness->ranks;
    options->has_halves = witness->ranks >= 4;
    options->window = (uint16_t)(2 + witness->seed % 5);
    options->seed = witness->seed;
    options->history = player->history;
    options->contract = &contract;
    if (alar_exercise_open(&player->exercise, options) != ALAR_OK) {
        give_up("exercise", "it does not open");
    }
}

static void player_free(struct player *player)
{
    char error_line[ALAR_ERROR_LINE_BYTES];

    alar_exercise_free(player->exercise);
    alar_mutant_free(player->mutant);
    if (alar_history_close(player->history, error_line) != ALAR_OK) {
        give_up("history", error_line);
    }
}

static void strikes_add(const struct player *player, struct alar_strike *strikes, uint32_t *count)
{
    uint32_t own = 0;
    const struct alar_strike *strike =
        player->mutant == NULL ? NULL : alar_mutant_strikes(player->mutant, &own);

    for (uint32_t i = 0; i < own && i < ALAR_STRIKES_MAX && *count < ALAR_STRIKES_MAX; i++) {
        uint32_t k = 0;

        while (k < *count && memcmp(&strikes[k], &strike[i], sizeof(*strikes)) != 0) {
            k++;
        }
        strikes[k] = strike[i];
        *count += k == *count;
    }
}

void directory_prepare(const char *directory)
{
    char error_line[ALAR_ERROR_LINE_BYTES];

    if (alar_history_prepare(directory, true, error_line) != ALAR_OK) {
        give_up("history", error_line);
    }
}

/* ---- on the simulator --------------------------------------------------------------------------
 */

/* The simulator of a witness; its order is the promised one where a mutant needs it to be. */
static struct alar_sim_world *world_make(const struct witness *witness)
{
    struct alar_sim_options options =
        alar_sim_options_default((int32_t)witness->ranks, witness->seed);
    struct alar_rng rng = alar_rng_stream(witness->seed, 3);
    bool is_plain = witness->promise == ALAR_PROMISE_TREE ||
                    (witness->promise == ALAR_PROMISE_TWIN && witness->mutant != HEALTHY);
    uint64_t orders =
        witness->promise == ALAR_PROMISE_TWIN ? ALAR_SIM_ARRIVAL : ALAR_SIM_ORDER_COUNT;
    enum alar_sim_order order = (enum alar_sim_order)alar_rng_below(&rng, orders);

    options.order = is_plain ? ALAR_SIM_RECURSIVE_DOUBLING : order;
    options.nan =
        witness->promise == ALAR_PROMISE_NAN ? ALAR_SIM_NAN_PROPAGATE : ALAR_SIM_NAN_COMPARE;
    options.capture = (enum alar_sim_capture)alar_rng_below(&rng, 2);
    options.pending = (enum alar_sim_pending)alar_rng_below(&rng, 3);
    options.latency_us = (uint32_t)alar_rng_below(&rng, 40);
    options.link_us = (uint32_t)alar_rng_below(&rng, 20);
    options.jitter_us = (uint32_t)alar_rng_below(&rng, 20);
    options.spread_us = (uint32_t)alar_rng_below(&rng, 60);
    options.skips_rounds = alar_rng_below(&rng, 4) == 0;
    options.is_fifo = alar_rng_below(&rng, 4) == 0;
    options.has_progress_thread = alar_rng_below(&rng, 4) == 0;
    struct alar_sim_world *world = alar_sim_world_create(&options);
    if (world == NULL) {
        give_up("simulator", "out of memory");
    }
    return world;
}

static void *sim_context(struct alar_sim_world *world, uint32_t rank)
{
    struct alar_boot boot = {.rank = (int32_t)rank, .ranks = -1, .config = "", .world = world};
    void *context = NULL;

    if (alar_sim_backend()->init(&context, &boot) != 0) {
        give_up("simulator", "a rank does not start");
    }
    return context;
}

static uint64_t world_now(void *world)
{
    return alar_sim_now(world);
}

/* Each rank in its turn, until all are through. */
static void sim_play(const struct witness *witness, struct alar_sim_world *world,
                     struct player *player)
{
    uint32_t left = witness->ranks;

    while (left > 0) {
        struct player *due = &player[0];

        for (uint32_t r = 1; r < witness->ranks; r++) {
            due = player[r].wake_us < due->wake_us ? &player[r] : due;
        }
        alar_sim_now_set(world, due->wake_us);
        if (alar_exercise_advance(due->exercise, &due->wake_us) && !due->is_over) {
            due->is_over = true;
            left--;
        }
        if (due->wake_us > SIM_END) {
            give_up("simulator", "a run that does not end");
        }
    }
}

void sim_witness(const struct witness *witness, const struct losses *losses, const char *directory,
                 struct alar_strike *strikes, uint32_t *count)
{
    struct player player[RANKS_MAX] = {0};
    uint64_t room[RANKS_MAX * ALAR_HOSTILE_ELEMENTS_MAX];
    struct alar_sim_world *world = world_make(witness);
    struct input input;

    *count = 0;
    directory_prepare(directory);
    input_open(&input, witness, losses, room);
    for (uint32_t r = 0; r < witness->ranks; r++) {
        struct alar_exercise_options options = {
            .source = input_source(&input),
            .now_us = world_now,
            .clock = world,
            .ops = input.ops,
            .pace_us = 1 + witness->seed % 30,
            .stride = witness->ranks,
            .phase = r,
            .deadline_us = SIM_DEADLINE,
            .history_units_per_us = 1,
        };

        history_start(&player[r], witness, r, directory, "sim");
        player_start(&player[r], witness, r, alar_sim_backend(), sim_context(world, r), &options);
        player[r].wake_us = r;
    }
    sim_play(witness, world, player);
    for (uint32_t r = 0; r < witness->ranks; r++) {
        alar_exercise_close(player[r].exercise);
        strikes_add(&player[r], strikes, count);
    }
    alar_sim_world_free(world);
    for (uint32_t r = 0; r < witness->ranks; r++) {
        player_free(&player[r]);
    }
}

/* ---- under MPICH -------------------------------------------------------------------------------
 */

static void strikes_path(const char *directory, uint32_t rank, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%.220s/strikes%u.txt", directory, rank);
}

static void strikes_write(const struct player *player, const char *directory, uint32_t rank)
{
    struct alar_strike strikes[ALAR_STRIKES_MAX];
    uint32_t count = 0;
    char path[PATH_BYTES];

    strikes_add(player, strikes, &count);
    strikes_path(directory, rank, path);
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        give_up(path, "it can't be written");
    }
    for (uint32_t i = 0; i < count; i++) {
        fprintf(file, "%u %llu %u\n", strikes[i].comm, (unsigned long long)strikes[i].number,
                strikes[i].rank);
    }
    fclose(file);
}

void strikes_read(const char *directory, uint32_t ranks, struct alar_strike *strikes,
                  uint32_t *count)
{
    char path[PATH_BYTES];
    unsigned comm = 0;
    unsigned rank = 0;
    unsigned long long number = 0;

    *count = 0;
    for (uint32_t r = 0; r < ranks; r++) {
        strikes_path(directory, r, path);
        FILE *file = fopen(path, "r");
        if (file == NULL) {
            give_up(path, "expected what a rank left there");
        }
        while (*count < ALAR_STRIKES_MAX &&
               fscanf(file, "%u %llu %u", &comm, &number, &rank) == 3) {
            strikes[(*count)++] = (struct alar_strike){comm, number, rank};
        }
        fclose(file);
    }
}

/* One rank of one witness, in real time. */
static void mpich_witness(const struct witness *witness, const struct losses *losses,
                          const struct alar_backend *backend, void *context, uint32_t rank,
                          const char *directory, uint64_t epoch)
{
    uint64_t room[RANKS_MAX * ALAR_HOSTILE_ELEMENTS_MAX];
    struct player player = {0};
    struct input input;
    bool is_over = false;

    input_open(&input, witness, losses, room);
    struct alar_exercise_options options = {
        .source = input_source(&input),
        .now_us = alar_clock_now,
        .ops = input.ops,
        .pace_us = 60,
        .stride = 1,
        .deadline_us = MPICH_DEADLINE,
        .epoch = epoch,
        .history_since_us = 0,
        .history_units_per_us = 1000,
    };
    history_start(&player, witness, rank, directory, "mpich");
    player_start(&player, witness, rank, backend, context, &options);
    while (!is_over) {
        is_over = alar_exercise_advance(player.exercise, &player.wake_us);
        alar_clock_sleep(player.wake_us);
    }
    alar_exercise_close(player.exercise);
    strikes_write(&player, directory, rank);
    player_free(&player);
}

static void witness_directory(const char *directory, uint32_t number, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%.220s/%u", directory, number);
}

int mpich_witnesss(const struct witness *witness, uint32_t witnesss, const struct losses *losses,
                   const char *plugin, const char *directory)
{
    const struct alar_backend *const none[] = {NULL};
    struct alar_boot boot = {.rank = -1, .ranks = -1, .config = ""};
    char error_line[ALAR_ERROR_LINE_BYTES];
    char path[PATH_BYTES];
    struct alar_backend backend;
    void *context = NULL;

    if (alar_plugin_load(plugin, none, &backend, error_line) != ALAR_OK) {
        give_up("plug-in", error_line);
    }
    if (backend.init(&context, &boot) != 0 || boot.ranks != (int32_t)witness[0].ranks) {
        give_up("plug-in", "it does not start on the ranks of the scenes");
    }
    for (uint32_t i = 0; i < witnesss; i++) {
        witness_directory(directory, i, path);
        mpich_witness(&witness[i], losses, &backend, context, (uint32_t)boot.rank, path,
                      100 + 10 * i);
    }
    int error = backend.farewell(context, FAREWELL_US);
    return backend.fini(context) == 0 && error == 0 ? ALAR_CLASS_GOOD : ALAR_CLASS_INCOMPLETE;
}

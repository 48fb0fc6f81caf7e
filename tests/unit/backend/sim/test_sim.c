/* The simulator's time: who waits for whom, what is visible when, and that nothing is lost. */
#include "base/rng.h"
#include "tests/lib/sim_rig.h"

#include <criterion/criterion.h>
#include <string.h>

/* Posts i + 1 on ranks 0 .. ranks - 1 but the one left out (-1: none), out of place. */
static void post_all(struct sim_rig *rig, int32_t left_out, float *send, float *recv,
                     void **request)
{
    for (int32_t i = 0; i < rig->ranks; i++) {
        send[i] = (float)(i + 1);
        recv[i] = -1;
        request[i] = i == left_out ? NULL : sim_rig_post(rig, i, &send[i], &recv[i], 1);
    }
}

/* With everybody polling, an operation takes log2 p rounds. Folded ranks cost one more, or two when
   the late partner of a late partner is folded too, as at 7; counted by hand. */
Test(backend_sim, rounds_take_their_latency)
{
    static const uint64_t rounds[] = {0, 0, 1, 2, 2, 3, 3, 4, 3, 4};

    for (int32_t n = 1; n <= 9; n++) {
        struct alar_sim_options options = sim_rig_plain(n);
        struct sim_rig rig;
        float send[SIM_RIG_RANKS];
        float recv[SIM_RIG_RANKS];
        void *request[SIM_RIG_RANKS];
        uint64_t over[SIM_RIG_RANKS];
        uint64_t last = 0;

        sim_rig_open(&rig, &options);
        post_all(&rig, -1, send, recv, request);
        cr_assert(n > 1 || alar_sim_next(rig.world, 0) == 0, "a rank alone is complete at once");
        sim_rig_run(&rig, request, over);

        for (int32_t i = 0; i < n; i++) {
            last = over[i] > last ? over[i] : last;
            cr_assert_eq(recv[i], (float)(n * (n + 1) / 2));
            cr_assert_eq(rig.backend->request_free(request[i]), 0);
        }
        cr_assert_eq(last, 10 * rounds[n], "%d ranks: %d", n, (int)last);
        sim_rig_close(&rig);
    }
}

/* Progress starvation, as measured with MPICH at 4 ranks: a rank that issues and then computes has
   sent its first message, but holds up the rank that needs its second, by exactly its absence. */
Test(backend_sim, a_rank_that_does_not_poll_holds_up_those_who_need_it)
{
    for (uint64_t absence = 20; absence <= 320; absence += 50) {
        struct alar_sim_options options = sim_rig_plain(4);
        struct sim_rig rig;
        float send[SIM_RIG_RANKS];
        float recv[SIM_RIG_RANKS];
        void *request[SIM_RIG_RANKS];
        void *polled[SIM_RIG_RANKS] = {NULL};
        uint64_t over[SIM_RIG_RANKS];

        sim_rig_open(&rig, &options);
        post_all(&rig, -1, send, recv, request);
        memcpy(polled, request, 3 * sizeof request[0]);
        sim_rig_run(&rig, polled, over);
        cr_assert_eq(over[0], 20);
        cr_assert_eq(over[2], 20);
        cr_assert_eq(over[1], UINT64_MAX, "nothing reaches rank 1 while rank 3 is away");

        alar_sim_now_set(rig.world, absence);
        cr_assert(sim_rig_is_done(&rig, request[3]));
        memset(polled, 0, sizeof polled);
        polled[1] = request[1];
        polled[3] = request[3];
        sim_rig_run(&rig, polled, over);
        cr_assert_eq(over[1], absence + 10, "%d", (int)over[1]);
        for (int32_t i = 0; i < 4; i++) {
            cr_assert_eq(rig.backend->request_free(request[i]), 0);
        }
        sim_rig_close(&rig);
    }
}

/* A rank that never issues keeps everybody pending for ever, with or without rounds; polling is
   then known to be useless. */
Test(backend_sim, a_rank_that_never_issues_keeps_all_pending)
{
    for (int kind = 0; kind < 4; kind++) {
        struct alar_sim_options options = sim_rig_plain(5);
        struct sim_rig rig;
        float send[SIM_RIG_RANKS];
        float recv[SIM_RIG_RANKS];
        void *request[SIM_RIG_RANKS];
        uint64_t over[SIM_RIG_RANKS];

        options.skips_rounds = kind % 2 == 1;
        options.has_progress_thread = kind / 2 == 1;
        sim_rig_open(&rig, &options);
        post_all(&rig, 2, send, recv, request);
        sim_rig_run(&rig, request, over);

        alar_sim_now_set(rig.world, 1000000);
        for (int32_t i = 0; i < 5; i++) {
            cr_assert(i == 2 || !sim_rig_is_done(&rig, request[i]));
            cr_assert_eq(over[i], UINT64_MAX);
            cr_assert_eq(alar_sim_next(rig.world, i), UINT64_MAX);
        }
        sim_rig_abandon(&rig);
    }
}

/* A field case: three rounds, taken only inside calls. Without polls all of it happens in the wait;
   with a progress thread none does. */
Test(backend_sim, overlap_needs_calls_or_a_thread)
{
    for (int has_thread = 0; has_thread < 2; has_thread++) {
        struct alar_sim_options options = sim_rig_plain(2);
        struct sim_rig rig;
        float send[SIM_RIG_RANKS];
        float recv[SIM_RIG_RANKS];
        void *request[SIM_RIG_RANKS];
        struct alar_caps caps;
        int error = -1;

        options.has_progress_thread = has_thread == 1;
        options.capture = ALAR_SIM_LATE;
        sim_rig_open(&rig, &options);
        cr_assert_eq(rig.backend->caps(rig.context[0], &caps), 0);
        cr_assert_eq(caps.needs_progress, !has_thread);
        post_all(&rig, -1, send, recv, request);
        alar_sim_now_set(rig.world, 100);

        cr_assert_eq(recv[0], has_thread ? 3.0f : -1.0f);
        cr_assert_eq(rig.backend->wait(request[0], NULL, 0, &error),
                     has_thread ? 0 : -ALAR_E_TIMEOUT);
        sim_rig_abandon(&rig);
    }
}

/* When the send buffer is read decides whether a write in flight is seen. */
Test(backend_sim, capture_decides_what_a_write_in_flight_does)
{
    for (int late = 0; late < 2; late++) {
        struct alar_sim_options options = sim_rig_plain(2);
        struct sim_rig rig;
        float send[SIM_RIG_RANKS];
        float recv[SIM_RIG_RANKS];
        void *request[SIM_RIG_RANKS];
        uint64_t over[SIM_RIG_RANKS];

        options.capture = late ? ALAR_SIM_LATE : ALAR_SIM_AT_ISSUE;
        sim_rig_open(&rig, &options);
        post_all(&rig, -1, send, recv, request);
        send[1] = 40;
        sim_rig_run(&rig, request, over);

        cr_assert_eq(recv[0], late ? 41.0f : 3.0f);
        cr_assert_eq(recv[1], recv[0]);
        sim_rig_abandon(&rig);
    }
}

/* While it is pending a receive buffer shows a plausible lie; the value is there only at the end.
   Rank 0 of 4 holds its own value, then that of ranks 0 and 1. */
Test(backend_sim, a_pending_buffer_shows_what_was_chosen)
{
    static const float lies[][2] = {
        [ALAR_SIM_SHOWS_OWN] = {1, 1},
        [ALAR_SIM_UNTOUCHED] = {-1, -1},
        [ALAR_SIM_SHOWS_PARTIAL] = {1, 3},
    };

    for (int pending = 0; pending < 3; pending++) {
        struct alar_sim_options options = sim_rig_plain(4);
        struct sim_rig rig;
        float send[SIM_RIG_RANKS];
        float recv[SIM_RIG_RANKS];
        void *request[SIM_RIG_RANKS];
        uint64_t over[SIM_RIG_RANKS];

        options.pending = (enum alar_sim_pending)pending;
        sim_rig_open(&rig, &options);
        post_all(&rig, -1, send, recv, request);
        cr_assert_eq(recv[0], lies[pending][0]);
        alar_sim_now_set(rig.world, 10);
        cr_assert_not(sim_rig_is_done(&rig, request[0]));
        cr_assert_eq(recv[0], lies[pending][1]);

        sim_rig_run(&rig, request, over);
        for (int32_t i = 0; i < 4; i++) {
            cr_assert_eq(recv[i], 10);
        }
        sim_rig_abandon(&rig);
    }
}

/* Does some operation of 20 complete before an earlier one on rank 0? */
static bool has_overtaking(const struct alar_sim_options *options)
{
    struct sim_rig rig;
    float send[2][20];
    float recv[2][20];
    void *request[2][20];
    bool is_done[20] = {false};
    bool overtakes = false;

    sim_rig_open(&rig, options);
    for (int k = 0; k < 20; k++) {
        for (int32_t i = 0; i < 2; i++) {
            send[i][k] = (float)k;
            request[i][k] = sim_rig_post(&rig, i, &send[i][k], &recv[i][k], 1);
        }
    }
    for (uint64_t tick = 0; tick < 300; tick++) {
        alar_sim_now_set(rig.world, tick);
        cr_assert_eq(rig.backend->progress(rig.context[1]), 0);
        for (int k = 0; k < 20; k++) {
            is_done[k] = is_done[k] || sim_rig_is_done(&rig, request[0][k]);
            overtakes = overtakes || (k > 0 && is_done[k] && !is_done[k - 1]);
        }
    }
    for (int k = 0; k < 20; k++) {
        cr_assert_eq(recv[0][k], (float)(2 * k));
    }
    sim_rig_abandon(&rig);
    return overtakes;
}

/* Completion order is not issue order, unless it is asked for. */
Test(backend_sim, operations_overtake_unless_fifo)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct alar_sim_options options = alar_sim_options_default(2, seed);

        options.spread_us = 100;
        cr_assert(has_overtaking(&options), "seed %d", (int)seed);
        options.is_fifo = true;
        cr_assert_not(has_overtaking(&options), "seed %d", (int)seed);
    }
}

/* Any world of up to 9 ranks. */
static struct alar_sim_options swarm_options(struct alar_rng *rng, uint64_t seed)
{
    int32_t ranks = 1 + (int32_t)alar_rng_below(rng, 9);
    struct alar_sim_options options = alar_sim_options_default(ranks, seed);

    options.order = (enum alar_sim_order)alar_rng_below(rng, ALAR_SIM_ORDER_COUNT);
    options.latency_us = (uint32_t)alar_rng_below(rng, 30);
    options.link_us = (uint32_t)alar_rng_below(rng, 30);
    options.jitter_us = (uint32_t)alar_rng_below(rng, 30);
    options.spread_us = (uint32_t)alar_rng_below(rng, 30);
    options.skips_rounds = alar_rng_below(rng, 4) == 0;
    options.is_fifo = alar_rng_below(rng, 4) == 0;
    options.has_progress_thread = alar_rng_below(rng, 4) == 0;
    options.capture = (enum alar_sim_capture)alar_rng_below(rng, 2);
    options.pending = ALAR_SIM_UNTOUCHED;
    return options;
}

/* One seeded run: some operations in flight on each rank, polled at random times. What is checked:
   same bits everywhere, never complete before all have issued, no value before completion, nothing
   lost. Returns a digest of everything that was seen. */
static uint64_t swarm(uint64_t seed)
{
    enum {
        OPERATIONS = 12
    };
    struct alar_rng rng = alar_rng_stream(seed, 77);
    struct alar_sim_options options = swarm_options(&rng, seed);
    struct sim_rig rig;
    float send[9][OPERATIONS];
    float recv[9][OPERATIONS];
    void *request[9][OPERATIONS];
    int posted[9] = {0};
    int left = options.ranks * OPERATIONS;
    uint64_t digest = seed;

    sim_rig_open(&rig, &options);
    memset(request, 0, sizeof request);
    for (uint64_t tick = 0; left > 0; tick++) {
        int32_t i = (int32_t)alar_rng_below(&rng, (uint64_t)options.ranks);
        int k = (int)alar_rng_below(&rng, OPERATIONS);

        cr_assert_lt(tick, 100000, "seed %llu hangs", (long long)seed);
        alar_sim_now_set(rig.world, tick / 2);
        if (posted[i] < OPERATIONS && alar_rng_below(&rng, 2) == 0) {
            k = posted[i]++;
            send[i][k] = (float)alar_rng_unit(&rng);
            recv[i][k] = -1;
            request[i][k] = sim_rig_post(&rig, i, &send[i][k], &recv[i][k], 1);
        } else if (request[i][k] != NULL && sim_rig_is_done(&rig, request[i][k])) {
            for (int32_t j = 0; j < options.ranks; j++) {
                cr_assert_gt(posted[j], k, "seed %llu: complete before all issued",
                             (long long)seed);
            }
            cr_assert_eq(rig.backend->request_free(request[i][k]), 0);
            request[i][k] = NULL;
            left--;
            digest = alar_rng_fold(digest, tick * 1000 + (uint64_t)(i * OPERATIONS + k));
        }
    }
    for (int k = 0; k < OPERATIONS; k++) {
        for (int32_t i = 0; i < options.ranks; i++) {
            cr_assert_geq(recv[i][k], 0.0f);
            cr_assert_eq(memcmp(&recv[i][k], &recv[0][k], sizeof(float)), 0);
        }
    }
    cr_assert_eq(rig.world->stats.completed, (uint64_t)(options.ranks * OPERATIONS));
    cr_assert_eq(rig.world->stats.grown, 0);
    sim_rig_close(&rig);
    return digest;
}

Test(backend_sim, any_seed_keeps_the_promises)
{
    for (uint64_t seed = 1; seed <= 400; seed++) {
        uint64_t digest = swarm(seed);

        if (seed <= 40) {
            cr_assert_eq(digest, swarm(seed), "seed %d: two runs differ", (int)seed);
        }
    }
}

/* Polling more often changes when a rank learns of a completion, never a message's latency. */
Test(backend_sim, latency_is_drawn_from_the_message_alone)
{
    uint64_t over[2][SIM_RIG_RANKS] = {{0}};

    for (int kind = 0; kind < 4; kind++) {
        int often = kind % 2;
        struct alar_sim_options options = alar_sim_options_default(2, 99);
        struct sim_rig rig;
        float send[SIM_RIG_RANKS];
        float recv[SIM_RIG_RANKS];
        void *request[SIM_RIG_RANKS];

        options.jitter_us = kind < 2 ? 1000 : 0;
        options.link_us = kind < 2 ? 0 : 1000;
        sim_rig_open(&rig, &options);
        post_all(&rig, -1, send, recv, request);
        for (int i = 0; i < 100 * often; i++) {
            cr_assert_not(sim_rig_is_done(&rig, request[i % 2]));
        }
        sim_rig_run(&rig, request, over[often]);
        cr_assert_neq(over[often][0], over[often][1], "both directions are drawn");
        sim_rig_abandon(&rig);
        cr_assert(often == 0 || memcmp(over[0], over[1], 2 * sizeof over[0][0]) == 0);
    }
}

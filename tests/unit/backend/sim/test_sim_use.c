/* The simulator as callers use and misuse it: communicators, pools, mismatches, streams, peers. */
#include "tests/lib/sim_rig.h"

#include <criterion/criterion.h>
#include <string.h>

/* Moves the clock and lets every rank call its library. */
static void rig_poll(struct sim_rig *rig, uint64_t tick)
{
    alar_sim_now_set(rig->world, tick);
    for (int32_t i = 0; i < rig->ranks; i++) {
        (void)rig->backend->progress(rig->context[i]);
    }
}

/* Two ranks disagree; both their buffers afterwards, as floats, and whether each is over. */
struct dispute {
    uint64_t count[2];
    enum alar_dtype dtype[2];
    enum alar_reduction reduction[2];
    float expected[2][2];
};

static void dispute_run(const struct dispute *dispute, enum alar_sim_mismatch mismatch,
                        float recv[2][2], bool is_done[2])
{
    struct alar_sim_options options = sim_rig_plain(2);
    struct sim_rig rig;
    float send[2][2] = {{1, 10}, {2, 20}};
    void *request[2];

    options.mismatch = mismatch;
    options.pending = ALAR_SIM_UNTOUCHED;
    sim_rig_open(&rig, &options);
    for (int32_t i = 0; i < 2; i++) {
        recv[i][0] = recv[i][1] = -1;
        cr_assert_eq(rig.backend->allreduce(rig.comm[i], send[i], recv[i], dispute->count[i],
                                            dispute->dtype[i], dispute->reduction[i], NULL, NULL,
                                            &request[i]),
                     0);
    }
    rig_poll(&rig, 100);
    for (int i = 0; i < 2; i++) {
        is_done[i] = sim_rig_is_done(&rig, request[i]);
    }
    sim_rig_abandon(&rig);
}

/* MPI libraries do not tell ranks that they disagree: each gets its own wrong number, or none. */
Test(backend_sim, mismatches_are_silent)
{
    static const struct dispute rows[] = {
        {{1, 1}, {ALAR_F32, ALAR_F32}, {ALAR_SUM, ALAR_MAX}, {{3, -1}, {2, -1}}},
        {{2, 1}, {ALAR_F32, ALAR_F32}, {ALAR_SUM, ALAR_SUM}, {{3, 10}, {3, -1}}},
        {{1, 2}, {ALAR_F32, ALAR_F32}, {ALAR_SUM, ALAR_SUM}, {{3, -1}, {3, -1}}},
        {{0, 2}, {ALAR_F32, ALAR_F32}, {ALAR_SUM, ALAR_SUM}, {{-1, -1}, {-1, -1}}},
        {{1, 1}, {ALAR_F32, ALAR_F32}, {ALAR_AVG, ALAR_MIN}, {{1.5f, -1}, {1, -1}}},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        float recv[2][2];
        bool is_done[2];

        dispute_run(&rows[i], ALAR_SIM_GARBAGE, recv, is_done);
        cr_assert(is_done[0] && is_done[1]);
        cr_assert_eq(memcmp(recv, rows[i].expected, sizeof recv), 0, "row %d: %g %g, %g %g", (int)i,
                     (double)recv[0][0], (double)recv[0][1], (double)recv[1][0],
                     (double)recv[1][1]);
        dispute_run(&rows[i], ALAR_SIM_HANG, recv, is_done);
        cr_assert_not(is_done[0] || is_done[1]);
        cr_assert_eq(recv[0][0], -1);
    }
}

/* Every pair of dtypes and counts: no crash, whatever comes out, and the next operation is right.
 */
Test(backend_sim, mismatches_of_dtype_never_crash)
{
    for (int i = 0; i < ALAR_DTYPE_COUNT * ALAR_DTYPE_COUNT * 9; i++) {
        int pair = i / 9;
        struct alar_sim_options options = sim_rig_plain(2);
        enum alar_dtype dtype[2] = {(enum alar_dtype)(pair / ALAR_DTYPE_COUNT),
                                    (enum alar_dtype)(pair % ALAR_DTYPE_COUNT)};
        uint64_t count[2] = {(uint64_t)(i % 3), (uint64_t)(i / 3 % 3)};
        struct sim_rig rig;
        double send[2][2] = {{1, 10}, {2, 20}};
        double recv[2][2] = {{0, 0}, {0, 0}};
        float next_send = 4;
        float next_recv[2] = {0, 0};
        void *request[2][2];

        options.order = ALAR_SIM_RING;
        sim_rig_open(&rig, &options);
        for (int32_t j = 0; j < 2; j++) {
            cr_assert_eq(rig.backend->allreduce(rig.comm[j], send[j], recv[j], count[j], dtype[j],
                                                ALAR_SUM, NULL, NULL, &request[0][j]),
                         0);
            request[1][j] = sim_rig_post(&rig, j, &next_send, &next_recv[j], 1);
        }
        rig_poll(&rig, 100);
        for (int j = 0; j < 4; j++) {
            cr_assert(sim_rig_is_done(&rig, request[j / 2][j % 2]));
            cr_assert_eq(rig.backend->request_free(request[j / 2][j % 2]), 0);
        }
        cr_assert_eq(next_recv[0], 8);
        cr_assert_eq(next_recv[1], 8);
        sim_rig_close(&rig);
    }
}

/* Groups reduce among themselves, in the order the list gives; outsiders have no communicator; and
   operations of different communicators do not meet. */
Test(backend_sim, groups_reduce_among_themselves)
{
    static const int32_t low[] = {1, 0, 2};
    static const int32_t high[] = {3, 4};
    struct alar_sim_options options = sim_rig_plain(5);
    struct sim_rig rig;
    float send[5];
    float recv[5][2];
    void *request[5][2];
    void *group[5];
    void *other = NULL;

    sim_rig_open(&rig, &options);
    for (int32_t i = 0; i < 5; i++) {
        void **mine = i < 3 ? &group[i] : &other;
        void **theirs = i < 3 ? &other : &group[i];

        cr_assert_eq(rig.backend->comm_create(rig.context[i], low, 3, 1, mine), 0);
        cr_assert_eq(rig.backend->comm_create(rig.context[i], high, 2, 2, theirs), 0);
        cr_assert_null(other);
        send[i] = (float)(1 << i);
    }
    for (int32_t i = 4; i >= 0; i--) {
        request[i][0] = sim_rig_post(&rig, i, &send[i], &recv[i][0], 1);
        cr_assert_eq(rig.backend->allreduce(group[i], &send[i], &recv[i][1], 1, ALAR_F32, ALAR_SUM,
                                            NULL, NULL, &request[i][1]),
                     0);
    }
    for (uint64_t tick = 0; tick <= 100; tick += 10) {
        rig_poll(&rig, tick);
    }
    for (int32_t i = 0; i < 5; i++) {
        cr_assert(sim_rig_is_done(&rig, request[i][0]) && sim_rig_is_done(&rig, request[i][1]));
        cr_assert_eq(recv[i][0], 31);
        cr_assert_eq(recv[i][1], i < 3 ? 7 : 24);
        cr_assert_eq(rig.backend->comm_free(group[i]), 0);
    }
    sim_rig_abandon(&rig);
}

/* A list that is none is refused; ranks that call with different lists are told. */
Test(backend_sim, bad_groups_are_refused)
{
    static const int32_t twice[] = {0, 0};
    static const int32_t beyond[] = {0, 3};
    static const int32_t both[] = {0, 1};
    static const int32_t swapped[] = {1, 0};
    struct alar_sim_options options = sim_rig_plain(3);
    struct sim_rig rig;
    void *comm = NULL;

    sim_rig_open(&rig, &options);
    cr_assert_eq(rig.backend->comm_create(rig.context[0], twice, 2, 0, &comm), -ALAR_E_RANGE);
    cr_assert_eq(rig.backend->comm_create(rig.context[0], beyond, 2, 0, &comm), -ALAR_E_RANGE);
    cr_assert_eq(rig.backend->comm_create(rig.context[0], both, 0, 0, &comm), -ALAR_E_RANGE);
    cr_assert_null(comm);
    cr_assert_eq(rig.backend->comm_create(rig.context[0], both, 2, 5, &comm), 0);
    cr_assert_eq(rig.backend->comm_create(rig.context[1], both, 2, 6, &comm), -ALAR_E_BACKEND);
    cr_assert_eq(rig.backend->comm_create(rig.context[1], swapped, 2, 5, &comm), -ALAR_E_BACKEND);
    cr_assert_eq(rig.backend->comm_create(rig.context[1], both, 2, 5, &comm), 0);
    sim_rig_abandon(&rig);
}

/* Giving up what is pending: own buffers are never touched again, what was sent stays sent, and
   when the last rank has gone nothing is left. */
Test(backend_sim, comm_free_gives_up_what_is_pending)
{
    struct alar_sim_options options = sim_rig_plain(2);
    struct sim_rig rig;
    float send[2] = {1, 2};
    float recv[2] = {-1, -1};
    void *request[2];

    sim_rig_open(&rig, &options);
    request[0] = sim_rig_post(&rig, 0, &send[0], &recv[0], 1);
    cr_assert_eq(rig.backend->comm_free(rig.comm[0]), 0);
    request[1] = sim_rig_post(&rig, 1, &send[1], &recv[1], 1);
    cr_assert_eq(alar_sim_next(rig.world, 0), UINT64_MAX, "nothing wakes rank 0 any more");
    rig_poll(&rig, 100);

    cr_assert(sim_rig_is_done(&rig, request[1]), "rank 0 had sent its message");
    cr_assert_eq(recv[1], 3);
    cr_assert_eq(recv[0], 1, "its own value, as shown while pending");
    cr_assert_eq(rig.backend->request_free(request[1]), 0);
    cr_assert_eq(rig.world->stats.operations_live, 0);
    cr_assert_eq(rig.world->stats.requests_live, 0);
    cr_assert_eq(rig.backend->comm_free(rig.comm[1]), 0);
    sim_rig_abandon(&rig);
}

/* Within the pools nothing is allocated; beyond, they grow or refuse, as asked; a refused post
   changes nothing. */
Test(backend_sim, pools_grow_or_refuse)
{
    for (int bounded = 0; bounded < 2; bounded++) {
        struct alar_sim_options options = sim_rig_plain(2);
        struct sim_rig rig;
        float send[100];
        float recv[2][100];
        void *request[2][100];
        void *extra = NULL;
        struct alar_caps caps;
        int posts = bounded ? 4 : 100;

        options.is_bounded = bounded == 1;
        options.outstanding = 4;
        sim_rig_open(&rig, &options);
        cr_assert_eq(rig.backend->caps(rig.context[0], &caps), 0);
        cr_assert_eq(caps.outstanding_max, bounded ? 4 : 0);
        for (int k = 0; k < 2 * posts; k++) {
            cr_assert_eq(rig.world->stats.grown > 0, k > 4 && !bounded, "post %d", k);
            send[k % posts] = (float)(k % posts);
            request[k / posts][k % posts] =
                sim_rig_post(&rig, k / posts, &send[k % posts], &recv[k / posts][k % posts], 1);
        }
        cr_assert(!bounded || rig.backend->allreduce(rig.comm[0], send, &recv[0][99], 1, ALAR_F32,
                                                     ALAR_SUM, NULL, NULL, &extra) == -ALAR_E_FULL);
        cr_assert_null(extra);
        rig_poll(&rig, 100);
        for (int k = 0; k < 2 * posts; k++) {
            cr_assert(sim_rig_is_done(&rig, request[k / posts][k % posts]));
            cr_assert_eq(recv[k / posts][k % posts], 2 * send[k % posts]);
            cr_assert_eq(rig.backend->request_free(request[k / posts][k % posts]), 0);
        }
        sim_rig_close(&rig);
    }
}

/* Larger payloads than foreseen, in place, and none at all. */
Test(backend_sim, any_count_in_place)
{
    static const uint64_t counts[] = {0, 1, 16, 17, 5000};

    for (int order = 0; order < ALAR_SIM_ORDER_COUNT; order++) {
        struct alar_sim_options options = sim_rig_plain(3);
        struct sim_rig rig;
        static float data[3][5000];

        options.order = (enum alar_sim_order)order;
        sim_rig_open(&rig, &options);
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            void *request[SIM_RIG_RANKS] = {NULL};
            uint64_t over[SIM_RIG_RANKS];

            for (int32_t i = 0; i < 3; i++) {
                for (uint64_t k = 0; k < counts[c]; k++) {
                    data[i][k] = (float)k + (float)i;
                }
                request[i] = sim_rig_post(&rig, i, data[i], data[i], counts[c]);
            }
            sim_rig_run(&rig, request, over);
            for (int32_t i = 0; i < 3; i++) {
                cr_assert_neq(over[i], UINT64_MAX);
                cr_assert_eq(rig.backend->request_free(request[i]), 0);
                for (uint64_t k = 0; k < counts[c]; k++) {
                    cr_assert_eq(data[i][k], 3 * (float)k + 3, "order %d element %d", order,
                                 (int)k);
                }
            }
        }
        sim_rig_close(&rig);
    }
}

/* What can't be done is said, and nothing is changed by it. */
Test(backend_sim, misuse_is_refused)
{
    struct alar_sim_options options = sim_rig_plain(2);
    struct sim_rig rig;
    const struct alar_op twice = {.scale = 2};
    float send = 1;
    float recv = -1;
    int32_t whole = 1;
    void *request = NULL;
    void *none = NULL;
    int done = -1;
    int error = -1;

    sim_rig_open(&rig, &options);
    const struct alar_backend *b = rig.backend;
    void *comm = rig.comm[0];

    cr_assert_eq(b->allreduce(comm, &send, &recv, 1, ALAR_F32, ALAR_SUM, NULL, NULL, NULL),
                 -ALAR_E_UNSUPPORTED);
    cr_assert_eq(b->allreduce(comm, &send, &recv, 1, ALAR_DTYPE_COUNT, ALAR_SUM, NULL, NULL, &none),
                 -ALAR_E_UNSUPPORTED);
    cr_assert_eq(b->allreduce(comm, &whole, &whole, 1, ALAR_I32, ALAR_SUM, NULL, &twice, &none),
                 -ALAR_E_UNSUPPORTED);
    cr_assert_eq(b->allreduce(comm, NULL, &recv, 1, ALAR_F32, ALAR_SUM, NULL, NULL, &none),
                 -ALAR_E_RANGE);
    cr_assert_eq(
        b->allreduce(comm, &send, &recv, UINT64_MAX, ALAR_F32, ALAR_SUM, NULL, NULL, &none),
        -ALAR_E_RANGE);
    cr_assert_eq(b->stream_create(rig.context[0], &none), -ALAR_E_UNSUPPORTED);
    cr_assert_null(none);
    cr_assert_eq(recv, -1);

    request = sim_rig_post(&rig, 0, &send, &recv, 1);
    cr_assert_eq(b->request_free(request), -ALAR_E_ILLEGAL);
    (void)sim_rig_post(&rig, 1, &send, &recv, 1);
    rig_poll(&rig, 100);
    cr_assert_eq(b->wait(request, NULL, 0, &error), 0);
    cr_assert_eq(error, 0);
    cr_assert_eq(b->request_free(request), 0);
    cr_assert_eq(b->request_free(request), -ALAR_E_ILLEGAL);
    cr_assert_eq(b->test(request, &done, &error), -ALAR_E_ILLEGAL);
    cr_assert_eq(b->wait(request, NULL, 0, &error), -ALAR_E_ILLEGAL);
    sim_rig_abandon(&rig);
}

/* A world needs ranks, and a rank a world that has it. */
Test(backend_sim, a_rank_needs_a_world_that_has_it)
{
    struct alar_sim_options options = alar_sim_options_default(0, 1);
    struct alar_boot boot = {.rank = 2, .ranks = -1};
    void *context = NULL;

    cr_assert_null(alar_sim_world_create(&options));
    cr_assert_eq(alar_sim_backend()->init(&context, &boot), -ALAR_E_UNSUPPORTED);
    options.ranks = 2;
    boot.world = alar_sim_world_create(&options);
    cr_assert_eq(alar_sim_backend()->init(&context, &boot), -ALAR_E_RANGE);
    boot.rank = 1;
    boot.ranks = 3;
    cr_assert_eq(alar_sim_backend()->init(&context, &boot), -ALAR_E_RANGE);
    cr_assert_null(context);
    alar_sim_world_free(boot.world);
}

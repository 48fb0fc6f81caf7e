/* A simulated world with every rank opened, for tests. */
#include "sim_rig.h"

#include <criterion/criterion.h>

struct alar_sim_options sim_rig_plain(int32_t ranks)
{
    struct alar_sim_options options = alar_sim_options_default(ranks, 1);

    options.order = ALAR_SIM_LEFT_FOLD;
    options.jitter_us = 0;
    return options;
}

void sim_rig_open(struct sim_rig *rig, const struct alar_sim_options *options)
{
    *rig = (struct sim_rig){.backend = alar_sim_backend(), .ranks = options->ranks};
    rig->world = alar_sim_world_create(options);
    cr_assert_not_null(rig->world);
    for (int32_t i = 0; i < rig->ranks; i++) {
        struct alar_boot boot = {.rank = i, .ranks = -1, .config = "", .world = rig->world};

        cr_assert_eq(rig->backend->init(&rig->context[i], &boot), 0);
        cr_assert_eq(boot.ranks, rig->ranks);
        cr_assert_eq(rig->backend->comm_create(rig->context[i], NULL, 0, 0, &rig->comm[i]), 0);
        cr_assert_not_null(rig->comm[i]);
    }
}

void sim_rig_close(struct sim_rig *rig)
{
    struct alar_sim_stats stats = rig->world->stats;

    cr_assert_eq(stats.operations_live, 0, "%llu operations", (long long)stats.operations_live);
    cr_assert_eq(stats.requests_live, 0, "%llu requests", (long long)stats.requests_live);
    for (int32_t i = 0; i < rig->ranks; i++) {
        cr_assert_eq(rig->backend->comm_free(rig->comm[i]), 0);
        cr_assert_eq(rig->backend->fini(rig->context[i]), 0);
    }
    sim_rig_abandon(rig);
}

void sim_rig_abandon(struct sim_rig *rig)
{
    alar_sim_world_free(rig->world);
    rig->world = NULL;
}

void *sim_rig_post(struct sim_rig *rig, int32_t rank, const float *send, float *recv,
                   uint64_t count)
{
    void *request = NULL;

    cr_assert_eq(rig->backend->allreduce(rig->comm[rank], send, recv, count, ALAR_F32, ALAR_SUM,
                                         NULL, NULL, &request),
                 0);
    cr_assert_not_null(request);
    return request;
}

bool sim_rig_is_done(struct sim_rig *rig, void *request)
{
    int done = -1;
    int error = -1;

    cr_assert_eq(rig->backend->test(request, &done, &error), 0);
    cr_assert_eq(error, 0);
    return done == 1;
}

void sim_rig_run(struct sim_rig *rig, void *const *requests, uint64_t *over)
{
    int32_t left = 0;

    for (int32_t i = 0; i < rig->ranks; i++) {
        over[i] = UINT64_MAX;
        left += requests[i] != NULL;
    }
    while (left > 0) {
        uint64_t next = UINT64_MAX;

        for (int32_t i = 0; i < rig->ranks; i++) {
            if (requests[i] != NULL && over[i] == UINT64_MAX && sim_rig_is_done(rig, requests[i])) {
                over[i] = alar_sim_now(rig->world);
                left--;
            }
        }
        for (int32_t i = 0; i < rig->ranks; i++) {
            uint64_t due = alar_sim_next(rig->world, i);

            next = requests[i] != NULL && due < next ? due : next;
        }
        if (next == UINT64_MAX) {
            return;
        }
        alar_sim_now_set(rig->world, next);
    }
}

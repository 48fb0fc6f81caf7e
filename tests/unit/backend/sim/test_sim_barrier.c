/* The simulator's streams and its monitored barrier: silence, notes, farewell and leave. */
#include "tests/lib/sim_rig.h"

#include <criterion/criterion.h>

/* A field case: the device needs 100 ticks, wait orders the stream and returns at once, the host
   reads too early. Only the stream's end says that the value is there. */
Test(backend_sim, a_stream_ordered_wait_returns_before_the_value)
{
    struct alar_sim_options options = sim_rig_plain(2);
    struct sim_rig rig;
    float send[2] = {1, 2};
    float recv[2] = {-1, -1};
    void *request[2];
    void *stream[2];
    struct alar_caps caps;
    int error = -1;

    options.is_stream_ordered = true;
    options.latency_us = 100;
    options.pending = ALAR_SIM_UNTOUCHED;
    sim_rig_open(&rig, &options);
    cr_assert_eq(rig.backend->caps(rig.context[0], &caps), 0);
    cr_assert_eq(caps.wait_kind, ALAR_WAIT_STREAM);
    for (int32_t i = 0; i < 2; i++) {
        cr_assert_eq(rig.backend->stream_create(rig.context[i], &stream[i]), 0);
        request[i] = sim_rig_post(&rig, i, &send[i], &recv[i], 1);
        cr_assert_eq(rig.backend->wait(request[i], stream[i], 0, &error), 0);
    }
    alar_sim_now_set(rig.world, 2);
    cr_assert_not(sim_rig_is_done(&rig, request[0]));
    cr_assert_eq(rig.backend->stream_sync(stream[0]), -ALAR_E_TIMEOUT);
    cr_assert_eq(rig.backend->stream_destroy(stream[0]), -ALAR_E_ILLEGAL);
    cr_assert_eq(recv[0], -1, "too early");

    alar_sim_now_set(rig.world, 100);
    cr_assert_eq(recv[0], 3, "without a call of the host");
    cr_assert_eq(alar_sim_next(rig.world, 0), 100, "there is news");
    cr_assert_eq(rig.backend->stream_sync(stream[0]), 0);
    cr_assert(sim_rig_is_done(&rig, request[0]));
    cr_assert_eq(rig.backend->stream_destroy(stream[0]), 0);
    cr_assert_eq(rig.backend->request_free(request[0]), 0);
    cr_assert_eq(rig.backend->request_free(request[1]), 0);
    sim_rig_close(&rig);
}

/* A stall holds up what is issued behind it, and nothing else: the contribution is read when the
   stream gets there. */
Test(backend_sim, a_stalled_stream_starts_late)
{
    struct alar_sim_options options = sim_rig_plain(2);
    struct sim_rig rig;
    float send[2] = {1, 2};
    float recv[2];
    void *request[2];
    void *stream = NULL;

    options.is_stream_ordered = true;
    sim_rig_open(&rig, &options);
    cr_assert_eq(rig.backend->stream_create(rig.context[0], &stream), 0);
    cr_assert_eq(rig.backend->stream_stall(rig.context[0], stream, 50), 0);
    cr_assert_eq(rig.backend->stream_stall(rig.context[0], stream, UINT64_MAX), -ALAR_E_RANGE);
    cr_assert_eq(rig.backend->allreduce(rig.comm[0], &send[0], &recv[0], 1, ALAR_F32, ALAR_SUM,
                                        stream, NULL, &request[0]),
                 0);
    cr_assert_eq(rig.backend->stream_stall(rig.context[0], stream, 1000), 0);
    request[1] = sim_rig_post(&rig, 1, &send[1], &recv[1], 1);
    send[0] = 5;

    alar_sim_now_set(rig.world, 59);
    cr_assert_not(sim_rig_is_done(&rig, request[1]));
    alar_sim_now_set(rig.world, 60);
    cr_assert(sim_rig_is_done(&rig, request[1]));
    cr_assert_eq(recv[1], 7);
    cr_assert_eq(rig.backend->stream_sync(stream), -ALAR_E_TIMEOUT);
    alar_sim_now_set(rig.world, 1050);
    cr_assert_eq(rig.backend->stream_sync(stream), 0);
    sim_rig_abandon(&rig);
}

/* What a stream was put behind comes first; a request holds up one stream only. */
Test(backend_sim, a_stream_runs_behind_what_it_waits_for)
{
    struct alar_sim_options options = sim_rig_plain(2);
    struct sim_rig rig;
    float send[2] = {1, 2};
    float recv[2][2];
    void *request[2][2];
    void *stream[2];
    int error = -1;

    options.is_stream_ordered = true;
    sim_rig_open(&rig, &options);
    for (int k = 0; k < 2; k++) {
        cr_assert_eq(rig.backend->stream_create(rig.context[0], &stream[k]), 0);
    }
    request[0][0] = sim_rig_post(&rig, 0, &send[0], &recv[0][0], 1);
    cr_assert_eq(rig.backend->wait(request[0][0], stream[0], 0, &error), 0);
    cr_assert_eq(rig.backend->wait(request[0][0], stream[0], 0, &error), 0);
    cr_assert_eq(rig.backend->wait(request[0][0], stream[1], 0, &error), -ALAR_E_UNSUPPORTED);
    cr_assert_eq(rig.backend->allreduce(rig.comm[0], &send[0], &recv[0][1], 1, ALAR_F32, ALAR_SUM,
                                        stream[0], NULL, &request[0][1]),
                 0);
    alar_sim_now_set(rig.world, 100);
    request[1][0] = sim_rig_post(&rig, 1, &send[1], &recv[1][0], 1);
    request[1][1] = sim_rig_post(&rig, 1, &send[1], &recv[1][1], 1);

    alar_sim_now_set(rig.world, 119);
    cr_assert(sim_rig_is_done(&rig, request[0][0]));
    cr_assert_not(sim_rig_is_done(&rig, request[1][1]), "the second began at 110");
    alar_sim_now_set(rig.world, 120);
    cr_assert(sim_rig_is_done(&rig, request[1][1]));
    sim_rig_abandon(&rig);
}

/* A field case told apart by the roll call: rank 3 issued and went silent, or never issued; its
   note is not answered, the others' are. */
Test(backend_sim, a_mute_rank_is_silent_to_the_roll_call)
{
    struct alar_sim_options options = sim_rig_plain(4);
    struct sim_rig rig;
    uint8_t presence[4];
    struct alar_note note[4];
    float send[4] = {1, 2, 3, 4};
    float recv[4];
    void *request[4];
    void *none = NULL;

    sim_rig_open(&rig, &options);
    for (int32_t i = 0; i < 4; i++) {
        struct alar_note mine = {.status = ALAR_E_TIMEOUT, .step = (uint32_t)i, .posted = 1};

        cr_assert_eq(rig.backend->note_set(rig.context[i], &mine), 0);
        request[i] = sim_rig_post(&rig, i, &send[i], &recv[i], 1);
    }
    alar_sim_mute(rig.world, 3, 5);
    cr_assert_eq(rig.backend->roll_call(rig.context[0], 100, presence, note), 0);
    cr_assert_eq(presence[3], ALAR_HERE, "not yet");

    for (uint64_t tick = 10; tick <= 100; tick += 10) {
        alar_sim_now_set(rig.world, tick);
        for (int32_t i = 0; i < 4; i++) {
            cr_assert_eq(rig.backend->progress(rig.context[i]), 0);
        }
    }
    cr_assert_eq(alar_sim_next(rig.world, 3), UINT64_MAX);
    cr_assert_not(sim_rig_is_done(&rig, request[1]));
    cr_assert_not(sim_rig_is_done(&rig, request[3]));
    cr_assert_eq(
        rig.backend->allreduce(rig.comm[3], send, recv, 1, ALAR_F32, ALAR_SUM, NULL, NULL, &none),
        -ALAR_E_BACKEND);
    cr_assert_eq(rig.backend->roll_call(rig.context[3], 100, presence, note), -ALAR_E_BACKEND);
    cr_assert_eq(rig.backend->roll_call(rig.context[1], 100, presence, note), 0);
    for (int32_t i = 0; i < 4; i++) {
        cr_assert_eq(presence[i], i == 3 ? ALAR_SILENT : ALAR_HERE);
        cr_assert_eq(note[i].step, i == 3 ? 0 : (uint32_t)i);
        cr_assert_eq(note[i].posted, i == 3 ? 0 : 1);
    }
    sim_rig_abandon(&rig);
}

/* An exited rank's progress thread ends with it; a mute one's goes on. */
Test(backend_sim, a_progress_thread_outlives_mute_not_exit)
{
    for (int exits = 0; exits < 2; exits++) {
        struct alar_sim_options options = sim_rig_plain(4);
        struct sim_rig rig;
        float send = 1;
        float recv[4];
        void *request[4];

        options.has_progress_thread = true;
        sim_rig_open(&rig, &options);
        for (int32_t i = 0; i < 4; i++) {
            request[i] = sim_rig_post(&rig, i, &send, &recv[i], 1);
        }
        alar_sim_mute(rig.world, 3, 0);
        if (exits) {
            alar_sim_exit(rig.world, 3);
        }
        alar_sim_now_set(rig.world, 100);

        cr_assert(sim_rig_is_done(&rig, request[0]), "rank 3's first message had left");
        cr_assert_eq(sim_rig_is_done(&rig, request[1]), !exits);
        cr_assert_not(sim_rig_is_done(&rig, request[3]), "its calls do nothing");
        sim_rig_abandon(&rig);
    }
}

/* The orderly end: over for all once the last has called, and all are told to call again. */
Test(backend_sim, farewell_waits_for_all)
{
    struct alar_sim_options options = sim_rig_plain(3);
    struct sim_rig rig;

    sim_rig_open(&rig, &options);
    cr_assert_eq(rig.backend->farewell(rig.context[0], 10), -ALAR_E_TIMEOUT);
    cr_assert_eq(rig.backend->farewell(rig.context[0], 10), -ALAR_E_TIMEOUT);
    cr_assert_eq(rig.backend->farewell(rig.context[1], 10), -ALAR_E_TIMEOUT);
    cr_assert_eq(alar_sim_next(rig.world, 0), UINT64_MAX);
    alar_sim_now_set(rig.world, 7);
    cr_assert_eq(rig.backend->farewell(rig.context[2], 10), 0);
    cr_assert_eq(alar_sim_next(rig.world, 0), 7);
    cr_assert_eq(rig.backend->farewell(rig.context[0], 10), 0);
    cr_assert_eq(alar_sim_next(rig.world, 0), UINT64_MAX);
    sim_rig_close(&rig);
}

/* The end of a run that lost a rank: the code is kept, the others hear of it in any call, though a
   value that is there comes first, and who left still answers. */
Test(backend_sim, leave_is_heard_by_the_others)
{
    struct alar_sim_options options = sim_rig_plain(3);
    struct sim_rig rig;
    uint8_t presence[3];
    struct alar_note note[3];
    float send = 1;
    float recv[3];
    void *request = NULL;
    int error = -1;

    sim_rig_open(&rig, &options);
    request = sim_rig_post(&rig, 0, &send, &recv[0], 1);
    cr_assert_not(rig.world->ranks[1].has_left);
    rig.backend->leave(rig.context[1], 2, presence, 100);
    rig.backend->leave(rig.context[1], 4, presence, 100);

    cr_assert(rig.world->ranks[1].has_left);
    cr_assert_eq(rig.world->ranks[1].code, 2, "the first word counts");
    cr_assert_eq(alar_sim_next(rig.world, 0), 0);
    cr_assert_eq(rig.backend->wait(request, NULL, 0, &error), -ALAR_E_LOST);
    cr_assert_eq(alar_sim_next(rig.world, 0), UINT64_MAX, "heard");
    cr_assert_eq(rig.backend->progress(rig.context[2]), -ALAR_E_LOST);
    cr_assert_eq(rig.backend->farewell(rig.context[2], 10), -ALAR_E_LOST);
    cr_assert_eq(rig.backend->progress(rig.context[1]), 0, "it knows");
    cr_assert_eq(rig.backend->roll_call(rig.context[0], 10, presence, note), 0);
    cr_assert_eq(presence[1], ALAR_HERE);
    sim_rig_abandon(&rig);
}

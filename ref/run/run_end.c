/* How a rank's run ends: in order, or by telling who is missing and leaving without the library. */
#include "engine/barrier.h"
#include "faults/point.h"
#include "run/run_state.h"
#include "sys/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LINE_BYTES = 1024
};

static uint64_t deadline_us(const struct run *run)
{
    return run->config.deadline_ms == ALAR_NO_DEADLINE ? 0 : run->config.deadline_ms * 1000;
}

/* " 2,5" for the culprits. */
static void append_culprits(char *line, const struct alar_barrier *roll,
                            const struct alar_barrier_outcome *ending)
{
    const char *separator = " ";

    for (uint32_t i = 0; i < roll->ranks; i++) {
        size_t used = strlen(line);

        if (alar_barrier_is_culprit(roll, ending, i)) {
            snprintf(line + used, LINE_BYTES - used, "%s%u", separator, i);
            separator = ",";
        }
    }
}

static void ending_line(char *line, const struct run_rank *rank, const struct alar_barrier *roll,
                        const struct alar_barrier_outcome *ending)
{
    struct alar_note own = alar_driver_note(rank->driver);
    const struct alar_participation_error *participation_error =
        alar_driver_participation_error(rank->driver);
    const struct alar_participation_error *shared =
        alar_training_loop_participation_error(rank->loop);
    double deadline_ms = (double)deadline_us(rank->run) / 1000.0;
    char text[ALAR_PARTICIPATION_TEXT_BYTES];

    if (participation_error != NULL || shared != NULL) {
        alar_participation_print(participation_error != NULL ? participation_error : shared, text);
        snprintf(line, LINE_BYTES, "%s: %s%s",
                 ending->status == ALAR_E_SCHEMA ? "SCHEMA" : "MISCOUNT", text,
                 participation_error != NULL ? "" : " over context parallel ranks");
        return;
    }
    switch (ending->status) {
    case ALAR_E_NONFINITE:
        snprintf(line, LINE_BYTES, "NONFINITE raised at step %u, microbatch %u by rank",
                 ending->note.step, ending->note.microbatch);
        append_culprits(line, roll, ending);
        break;
    case ALAR_E_LOST:
        snprintf(
            line, LINE_BYTES,
            "TIMEOUT at step %u, deadline %g ms, %u all-reduces posted: %u of %u ranks silent:",
            own.step, deadline_ms, own.posted, ending->count, roll->ranks);
        append_culprits(line, roll, ending);
        break;
    case ALAR_E_TIMEOUT:
        if (rank->run->backend->roll_call == NULL) {
            snprintf(
                line, LINE_BYTES,
                "TIMEOUT at step %u, deadline %g ms, %u all-reduces posted: this back end can't "
                "ask who is there",
                own.step, deadline_ms, own.posted);
            break;
        }
        snprintf(
            line, LINE_BYTES,
            "TIMEOUT at step %u, deadline %g ms, %u all-reduces posted: all ranks answer; rank %u "
            "has posted %u",
            own.step, deadline_ms, own.posted, ending->culprit, ending->note.posted);
        break;
    default:
        snprintf(line, LINE_BYTES, "%s at step %u, microbatch %u: rank",
                 alar_status_text(ending->status), ending->note.step, ending->note.microbatch);
        append_culprits(line, roll, ending);
        break;
    }
}

/* A rank that raised stays, and answers, until another leaves: by its deadline, naming this one. */
static void linger(const struct run_rank *rank)
{
    const struct run *run = rank->run;
    uint64_t until = alar_clock_now(NULL) + 2 * deadline_us(run) + run_grace_us(run);

    while (run->backend->progress != NULL && alar_clock_now(NULL) < until &&
           run->backend->progress(rank->context) != -ALAR_E_LOST) {
        alar_clock_sleep(alar_clock_now(NULL) + 1000);
    }
}

/* Calls the roll when a wait expired or a rank has left, and says how the run ends. */
static struct alar_barrier_outcome ending_find(struct run_rank *rank, struct alar_barrier *roll,
                                               struct alar_note own)
{
    const struct run *run = rank->run;
    enum alar_status status = (enum alar_status)own.status;

    *roll = (struct alar_barrier){
        .ranks = run->ranks, .rank = rank->rank, .presence = rank->presence, .note = rank->note};
    memset(rank->presence, ALAR_HERE, run->ranks);
    memset(rank->note, 0, run->ranks * sizeof(*rank->note));
    rank->note[rank->rank] = own;
    if ((status == ALAR_E_TIMEOUT || status == ALAR_E_LOST) && run->backend->roll_call != NULL &&
        run->backend->roll_call(rank->context, run_grace_us(run), rank->presence, rank->note) ==
            0) {
        return alar_barrier_judge(roll);
    }
    return (struct alar_barrier_outcome){
        .status = status, .culprit = rank->rank, .count = 1, .note = rank->note[rank->rank]};
}

/* The back end has no way to leave together: nobody may be waited for any more. The verdict is told
   and recorded. */
static _Noreturn void leave_alone(struct run_rank *rank, int code)
{
    char error_line[ALAR_ERROR_LINE_BYTES];

    if (rank->history != NULL && alar_history_close(rank->history, error_line) != ALAR_OK) {
        rank->run->options->view->ending(rank, error_line);
    }
    fflush(NULL);
    run_leaving(rank->run, code);
    _exit(code);
}

void run_rank_lost(struct run_rank *rank, enum alar_status status)
{
    struct run *run = rank->run;
    struct alar_note own = alar_driver_note(rank->driver);
    struct alar_barrier roll = {0};
    char line[LINE_BYTES];

    own.status = (int32_t)status;
    if (run->backend->note_set != NULL) {
        run->backend->note_set(rank->context, &own);
    }
    struct alar_barrier_outcome ending = ending_find(rank, &roll, own);
    int code = (int)alar_status_class(ending.status);

    ending_line(line, rank, &roll, &ending);
    run->options->view->ending(rank, line);
    if (alar_driver_need(rank->driver) == ALAR_NEED_END) {
        alar_driver_tear_down(rank->driver);
        alar_fault_settle(rank->faults);
        alar_driver_record_exit(rank->driver, code, ending.status, line);
    }
    run->code = (int)alar_class_worst((enum alar_class)run->code, (enum alar_class)code);
    if (alar_config_ends_together(&run->config, status)) {
        return; /* all ranks come to this end, and meet before the library is ended */
    }
    if (run->backend->leave == NULL && !run->is_simulated) {
        leave_alone(rank, run->code);
    }
    if (status == ALAR_E_NONFINITE && run->is_simulated) {
        return; /* its world answers for it until the others have left */
    }
    if (status == ALAR_E_NONFINITE) {
        linger(rank);
    }
    run_leaving(run, code);
    run->backend->leave(rank->context, code, rank->presence, run_grace_us(run));
}

/* Simulated ranks that are through wait for nobody in fact; whoever has left is missed all the
   same, were it of a stage that reduces nothing. */
static void meet_simulated(struct run *run)
{
    bool is_whole = true;

    for (uint32_t i = 0; i < run->rank_count; i++) {
        is_whole = is_whole && run->rank[i].turn != ALAR_TURN_GONE;
    }
    for (uint32_t i = 0; i < run->rank_count && !is_whole; i++) {
        if (run->rank[i].turn == ALAR_TURN_OVER &&
            alar_driver_status(run->rank[i].driver) == ALAR_OK) {
            run_rank_lost(&run->rank[i], ALAR_E_LOST);
        }
    }
}

/* Without a farewell: an all-reduce that ends once all have come. */
static int meet_by_sum(const struct run *run, uint64_t limit_us)
{
    static int64_t one = 1;
    static int64_t sum;
    const struct alar_op op = {.scale = 1.0};
    void *request = NULL;
    int failed = 0;
    int error = run->backend->allreduce(run->meeting, &one, &sum, 1, ALAR_I64, ALAR_SUM, NULL, &op,
                                        &request);

    if (error == 0) {
        error = run->backend->wait(request, NULL, limit_us, &failed);
    }
    if (error == 0) {
        run->backend->request_free(request);
    }
    return error != 0 ? error : failed;
}

void run_meet(struct run *run)
{
    uint64_t limit_us = deadline_us(run) > 0 ? deadline_us(run) : UINT64_MAX;

    if (run->is_simulated) {
        meet_simulated(run);
        return;
    }
    if (run->context == NULL || (run->backend->farewell == NULL && run->meeting == NULL)) {
        return;
    }
    int error = run->backend->farewell != NULL ? run->backend->farewell(run->context, limit_us)
                                               : meet_by_sum(run, limit_us);

    if (error != 0) {
        run_rank_lost(&run->rank[0], error == -ALAR_E_LOST ? ALAR_E_LOST : ALAR_E_TIMEOUT);
    }
}

void run_rank_gone(const struct run_rank *rank)
{
    struct alar_sim_world *world = rank->run->world;
    int code = 0;
    bool is_mute = alar_fault_departure(rank->faults, &code) == ALAR_DEPARTURE_MUTE;

    if (world != NULL && is_mute) {
        alar_sim_mute(world, (int32_t)rank->rank, alar_sim_now(world));
    } else if (world != NULL) {
        alar_sim_exit(world, (int32_t)rank->rank);
    } else if (is_mute) {
        for (;;) {
            pause();
        }
    } else {
        run_leaving(rank->run, code);
        _exit(code);
    }
}

void run_rank_over(struct run_rank *rank)
{
    enum alar_status status = alar_driver_status(rank->driver);
    bool is_agreed = status == ALAR_E_NONFINITE && rank->run->config.check == ALAR_CHECK_AGREE;

    if (!rank->run->is_twin && alar_topology_is_last(&rank->run->topology, rank->rank)) {
        rank->run->status = status;
    }
    if (status == ALAR_OK || is_agreed) {
        alar_driver_tear_down(rank->driver);
        alar_fault_settle(rank->faults);
        alar_driver_record_close(rank->driver);
    } else {
        run_rank_lost(rank, status);
    }
}

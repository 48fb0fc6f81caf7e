/* Faults injected into other people's programs: a rank that comes late, tests that do nothing, a
   bit that flips on its way to MPI. */
#include "record_mpi.h"

#include "faults/point_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if ALAR_FAULTS

static struct alar_faults faults;
static struct alar_fault_rank_options where = {.faults = &faults};
static uint64_t hits[ALAR_POINT_COUNT];
static uint64_t drops_left;
static char names[ALAR_POINT_COUNT][FAULT_NAME_BYTES];

enum alar_status record_faults_start(char *error_line)
{
    ALAR_TRY(alar_fiu_read(&faults, getenv("FIU_ENABLE"), getenv("FIU_CTRL_FIFO"), error_line));
    ALAR_TRY(alar_faults_suit(&faults, recorder.ranks, error_line));
    where.rank = recorder.rank;
    where.ranks = recorder.ranks;
    for (int point = 0; point < ALAR_POINT_COUNT; point++) {
        snprintf(names[point], FAULT_NAME_BYTES, "%s/%u", alar_points[point].name, recorder.rank);
    }
    fault_fiu_enable(&faults, recorder.rank);
    return ALAR_OK;
}

/* Does the point fire? Records it when it does. */
static bool fires(enum alar_point point, const struct record_op *op, int64_t *value)
{
    if (!faults.is_fiu || recorder.history == NULL ||
        !fault_matches(&faults, names[point], point, &where, ++hits[point], value)) {
        return false;
    }
    const struct alar_history_fault record = {
        .point = names[point],
        .hit = hits[point],
        .value = *value,
        .has_op = op != NULL,
        .op = {op != NULL ? op->group->name : NULL, op != NULL ? op->number : 0},
    };
    alar_history_fault(recorder.history, record_now(), &record);
    return true;
}

void record_fault_delay(void)
{
    int64_t us = 0;

    record_lock();
    bool is_late = fires(ALAR_POINT_RANK_DELAY, NULL, &us);
    record_unlock();
    struct timespec rest = {us / 1000000, us % 1000000 * 1000};
    while (is_late && nanosleep(&rest, &rest) != 0 && errno == EINTR) {
        /* Launchers send signals; the rest is slept all the same. */
    }
}

bool record_fault_drops(void)
{
    int64_t calls = 0;

    if (drops_left == 0 && fires(ALAR_POINT_PROGRESS_DROP, NULL, &calls)) {
        drops_left = (uint64_t)calls;
    }
    if (drops_left == 0) {
        return false;
    }
    drops_left--;
    return true;
}

void record_fault_flip(struct record_op *op)
{
    int64_t bit = 0;

    if (op->bytes == 0 || !fires(ALAR_POINT_CONTRIBUTION_BITFLIP, op, &bit)) {
        return;
    }
    const void *input = record_layout_input(op);
    uint64_t at = (uint64_t)bit % (op->bytes * 8);

    op->flipped = malloc(op->bytes);
    if (op->flipped == NULL) {
        record_say("out of memory");
        abort();
    }
    memcpy(op->flipped, input, op->bytes);
    ((unsigned char *)op->flipped)[at / 8] ^= (unsigned char)(1U << at % 8);
}

#else

enum alar_status record_faults_start(char *error_line)
{
    struct alar_faults none = {0};

    return alar_fiu_read(&none, getenv("FIU_ENABLE"), getenv("FIU_CTRL_FIFO"), error_line);
}

void record_fault_delay(void)
{
}

bool record_fault_drops(void)
{
    return false;
}

void record_fault_flip(struct record_op *op)
{
    (void)op;
}

#endif

/* Countdowns: which hit of which point fires, and the record of it. */
#include "point_state.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum alar_status alar_faults_suit(const struct alar_faults *faults, uint32_t ranks,
                                  char *error_line)
{
    if (faults == NULL || faults->highest_rank < (int64_t)ranks) {
        return ALAR_OK;
    }
    snprintf(error_line, ALAR_ERROR_LINE_BYTES,
             "faults: expected a rank from 0 to %u, found %lld: it would never fire", ranks - 1,
             (long long)faults->highest_rank);
    return ALAR_E_INPUT;
}

bool alar_faults_is_plan(const struct alar_faults *faults)
{
    return faults != NULL && faults->is_plan;
}

enum alar_status alar_fault_rank_open(struct alar_fault_rank **rank,
                                      const struct alar_fault_rank_options *options)
{
    const struct alar_faults *faults = options->faults;

    *rank = NULL;
    if (faults == NULL || !(faults->is_plan || faults->is_fiu)) {
        return ALAR_OK;
    }
    struct alar_fault_rank *made = calloc(1, sizeof(*made));
    struct fault_microbatch *microbatch = calloc(options->microbatches, sizeof(*microbatch));

    if (made == NULL || microbatch == NULL) {
        free(made);
        free(microbatch);
        return ALAR_E_NOMEM;
    }
    made->options = *options;
    made->microbatch = microbatch;
    for (int i = 0; i < ALAR_POINT_COUNT; i++) {
        snprintf(made->name[i], FAULT_NAME_BYTES, "%s/%u", alar_points[i].name, options->rank);
    }
    fault_fiu_enable(faults, options->rank);
    *rank = made;
    return ALAR_OK;
}

void alar_fault_rank_free(struct alar_fault_rank *rank)
{
    if (rank == NULL) {
        return;
    }
    fault_requests_free(rank);
    free(rank->microbatch);
    free(rank);
}

void alar_fault_pass_begin(struct alar_fault_rank *rank, const struct alar_fault_pass *pass)
{
    if (rank != NULL) {
        rank->pass = *pass;
        alar_fault_settle(rank);
    }
}

uint64_t alar_fault_fired(const struct alar_fault_rank *rank)
{
    return rank == NULL ? 0 : rank->fired;
}

/* ---- firing ---------------------------------------------------------------------------------- */

static bool line_is_of(const struct alar_fault_line *line,
                       const struct alar_fault_rank_options *where)
{
    int64_t rank =
        line->rank == ALAR_FAULT_SOME_RANK ? (int64_t)(line->draw % where->ranks) : line->rank;

    return rank == ALAR_FAULT_EVERY_RANK || rank == (int64_t)where->rank;
}

bool fault_matches(const struct alar_faults *faults, const char *name, enum alar_point point,
                   const struct alar_fault_rank_options *where, uint64_t hit, int64_t *value)
{
    for (size_t i = 0; i < faults->line_count; i++) {
        const struct alar_fault_line *line = &faults->line[i];

        if (line->point == point && hit >= line->first && hit - line->first < line->repeat &&
            line_is_of(line, where)) {
            *value = line->value;
            return true;
        }
    }
    return faults->is_fiu && fault_fiu_fails(name, value);
}

/* Nothing fires in the twin, whose losses are repeated, nor while firings are written down. */
bool fault_fires(struct alar_fault_rank *rank, enum alar_point point, int64_t op, int64_t *value)
{
    if (rank == NULL || rank->pass.is_twin || rank->is_settling) {
        return false;
    }
    uint64_t hit = ++rank->hits[point];

    if (!fault_matches(rank->options.faults, rank->name[point], point, &rank->options, hit,
                       value)) {
        return false;
    }
    rank->fired++;
    if (rank->queued < FAULT_QUEUE_MAX) {
        rank->queue[rank->queued++] = (struct fault_firing){
            .point = point, .hit = hit, .value = *value, .has_op = op >= 0, .op = (uint64_t)op};
    }
    return true;
}

void alar_fault_settle(struct alar_fault_rank *rank)
{
    if (rank == NULL || rank->pass.history == NULL) {
        return;
    }
    const struct alar_fault_pass *pass = &rank->pass;
    uint64_t t = (pass->now_us(pass->clock) - pass->history_since_us) * pass->history_units_per_us;

    rank->queued += fault_alloc_taken(&rank->queue[rank->queued], FAULT_QUEUE_MAX - rank->queued);
    rank->is_settling = true;
    for (size_t i = 0; i < rank->queued; i++) {
        const struct fault_firing *firing = &rank->queue[i];
        const struct alar_history_fault record = {
            .point = rank->name[firing->point],
            .hit = firing->hit,
            .value = firing->value,
            .has_op = firing->has_op,
            .op = {.group = pass->group, .number = firing->op},
        };

        alar_history_fault(pass->history, t, &record);
    }
    rank->queued = 0;
    rank->is_settling = false;
}

/* A point that strikes while no record is being composed. */
static bool fires_now(struct alar_fault_rank *rank, enum alar_point point, int64_t *value)
{
    bool fires = fault_fires(rank, point, -1, value);

    if (rank != NULL && rank->queued > 0) {
        alar_fault_settle(rank);
    }
    return fires;
}

/* ---- points of the training loop ------------------------------------------------------------- */

uint64_t alar_fault_delay_us(struct alar_fault_rank *rank)
{
    int64_t value = 0;

    return fires_now(rank, ALAR_POINT_RANK_DELAY, &value) ? (uint64_t)value : 0;
}

bool alar_fault_departs(struct alar_fault_rank *rank, bool has_contributed)
{
    int64_t value = 0;

    if (rank == NULL) {
        return false;
    }
    if (has_contributed) {
        rank->departure = rank->departs_after ? ALAR_DEPARTURE_MUTE : rank->departure;
        return rank->departs_after;
    }
    if (fires_now(rank, ALAR_POINT_RANK_MUTE, &value)) {
        rank->departs_after = value == 1;
        rank->departure = value == 1 ? ALAR_DEPARTURE_NONE : ALAR_DEPARTURE_MUTE;
        return value != 1;
    }
    if (fires_now(rank, ALAR_POINT_RANK_EXIT, &value)) {
        rank->departure = ALAR_DEPARTURE_EXIT;
        rank->exit_code = (int)value;
        return true;
    }
    return false;
}

enum alar_departure alar_fault_departure(const struct alar_fault_rank *rank, int *code)
{
    if (rank == NULL) {
        return ALAR_DEPARTURE_NONE;
    }
    *code = rank->exit_code;
    return rank->departure;
}

/* A position whose mask is 0 never contributes, so there is nothing to break in it. */
static bool local_change(struct alar_fault_rank *rank, struct alar_local *local)
{
    int64_t value = 0;
    bool is_nan = fires_now(rank, ALAR_POINT_LOSS_NAN, &value);
    bool is_infinite = fires_now(rank, ALAR_POINT_LOSS_INF, &value);
    bool is_negative = value == 1;
    bool is_spike = fires_now(rank, ALAR_POINT_LOSS_SPIKE, &value);
    bool is_empty = fires_now(rank, ALAR_POINT_LOSS_EMPTY, &value);

    if (is_nan || is_infinite || is_spike) {
        local->exact = NULL; /* the sum before any rounding is now what `sum` says */
    }
    if (is_spike) {
        local->sum *= (double)value;
    }
    if (is_infinite) {
        local->sum = is_negative ? -INFINITY : INFINITY;
    }
    if (is_nan) {
        local->sum = NAN;
    }
    local->nonfinite += is_nan || is_infinite ? 1U : 0U;
    if (is_empty) {
        *local = (struct alar_local){0};
    }
    return is_nan || is_infinite || is_spike || is_empty;
}

void alar_fault_local(struct alar_fault_rank *rank, size_t microbatch, struct alar_local *local)
{
    if (rank == NULL || microbatch >= rank->options.microbatches) {
        return;
    }
    struct fault_microbatch *kept = &rank->microbatch[microbatch];

    if (rank->pass.is_twin) {
        *local = kept->is_changed ? kept->local : *local;
    } else if (local->tokens > 0 && local_change(rank, local)) {
        local->exact = NULL; /* from now on the sum is what the fault made of it */
        *kept = (struct fault_microbatch){.is_changed = 1, .local = *local};
    }
}

/* ---- points of the history ------------------------------------------------------------------- */

bool alar_fault_write(struct alar_fault_rank *rank, size_t *count)
{
    int64_t value = 0;

    if (rank == NULL) {
        return false;
    }
    if (fault_fires(rank, ALAR_POINT_HISTORY_FULL_DISK, -1, &value)) {
        errno = ENOSPC;
        return true;
    }
    if (fault_fires(rank, ALAR_POINT_HISTORY_SHORT_WRITE, -1, &value) && (size_t)value < *count) {
        *count = (size_t)value;
    }
    return false;
}

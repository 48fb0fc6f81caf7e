/* How a rank's run ends: in order, or by telling who is missing and leaving without the library. */
#include "clock.h"
#include "roll.h"
#include "run.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 1024 };

/* Time that ranks have to answer: a tenth of the deadline, but no less than 100 ms. */
static uint64_t grace_us(const struct run *run)
{
    uint64_t tenth = run->options->deadline_us / 10;

    return tenth > 100000 ? tenth : 100000;
}

/* " 2,5" for the culprits. */
static void append_culprits(char *line, const struct alar_roll *roll,
                            const struct alar_ending *ending)
{
    const char *separator = " ";

    for (uint32_t i = 0; i < roll->ranks; i++) {
        size_t used = strlen(line);

        if (alar_roll_is_culprit(roll, ending, i)) {
            snprintf(line + used, LINE_BYTES - used, "%s%u", separator, i);
            separator = ",";
        }
    }
}

static void ending_line(char *line, const struct run_rank *rank, const struct alar_roll *roll,
                        const struct alar_ending *ending)
{
    struct alar_note own = alar_driver_note(rank->driver);
    double deadline_ms = (double)rank->run->options->deadline_us / 1000.0;

    switch (ending->status) {
    case ALAR_E_NONFINITE:
        snprintf(line, LINE_BYTES, "NONFINITE raised at step %u, microbatch %u by rank",
                 ending->note.step, ending->note.microbatch);
        append_culprits(line, roll, ending);
        break;
    case ALAR_E_LOST:
        snprintf(line, LINE_BYTES,
                 "TIMEOUT at step %u after %g ms, %u all-reduces posted: %u of %u ranks silent:",
                 own.step, deadline_ms, own.posted, ending->count, roll->ranks);
        append_culprits(line, roll, ending);
        break;
    case ALAR_E_TIMEOUT:
        snprintf(line, LINE_BYTES,
                 "TIMEOUT at step %u after %g ms, %u all-reduces posted: all ranks answer; rank %u "
                 "has posted %u",
                 own.step, deadline_ms, own.posted, ending->culprit, ending->note.posted);
        break;
    default:
        snprintf(line, LINE_BYTES, "%s at step %u, microbatch %u",
                 alar_status_text(ending->status), own.step, own.microbatch);
        break;
    }
}

/* A rank that raised stays, and answers, until the others have ended by their deadline. */
static void linger(const struct run_rank *rank)
{
    const struct run *run = rank->run;
    uint64_t until = alar_clock_now(NULL) + 2 * run->options->deadline_us + grace_us(run);

    while (run->backend->progress != NULL && alar_clock_now(NULL) < until) {
        run->backend->progress(rank->context);
        alar_clock_sleep(alar_clock_now(NULL) + 1000);
    }
}

/* Calls the roll when a wait expired, and says how the run ends. */
static struct alar_ending ending_find(const struct run_rank *rank, uint8_t *presence,
                                      struct alar_note *note, struct alar_roll *roll)
{
    const struct run *run = rank->run;
    enum alar_status status = alar_driver_status(rank->driver);

    *roll = (struct alar_roll){
        .ranks = run->ranks, .rank = rank->rank, .presence = presence, .note = note};
    memset(presence, ALAR_HERE, run->ranks);
    note[rank->rank] = alar_driver_note(rank->driver);
    if (status == ALAR_E_TIMEOUT && run->backend->roll_call != NULL &&
        run->backend->roll_call(rank->context, grace_us(run), presence, note) == 0) {
        return alar_roll_judge(roll);
    }
    return (struct alar_ending){
        .status = status, .culprit = rank->rank, .count = 1, .note = note[rank->rank]};
}

static void rank_lost(struct run_rank *rank)
{
    struct run *run = rank->run;
    bool has_raised = alar_driver_status(rank->driver) == ALAR_E_NONFINITE;
    struct alar_note own = alar_driver_note(rank->driver);
    uint8_t *presence = calloc(run->ranks, sizeof(*presence));
    struct alar_note *note = calloc(run->ranks, sizeof(*note));
    struct alar_roll roll = {0};
    char line[LINE_BYTES];

    if (presence == NULL || note == NULL) {
        abort();
    }
    if (run->backend->note_set != NULL) {
        run->backend->note_set(rank->context, &own);
    }
    struct alar_ending ending = ending_find(rank, presence, note, &roll);
    int code = (int)alar_status_class(ending.status);

    ending_line(line, rank, &roll, &ending);
    run_log_ending(rank, line);
    alar_driver_tear_down(rank->driver);
    alar_driver_record_exit(rank->driver, code, ending.status, line);
    rank->is_lost = true;
    run->code = (int)alar_class_worst((enum alar_class)run->code, (enum alar_class)code);
    if (run->backend->leave != NULL) {
        if (has_raised && run->world == NULL) {
            linger(rank);
        }
        /* Those that raised linger and can't wait for the others' word. */
        for (uint32_t i = 0; i < run->ranks; i++) {
            presence[i] = note[i].status == ALAR_E_NONFINITE && i != rank->rank ? ALAR_SILENT
                                                                               : presence[i];
        }
        run->backend->leave(rank->context, code, presence, grace_us(run));
    }
    free(presence);
    free(note);
}

void run_rank_over(struct run_rank *rank)
{
    enum alar_status status = alar_driver_status(rank->driver);
    bool is_agreed = status == ALAR_E_NONFINITE && rank->run->options->check == ALAR_CHECK_AGREE;

    if (!rank->run->is_twin) {
        rank->run->status = status;
    }
    if (status == ALAR_OK || is_agreed) {
        alar_driver_tear_down(rank->driver);
        alar_driver_record_exit(rank->driver, (int)alar_status_class(status), status, NULL);
    } else {
        rank_lost(rank);
    }
}

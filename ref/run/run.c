/* The order of a run: inputs first, then the back end, the two passes, the summary, the farewell.
 */
#include "faults/point.h"
#include "run/run_state.h"

#include <stdio.h>
#include <string.h>

enum {
    TOTAL_ELEMENTS = 9
};

static struct run_totals totals_of(struct run *run)
{
    int64_t elements[TOTAL_ELEMENTS] = {0};

    for (uint32_t i = 0; i < run->rank_count; i++) {
        const struct alar_driver *driver = run->rank[i].driver;
        const struct alar_engine_stats *stats = alar_driver_stats(driver);

        elements[0] += (int64_t)stats->posted;
        elements[1] += (int64_t)stats->ready;
        elements[2] += (int64_t)stats->waited;
        elements[3] += (int64_t)stats->failed;
        elements[4] += (int64_t)stats->timed_out;
        elements[5] +=
            run->rank[i].turn == ALAR_TURN_GONE ? 0 : (int64_t)alar_driver_leaked(driver);
        elements[6] += (int64_t)alar_driver_blocked_us(driver);
        elements[7] += (int64_t)alar_fault_fired(run->rank[i].faults);
        elements[8] += (int64_t)run->rank[i].elapsed_us;
    }
    run_meet(run);
    if (run_sum(run, run->is_twin ? 12 : 11, "the totals", elements, TOTAL_ELEMENTS) != ALAR_OK) {
        run->code = ALAR_CLASS_INCOMPLETE;
    }
    return (struct run_totals){elements[0], elements[1], elements[2],
                               elements[3], elements[4], elements[5],
                               elements[6], elements[7], elements[8] / run->ranks};
}

/* A rank that could not go on has told why; everybody else has a log to hold against its twin. */
static bool is_comparable(const struct run *run)
{
    return run->code == ALAR_CLASS_GOOD && run->options->has_twin &&
           (run->status == ALAR_OK || run->config.check == ALAR_CHECK_AGREE);
}

/* What some rank found wrong is wrong for all, those of other stages included. A history with a
   hole is no history, and a plan that fired nothing has shown nothing; all ranks leave with the
   same code for it. spec: F-09, F-14 */
static enum alar_class run_shortfall(struct run *run, const struct run_totals *pass)
{
    bool is_idle = alar_faults_is_plan(run->options->faults) && pass->fired == 0;
    int64_t elements[2] = {0, run->code == ALAR_CLASS_WRONG ||
                                  alar_status_class(run->status) == ALAR_CLASS_WRONG};

    for (uint32_t i = 0; i < run->rank_count; i++) {
        elements[0] += !alar_history_is_whole(run->rank[i].history);
    }
    if (run_sum(run, 13, "the verdict", elements, 2) != ALAR_OK) {
        return ALAR_CLASS_INCOMPLETE;
    }
    enum alar_class wrong = elements[1] > 0 ? ALAR_CLASS_WRONG : ALAR_CLASS_GOOD;

    return elements[0] > 0 || is_idle ? alar_class_worst(wrong, ALAR_CLASS_INCOMPLETE) : wrong;
}

static enum alar_status run_twin(struct run *run, struct run_totals *totals)
{
    run_pass_free(run);
    run->is_twin = true;
    ALAR_TRY(run_pass(run));
    *totals = totals_of(run);
    return ALAR_OK;
}

static enum alar_status run_passes(struct run *run)
{
    struct run_totals pass = {0};
    struct run_totals twin = {0};
    bool has_twin = false;

    ALAR_TRY(run_pass(run));
    pass = totals_of(run);
    if (is_comparable(run)) {
        has_twin = true;
        ALAR_TRY(run_twin(run, &twin));
    }
    run->code = (int)alar_class_worst((enum alar_class)run->code, run_shortfall(run, &pass));
    if (run_reporter(run) != NULL) {
        run->options->view->summary(run, &pass, has_twin ? &twin : NULL);
    }
    return ALAR_OK;
}

int alar_run(const struct alar_run_options *options, char *error_line)
{
    struct run run = {.options = options};

    alar_fault_alloc_arm(options->faults);
    enum alar_status status = run_open(&run, error_line);

    if (status != ALAR_OK) {
        alar_fault_alloc_arm(NULL);
        char none[ALAR_ERROR_LINE_BYTES]; /* the first complaint counts */
        enum alar_status closed = run_close(&run, none);

        return (int)alar_class_worst(alar_status_class(status), alar_status_class(closed));
    }
    status = run_passes(&run);
    snprintf(error_line, ALAR_ERROR_LINE_BYTES, "%s",
             status == ALAR_OK ? "" : alar_status_text(status));
    alar_fault_alloc_arm(NULL);
    run_pass_free(&run);
    char late[ALAR_ERROR_LINE_BYTES] = "";
    enum alar_status closed = run_close(&run, late);
    if (error_line[0] == '\0') {
        memcpy(error_line, late, sizeof late);
    }
    const enum alar_status parts[] = {status, closed, run.status};

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        run.code = (int)alar_class_worst((enum alar_class)run.code, alar_status_class(parts[i]));
    }
    return run.code;
}

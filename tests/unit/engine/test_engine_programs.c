/* The engine against a training loop written the plain way: a blocking program that posts, waits
   and logs, whose trace of actions the engine must give whatever the order of completions. */
#include "tests/lib/demand.h"
#include "tests/lib/engine_rig.h"

#include <string.h>

enum {
    SEED = 90125
};

struct plain {
    const struct plan *plan;
    struct trace trace;
    int posted;
    int taken;
    bool saw_nonfinite;
    bool is_owed;     /* a line that lags is still to be written */
    uint32_t owed_in; /* steps until it is */
    int owed_posted;  /* what it waits for was posted by then */
    enum alar_status stop;
};

static void plain_take(struct plain *plain)
{
    int op = plain->taken++;

    if (op == plain->plan->failed_op) {
        trace_add(&plain->trace, 'F');
        plain->stop = ALAR_E_BACKEND;
    } else if (op == plain->plan->expired_op) {
        trace_add(&plain->trace, 'E');
        plain->stop = ALAR_E_TIMEOUT;
    } else {
        trace_add(&plain->trace, 'T');
        plain->saw_nonfinite |= op == plain->plan->nonfinite_op;
    }
}

static void plain_take_all(struct plain *plain)
{
    while (plain->stop == ALAR_OK && plain->taken < plain->posted) {
        plain_take(plain);
    }
}

static void plain_post(struct plain *plain)
{
    if (plain->posted - plain->taken == plain->plan->capacity) {
        plain_take(plain);
    }
    if (plain->stop != ALAR_OK) {
        return;
    }
    trace_add(&plain->trace, 'P');
    if (plain->posted++ == plain->plan->refused_op) {
        plain->stop = ALAR_E_BACKEND;
    } else if (plain->plan->rules.is_sync) {
        plain_take_all(plain);
    }
}

/* The end of a step, or of the run, with `unlogged` steps since the last log line. */
static void plain_line(struct plain *plain, uint32_t *unlogged, bool is_log_line, bool must_wait)
{
    const struct alar_engine_rules *rules = &plain->plan->rules;

    if (is_log_line && rules->placement == ALAR_PLACEMENT_WINDOW) {
        plain_post(plain);
    }
    if (is_log_line || must_wait) {
        plain_take_all(plain);
    }
    if (plain->stop == ALAR_OK && plain->saw_nonfinite && rules->stops_on_nonfinite) {
        plain_take_all(plain);
        is_log_line = *unlogged > 0;
    }
    if (plain->stop == ALAR_OK && is_log_line) {
        trace_add(&plain->trace, 'R');
        *unlogged = 0;
    }
    if (plain->stop == ALAR_OK && plain->saw_nonfinite && rules->stops_on_nonfinite) {
        plain->stop = ALAR_E_NONFINITE;
    }
}

/* A take showed what stops the run: the steps that no line covers yet are posted and taken, too. */
static bool plain_hurries(struct plain *plain, uint32_t unlogged, bool *is_log_line)
{
    const struct alar_engine_rules *rules = &plain->plan->rules;

    if (plain->stop != ALAR_OK || !plain->saw_nonfinite || !rules->stops_on_nonfinite) {
        return false;
    }
    if (unlogged > 0 && !*is_log_line && rules->placement == ALAR_PLACEMENT_WINDOW) {
        plain_post(plain);
    }
    *is_log_line |= unlogged > 0;
    plain->owed_in = 0;
    plain_take_all(plain);
    return plain->stop == ALAR_OK;
}

/* The same as plain_line, with lines that are written `lag` steps late, but at the end at once. */
static void plain_late_line(struct plain *plain, uint32_t *unlogged, bool is_log_line, bool is_end)
{
    const struct alar_engine_rules *rules = &plain->plan->rules;

    plain->owed_in = is_end ? 0 : plain->owed_in - plain->is_owed;
    if (is_log_line && rules->placement == ALAR_PLACEMENT_WINDOW) {
        plain_post(plain);
    }
    plain_hurries(plain, *unlogged, &is_log_line);
    while (plain->stop == ALAR_OK &&
           ((plain->is_owed && plain->owed_in == 0 && plain->taken < plain->owed_posted) ||
            (is_end && plain->taken < plain->posted))) {
        plain_take(plain);
    }
    bool stops = plain_hurries(plain, *unlogged, &is_log_line);
    if (plain->stop != ALAR_OK) {
        return;
    }
    if (plain->is_owed && plain->owed_in == 0) {
        trace_add(&plain->trace, 'R');
        plain->is_owed = false;
    }
    if (is_log_line && (is_end || stops)) {
        trace_add(&plain->trace, 'R');
    } else if (is_log_line) {
        plain->is_owed = true;
        plain->owed_in = rules->lag;
        plain->owed_posted = plain->posted;
    }
    *unlogged = is_log_line ? 0 : *unlogged;
    plain->stop = stops ? ALAR_E_NONFINITE : ALAR_OK;
}

static void plain_steps(struct plain *plain)
{
    const struct plan *plan = plain->plan;
    uint32_t unlogged = 0;

    for (uint32_t i = 0; i < plan->steps * plan->microbatches && plain->stop == ALAR_OK; i++) {
        bool is_last = i % plan->microbatches == plan->microbatches - 1;

        if ((int)i == plan->abandon_at) {
            plain->stop = ALAR_E_INPUT;
            return;
        }
        if (plan->rules.placement == ALAR_PLACEMENT_MICROBATCH) {
            plain_post(plain);
        }
        if (is_last && plain->stop == ALAR_OK) {
            if (plan->rules.placement == ALAR_PLACEMENT_STEP) {
                plain_post(plain);
            }
            unlogged++;
            bool is_full = unlogged == plan->rules.log_interval;
            if (plan->rules.lag > 0) {
                plain_late_line(plain, &unlogged, is_full, false);
            } else {
                plain_line(plain, &unlogged, is_full, !plan->rules.waits_at_log);
            }
        }
    }
    if (plain->stop == ALAR_OK && plan->rules.lag > 0) {
        plain_late_line(plain, &unlogged, unlogged > 0, true);
    } else if (plain->stop == ALAR_OK) {
        plain_line(plain, &unlogged, unlogged > 0, true);
    }
}

static struct plain plain_run(const struct plan *plan)
{
    struct plain plain = {.plan = plan};

    plain_steps(&plain);
    plain.trace.stop = plain.stop;
    trace_add(&plain.trace, 'S');
    return plain;
}

static void check_stats(const struct rig *rig, const struct plain *plain, size_t stopped_at)
{
    const struct alar_engine_stats *stats = &rig->engine.stats;
    const char *text = plan_text(rig->plan);
    uint64_t ends[3] = {0};

    for (size_t i = 0; i < rig->trace.length; i++) {
        ends[0] += rig->trace.text[i] == 'T';
        ends[1] += rig->trace.text[i] == 'F';
        ends[2] += rig->trace.text[i] == 'E';
    }
    demand(stats->posted == (uint64_t)plain->posted, "%s: posted", text);
    demand(stats->ready + stats->waited == ends[0], "%s: ready %d + waited %d", text,
           (int)stats->ready, (int)stats->waited);
    demand(stats->failed == ends[1] && stats->timed_out == ends[2], "%s: failed, timed out", text);
    demand(stats->peak <= rig->plan->capacity, "%s: peak", text);
    demand(rig->plan->pace != PACE_AWAITED || stopped_at < rig->trace.length - 1 ||
               stats->waited == ends[0],
           "%s: waited", text);
}

static void check_plan(const struct plan *plan)
{
    struct plain plain = plain_run(plan);
    struct rig rig;

    rig_init(&rig, plan, SEED + plan->capacity);
    rig_run(&rig);
    demand(strcmp(rig.trace.text, plain.trace.text) == 0, "%s:\nexpected %s\nfound    %s",
           plan_text(plan), plain.trace.text, rig.trace.text);
    demand(rig.trace.stop == plain.trace.stop, "%s: expected %s, found %s", plan_text(plan),
           alar_status_name(plain.trace.stop), alar_status_name(rig.trace.stop));
    size_t stopped_at = rig.trace.length - 1;
    rig_close(&rig);
    check_stats(&rig, &plain, stopped_at);
}

/* Splits the lowest digit in that base off `n`. */
static uint32_t digit(uint32_t *n, uint32_t base)
{
    uint32_t lowest = *n % base;

    *n /= base;
    return lowest;
}

/* Every rule set and small program, with a change made by the caller; returns how many plans. */
static uint32_t for_all_plans(uint32_t steps_max, uint32_t (*vary)(struct plan *plan))
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < 3U * 2 * 2 * 2 * 4 * 3 * 3 * (steps_max + 1) * PACE_COUNT; i++) {
        struct plan plan = plan_of_one();
        uint32_t n = i;

        plan.rules.placement = (enum alar_placement)digit(&n, 3);
        plan.rules.is_sync = digit(&n, 2);
        plan.rules.waits_at_log = digit(&n, 2);
        plan.rules.stops_on_nonfinite = digit(&n, 2);
        plan.capacity = (uint16_t)(1 + digit(&n, 4));
        plan.rules.log_interval = 1 + digit(&n, 3);
        plan.microbatches = 1 + digit(&n, 3);
        plan.steps = digit(&n, steps_max + 1);
        plan.pace = (enum pace)n;
        uint32_t lag_max = plan.rules.waits_at_log ? plan.rules.log_interval : 0;
        for (plan.rules.lag = 0; plan.rules.lag <= lag_max; plan.rules.lag++) {
            count += vary(&plan);
        }
    }
    return count;
}

/* Calls check_plan with *what at NONE and at each operation or microbatch; returns the calls. */
static uint32_t vary_over(struct plan *plan, int *what, int limit)
{
    for (*what = NONE; *what < limit; ++*what) {
        check_plan(plan);
    }
    *what = NONE;
    return (uint32_t)limit + 1;
}

static uint32_t vary_nonfinite(struct plan *plan)
{
    return vary_over(plan, &plan->nonfinite_op, plain_run(plan).posted);
}

static uint32_t vary_failed(struct plan *plan)
{
    return vary_over(plan, &plan->failed_op, plain_run(plan).posted);
}

static uint32_t vary_refused(struct plan *plan)
{
    return vary_over(plan, &plan->refused_op, plain_run(plan).posted);
}

static uint32_t vary_expired(struct plan *plan)
{
    return vary_over(plan, &plan->expired_op, plain_run(plan).posted);
}

static uint32_t vary_abandoned(struct plan *plan)
{
    return vary_over(plan, &plan->abandon_at, (int)(plan->steps * plan->microbatches));
}

/* For all placements, sync or not, waits, policies, windows up to 4, intervals, lags, program
   lengths and orders of completion, and for every operation that may be non-finite: the same posts,
   takes, reports and stop as the plain loop, so all ranks decide alike whatever they see complete
   first. spec: W-07, W-09, L-09, L-13 */
Test(engine_programs, does_what_a_plain_loop_does)
{
    uint32_t count = for_all_plans(4, vary_nonfinite);

    cr_log_info("%u plans", count);
    cr_assert_gt(count, 40000);
}

/* One operation ends with an error, or never ends: the run stops at the take that shows it, and
   closing tells every handle. spec: W-05, W-10 */
Test(engine_programs, stops_at_the_take_of_a_failure)
{
    cr_assert_gt(for_all_plans(3, vary_failed), 20000);
}

Test(engine_programs, stops_at_the_take_of_a_timeout)
{
    cr_assert_gt(for_all_plans(3, vary_expired), 20000);
}

/* The back end refuses a post: nothing more is posted. spec: W-10 */
Test(engine_programs, stops_at_a_refused_post)
{
    cr_assert_gt(for_all_plans(3, vary_refused), 20000);
}

/* The program gives up anywhere: it stops with the program's status at once. spec: W-10 */
Test(engine_programs, stops_when_the_program_gives_up)
{
    cr_assert_gt(for_all_plans(3, vary_abandoned), 20000);
}

/* Runs a case through `alar run` and `alar check` as they are, and says what is wrong with it. */
#include "base/check.h"
#include "check/history_find.h"
#include "check/history_judge.h"
#include "check/verdict_text.h"
#include "swarm.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* A claim that breaks ends the run it breaks in, not the swarm; what the run held is lost. */
static jmp_buf broken;
static bool is_running;

_Noreturn void alar_check_failed(const char *kind, const char *claim, const char *file, int line)
{
    fprintf(stderr, "%s:%d: broken %s: %s\n", file, line, kind, claim);
    if (!is_running) {
        abort();
    }
    longjmp(broken, 1);
}

/* The view has no room for a caller's data, and one run at a time is watched. */
static struct swarm_outcome *watched;

static void watch_reported(const struct run *run, const struct alar_report *report,
                           double elapsed_ms)
{
    (void)run;
    (void)elapsed_ms;
    watched->last_step = report->step;
}

static void watch_compared(const struct run *run, const struct alar_report *first,
                           const struct alar_report *twin, uint64_t ulps)
{
    (void)run;
    (void)first;
    (void)twin;
    (void)ulps;
}

static void watch_progress(const struct run *run, size_t steps)
{
    (void)run;
    (void)steps;
}

static void watch_ending(const struct run_rank *rank, const char *text)
{
    if (watched->reason[0] == '\0') {
        snprintf(watched->reason, sizeof(watched->reason), "rank %u: %.400s", rank->rank, text);
    }
}

/* Each context parallel rank logs within a group of its own, which may add in an order of its own;
   a fault may also change the loss of one that holds it in full, and not its replicas'. */
static bool is_apart(const struct run *run, uint32_t rank)
{
    return alar_topology_coordinates(&run->topology, rank).cp !=
           alar_topology_coordinates(&run->topology, run->reporter).cp;
}

/* Did all ranks of the last stage log the same? Only a run that went through has whole logs
 * everywhere. */
static bool logs_differ(const struct run *run)
{
    const struct run_rank *reporter = &run->rank[run->reporter];

    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct run_rank *rank = &run->rank[r];

        if (!alar_topology_is_last(&run->topology, r) || is_apart(run, r)) {
            continue;
        }
        if (rank->log_count != reporter->log_count) {
            return true;
        }
        for (size_t i = 0; i < rank->log_count; i++) {
            if (rank->log[i].is_empty != reporter->log[i].is_empty ||
                (!rank->log[i].is_empty &&
                 run_report_bits(run, &rank->log[i]) != run_report_bits(run, &reporter->log[i])) ||
                rank->log[i].extreme_rank != reporter->log[i].extreme_rank) {
                return true;
            }
        }
    }
    return false;
}

static void watch_summary(const struct run *run, const struct run_totals *pass,
                          const struct run_totals *twin)
{
    watched->fired = (uint64_t)pass->fired;
    watched->leaked = pass->leaked;
    watched->has_twin = twin != NULL;
    watched->logged = run->rank[run->reporter].log_count;
    watched->same = run->rank[run->reporter].same;
    watched->illegal = run->rank[run->reporter].illegal;
    watched->ranks_differ = twin != NULL && logs_differ(run);
}

static const struct alar_run_view watch = {
    .reported = watch_reported,
    .compared = watch_compared,
    .progress = watch_progress,
    .ending = watch_ending,
    .summary = watch_summary,
};

static void history_judge(const char *directory, struct swarm_outcome *outcome)
{
    char path[SWARM_PATH];
    char *paths[] = {path};
    char error_line[ALAR_ERROR_LINE_BYTES];
    struct alar_history_set set;
    struct alar_reading reading;

    snprintf(path, sizeof(path), "%s", directory);
    if (alar_history_find(paths, 1, &set, error_line) != ALAR_OK) {
        swarm_give_up("history", error_line);
    }
    if (alar_reading_judge(&reading, &set.history[0], NULL) != ALAR_OK) {
        swarm_give_up("history", reading.error_line);
    }
    const struct alar_verdict *verdict = alar_judge_verdict(reading.judge);

    outcome->verdict = verdict->kind;
    outcome->is_excused = true;
    for (uint32_t i = 0; i < verdict->finding_count; i++) {
        outcome->is_excused &=
            verdict->finding[i].excused >= 0 || alar_anomaly_is_note(verdict->finding[i].anomaly);
    }
    if (verdict->kind == ALAR_FAIL) {
        alar_verdict_reason(&set.history[0], verdict, outcome->reason, sizeof(outcome->reason));
    }
    alar_reading_free(&reading);
    alar_history_set_free(&set);
}

/* One run over steps first .. case's last. */
static void phase_run(const struct swarm_case *drawn, const char *directory, const char *name,
                      uint32_t first, bool has_faults, struct swarm_outcome *outcome)
{
    struct alar_run_options options = drawn->run;
    struct alar_sim_options sim = drawn->sim;
    char history[SWARM_PATH];
    char losses[SWARM_PATH];
    char steps[32];
    char error_line[ALAR_ERROR_LINE_BYTES];

    memset(outcome, 0, sizeof(*outcome));
    snprintf(history, sizeof(history), "%.400s/%s", directory, name);
    snprintf(losses, sizeof(losses), "%.400s/losses%u", directory, drawn->microbatches);
    snprintf(steps, sizeof(steps), "%u:%u", first, drawn->steps);
    if (alar_history_prepare(history, true, error_line) != ALAR_OK) {
        swarm_give_up("history", error_line);
    }
    options.view = &watch;
    options.losses = losses;
    options.steps = steps;
    options.sim = &sim;
    options.config.history = history;
    options.faults = has_faults ? &drawn->faults : NULL;
    watched = outcome;
    outcome->last_step = (int64_t)first - 1;
    outcome->code = alar_run(&options, error_line);
    if (error_line[0] != '\0' && outcome->code == ALAR_CLASS_UNUSABLE) {
        swarm_give_up("run", error_line);
    }
    history_judge(history, outcome);
}

/* A run in which nothing went wrong that may show. */
static const char *wrong_plain(const struct swarm_case *drawn, const struct swarm_outcome *outcome,
                               uint32_t first)
{
    uint32_t interval = drawn->run.config.log_interval;
    size_t lines = (drawn->steps - first + interval - 1) / interval;
    size_t expected = lines * (drawn->run.has_extremes ? RUN_METRICS : 1);
    bool is_one_order =
        drawn->run.order == drawn->run.twin_order && drawn->run.order != ALAR_SIM_ARRIVAL;

    return outcome->code != ALAR_CLASS_GOOD ? "it did not end with 0"
           : outcome->verdict != ALAR_PASS  ? "the oracle does not pass it"
           : outcome->leaked != 0           ? "handles leaked"
           : !outcome->has_twin             ? "there was no twin"
           : outcome->logged != expected    ? "log lines are missing"
           : outcome->ranks_differ          ? "ranks logged different values"
           : outcome->illegal > 0           ? "a logged value is illegal"
           : is_one_order && outcome->same != outcome->logged
               ? "a logged value differs from its twin's"
               : NULL;
}

/* Is every fault of the plan, or any, a loss that is not finite? */
static bool is_nonfinite(const struct swarm_case *drawn, bool all)
{
    size_t count = 0;

    for (size_t i = 0; i < drawn->faults.line_count; i++) {
        count += drawn->faults.line[i].point == ALAR_POINT_LOSS_NAN ||
                 drawn->faults.line[i].point == ALAR_POINT_LOSS_INF;
    }
    return all ? count == drawn->faults.line_count : count > 0;
}

static bool has_bitflip(const struct swarm_case *drawn)
{
    for (size_t i = 0; i < drawn->faults.line_count; i++) {
        if (drawn->faults.line[i].point == ALAR_POINT_CONTRIBUTION_BITFLIP) {
            return true;
        }
    }
    return false;
}

/* One rank ends the run for all, whose waits end as if by their deadline: under `raise` on a loss
   that is not finite, and in the encoding that checks itself on a flipped bit. */
static bool is_raised(const struct swarm_case *drawn)
{
    return (drawn->run.config.check == ALAR_CHECK_RAISE && is_nonfinite(drawn, false)) ||
           (drawn->run.config.encoding == ALAR_EXACT && has_bitflip(drawn));
}

/* Nothing but losses that are not finite, on ranks whose loss counts, and a policy that ends the
   run with 1. */
static bool is_to_stop(const struct swarm_case *drawn, const struct swarm_outcome *outcome)
{
    return outcome->fired > 0 && is_nonfinite(drawn, true) && drawn->run.topology.pp == 1 &&
           (drawn->run.topology.cp == 1 || !drawn->run.is_replicated) &&
           (drawn->run.config.check == ALAR_CHECK_RAISE ||
            drawn->run.config.check == ALAR_CHECK_AGREE);
}

/* A run whose faults may end it: never with a defect, never with an unexplained verdict. */
static const char *wrong_hit(const struct swarm_case *drawn, const struct swarm_outcome *outcome)
{
    return outcome->code > ALAR_CLASS_INCOMPLETE ? "it ended with 3 or 4"
           : outcome->verdict == ALAR_FAIL && !outcome->is_excused && !is_raised(drawn)
               ? "no fault excuses it"
           : outcome->code == ALAR_CLASS_GOOD && outcome->leaked != 0 ? "handles leaked"
           : outcome->code == ALAR_CLASS_GOOD && outcome->ranks_differ
               ? "ranks logged different values"
           : is_to_stop(drawn, outcome) && outcome->code != ALAR_CLASS_WRONG
               ? "a non-finite loss did not end it with 1"
           : outcome->fired == 0 && outcome->code == ALAR_CLASS_GOOD
               ? "a plan that fired nothing passed"
               : NULL;
}

static const char *phases_run(const struct swarm_case *drawn, const char *directory,
                              struct swarm_outcome *outcome)
{
    phase_run(drawn, directory, "safety", 0, true, outcome);
    bool is_plain = outcome->fired > 0 && drawn->is_benign;
    const char *why = is_plain ? wrong_plain(drawn, outcome, 0) : wrong_hit(drawn, outcome);

    if (why != NULL) {
        return why;
    }
    /* What was not logged is done again, without faults, and must come to its end. */
    uint32_t first = (uint32_t)(outcome->last_step + 1);
    uint64_t fired = outcome->fired;

    first = first < drawn->steps ? first : 0;
    phase_run(drawn, directory, "progress", first, false, outcome);
    outcome->fired = fired;
    return wrong_plain(drawn, outcome, first);
}

const char *swarm_run(const struct swarm_case *drawn, const char *directory,
                      struct swarm_outcome *outcome)
{
    const char *why = "a claim of the program about itself broke";

    if (setjmp(broken) == 0) {
        is_running = true;
        why = phases_run(drawn, directory, outcome);
    }
    is_running = false;
    return why;
}

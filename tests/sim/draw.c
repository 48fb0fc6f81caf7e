/* What a seed decides. */
#include "base/rng.h"
#include "swarm.h"

#include <inttypes.h>
#include <string.h>

enum {
    DEADLINE_MS = 500 /* of virtual time; no benign plan takes so long */
};

/* A point that a plan may hold. */
struct drawn_point {
    enum alar_point point;
    bool is_benign;
    int64_t most; /* of the value, from the row's least on */
};

static const struct drawn_point points[] = {
    {ALAR_POINT_RANK_DELAY, true, 3000},
    {ALAR_POINT_PROGRESS_DROP, true, 30},
    {ALAR_POINT_LOSS_SPIKE, true, 1000},
    {ALAR_POINT_LOSS_EMPTY, true, 0},
    {ALAR_POINT_COMPLETE_LATE, true, 20000},
    {ALAR_POINT_HISTORY_SHORT_WRITE, true, 60},
    {ALAR_POINT_RANK_MUTE, false, 1},
    {ALAR_POINT_RANK_EXIT, false, 3},
    {ALAR_POINT_LOSS_NAN, false, 0},
    {ALAR_POINT_LOSS_INF, false, 1},
    {ALAR_POINT_CONTRIBUTION_BITFLIP, false, 63},
    {ALAR_POINT_POST_FAIL, false, 0},
    {ALAR_POINT_COMPLETE_NEVER, false, 0},
};

enum {
    POINTS = sizeof(points) / sizeof(points[0]),
    BENIGN_POINTS = 6
};

static uint32_t below(struct alar_rng *rng, uint64_t bound)
{
    return (uint32_t)alar_rng_below(rng, bound);
}

/* Faults come in the first half, so that the second half shows whether the run recovers. */
static void faults_draw(struct swarm_case *drawn, struct alar_rng *rng)
{
    uint64_t cells = (uint64_t)drawn->steps * drawn->microbatches;

    drawn->is_benign = below(rng, 2) == 0;
    drawn->faults.is_plan = true;
    drawn->faults.highest_rank = 0;
    drawn->faults.line_count = 1 + below(rng, SWARM_FAULTS);
    for (size_t i = 0; i < drawn->faults.line_count; i++) {
        const struct drawn_point *drawn_point =
            &points[below(rng, drawn->is_benign ? BENIGN_POINTS : POINTS)];
        int64_t least = alar_points[drawn_point->point].least;

        drawn->faults.line[i] = (struct alar_fault_line){
            .point = drawn_point->point,
            .rank = below(rng, drawn->run.ranks),
            .first = 1 + below(rng, cells / 2),
            .repeat = 1 + below(rng, 3),
            .value = least + (drawn_point->most > least
                                  ? (int64_t)below(rng, (uint64_t)(drawn_point->most - least))
                                  : 0),
        };
    }
}

static void config_draw(struct alar_config *config, struct alar_rng *rng)
{
    *config = (struct alar_config){
        .backend = "sim",
        .placement = (enum alar_placement)below(rng, ALAR_PLACEMENT_COUNT),
        .normalization = (enum alar_normalization)below(rng, ALAR_SEED_UNDIVIDED),
        .encoding = (enum alar_encoding)below(rng, ALAR_ENCODING_COUNT),
        .over = (enum alar_over)below(rng, ALAR_OVER_COUNT),
        .check = (enum alar_check)below(rng, ALAR_CHECK_CHOICES),
        .log_interval = 1 + below(rng, 6),
        .window = (uint16_t)below(rng, 9),
        .deadline_ms = DEADLINE_MS,
        .is_sync = below(rng, 4) == 0,
        .waits_at_log = below(rng, 2) == 0,
    };
}

/* Half of the worlds are data parallel only. */
static void topology_draw(struct alar_run_options *run, struct alar_rng *rng)
{
    bool is_plain = below(rng, 2) == 0;
    uint32_t pp = is_plain ? 1 : 1 + below(rng, 2);
    uint32_t cp = is_plain ? 1 : 1 + below(rng, 2);
    uint32_t dp = 1 + below(rng, SWARM_RANKS / (pp * cp));

    run->topology = (struct alar_topology){.pp = pp, .dp = dp, .cp = cp};
    run->is_replicated = below(rng, 3) == 0;
    run->ranks = pp * dp * cp;
}

static void sim_draw(struct alar_sim_options *sim, struct alar_rng *rng)
{
    *sim = alar_sim_options_default(1, 0);
    sim->capture = (enum alar_sim_capture)below(rng, 2);
    sim->pending = (enum alar_sim_pending)below(rng, 3);
    sim->latency_us = below(rng, 200);
    sim->link_us = below(rng, 100);
    sim->jitter_us = below(rng, 100);
    sim->spread_us = below(rng, 300);
    sim->skips_rounds = below(rng, 4) == 0;
    sim->is_fifo = below(rng, 4) == 0;
    sim->has_progress_thread = below(rng, 4) == 0;
    sim->outstanding = 1 + below(rng, 8);
}

void swarm_draw(uint64_t seed, struct swarm_case *drawn)
{
    struct alar_rng rng = alar_rng_stream(seed, 0);

    memset(drawn, 0, sizeof(*drawn));
    drawn->seed = seed;
    drawn->microbatches = 1 + below(&rng, SWARM_MICROBATCHES);
    drawn->steps = 6 + below(&rng, 11);
    drawn->run.input = ALAR_INPUT_SUMS;
    topology_draw(&drawn->run, &rng);
    config_draw(&drawn->run.config, &rng);
    drawn->run.pace = (struct alar_pace){
        .compute_us = below(&rng, 300),
        .poll_us = below(&rng, 100),
        .straggler = below(&rng, 3) == 0 ? (int32_t)below(&rng, drawn->run.ranks)
                     : below(&rng, 2)    ? ALAR_STRAGGLER_ROTATE
                                         : ALAR_STRAGGLER_NONE,
        .late_us = below(&rng, 2000),
        .grad_bytes = below(&rng, 3) == 0 ? 64 : 0,
    };
    drawn->run.order = (enum alar_sim_order)below(&rng, ALAR_SIM_ORDER_COUNT);
    drawn->run.twin_order =
        below(&rng, 2) ? drawn->run.order : (enum alar_sim_order)below(&rng, ALAR_SIM_ORDER_COUNT);
    drawn->run.seed = alar_rng_next(&rng);
    drawn->run.has_twin = true;
    sim_draw(&drawn->sim, &rng);
    faults_draw(drawn, &rng);
    drawn->run.has_extremes =
        (drawn->run.topology.cp == 1 || drawn->run.is_replicated) && below(&rng, 3) == 0;
}

void swarm_print(const struct swarm_case *drawn, FILE *file)
{
    const struct alar_run_options *run = &drawn->run;
    const struct alar_config *config = &run->config;
    const struct alar_sim_options *sim = &drawn->sim;

    fprintf(file,
            "seed %" PRIu64 ": ranks %u = pp %u x dp %u x cp %u%s%s microbatches %u steps %u "
            "schedule %s wait %s window %u "
            "interval %u normalization %s over %s encoding %s check %s order %s twin %s ",
            drawn->seed, run->ranks, run->topology.pp, run->topology.dp, run->topology.cp,
            run->is_replicated ? " replicated" : "", run->has_extremes ? " extremes" : "",
            drawn->microbatches, drawn->steps,
            alar_schedule_names[config->placement + 3U * config->is_sync],
            config->waits_at_log ? "log" : "step", config->window, config->log_interval,
            alar_normalization_names[config->normalization], alar_over_names[config->over],
            alar_encoding_names[config->encoding], alar_check_names[config->check],
            alar_sim_order_names[run->order], alar_sim_order_names[run->twin_order]);
    fprintf(file,
            "compute %" PRIu64 " poll %" PRIu64 " straggler %d:%" PRIu64 " grad %" PRIu64
            " latency %u+%u+%u+%u capture %d pending %d rounds %d fifo %d thread %d outstanding %u "
            "faults",
            run->pace.compute_us, run->pace.poll_us, run->pace.straggler, run->pace.late_us,
            run->pace.grad_bytes, sim->latency_us, sim->link_us, sim->jitter_us, sim->spread_us,
            sim->capture, sim->pending, !sim->skips_rounds, sim->is_fifo, sim->has_progress_thread,
            sim->outstanding);
    for (size_t i = 0; i < drawn->faults.line_count; i++) {
        const struct alar_fault_line *line = &drawn->faults.line[i];

        fprintf(file, " %s/%" PRId64 "@%" PRIu64 "x%" PRIu64 "=%" PRId64,
                alar_points[line->point].name, line->rank, line->first, line->repeat, line->value);
    }
    fputc('\n', file);
    fflush(file);
}

void swarm_print_plan(const struct swarm_case *drawn, FILE *file)
{
    for (size_t i = 0; i < drawn->faults.line_count; i++) {
        const struct alar_fault_line *line = &drawn->faults.line[i];

        fprintf(file, "%s %" PRId64 " %" PRIu64 " %" PRIu64 " %" PRId64 "\n",
                alar_points[line->point].name, line->rank, line->first, line->repeat, line->value);
    }
}

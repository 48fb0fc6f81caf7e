/* `alar run`: its command line. */
#include "cli/cli_run.h"
#include "cli/cli.h"
#include "cli/cli_apart.h"
#include "faults/plan.h"
#include "sys/parse.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const inputs[] = {"tokens", "sums", NULL};
static const char *const compares[] = {"sync", "none", NULL};

/* Options as they are typed, before they mean anything together. */
struct typed {
    struct alar_run_options run;
    bool is_async; /* --async-log-allreduce */
    int input;
    int schedule; /* -1: not given */
    int wait;
    int compare;
    int scope;
    uint64_t dp; /* 0: not given, as below */
    uint64_t cp;
    uint64_t pp;
    int normalization;
    int over;
    int encoding;
    int check;
    int order;
    int twin_order; /* -1: as order */
    uint64_t ranks;
    uint64_t window;
    uint64_t log_interval;
    uint64_t lag;
    uint64_t deadline_ms;
    const char *straggler;
    const char *plan;
    const char *mutant;
};

/* "RANK:US" or "rotate:US".
   Errors: ALAR_E_INPUT. */
static enum alar_status straggler_parse(const char *text, struct alar_pace *pace)
{
    const char *colon = strchr(text, ':');
    uint64_t rank = 0;
    char who[16];

    if (colon == NULL || (size_t)(colon - text) >= sizeof(who)) {
        return ALAR_E_INPUT;
    }
    snprintf(who, sizeof(who), "%.*s", (int)(colon - text), text);
    ALAR_TRY(alar_number_parse(colon + 1, 0, 3600000000U, &pace->late_us));
    if (strcmp(who, "rotate") == 0) {
        pace->straggler = ALAR_STRAGGLER_ROTATE;
        return ALAR_OK;
    }
    ALAR_TRY(alar_number_parse(who, 0, INT32_MAX, &rank));
    pace->straggler = (int32_t)rank;
    return ALAR_OK;
}

/* What the typed options mean together.
   Errors: ALAR_E_INPUT, with one line in `error_line`. */
static enum alar_status run_resolve(struct typed *typed, char *error_line)
{
    struct alar_run_options *run = &typed->run;
    int schedule = typed->schedule >= 0 ? typed->schedule : typed->is_async ? 0 : 3;

    if (typed->is_async && schedule >= 3) {
        snprintf(error_line, ALAR_ERROR_LINE_BYTES,
                 "expected an async- schedule beside --async-log-allreduce, found '%s'",
                 alar_schedule_names[schedule]);
        return ALAR_E_INPUT;
    }
    if (typed->straggler != NULL && straggler_parse(typed->straggler, &run->pace) != ALAR_OK) {
        snprintf(error_line, ALAR_ERROR_LINE_BYTES,
                 "--straggler: expected RANK:US or rotate:US, found '%s'", typed->straggler);
        return ALAR_E_INPUT;
    }
    if (typed->lag > 0 && (typed->wait != 1 || typed->lag > typed->log_interval)) {
        snprintf(error_line, ALAR_ERROR_LINE_BYTES,
                 "--lag: expected --wait log, and at most the %" PRIu64
                 " steps of a log line, found %" PRIu64,
                 typed->log_interval, typed->lag);
        return ALAR_E_INPUT;
    }
    run->input = (enum alar_input)typed->input;
    run->order = (enum alar_sim_order)typed->order;
    run->twin_order =
        (enum alar_sim_order)(typed->twin_order >= 0 ? typed->twin_order : typed->order);
    run->ranks = (uint32_t)typed->ranks;
    run->has_twin = typed->compare == 0;
    run->is_replicated = typed->scope == 1;
    run->topology = (struct alar_topology){
        .pp = (uint32_t)typed->pp, .dp = (uint32_t)typed->dp, .cp = (uint32_t)typed->cp};
    run->config.placement = (enum alar_placement)(schedule % 3);
    run->config.is_sync = schedule >= 3;
    run->config.waits_at_log = typed->wait == 1;
    run->config.log_interval = (uint32_t)typed->log_interval;
    run->config.lag = (uint32_t)typed->lag;
    run->config.normalization = (enum alar_normalization)typed->normalization;
    run->config.over = (enum alar_over)typed->over;
    run->config.encoding = (enum alar_encoding)typed->encoding;
    run->config.check = (enum alar_check)typed->check;
    run->config.window = (uint16_t)typed->window;
    run->config.deadline_ms = typed->deadline_ms > 0 ? typed->deadline_ms : ALAR_NO_DEADLINE;
    return ALAR_OK;
}

static const char examples[] =
    "  mpiexec.mpich -n 4 alar run --async-log-allreduce\n"
    "  alar run --async-log-allreduce --wait log --log-interval 20 --history h\n"
    "  alar run --input sums --reduce-order right-fold --check-for-nan off --log-json log.jsonl\n"
    "  alar run --async-log-allreduce --compute-us 5000 --straggler rotate:2500\n";

#define FLAG(name, target, help)                               \
    {                                                          \
        name, ALAR_OPTION_FLAG, target, NULL, help, NULL, 0, 0 \
    }
#define TEXT(name, target, word, help)                         \
    {                                                          \
        name, ALAR_OPTION_TEXT, target, word, help, NULL, 0, 0 \
    }
#define NUMBER(name, target, word, least, most, help)                   \
    {                                                                   \
        name, ALAR_OPTION_NUMBER, target, word, help, NULL, least, most \
    }
#define CHOICE(name, target, choices, help)                         \
    {                                                               \
        name, ALAR_OPTION_CHOICE, target, NULL, help, choices, 0, 0 \
    }

/* What the command line and fiu-run ask to be broken; NULL when nothing is.
   Errors: ALAR_E_INPUT, with one line in `error_line`. */
static enum alar_status faults_read(struct typed *typed, struct alar_faults *faults,
                                    char *error_line)
{
    ALAR_TRY(alar_fiu_read(faults, getenv("FIU_ENABLE"), getenv("FIU_CTRL_FIFO"), error_line));
    if (typed->plan != NULL) {
        char found[PATH_MAX];

        ALAR_TRY(
            alar_plan_read(faults, alar_cli_data(typed->plan, found), typed->run.seed, error_line));
    }
    typed->run.faults = faults->is_plan || faults->is_fiu ? faults : NULL;
    return ALAR_OK;
}

static int run_parse(struct typed *typed, int argc, char **argv)
{
    const struct alar_option options[] = {
        /* clang-format off */
        TEXT("losses", &typed->run.losses, "DIR", "recorded losses [tests/data/gpt-losses/train]"),
        CHOICE("input", &typed->input, inputs, "per-token losses and masks, or local sums"),
        TEXT("backend", &typed->run.config.backend, "sim|mpi|PATH", "what reduces [mpi under a launcher, otherwise sim]"),
        NUMBER("ranks", &typed->ranks, "N", 1, ALAR_DATASET_RANKS_MAX, "sim: ranks [as many as the losses have]"),
        NUMBER("dp", &typed->dp, "N", 1, ALAR_DATASET_RANKS_MAX, "data parallel ranks; ranks = pp x dp x cp [what is left]"),
        NUMBER("cp", &typed->cp, "N", 1, ALAR_TOPOLOGY_CP_MAX, "context parallel ranks, reduced first [1]"),
        NUMBER("pp", &typed->pp, "N", 1, ALAR_DATASET_RANKS_MAX, "pipeline stages, of which the last one reports [1]"),
        CHOICE("scope", &typed->scope, alar_scope_names, "what a context parallel rank holds of a loss [partial]"),
        TEXT("steps", &typed->run.steps, "A:B", "steps A to B - 1, by their own numbers [all]"),
        FLAG("async-log-allreduce", &typed->is_async, "the same as --schedule async-microbatch"),
        CHOICE("schedule", &typed->schedule, alar_schedule_names,
               "where reductions are issued [sync-microbatch]"),
        CHOICE("wait", &typed->wait, alar_wait_at_names, "where they are waited for [step]"),
        CHOICE("normalization", &typed->normalization, alar_normalization_names,
               "what the number means [token-weighted]"),
        CHOICE("over", &typed->over, alar_over_names, "over a log interval [steps]"),
        FLAG("extremes", &typed->run.has_extremes,
             "log the least and the greatest microbatch loss over ranks, and the tokens, too"),
        CHOICE("encoding", &typed->encoding, alar_encoding_names, "what travels [pair32]"),
        NUMBER("window", &typed->window, "N", 1, ALAR_WINDOW_CAPACITY_MAX, "pending handles at most [all of an interval]"),
        NUMBER("log-interval", &typed->log_interval, "N", 1, 1000000, "steps a log line covers [10]"),
        NUMBER("lag", &typed->lag, "N", 0, ALAR_LAG_MAX, "with --wait log: steps by which it is written late [0]"),
        CHOICE("check-for-nan", &typed->check, alar_check_names, "on a non-finite local loss [agree]"),
        NUMBER("start-deadline-ms", &typed->run.start_deadline_ms, "N", 0, 86400000, "until all ranks are under way; 0: none [60000]"),
        NUMBER("deadline-ms", &typed->deadline_ms, "N", 0, 86400000, "of each wait; 0: none, and sync calls block [30000]"),
        NUMBER("compute-us", &typed->run.pace.compute_us, "N", 0, 3600000000U, "compute of a microbatch, slept [0]"),
        NUMBER("poll-us", &typed->run.pace.poll_us, "N", 0, 3600000000U, "progress poll while computing; 0: none [1000]"),
        TEXT("straggler", &typed->straggler, "RANK:US|rotate:US", "one rank, or each in turn, is late once a step"),
        NUMBER("grad-bytes", &typed->run.pace.grad_bytes, "N", 0, 1U << 30, "a blocking gradient all-reduce a step [0: none]"),
        CHOICE("reduce-order", &typed->order, alar_sim_order_names, "sim: order of addition [recursive-doubling]"),
        CHOICE("twin-order", &typed->twin_order, alar_sim_order_names, "sim: the twin's [the same]"),
        NUMBER("seed", &typed->run.seed, "N", 0, UINT64_MAX, "of the simulator's delays and of a plan's draws [1]"),
        TEXT("mutant", &typed->mutant, "NAME", "break the back end on purpose, see faults/mutants.def"),
        TEXT("faults", &typed->plan, "PLAN", "break what the plan says, see alar faults"),
        TEXT("history", &typed->run.config.history, "DIR", "record what every rank does, for alar check"),
        TEXT("stats-json", &typed->run.stats_json, "FILE", "the summary's counts and times as JSON"),
        FLAG("no-log", &typed->run.pace.is_unlogged, "compute only: what a step costs without a log"),
        TEXT("log-json", &typed->run.log_json, "FILE", "one JSON line a report"),
        CHOICE("compare", &typed->compare, compares, "hold the log against its synchronous twin [sync]"),
        FLAG("quiet", &typed->run.is_quiet, "no log lines, only the summary"),
        {NULL, ALAR_OPTION_FLAG, NULL, NULL, NULL, NULL, 0, 0},
        /* clang-format on */
    };
    const struct alar_command command = {
        .name = "run",
        .summary = "log losses over ranks and prove the log against its synchronous twin",
        .options = options,
        .examples = examples,
    };
    int operands = 0;

    return alar_cli_options(&command, argc, argv, &operands);
}

int alar_cli_run(int argc, char **argv)
{
    struct typed typed = {
        .run = {.view = &alar_cli_run_view,
                .losses = "tests/data/gpt-losses/train",
                .config = {.backend = alar_cli_is_launched() ? "mpi" : "sim"},
                .pace = {.poll_us = 1000, .straggler = ALAR_STRAGGLER_NONE},
                .seed = 1,
                .start_deadline_ms = 60000},
        .schedule = -1,
        .order = ALAR_SIM_RECURSIVE_DOUBLING,
        .twin_order = -1,
        .log_interval = 10,
        .deadline_ms = 30000,
    };
    char losses[PATH_MAX];
    struct alar_faults faults = {0};
    struct alar_cli_mutant mutant = {0};
    char error_line[ALAR_ERROR_LINE_BYTES];
    int code = run_parse(&typed, argc, argv);

    if (code >= 0) {
        return code;
    }
    typed.run.losses = alar_cli_data(typed.run.losses, losses);
    if (run_resolve(&typed, error_line) != ALAR_OK ||
        faults_read(&typed, &faults, error_line) != ALAR_OK ||
        alar_cli_mutant(typed.mutant, &typed.run, &mutant, error_line) != ALAR_OK) {
        return alar_cli_complain("run", error_line);
    }
    if (typed.run.config.normalization == ALAR_SEED_UNDIVIDED) {
        alar_cli_complain("run",
                          "warning: seed-undivided is the original feature's defect, kept to be "
                          "studied: ranks' means are summed and never divided by their number");
    }
    code = alar_cli_apart("run", typed.run.config.backend, typed.run.start_deadline_ms);
    if (code >= 0) {
        return code;
    }
    code = alar_run(&typed.run, error_line);
    if (error_line[0] == '\0' && typed.run.has_twin &&
        strchr(typed.run.config.backend, '/') != NULL) {
        alar_cli_complain("run",
                          "warning: the twin is the same back end's: it proves nothing about "
                          "the back end itself (use alar conform)");
    }
    if (error_line[0] != '\0') {
        alar_cli_complain("run", error_line);
    }
    return code;
}

/* What a run needs before its first pass, and gives back after its last: the losses, the back end, the
   ranks of this process, and their histories. */
#include "cli.h"
#include "clock.h"
#include "plugin.h"
#include "run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SUM_LANES_MAX = 8, SUM_US = 30000000 };

/* Adds up lanes over all ranks; on the simulator they are there already.
   Errors: ALAR_E_BACKEND; ALAR_E_TIMEOUT when a rank does not come. */
enum alar_status run_sum(struct run *run, uint64_t epoch, int64_t *lanes, size_t count)
{
    const struct alar_backend *backend = run->backend;
    const struct alar_op op = {.scale = 1.0};
    int64_t sum[SUM_LANES_MAX];
    void *comm = NULL;
    void *request = NULL;
    int error = 0;

    if (run->is_simulated) {
        return ALAR_OK;
    }
    if (backend->comm_create(run->rank[0].context, NULL, 0, epoch, &comm) != 0 ||
        backend->allreduce(comm, lanes, sum, count, ALAR_I64, ALAR_SUM, NULL, &op, &request) != 0) {
        return ALAR_E_BACKEND;
    }
    if (backend->wait(request, NULL, SUM_US, &error) != 0 || error != 0) {
        return ALAR_E_TIMEOUT;
    }
    backend->request_free(request);
    backend->comm_free(comm);
    memcpy(lanes, sum, count * sizeof(*lanes));
    return ALAR_OK;
}

static struct alar_history_trace history_header(const struct run *run, const char *host)
{
    static const char *const schedules[] = {"async-microbatch", "async-step", "async-window",
                                            "sync-microbatch",  "sync-step",  "sync-window"};
    const struct alar_run_options *options = run->options;

    return (struct alar_history_trace){
        .world = run->ranks,
        .backend = run->backend->name,
        .tag = "alar run",
        .clock = run->is_simulated ? "ticks" : "monotonic_ns",
        .t0 = run->is_simulated ? 0 : (int64_t)alar_clock_now(NULL) * 1000,
        .host = run->is_simulated ? NULL : host,
        .schedule = schedules[options->rules.placement + 3 * options->rules.is_sync],
        .normalization = alar_normalization_names[options->normalization],
        .over = alar_over_names[options->over],
        .encoding = alar_encoding_names[options->encoding],
        .microbatches = (uint32_t)run->dataset.microbatches,
        .log_interval = options->rules.log_interval,
        .check_for_nan = alar_check_names[options->check],
        .wait_at = options->rules.waits_at_log ? "log" : "step",
    };
}

/* Opens the history of each rank of this process and writes its header. */
static enum alar_status histories_open(struct run *run, char *complaint)
{
    const struct alar_run_options *options = run->options;
    char host[256] = "";

    gethostname(host, sizeof(host) - 1);
    for (uint32_t i = 0; i < run->rank_count; i++) {
        struct run_rank *rank = &run->rank[i];
        size_t cells = run->dataset.microbatches * options->rules.log_interval;
        const struct alar_history_options history = {
            .directory = options->history,
            .rank = rank->rank,
            .lanes = cells * (2 + run->ranks / 24 + 1),
            .ops = cells,
        };
        const struct alar_history_trace header = history_header(run, host);

        ALAR_TRY(alar_history_open(&rank->history, &history, complaint));
        run->history_since_us = (uint64_t)header.t0 / 1000U;
        alar_history_trace(rank->history, 0, &header);
    }
    return ALAR_OK;
}

/* Rank 0 prepares the directory, then all open their files; if one can't, none goes on. */
enum alar_status run_history_open(struct run *run, char *complaint)
{
    int64_t bad = 0;

    if (run->options->history == NULL) {
        return ALAR_OK;
    }
    snprintf(complaint, ALAR_COMPLAINT_BYTES, "another rank can't write its history");
    if (run->rank[0].rank == 0) {
        bad = alar_history_prepare(run->options->history, false, complaint) != ALAR_OK;
    }
    ALAR_TRY(run_sum(run, 21, &bad, 1));
    if (bad == 0) {
        bad = histories_open(run, complaint) != ALAR_OK;
        ALAR_TRY(run_sum(run, 22, &bad, 1));
    }
    return bad == 0 ? ALAR_OK : ALAR_E_INPUT;
}

enum alar_status run_history_close(struct run *run)
{
    enum alar_status status = ALAR_OK;
    char complaint[ALAR_COMPLAINT_BYTES];

    for (uint32_t i = 0; i < run->rank_count; i++) {
        if (alar_history_close(run->rank[i].history, complaint) != ALAR_OK) {
            run_log_ending(&run->rank[i], complaint);
            status = ALAR_E_IO;
        }
        run->rank[i].history = NULL;
    }
    return status;
}

/* One rank a process, as the launcher says; on the simulator all of them. */
static enum alar_status ranks_open(struct run *run, char *complaint)
{
    struct alar_boot boot = {.rank = -1, .ranks = -1, .config = ""};
    void *context = NULL;

    if (!run->is_simulated && run->backend->init(&context, &boot) != 0) {
        snprintf(complaint, ALAR_COMPLAINT_BYTES, "the back end '%s' does not start",
                 run->backend->name);
        return ALAR_E_INPUT;
    }
    run->ranks = !run->is_simulated        ? (uint32_t)boot.ranks
                 : run->options->ranks > 0 ? run->options->ranks
                                           : run->dataset.ranks;
    run->rank_count = run->is_simulated ? run->ranks : 1;
    run->rank = calloc(run->rank_count, sizeof(*run->rank));
    if (run->rank == NULL) {
        return ALAR_E_NOMEM;
    }
    for (uint32_t i = 0; i < run->rank_count; i++) {
        struct run_rank *rank = &run->rank[i];

        rank->rank = run->is_simulated ? i : (uint32_t)boot.rank;
        rank->context = context;
        rank->run = run;
        rank->log_max = (run->range.end - run->range.begin) / run->options->rules.log_interval + 2;
        rank->log = calloc(rank->log_max, sizeof(*rank->log));
        if (rank->log == NULL) {
            return ALAR_E_NOMEM;
        }
    }
    return ALAR_OK;
}

enum alar_status run_open(struct run *run, char *complaint)
{
    const struct alar_run_options *options = run->options;
    const struct alar_backend *const builtin[] = {alar_sim_backend(), NULL};
    const struct alar_dataset_source source = {
        .directory = options->losses, .input = options->input, .rank = ALAR_EVERY_RANK};

    snprintf(complaint, ALAR_COMPLAINT_BYTES, "out of memory");
    ALAR_TRY(alar_dataset_open(&source, &run->dataset, complaint));
    ALAR_TRY(alar_dataset_select(&run->dataset, options->steps, &run->range, complaint));
    ALAR_TRY(alar_plugin_load(options->backend, builtin, &run->table, complaint));
    run->backend = &run->table;
    run->is_simulated = strcmp(options->backend, "sim") == 0;
    ALAR_TRY(ranks_open(run, complaint));
    if (run->ranks > run->dataset.ranks) {
        snprintf(complaint, ALAR_COMPLAINT_BYTES,
                 "%s: expected losses of %u ranks, found those of %u", options->losses, run->ranks,
                 run->dataset.ranks);
        return ALAR_E_INPUT;
    }
    if (options->log_json != NULL && run->rank[0].rank == 0) {
        run->log_json = fopen(options->log_json, "w");
        if (run->log_json == NULL) {
            snprintf(complaint, ALAR_COMPLAINT_BYTES, "%s: expected a file to write, found: %s",
                     options->log_json, strerror(errno));
        }
    }
    int64_t bad = options->log_json != NULL && run->rank[0].rank == 0 && run->log_json == NULL;
    ALAR_TRY(run_sum(run, 20, &bad, 1));
    return bad == 0 ? run_history_open(run, complaint) : ALAR_E_INPUT;
}

/* The farewell keeps every rank until all have come, so that none finalizes while another still
   needs its answers. */
static enum alar_status library_close(struct run *run)
{
    void *context = run->rank_count > 0 ? run->rank[0].context : NULL;
    enum alar_status status = ALAR_OK;

    if (run->is_simulated || context == NULL) {
        return ALAR_OK;
    }
    if (run->backend->farewell != NULL && run->backend->farewell(context, SUM_US) != 0) {
        status = ALAR_E_TIMEOUT;
    }
    return run->backend->fini(context) == 0 ? status : ALAR_E_BACKEND;
}

enum alar_status run_close(struct run *run)
{
    enum alar_status history = run_history_close(run);
    enum alar_status library = library_close(run);
    bool is_lost = run->log_json != NULL && fclose(run->log_json) != 0;

    for (uint32_t i = 0; i < run->rank_count; i++) {
        free(run->rank[i].log);
    }
    free(run->rank);
    alar_dataset_close(&run->dataset);
    return history != ALAR_OK ? history : is_lost ? ALAR_E_IO : library;
}

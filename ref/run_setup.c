/* What a run needs before its first pass, and gives back after its last: the losses, the back end,
   the ranks of this process, and their histories. */
#include "plugin.h"
#include "run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FAREWELL_US = 30000000
};

enum alar_status run_sum(struct run *run, uint64_t epoch, int64_t *lanes, size_t count)
{
    return run->is_simulated
               ? ALAR_OK
               : alar_sum_over_ranks(run->backend, run->rank[0].context, epoch, lanes, count);
}

/* Opens the history of each rank of this process. */
static enum alar_status histories_open(struct run *run, char *complaint)
{
    for (uint32_t i = 0; i < run->rank_count; i++) {
        struct run_rank *rank = &run->rank[i];
        const struct alar_config_writer writer = {
            .rank = rank->rank,
            .ranks = run->ranks,
            .backend = run->backend->name,
            .tag = "alar run",
            .is_simulated = run->is_simulated,
        };

        ALAR_TRY(alar_config_history(&run->config, &writer, &rank->history, &run->history_since_us,
                                     complaint));
    }
    return ALAR_OK;
}

/* Rank 0 prepares the directory, then all open their files; if one can't, none goes on. */
enum alar_status run_history_open(struct run *run, char *complaint)
{
    int64_t bad = 0;

    if (run->config.history == NULL) {
        return ALAR_OK;
    }
    snprintf(complaint, ALAR_COMPLAINT_BYTES, "another rank can't write its history");
    if (run->rank[0].rank == 0) {
        bad = alar_history_prepare(run->config.history, false, complaint) != ALAR_OK;
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
            run->options->view->ending(&run->rank[i], complaint);
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
        rank->log_max = (run->range.end - run->range.begin) / run->config.log_interval + 2;
        rank->log = calloc(rank->log_max, sizeof(*rank->log));
        rank->presence = calloc(run->ranks, sizeof(*rank->presence));
        rank->note = calloc(run->ranks, sizeof(*rank->note));
        if (rank->log == NULL || rank->presence == NULL || rank->note == NULL) {
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
    run->config = options->config;
    run->config.microbatches = (uint32_t)run->dataset.microbatches;
    ALAR_TRY(alar_dataset_select(&run->dataset, options->steps, &run->range, complaint));
    ALAR_TRY(alar_plugin_load(run->config.backend, builtin, &run->table, complaint));
    run->backend = &run->table;
    run->is_simulated = strcmp(run->config.backend, "sim") == 0;
    ALAR_TRY(ranks_open(run, complaint));
    if (run->ranks > run->dataset.ranks) {
        snprintf(complaint, ALAR_COMPLAINT_BYTES,
                 "%s: expected losses of %u ranks, found those of %u", options->losses, run->ranks,
                 run->dataset.ranks);
        return ALAR_E_INPUT;
    }
    int64_t bad = 0;
    if (options->log_json != NULL && run->rank[0].rank == 0) {
        run->log_json = (struct alar_report_file){.metric = "lm loss",
                                                  .normalization = run->config.normalization,
                                                  .encoding = run->config.encoding};
        bad = alar_report_file_open(&run->log_json, options->log_json, complaint) != ALAR_OK;
        run->has_log_json = bad == 0;
    }
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
    if (run->backend->farewell != NULL && run->backend->farewell(context, FAREWELL_US) != 0) {
        status = ALAR_E_TIMEOUT;
    }
    return run->backend->fini(context) == 0 ? status : ALAR_E_BACKEND;
}

enum alar_status run_close(struct run *run)
{
    enum alar_status history = run_history_close(run);
    enum alar_status library = library_close(run);
    bool is_lost = run->has_log_json && alar_report_file_close(&run->log_json) != ALAR_OK;

    for (uint32_t i = 0; i < run->rank_count; i++) {
        free(run->rank[i].log);
        free(run->rank[i].presence);
        free(run->rank[i].note);
    }
    free(run->rank);
    alar_dataset_close(&run->dataset);
    return history != ALAR_OK ? history : is_lost ? ALAR_E_IO : library;
}

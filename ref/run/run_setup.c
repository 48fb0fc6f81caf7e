/* What a run needs before its first pass, and gives back after its last: the losses, the back end,
   the ranks of this process, and their histories. */
#include "backend/plugin.h"
#include "faults/point.h"
#include "run/run_state.h"
#include "sys/error_line.h"
#include "sys/guard.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAVE_US = 100000
};

/* The worst of what each process has come to: all go on, or none does. Rank 0 speaks for all; where
   it knows nothing of the trouble, those who do speak too. */
static enum alar_status run_agree(struct run *run, uint64_t epoch, enum alar_status own,
                                  char *error_line)
{
    const struct run_rank self = {.rank = run->own, .run = run};
    int64_t failed[3] = {own != ALAR_OK, own == ALAR_E_NOMEM, own != ALAR_OK && run->own == 0};

    enum alar_status status = run_sum(run, epoch, "the opening", failed, 3);
    if (status != ALAR_OK && own == ALAR_OK) {
        snprintf(error_line, ALAR_ERROR_LINE_BYTES,
                 "the back end '%s': expected a sum over its ranks (i64 SUM), found: %s",
                 run->backend->name, alar_status_text(status));
    }
    if (status != ALAR_OK) {
        return ALAR_E_LOST;
    }
    if (own != ALAR_OK && run->own != 0 && failed[2] == 0) {
        run->options->view->ending(&self, error_line);
    }
    if (own != ALAR_OK || failed[0] == 0) {
        return own;
    }
    snprintf(error_line, ALAR_ERROR_LINE_BYTES,
             "expected every rank to open its losses and files, found %lld of %u that can't, each "
             "with a line of its own",
             (long long)failed[0], run->ranks);
    return failed[1] > 0 ? ALAR_E_NOMEM : ALAR_E_INPUT;
}

static bool write_spoil(void *faults, size_t *count)
{
    return alar_fault_write(faults, count);
}

/* Opens the history of each rank of this process. */
static enum alar_status histories_open(struct run *run, char *error_line)
{
    for (uint32_t i = 0; i < run->rank_count; i++) {
        struct run_rank *rank = &run->rank[i];
        const struct alar_config_writer writer = {
            .rank = rank->rank,
            .ranks = run->ranks,
            .backend = run->backend->name,
            .tag = "alar run",
            .is_simulated = run->is_simulated,
            .spoil = write_spoil,
            .faults = rank->faults,
        };

        ALAR_TRY(alar_config_history(&run->config, &writer, &rank->history, &run->history_since_us,
                                     error_line));
        run_groups_declare(run, rank);
    }
    return ALAR_OK;
}

/* Rank 0 prepares the directory, then all open their files; if one can't, none goes on. */
static enum alar_status histories_prepare(struct run *run, char *error_line)
{
    enum alar_status status = ALAR_OK;

    if (run->config.history == NULL) {
        return ALAR_OK;
    }
    if (run->rank[0].rank == 0) {
        status = alar_history_prepare(run->config.history, false, error_line);
    }
    ALAR_TRY(run_agree(run, 21, status, error_line));
    return run_agree(run, 22, histories_open(run, error_line), error_line);
}

static enum alar_status histories_close(struct run *run)
{
    enum alar_status status = ALAR_OK;
    char error_line[ALAR_ERROR_LINE_BYTES];

    for (uint32_t i = 0; i < run->rank_count; i++) {
        if (alar_history_close(run->rank[i].history, error_line) != ALAR_OK) {
            run->options->view->ending(&run->rank[i], error_line);
            status = ALAR_E_IO;
        }
        run->rank[i].history = NULL;
    }
    return status;
}

/* Counts are added up as whole numbers; and where there is no farewell to meet in, an all-reduce on
   a communicator of its own serves. */
static enum alar_status library_suits(struct run *run, char *error_line)
{
    struct alar_caps caps = {0};

    if (run->backend->caps(run->context, &caps) != 0 || (caps.dtypes >> ALAR_I64 & 1U) == 0 ||
        (caps.reductions >> ALAR_SUM & 1U) == 0) {
        snprintf(error_line, ALAR_ERROR_LINE_BYTES,
                 "the back end '%s': expected i64 SUM, which alar run adds its counts with",
                 run->backend->name);
        return ALAR_E_INPUT;
    }
    if (run->backend->farewell == NULL &&
        run->backend->comm_create(run->context, NULL, 0, 19, &run->meeting) != 0) {
        snprintf(error_line, ALAR_ERROR_LINE_BYTES, "the back end '%s': no communicator",
                 run->backend->name);
        return ALAR_E_INPUT;
    }
    return ALAR_OK;
}

/* One rank a process, as the launcher says. */
static enum alar_status library_open(struct run *run, char *error_line)
{
    const uint64_t deadline_ms = run->config.deadline_ms;
    struct alar_boot boot = {.rank = -1,
                             .ranks = -1,
                             .config = "",
                             .timeout_us =
                                 deadline_ms == ALAR_NO_DEADLINE ? 0 : deadline_ms * 1000};

    if (run->is_simulated) {
        return ALAR_OK;
    }
    run_guard(run, "the start of the library");
    if (run->backend->init(&run->context, &boot) != 0) {
        snprintf(error_line, ALAR_ERROR_LINE_BYTES, "the back end '%s' does not start",
                 run->backend->name);
        return ALAR_E_INPUT;
    }
    if (boot.rank < 0 || boot.ranks < 1 || boot.rank >= boot.ranks) {
        snprintf(
            error_line, ALAR_ERROR_LINE_BYTES,
            "the back end '%s': expected a rank within its world from init, found rank %d of %d",
            run->backend->name, boot.rank, boot.ranks);
        return ALAR_E_INPUT;
    }
    run->ranks = (uint32_t)boot.ranks;
    run->own = (uint32_t)boot.rank;
    if (run->options->ranks > 0 && run->options->ranks != run->ranks) {
        snprintf(error_line, ALAR_ERROR_LINE_BYTES,
                 "--ranks %u: expected as many ranks as the launcher of '%s' started, which are %u",
                 run->options->ranks, run->backend->name, run->ranks);
        return ALAR_E_INPUT;
    }
    return library_suits(run, error_line);
}

static enum alar_status rank_prepare(struct run *run, struct run_rank *rank, uint32_t number)
{
    struct alar_coordinates coordinates = alar_topology_coordinates(&run->topology, number);
    size_t steps = run->range.end - run->range.begin;
    const struct alar_fault_rank_options faults = {
        .faults = run->options->faults,
        .rank = number,
        .ranks = run->ranks,
        .microbatches = steps * run->config.microbatches,
    };

    rank->rank = number;
    rank->context = run->context;
    rank->run = run;
    snprintf(rank->group, sizeof(rank->group), "dp%u", coordinates.cp);
    snprintf(rank->sharing_group, sizeof(rank->sharing_group), "cp%u", coordinates.dp);
    rank->log_max = (steps / run->config.log_interval + 2) * run_metrics_count(run);
    rank->log = calloc(rank->log_max, sizeof(*rank->log));
    /* A roll call is over before the next rank of this process calls one. */
    bool is_first = rank == run->rank;
    rank->presence = is_first ? calloc(run->ranks, sizeof(*rank->presence)) : run->rank->presence;
    rank->note = is_first ? calloc(run->ranks, sizeof(*rank->note)) : run->rank->note;
    if (rank->log == NULL || rank->presence == NULL || rank->note == NULL) {
        return ALAR_E_NOMEM;
    }
    return alar_fault_rank_open(&rank->faults, &faults);
}

/* Files that the reporter writes beside its history. */
static enum alar_status outputs_open(struct run *run, char *error_line)
{
    const char *stats = run->options->stats_json;

    if (run_reporter(run) == NULL) {
        return ALAR_OK;
    }
    if (stats != NULL && (run->stats = fopen(stats, "w")) == NULL) {
        return alar_complain(error_line, stats, "expected a file to write, found: %s",
                             strerror(errno));
    }
    if (run->options->log_json == NULL) {
        return ALAR_OK;
    }
    run->log_json =
        (struct alar_report_file){.normalization = run->config.normalization,
                                  .encoding = run->config.encoding,
                                  .counts_nonfinite = run->config.check == ALAR_CHECK_AGREE ||
                                                      run->config.check == ALAR_CHECK_COUNT};
    ALAR_TRY(alar_report_file_open(&run->log_json, run->options->log_json, error_line));
    run->has_log_json = true;
    return ALAR_OK;
}

static enum alar_status losses_open(struct run *run, char *error_line)
{
    const struct alar_run_options *options = run->options;
    const struct alar_dataset_source source = {
        .directory = options->losses, .input = options->input, .rank = ALAR_EVERY_RANK};

    ALAR_TRY(alar_dataset_open(&source, &run->dataset, error_line));
    run->config.microbatches = (uint32_t)run->dataset.microbatches;
    ALAR_TRY(alar_dataset_select(&run->dataset, options->steps, &run->range, error_line));
    if (run->is_simulated) {
        run->ranks = options->ranks;
    }
    ALAR_TRY(run_topology_open(run, error_line));
    ALAR_TRY(run_metrics_open(run, error_line));
    uint32_t losses = 1 + run_losses_rank(run, run->ranks - 1);

    if (losses > run->dataset.ranks) {
        snprintf(error_line, ALAR_ERROR_LINE_BYTES,
                 "%s: expected losses of %u ranks, found those of %u", run->options->losses, losses,
                 run->dataset.ranks);
        return ALAR_E_INPUT;
    }
    return ALAR_OK;
}

/* What this process needs for its ranks, and can fail to get while others get it. */
static enum alar_status ranks_open(struct run *run, char *error_line)
{
    ALAR_TRY(losses_open(run, error_line));
    uint32_t count = run->is_simulated ? run->ranks : 1;

    ALAR_TRY(alar_faults_suit(run->options->faults, run->ranks, error_line));
    run->rank = calloc(count, sizeof(*run->rank));
    run->rank_count = run->rank != NULL ? count : 0;
    if (run->rank == NULL) {
        return ALAR_E_NOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        ALAR_TRY(rank_prepare(run, &run->rank[i], run->own + i));
    }
    return outputs_open(run, error_line);
}

/* The library starts before the inputs are read, so that a process that can't read them still tells
   the others, who would wait for it in the library's start. */
enum alar_status run_open(struct run *run, char *error_line)
{
    const struct alar_run_options *options = run->options;
    const struct alar_backend *const builtin[] = {alar_sim_backend(), NULL};

    run->config = options->config;
    snprintf(error_line, ALAR_ERROR_LINE_BYTES, "out of memory");
    ALAR_TRY(alar_plugin_load(run->config.backend, builtin, &run->table, error_line));
    run->backend = &run->table;
    run->is_simulated = strcmp(run->config.backend, "sim") == 0;
    ALAR_TRY(library_open(run, error_line));
    ALAR_TRY(run_agree(run, 20, ranks_open(run, error_line), error_line));
    return histories_prepare(run, error_line);
}

/* The library can't be finalized with a rank that does not come: leave it as it is. */
static void library_leave(struct run *run)
{
    struct run_rank *rank = &run->rank[0];

    if (run->backend->leave == NULL || run->rank_count == 0 || rank->presence == NULL) {
        return;
    }
    run->options->view->ending(rank, alar_status_text(ALAR_E_LOST));
    memset(rank->presence, ALAR_HERE, run->ranks);
    run->backend->leave(run->context, ALAR_CLASS_INCOMPLETE, rank->presence, LEAVE_US);
}

/* The farewell keeps every rank until all have come, so that none finalizes while another still
   needs its answers. */
static enum alar_status library_close(struct run *run)
{
    enum alar_status status = ALAR_OK;

    if (run->context == NULL) {
        return ALAR_OK;
    }
    run_guard(run, "the end of the library");
    run->is_leaving = true;
    if (run->backend->farewell != NULL &&
        run->backend->farewell(run->context, run_limit_us(run)) != 0) {
        library_leave(run);
        status = ALAR_E_TIMEOUT;
    }
    if (run->meeting != NULL) {
        run->backend->comm_free(run->meeting);
    }
    if (run->backend->fini(run->context) != 0) {
        status = ALAR_E_BACKEND;
    }
    run_see_off(run);
    alar_guard_clear();
    return status;
}

/* Were they written to their end? */
static enum alar_status outputs_close(struct run *run, char *error_line)
{
    enum alar_status status = ALAR_OK;

    errno = 0;
    if (run->has_log_json && alar_report_file_close(&run->log_json) != ALAR_OK) {
        status = alar_complain(error_line, run->options->log_json,
                               "expected to write all of it, found: %s",
                               strerror(errno ? errno : ENOSPC));
    }
    if (run->stats != NULL && (ferror(run->stats) | fclose(run->stats))) {
        status = alar_complain(error_line, run->options->stats_json,
                               "expected to write all of it, found: %s",
                               strerror(errno ? errno : ENOSPC));
    }
    return status == ALAR_OK ? ALAR_OK : ALAR_E_IO;
}

enum alar_status run_close(struct run *run, char *error_line)
{
    enum alar_status history = histories_close(run);
    enum alar_status library = library_close(run);
    enum alar_status outputs = outputs_close(run, error_line);

    for (uint32_t i = 0; i < run->rank_count; i++) {
        free(run->rank[i].log);
        alar_fault_rank_free(run->rank[i].faults);
        if (run->rank[i].wrapped != NULL) {
            run->options->wrap->free(run->rank[i].wrapped);
        }
    }
    if (run->rank_count > 0) {
        free(run->rank[0].presence);
        free(run->rank[0].note);
    }
    free(run->rank);
    alar_dataset_close(&run->dataset);
    return history != ALAR_OK ? history : outputs != ALAR_OK ? outputs : library;
}

/* The library's face for one rank in one process: the driver, a plug-in and a real clock. */
#include "api/alar.h"

#include "backend/plugin.h"
#include "base/check.h"
#include "driver/config.h"
#include "sys/clock.h"

#include <stdlib.h>
#include <string.h>

enum {
    LINES_MAX = 16, /* log lines whose reports may be unread */
    REPORTS_MAX = LINES_MAX * ALAR_METRICS_MAX,
    WAIT_SLICE_US = 10000,
    FAREWELL_US = 30000000,
    SUM_US = 30000000,
    GRACE_US = 100000
};

struct alar {
    struct alar_config config;
    struct alar_schema schema;
    char why[ALAR_PARTICIPATION_TEXT_BYTES];
    struct alar_backend backend;
    void *context;
    uint32_t rank;
    uint32_t ranks;
    struct alar_driver *driver;
    struct alar_history *history;
    int64_t step;        /* number of the current step, from 0 */
    uint32_t microbatch; /* posted of it */
    bool is_finished;

    struct alar_report report[REPORTS_MAX]; /* unread, a ring */
    size_t report_first;
    size_t report_count;
};

static void report_keep(void *sink, const struct alar_report *report)
{
    struct alar *log = sink;

    PRE(log->report_count < REPORTS_MAX);
    log->report[(log->report_first + log->report_count++) % REPORTS_MAX] = *report;
}

/* Rank 0 prepares the directory; then every rank opens its file in it. */
static enum alar_status history_start(struct alar *log, uint64_t *since_us, char *error_line)
{
    const struct alar_config_writer writer = {
        .rank = log->rank,
        .ranks = log->ranks,
        .backend = log->backend.name,
        .tag = "alar",
    };
    int64_t bad = 0;

    if (log->config.history == NULL) {
        return ALAR_OK;
    }
    if (log->rank == 0) {
        bad = alar_history_prepare(log->config.history, false, error_line) != ALAR_OK;
    }
    ALAR_TRY(alar_sum_over_ranks(&log->backend, log->context, 21, SUM_US, &bad, 1));
    if (bad != 0) {
        return ALAR_E_INPUT;
    }
    return alar_config_history(&log->config, &writer, &log->history, since_us, error_line);
}

static enum alar_status driver_start(struct alar *log, uint64_t since_us)
{
    struct alar_driver_options options = alar_config_driver(&log->config, log->ranks);

    options.backend = &log->backend;
    options.context = log->context;
    options.place.rank = log->rank;
    options.now_us = alar_clock_now;
    options.comm_epoch = 1;
    options.history = log->history;
    options.history_since_us = since_us;
    options.history_units_per_us = 1000;
    options.on_report = report_keep;
    options.sink = log;
    return alar_driver_open(&log->driver, &options);
}

static enum alar_status log_start(struct alar *log, char *error_line)
{
    static const struct alar_backend *const builtin[] = {NULL};
    struct alar_boot boot = {.rank = -1, .ranks = -1, .config = ""};
    uint64_t since_us = 0;

    ALAR_TRY(alar_schema_init(&log->schema, log->config.metrics, log->config.metric_count));
    ALAR_TRY(alar_plugin_load(log->config.backend, builtin, &log->backend, error_line));
    if (log->backend.init(&log->context, &boot) != 0) {
        return ALAR_E_BACKEND;
    }
    log->rank = (uint32_t)boot.rank;
    log->ranks = (uint32_t)boot.ranks;
    ALAR_TRY(history_start(log, &since_us, error_line));
    return driver_start(log, since_us);
}

enum alar_status alar_open(struct alar **log, const struct alar_config *config, char *error_line)
{
    char unread[ALAR_ERROR_LINE_BYTES];
    struct alar *made = calloc(1, sizeof(*made));

    if (made == NULL) {
        return ALAR_E_NOMEM;
    }
    made->config = *config;
    alar_config_complete(&made->config);
    enum alar_status status = log_start(made, error_line != NULL ? error_line : unread);
    if (status != ALAR_OK) {
        enum alar_status closed = alar_close(made);

        (void)closed; /* the first reason is the one worth telling */
        return status;
    }
    *log = made;
    return ALAR_OK;
}

uint32_t alar_rank(const struct alar *log)
{
    return log->rank;
}

uint32_t alar_ranks(const struct alar *log)
{
    return log->ranks;
}

/* Stands still until the driver lets the program go on. */
static enum alar_status log_settle(struct alar *log, enum alar_need need)
{
    while (need == ALAR_NEED_POLL) {
        need = alar_driver_wait(log->driver, WAIT_SLICE_US);
    }
    return alar_driver_status(log->driver);
}

static bool is_over(const struct alar *log)
{
    return log->is_finished || alar_driver_need(log->driver) != ALAR_NEED_NOTHING;
}

/* Why nothing may be posted any more. */
static enum alar_status over_status(const struct alar *log)
{
    enum alar_status status = alar_driver_status(log->driver);

    return status != ALAR_OK ? status : ALAR_E_RANGE;
}

enum alar_status alar_post_metrics(struct alar *log, const struct alar_sample *samples)
{
    struct alar_local local[ALAR_METRICS_MAX];

    ALAR_TRY(alar_embed_locals(&log->schema, samples, local));
    if (is_over(log)) {
        return over_status(log);
    }
    if (log->microbatch == log->config.microbatches) {
        return ALAR_E_RANGE;
    }
    log->microbatch++;
    return log_settle(log, alar_driver_microbatch(log->driver, log->step, local));
}

enum alar_status alar_post(struct alar *log, double loss_sum, double tokens)
{
    const struct alar_sample sample = {.sum = loss_sum, .tokens = tokens};

    return log->schema.count == 1 ? alar_post_metrics(log, &sample) : ALAR_E_RANGE;
}

const char *alar_why(struct alar *log)
{
    const struct alar_participation_error *participation_error =
        alar_driver_participation_error(log->driver);

    if (participation_error == NULL) {
        return NULL;
    }
    alar_participation_print(participation_error, log->why);
    return log->why;
}

enum alar_status alar_step_end(struct alar *log)
{
    if (is_over(log)) {
        return over_status(log);
    }
    if (log->microbatch != log->config.microbatches) {
        return ALAR_E_RANGE;
    }
    if (log->report_count > (LINES_MAX - 1) * (size_t)log->schema.count) {
        return ALAR_E_FULL;
    }
    log->microbatch = 0;
    log->step++;
    return log_settle(log, alar_driver_step_end(log->driver));
}

enum alar_status alar_poll(struct alar *log)
{
    alar_driver_poll(log->driver);
    return alar_driver_status(log->driver);
}

enum alar_status alar_report(struct alar *log, struct alar_report *report)
{
    if (log->report_count == 0) {
        return ALAR_E_EMPTY;
    }
    *report = log->report[log->report_first];
    log->report_first = (log->report_first + 1) % REPORTS_MAX;
    log->report_count--;
    return ALAR_OK;
}

enum alar_status alar_finish(struct alar *log)
{
    if (is_over(log)) {
        return alar_driver_status(log->driver);
    }
    if (log->microbatch != 0) {
        return ALAR_E_RANGE;
    }
    if (log->report_count > (LINES_MAX - 1) * (size_t)log->schema.count) {
        return ALAR_E_FULL;
    }
    log->is_finished = true;
    return log_settle(log, alar_driver_finish(log->driver));
}

/* The other ranks may be lost, so the library can't be finalized: this ends the process. */
static void log_abandon(struct alar *log, enum alar_status status)
{
    uint8_t *presence = calloc(log->ranks, sizeof(*presence));

    if (log->backend.leave != NULL && presence != NULL) {
        memset(presence, ALAR_HERE, log->ranks);
        log->backend.leave(log->context, (int)alar_status_class(status), presence, GRACE_US);
    }
    free(presence);
}

/* Ends the driver, its history and the back end. */
static enum alar_status log_end(struct alar *log)
{
    enum alar_status status = alar_driver_status(log->driver);
    bool is_common = alar_config_ends_together(&log->config, status);

    if (alar_driver_need(log->driver) == ALAR_NEED_END) {
        alar_driver_tear_down(log->driver);
    }
    if (is_common) {
        alar_driver_record_close(log->driver);
    } else {
        alar_driver_record_exit(log->driver, (int)alar_status_class(status), status, NULL);
    }
    enum alar_status written = alar_history_close(log->history, NULL);
    log->history = NULL;
    if (is_common && log->backend.farewell != NULL &&
        log->backend.farewell(log->context, FAREWELL_US) != 0) {
        status = status != ALAR_OK ? status : ALAR_E_TIMEOUT;
        is_common = false;
    }
    if (!is_common) {
        log_abandon(log, status);
    }
    return status != ALAR_OK ? status : written;
}

enum alar_status alar_close(struct alar *log)
{
    enum alar_status status = ALAR_OK;

    if (log == NULL) {
        return ALAR_OK;
    }
    if (log->driver != NULL) {
        status = log->is_finished ? ALAR_OK : alar_finish(log);
        enum alar_status ended = log_end(log);
        status = ended != ALAR_OK ? ended : status;
    }
    alar_driver_free(log->driver);
    if (log->context != NULL && log->backend.fini(log->context) != 0 && status == ALAR_OK) {
        status = ALAR_E_BACKEND;
    }
    free(log);
    return status;
}

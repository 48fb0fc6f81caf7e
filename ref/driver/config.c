/* From a configuration to a driver and its history. */
#include "driver/config.h"

#include "base/check.h"
#include "sys/clock.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
    SUM_ELEMENTS_MAX = 16
};

struct alar_driver_options alar_config_driver(const struct alar_config *config, uint32_t ranks)
{
    bool has_deadline = config->deadline_ms != ALAR_NO_DEADLINE;

    return (struct alar_driver_options){
        .config = *config,
        .place = {.ranks = ranks},
        .deadline_us = has_deadline ? config->deadline_ms * 1000 : 0,
        .is_blocking = !has_deadline,
    };
}

bool alar_config_ends_together(const struct alar_config *config, enum alar_status status)
{
    return status == ALAR_OK || status == ALAR_E_MISCOUNT || status == ALAR_E_SCHEMA ||
           (status == ALAR_E_NONFINITE && config->check == ALAR_CHECK_AGREE);
}

/* What is not a mean is declared. */
static void history_kinds(const struct alar_config *config, struct alar_history *history)
{
    for (uint32_t i = 0; i < config->metric_count; i++) {
        const struct alar_history_declare record = {
            .key = config->metrics[i].name,
            .kind = alar_metric_kind_names[config->metrics[i].kind],
        };

        if (config->metrics[i].kind != ALAR_METRIC_MEAN) {
            alar_history_declare(history, 0, &record);
        }
    }
}

/* Which start of the machine its clock counts from: hosts may share a name. */
static void boot_read(char *text, size_t bytes)
{
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t count = file >= 0 ? read(file, text, bytes - 1) : 0;

    text[count > 0 ? count : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    if (file >= 0) {
        close(file);
    }
}

enum alar_status alar_config_history(const struct alar_config *config,
                                     const struct alar_config_writer *writer,
                                     struct alar_history **history, uint64_t *since_us,
                                     char *error_line)
{
    char host[256] = "", boot[64] = "";
    size_t microbatches = (size_t)config->microbatches * config->log_interval;
    const struct alar_embed_place place = {.ranks = writer->ranks};
    struct alar_embed_plan plan;

    ALAR_TRY(alar_embed_plan(&plan, config, &place));
    const struct alar_history_options options = {
        .directory = config->history,
        .rank = writer->rank,
        .elements = alar_payload_elements(&plan.layout, microbatches),
        .ops = microbatches,
        .spoil = writer->spoil,
        .faults = writer->faults,
    };

    gethostname(host, sizeof(host) - 1);
    boot_read(boot, sizeof boot);
    ALAR_TRY(alar_history_open(history, &options, error_line));
    *since_us = writer->is_simulated ? 0 : alar_clock_now(NULL);
    const struct alar_history_trace header = {
        .world = writer->ranks,
        .backend = writer->backend,
        .tag = writer->tag,
        .clock = writer->is_simulated ? "ticks" : "monotonic_ns",
        .t0 = (int64_t)*since_us * 1000,
        .host = writer->is_simulated ? NULL : host,
        .boot_id = writer->is_simulated || boot[0] == '\0' ? NULL : boot,
        .sees = "values ends reads reports",
        .schedule = alar_schedule_names[config->placement + 3U * config->is_sync],
        .normalization = alar_normalization_names[config->normalization],
        .over = alar_over_names[config->over],
        .encoding = alar_encoding_names[config->encoding],
        .microbatches = config->microbatches,
        .log_interval = config->log_interval,
        .check_for_nan = alar_check_names[config->check],
        .wait_at = config->waits_at_log ? "log" : "step",
    };
    alar_history_trace(*history, 0, &header);
    history_kinds(config, *history);
    return ALAR_OK;
}

enum alar_status alar_comm_status(int code)
{
    return code == 0                 ? ALAR_OK
           : code == -ALAR_E_TIMEOUT ? ALAR_E_TIMEOUT
           : code == -ALAR_E_LOST    ? ALAR_E_LOST
                                     : ALAR_E_BACKEND;
}

enum alar_status alar_sum_over_ranks(const struct alar_backend *backend, void *context,
                                     uint64_t epoch, uint64_t limit_us, int64_t *elements,
                                     size_t count)
{
    const struct alar_op op = {.scale = 1.0};
    int64_t sum[SUM_ELEMENTS_MAX];
    void *comm = NULL;
    void *request = NULL;
    int error = 0;

    PRE(count <= SUM_ELEMENTS_MAX);
    ALAR_TRY(alar_comm_status(backend->comm_create(context, NULL, 0, epoch, &comm)));
    if (backend->allreduce(comm, elements, sum, count, ALAR_I64, ALAR_SUM, NULL, &op, &request) !=
        0) {
        return ALAR_E_BACKEND;
    }
    uint64_t now = alar_clock_now(NULL);
    uint64_t until = limit_us < UINT64_MAX - now ? now + limit_us : UINT64_MAX;
    int failed = backend->wait(request, NULL, limit_us, &error);
    /* A rank that has added its elements may have left since: the sum is still to come. */
    while (failed == -ALAR_E_LOST && alar_clock_now(NULL) < until) {
        alar_clock_sleep(alar_clock_now(NULL) + 1000);
        failed = backend->wait(request, NULL, limit_us, &error);
    }
    if (failed != 0 || error != 0) {
        return ALAR_E_TIMEOUT;
    }
    backend->request_free(request);
    backend->comm_free(comm);
    memcpy(elements, sum, count * sizeof(*elements));
    return ALAR_OK;
}

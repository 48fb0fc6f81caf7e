/* One reduction after the other, each over before the next is written. */
#include "driver/cp_reduce.h"

#include <stdlib.h>

enum alar_status alar_cp_reduce_open(struct alar_cp_reduce *share,
                                     const struct alar_sharing *sharing,
                                     const struct alar_driver *driver)
{
    share->sharing = *sharing;
    share->driver = driver;
    share->elements = alar_payload_elements(&sharing->layout, 1);
    share->send = calloc(share->elements, alar_payload_element_bytes(&sharing->layout));
    share->receive = calloc(share->elements, alar_payload_element_bytes(&sharing->layout));
    return share->send != NULL && share->receive != NULL ? ALAR_OK : ALAR_E_NOMEM;
}

void alar_cp_reduce_close(struct alar_cp_reduce *share)
{
    free(share->send);
    free(share->receive);
}

static struct alar_history_op record_op(const struct alar_cp_reduce *share)
{
    return (struct alar_history_op){.group = share->sharing.group, .number = share->number};
}

static struct alar_elements record_elements(const struct alar_cp_reduce *share, const void *values)
{
    return (struct alar_elements){.values = values,
                                  .count = share->elements,
                                  .dtype = alar_payload_dtype(&share->sharing.layout)};
}

/* Without `key` and `step`: it stands in no report, and its metric is whole only afterwards. */
static void record_issue(const struct alar_cp_reduce *share)
{
    struct alar_history *history = alar_driver_history(share->driver);
    const struct alar_history_issue issue = {
        .op = record_op(share),
        .reduction = "sum",
        .buffer = "share",
        .in = record_elements(share, share->send),
    };
    const struct alar_history_wait wait = {.op = issue.op};

    if (history != NULL) {
        alar_history_issue(history, alar_driver_record_time(share->driver), &issue);
        alar_history_wait(history, alar_driver_record_time(share->driver), &wait);
    }
}

static void record_value(const struct alar_cp_reduce *share)
{
    struct alar_history *history = alar_driver_history(share->driver);
    const struct alar_history_done done = {.op = record_op(share),
                                           .out = record_elements(share, share->receive)};
    const struct alar_history_read read = {.op = done.op, .bits = done.out};

    if (history != NULL) {
        alar_history_complete(history, alar_driver_record_time(share->driver), done.op);
        alar_history_done(history, alar_driver_record_time(share->driver), &done);
        alar_history_read(history, alar_driver_record_time(share->driver), &read);
    }
}

void alar_cp_reduce_write(struct alar_cp_reduce *share, int64_t step, uint32_t microbatch,
                          const struct alar_local *local)
{
    share->step = step;
    share->microbatch = microbatch;
    alar_payload_write(&share->sharing.layout, share->sharing.rank, share->number, local, 1,
                       share->send);
    record_issue(share);
}

enum alar_status alar_cp_reduce_retire(struct alar_cp_reduce *share, struct alar_local *local,
                                       struct alar_participation_error *participation_error)
{
    const struct alar_sharing *sharing = &share->sharing;
    struct alar_participation_error found = {
        .finding =
            alar_payload_check(&sharing->layout, sharing->rank, share->number, share->receive, 1),
        .step = share->step,
        .microbatch = share->microbatch,
        .number = share->number,
    };

    record_value(share);
    share->number++;
    if (found.finding.kind != ALAR_PARTICIPATION_WHOLE) {
        found.finding.rank += sharing->first_rank;
        found.finding.other += sharing->first_rank;
        *participation_error = found;
        return ALAR_E_MISCOUNT;
    }
    return alar_payload_local(&sharing->layout, share->receive, &share->exact, local)
               ? ALAR_OK
               : ALAR_E_BACKEND;
}

void alar_cp_reduce_give_up(struct alar_cp_reduce *share, enum alar_status status)
{
    struct alar_history *history = alar_driver_history(share->driver);
    const struct alar_history_fail fail = {
        .op = record_op(share),
        .error = status == ALAR_E_TIMEOUT ? "timeout"
                 : status == ALAR_E_LOST  ? "lost"
                                          : "backend",
        .text = alar_status_text(status),
    };

    if (history != NULL) {
        alar_history_fail(history, alar_driver_record_time(share->driver), &fail);
    }
}

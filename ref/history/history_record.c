/* The records of a history, field by field as spec/history.md has them. */
#include "history/history_state.h"
#include "history/report_json.h"
#include "numbers/fp.h"

static void add_op(struct alar_json *json, struct alar_history_op op)
{
    alar_json_op(json, "op", op.group != NULL ? op.group : "world", op.number);
}

/* A count that may be left out. */
static void add_positive(struct alar_json *json, const char *key, uint64_t number)
{
    if (number > 0) {
        alar_json_count(json, key, number);
    }
}

void alar_history_trace(struct alar_history *history, uint64_t t,
                        const struct alar_history_trace *record)
{
    if (history == NULL) {
        return;
    }
    struct alar_json *json = history_begin(history, t, "trace");
    alar_json_count(json, "v", 1);
    alar_json_count(json, "world", record->world);
    alar_json_text(json, "backend", record->backend);
    alar_json_text(json, "tag", record->tag);
    alar_json_text(json, "clock", record->clock);
    alar_json_signed(json, "t0", record->t0);
    alar_json_text(json, "host", record->host);
    alar_json_text(json, "boot_id", record->boot_id);
    alar_json_text(json, "sees", record->sees);
    alar_json_text(json, "schedule", record->schedule);
    alar_json_text(json, "normalization", record->normalization);
    alar_json_text(json, "over", record->over);
    alar_json_text(json, "encoding", record->encoding);
    add_positive(json, "microbatches", record->microbatches);
    add_positive(json, "log_interval", record->log_interval);
    alar_json_text(json, "check_for_nan", record->check_for_nan);
    alar_json_text(json, "wait_at", record->wait_at);
    history_end(history);
}

/* What stands where nothing is promised is left out. */
void alar_history_caps(struct alar_history *history, uint64_t t, const struct alar_caps *caps)
{
    if (history == NULL) {
        return;
    }
    struct alar_json *json = history_begin(history, t, "contract");
    alar_json_text(json, "order", alar_order_names[caps->has_fixed_order != 0]);
    alar_json_text(json, "tree", caps->tree[0] != '\0' ? caps->tree : NULL);
    add_positive(json, "height", caps->tree_height);
    if (caps->adder > 0 && caps->adder < ALAR_MODEL_COUNT) {
        alar_json_text(json, "adder", alar_model_name((enum alar_model)caps->adder));
    }
    if (caps->width > 0 && caps->width <= ALAR_DTYPE_COUNT) {
        alar_json_text(json, "width", alar_dtype_name((enum alar_dtype)(caps->width - 1)));
    }
    add_positive(json, "outstanding", caps->outstanding_max);
    history_end(history);
}

void alar_history_declare(struct alar_history *history, uint64_t t,
                          const struct alar_history_declare *record)
{
    if (history == NULL) {
        return;
    }
    struct alar_json *json = history_begin(history, t, "declare");
    alar_json_text(json, "group", record->group);
    if (record->members != NULL) {
        alar_json_ranks(json, "members", record->members, record->count);
    }
    alar_json_text(json, "key", record->key);
    alar_json_text(json, "scope", record->scope);
    alar_json_text(json, "kind", record->kind);
    history_end(history);
}

void alar_history_issue(struct alar_history *history, uint64_t t,
                        const struct alar_history_issue *record)
{
    if (history == NULL) {
        return;
    }
    struct alar_json *json = history_begin(history, t, "issue");
    add_op(json, record->op);
    alar_json_text(json, "red", record->reduction);
    alar_json_text(json, "dtype", alar_dtype_name(record->in.dtype));
    alar_json_count(json, "n", record->in.count);
    alar_json_flag(json, "sync", record->is_sync);
    alar_json_text(json, "buf", record->buffer);
    alar_json_count(json, "ver", record->version);
    history_elements(history, "in", record->in);
    alar_json_text(json, "key", record->key);
    if (record->has_step) {
        alar_json_signed(json, "step", record->step);
    }
    if (record->has_microbatch) {
        alar_json_count(json, "mb", record->microbatch);
    }
    add_positive(json, "pairs", record->pairs);
    history_end(history);
}

void alar_history_wait(struct alar_history *history, uint64_t t,
                       const struct alar_history_wait *record)
{
    if (history == NULL) {
        return;
    }
    struct alar_json *json = history_begin(history, t, "wait");
    add_op(json, record->op);
    alar_json_flag(json, "done", record->is_done);
    alar_json_count(json, "ver", record->version);
    if (record->now.values != NULL) {
        history_elements(history, "now", record->now);
    }
    history_end(history);
}

void alar_history_done(struct alar_history *history, uint64_t t,
                       const struct alar_history_done *record)
{
    if (history == NULL) {
        return;
    }
    struct alar_json *json = history_begin(history, t, "done");
    add_op(json, record->op);
    alar_json_count(json, "ver", record->version);
    history_elements(history, "out", record->out);
    history_end(history);
}

void alar_history_complete(struct alar_history *history, uint64_t t, struct alar_history_op op)
{
    if (history == NULL) {
        return;
    }
    add_op(history_begin(history, t, "complete"), op);
    history_end(history);
}

void alar_history_fail(struct alar_history *history, uint64_t t,
                       const struct alar_history_fail *record)
{
    if (history == NULL) {
        return;
    }
    struct alar_json *json = history_begin(history, t, "fail");
    add_op(json, record->op);
    alar_json_text(json, "error", record->error);
    alar_json_text(json, "text", record->text);
    if (record->missing_count > 0) {
        alar_json_ranks(json, "missing", record->missing, record->missing_count);
    }
    history_end(history);
}

void alar_history_read(struct alar_history *history, uint64_t t,
                       const struct alar_history_read *record)
{
    if (history == NULL) {
        return;
    }
    struct alar_json *json = history_begin(history, t, "read");
    add_op(json, record->op);
    alar_json_count(json, "at", record->at);
    alar_json_count(json, "n", record->bits.count);
    history_elements(history, "bits", record->bits);
    history_end(history);
}

void alar_history_report(struct alar_history *history, uint64_t t,
                         const struct alar_history_report *record)
{
    if (history == NULL) {
        return;
    }
    const struct alar_report *report = record->report;
    const char *group = record->first_op.group != NULL ? record->first_op.group : "world";
    struct alar_json *json = history_begin(history, t, "report");
    alar_json_text(json, "metric", record->metric);
    alar_json_signed(json, "step", report->step);
    alar_json_signed(json, "first_step", report->first_step);
    alar_json_signed(json, "logged_at_step", report->logged_at_step);
    alar_report_meaning(json, report, alar_normalization_names[record->normalization],
                        alar_over_names[record->over]);
    alar_report_loss(json, report, record->encoding);
    if (alar_report_has_tokens(report, record->normalization)) {
        alar_json_count(json, "tokens", (uint64_t)report->tokens);
    }
    if (record->counts_nonfinite) {
        alar_json_count(json, "nonfinite", report->nonfinite);
    }
    alar_json_count(json, "empty", report->empty);
    alar_json_text(json, "sink", record->sink);
    alar_json_ops(json, "ops", group, record->first_op.number, record->ops);
    history_end(history);
}

void alar_history_fault(struct alar_history *history, uint64_t t,
                        const struct alar_history_fault *record)
{
    if (history == NULL) {
        return;
    }
    struct alar_json *json = history_begin(history, t, "fault");
    alar_json_text(json, "point", record->point);
    alar_json_count(json, "hit", record->hit);
    alar_json_signed(json, "value", record->value);
    if (record->has_op) {
        add_op(json, record->op);
    }
    history_end(history);
}

void alar_history_abort(struct alar_history *history, uint64_t t, const char *group)
{
    if (history == NULL) {
        return;
    }
    alar_json_text(history_begin(history, t, "abort"), "group", group != NULL ? group : "world");
    history_end(history);
}

void alar_history_exit(struct alar_history *history, uint64_t t,
                       const struct alar_history_exit *record)
{
    if (history == NULL) {
        return;
    }
    struct alar_json *json = history_begin(history, t, "exit");
    alar_json_signed(json, "code", record->code);
    alar_json_text(json, "status", alar_status_name(record->status));
    alar_json_text(json, "text", record->text);
    history_end(history);
}

void alar_history_end(struct alar_history *history, uint64_t t)
{
    if (history == NULL) {
        return;
    }
    history_begin(history, t, "end");
    history_end(history);
}

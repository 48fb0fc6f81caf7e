/* Contracts, twins and storage, field by field as spec/history.md has them. */
#include "tests/lib/history_more.h"
#include "history/history_state.h"

static void add_op(struct alar_json *json, struct alar_history_op op)
{
    alar_json_op(json, "op", op.group != NULL ? op.group : "world", op.number);
}

static void add_positive(struct alar_json *json, const char *key, uint64_t number)
{
    if (number > 0) {
        alar_json_count(json, key, number);
    }
}

void alar_history_contract(struct alar_history *history, uint64_t t,
                           const struct alar_history_contract *record)
{
    if (history == NULL) {
        return;
    }
    struct alar_json *json = history_begin(history, t, "contract");
    alar_json_text(json, "wait", record->wait);
    alar_json_text(json, "order", record->order);
    alar_json_text(json, "tree", record->tree);
    alar_json_text(json, "nan", record->nan);
    add_positive(json, "height", record->height);
    add_positive(json, "deadline", record->deadline);
    history_end(history);
}

void alar_history_twin(struct alar_history *history, uint64_t t,
                       const struct alar_history_done *record)
{
    if (history == NULL) {
        return;
    }
    add_op(history_begin(history, t, "twin"), record->op);
    history_elements(history, "out", record->out);
    history_end(history);
}

void alar_history_write(struct alar_history *history, uint64_t t,
                        const struct alar_history_read *record)
{
    if (history == NULL) {
        return;
    }
    struct alar_json *json = history_begin(history, t, "write");
    alar_json_op(json, "op", record->op.group != NULL ? record->op.group : "world",
                 record->op.number);
    alar_json_text(json, "by", "backend");
    alar_json_count(json, "at", record->at);
    alar_json_count(json, "n", record->bits.count);
    history_elements(history, "bits", record->bits);
    history_end(history);
}

static void record_buffer(struct alar_history *history, uint64_t t, const char *event,
                          const char *buffer)
{
    if (history != NULL) {
        alar_json_text(history_begin(history, t, event), "buf", buffer);
        history_end(history);
    }
}

void alar_history_alloc(struct alar_history *history, uint64_t t, const char *buffer)
{
    record_buffer(history, t, "alloc", buffer);
}

void alar_history_free(struct alar_history *history, uint64_t t, const char *buffer)
{
    record_buffer(history, t, "free", buffer);
}

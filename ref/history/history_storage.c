/* Records of a history about groups and storage, field by field as spec/history.md has them. */
#include "history/history_state.h"

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

/* The end of an operation: values are read where completion is first known, since from then on the
   program may reuse its buffers. */
#include "record_mpi.h"

#include <string.h>

/* What stands now in a buffer of a pending operation, where the program has changed it. */
static void write_record(struct record_op *op, bool is_result, const void *caller, const char *text)
{
    unsigned char now[RECORD_BYTES];
    uint64_t at = 0, count = op->kept;
    bool is_part = is_result ? record_layout_is_part(op, &at, &count)
                             : op->bytes / op->type.bytes * op->type.elements < op->n;
    struct alar_json *json = record_begin("write", op, caller);

    if (is_part && !is_result) {
        at = op->first < op->kept ? op->first : op->kept;
        count = op->own < op->kept - at ? op->own : op->kept - at;
    }
    (void)record_type_load(&op->type, is_result ? op->call.recv : op->call.send, count, now);
    alar_json_text(json, "by", "program");
    alar_json_text(json, "text", text);
    if (is_part) {
        alar_json_count(json, "at", at);
    }
    history_elements(recorder.history, "bits",
                     (struct alar_elements){now, (size_t)count, op->type.dtype});
    record_end();
}

/* Did the program write into its send buffer while MPI owned it? */
static void send_compare(struct record_op *op)
{
    if (op->hash != 0 && record_hash(op->call.send, op->bytes) != op->hash) {
        write_record(op, false, NULL, "the send buffer changed between issue and completion");
        op->hash = 0;
    }
}

/* Small results come in messages that the library takes in when it is called: while the thread is
   outside, only the program can change the buffer. Larger ones may be written by other ranks. */
void record_guard(struct record_op *op, const struct record_slot *slot)
{
    op->guard = 0;
    if (recorder.has_guards && !op->is_opaque && !op->is_complete && op->out_bytes > 0 &&
        op->out_bytes <= RECORD_GUARD_BYTES) {
        op->guard = record_hash(op->call.recv, op->out_bytes);
        op->visits = slot->visits;
    }
}

void record_guard_compare(struct record_op *op, const struct record_slot *slot)
{
    /* The call that asks is the first since. */
    if (op->guard != 0 && slot->visits == op->visits + 1 &&
        record_hash(op->call.recv, op->out_bytes) != op->guard) {
        write_record(op, true, slot->caller,
                     "the receive buffer changed while the library had no turn");
    }
}

void record_settle_values(struct record_op *op)
{
    if (!op->is_complete && !op->is_opaque) {
        send_compare(op);
        op->has_result = record_layout_result(op);
    }
    op->is_complete = true;
}

static void result_record(const char *event, struct record_op *op, const void *caller)
{
    uint64_t at = 0, count = 0;

    record_settle_values(op);
    struct alar_json *json = record_begin(event, op, caller);

    if (!op->is_opaque && op->has_result) {
        if (record_layout_is_part(op, &at, &count)) {
            alar_json_count(json, "at", at);
        }
        alar_json_elements(json, "out",
                           (struct alar_elements){op->out, (size_t)count, op->type.dtype});
    }
    if (op->polls > 1) {
        alar_json_count(json, "polls", op->polls);
    }
    record_end();
}

void record_reveal(struct record_op *op, const void *caller)
{
    if (op->made == NULL && !op->is_complete) {
        result_record("complete", op, caller);
    }
}

void record_settle(struct record_op *op, const void *caller)
{
    if (op->made != NULL) {
        record_group_attach(op->group, *op->made);
        record_drop(op);
        return;
    }
    result_record("done", op, caller);
    op->is_active = false;
    if (!op->is_persistent) {
        record_drop(op);
    }
}

void record_failed(struct record_op *op, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "unknown error";
    int length = 0;

    if (op->made == NULL) {
        struct alar_json *json = record_begin("fail", op, NULL);

        PMPI_Error_string(code, text, &length);
        text[strcspn(text, "\n")] = '\0';
        alar_json_text(json, "error", "MPI");
        alar_json_text(json, "text", text);
        record_end();
    }
    op->is_active = false;
    if (!op->is_persistent) {
        record_drop(op);
    }
}

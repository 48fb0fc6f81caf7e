/* The end of an operation: values are read where completion is first known, since from then on the
   program may reuse its buffers. */
#include "record_mpi.h"

#include <string.h>

/* Did the program write into its send buffer while MPI owned it? */
static void send_compare(struct record_op *op)
{
    if (op->hash == 0 || record_hash(op->call.send, op->bytes) == op->hash) {
        return;
    }
    unsigned char now[RECORD_BYTES];
    struct alar_json *json = record_begin("write", op, NULL);

    record_type_load(&op->type, op->call.send, op->kept, now);
    alar_json_text(json, "by", "program");
    alar_json_text(json, "text", "the send buffer changed between issue and completion");
    history_elements(recorder.history, "bits",
                     (struct alar_elements){now, op->kept, op->type.dtype});
    record_end();
    op->hash = 0;
}

void record_settle_values(struct record_op *op)
{
    if (!op->is_complete && !op->is_opaque) {
        send_compare(op);
        record_type_load(&op->type, op->call.recv, op->kept, op->out);
    }
    op->is_complete = true;
}

static void result_record(const char *event, struct record_op *op, const void *caller)
{
    record_settle_values(op);
    struct alar_json *json = record_begin(event, op, caller);

    if (!op->is_opaque) {
        alar_json_elements(json, "out", (struct alar_elements){op->out, op->kept, op->type.dtype});
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

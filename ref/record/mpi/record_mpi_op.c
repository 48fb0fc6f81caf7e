/* Operations from issue to end. A request's handle is reused at once, so it names an operation only
   while that lives. */
#include "record_mpi.h"

#include <stdlib.h>
#include <string.h>

enum {
    BUCKETS = 4096
};

static struct record_op *buckets[BUCKETS];
static struct record_op *spare;

static uint64_t handle_of(MPI_Request request)
{
    uint64_t handle = 0;

    memcpy(&handle, &request, sizeof(request));
    return handle;
}

static struct record_op **bucket_of(uint64_t handle)
{
    return &buckets[handle * UINT64_C(0x9E3779B97F4A7C15) >> 52];
}

/* Out of memory is the end: a history with holes would convict the innocent. */
static struct record_op *op_take(const struct record_call *call)
{
    struct record_op *op = spare;

    if (op != NULL) {
        spare = op->next;
        memset(op, 0, sizeof(*op));
    } else {
        op = calloc(1, sizeof(*op));
    }
    struct record_group *group = record_group_of(call->comm);
    if (op == NULL || group == NULL) {
        record_say("out of memory");
        abort();
    }
    op->call = *call;
    op->group = group;
    return op;
}

struct record_op *record_find(MPI_Request request)
{
    uint64_t handle = handle_of(request);
    struct record_op *op = recorder.live > 0 ? *bucket_of(handle) : NULL;

    while (op != NULL && op->handle != handle) {
        op = op->next;
    }
    return op;
}

void record_attach(struct record_op *op, MPI_Request request)
{
    op->handle = handle_of(request);
    struct record_op **bucket = bucket_of(op->handle);

    op->next = *bucket;
    *bucket = op;
    recorder.live++;
}

void record_drop(struct record_op *op)
{
    struct record_op **at = bucket_of(op->handle);

    while (*at != NULL && *at != op) {
        at = &(*at)->next;
    }
    if (*at == op) {
        *at = op->next;
        recorder.live--;
    }
    free(op->flipped);
    op->next = spare;
    spare = op;
}

/* The input as it is at issue: in place it is in the receive buffer, and soon gone. */
static void op_issue(struct record_op *op)
{
    const char *reduction = NULL;
    const char *refusal = record_type_find(&op->call, &op->dtype, &reduction);
    bool is_in_place = op->call.send == MPI_IN_PLACE;
    const void *input = is_in_place ? op->call.recv : op->call.send;
    int size = 0;

    if (refusal == NULL && op->group->is_foreign) {
        refusal = "a communicator with members outside MPI_COMM_WORLD, or of two groups";
    }
    op->is_opaque = refusal != NULL;
    op->is_active = true;
    op->is_complete = false;
    op->has_polled = false;
    op->polls = 0;
    op->number = op->group->issued++;
    if (op->is_opaque) {
        op->dtype = ALAR_U8;
        PMPI_Type_size(op->call.type, &size);
        op->bytes = op->call.count * (uint64_t)size;
        op->kept = 0;
        op->hash = 0;
    } else {
        op->bytes = op->call.count * alar_dtype_bytes(op->dtype);
        op->kept = op->call.count < RECORD_ELEMENTS ? op->call.count : RECORD_ELEMENTS;
        memcpy(op->in, input, op->kept * alar_dtype_bytes(op->dtype));
        op->hash = is_in_place || op->call.is_sync ? 0 : record_hash(op->call.send, op->bytes);
    }
    record_write_issue(op, reduction, refusal);
    recorder.recorded++;
    if (!op->is_opaque && !op->is_persistent) {
        record_fault_flip(op);
    }
}

/* One of no elements has no value, and MPI lets no rank wait for another there: it is left out. */
static bool is_recorded(const struct record_call *call)
{
    return recorder.history != NULL && call->count > 0;
}

struct record_op *record_enter(const struct record_call *call)
{
    struct record_op *op = NULL;

    if (!is_recorded(call)) {
        return NULL;
    }
    record_fault_delay();
    record_lock();
    op = op_take(call);
    op_issue(op);
    record_unlock();
    return op;
}

const void *record_input(const struct record_op *op, const void *send)
{
    return op != NULL && op->flipped != NULL ? op->flipped : send;
}

void record_leave(struct record_op *op, int code)
{
    if (op == NULL) {
        return;
    }
    record_lock();
    if (code == MPI_SUCCESS) {
        record_settle(op, NULL);
    } else {
        record_failed(op, code);
    }
    record_unlock();
}

void record_pend(struct record_op *op, int code, const MPI_Request *request)
{
    if (op == NULL) {
        return;
    }
    record_lock();
    if (code == MPI_SUCCESS) {
        record_attach(op, *request);
    } else {
        record_failed(op, code);
    }
    record_unlock();
}

void record_prepare(const struct record_call *call, MPI_Request request)
{
    if (!is_recorded(call)) {
        return;
    }
    record_lock();
    struct record_op *op = op_take(call);
    op->is_persistent = true;
    record_attach(op, request);
    record_unlock();
}

void record_start(struct record_op *op, const void *caller)
{
    op->call.caller = caller;
    op_issue(op);
}

/* Did the program write into its send buffer while MPI owned it? */
static void send_compare(struct record_op *op)
{
    if (op->hash == 0 || record_hash(op->call.send, op->bytes) == op->hash) {
        return;
    }
    struct alar_json *json = record_begin("write", op, NULL);

    alar_json_text(json, "by", "program");
    alar_json_text(json, "text", "the send buffer changed between issue and completion");
    history_elements(recorder.history, "bits",
                     (struct alar_elements){op->call.send, op->kept, op->dtype});
    record_end();
}

/* Values are read where completion is first known: from then on the program may reuse buffers. */
static void values_read(struct record_op *op)
{
    if (!op->is_complete && !op->is_opaque) {
        send_compare(op);
        memcpy(op->out, op->call.recv, op->kept * alar_dtype_bytes(op->dtype));
    }
    op->is_complete = true;
}

static void result_record(const char *event, struct record_op *op, const void *caller)
{
    values_read(op);
    struct alar_json *json = record_begin(event, op, caller);

    if (!op->is_opaque) {
        alar_json_elements(json, "out", (struct alar_elements){op->out, op->kept, op->dtype});
    }
    if (op->polls > 1) {
        alar_json_count(json, "polls", op->polls);
    }
    record_end();
}

void record_reveal(struct record_op *op, const void *caller)
{
    if (!op->is_complete) {
        result_record("complete", op, caller);
    }
}

void record_settle(struct record_op *op, const void *caller)
{
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
    struct alar_json *json = record_begin("fail", op, NULL);

    PMPI_Error_string(code, text, &length);
    text[strcspn(text, "\n")] = '\0';
    alar_json_text(json, "error", "MPI");
    alar_json_text(json, "text", text);
    record_end();
    op->is_active = false;
    if (!op->is_persistent) {
        record_drop(op);
    }
}

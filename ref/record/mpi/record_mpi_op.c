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

static struct record_op **bucket_of(uint64_t handle)
{
    return &buckets[handle * UINT64_C(0x9E3779B97F4A7C15) >> 52];
}

/* Out of memory is the end: a history with holes would convict the innocent. */
static struct record_op *op_take(const struct record_call *call, struct record_group *group)
{
    struct record_op *op = spare;

    if (op != NULL) {
        spare = op->next;
        memset(op, 0, offsetof(struct record_op, in));
    } else {
        op = calloc(1, sizeof(*op));
    }
    if (op == NULL) {
        record_say("out of memory");
        abort();
    }
    op->call = *call;
    op->group = group;
    return op;
}

struct record_op *record_find(MPI_Request request)
{
    uint64_t handle = RECORD_BITS(request);
    struct record_op *found = NULL;

    for (struct record_op *op = recorder.live > 0 ? *bucket_of(handle) : NULL; op != NULL;
         op = op->next) {
        found = op->handle == handle && !op->is_asked ? op : found;
    }
    return found;
}

/* A request that is given out twice was complete the first time: nothing may change any more. */
static void twin_complete(uint64_t handle)
{
    for (struct record_op *op = *bucket_of(handle); op != NULL; op = op->next) {
        if (op->handle == handle && op->is_active && op->made == NULL) {
            record_settle_values(op);
        }
    }
}

void record_attach(struct record_op *op, MPI_Request request)
{
    op->handle = RECORD_BITS(request);
    struct record_op **bucket = bucket_of(op->handle);

    twin_complete(op->handle);
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
static void op_read(struct record_op *op)
{
    bool is_in_place = op->call.send == MPI_IN_PLACE;
    const void *input = is_in_place ? op->call.recv : op->call.send;
    uint64_t elements = (uint64_t)op->call.count * op->type.elements;

    op->bytes = (uint64_t)op->call.count * op->type.bytes;
    op->kept = elements < RECORD_ELEMENTS ? elements : RECORD_ELEMENTS;
    record_type_load(&op->type, input, op->kept, op->in);
    op->hash = is_in_place || op->call.is_sync || recorder.is_unhashed
                   ? 0
                   : record_hash(op->call.send, op->bytes);
}

/* The size of what is opaque is asked for once MPI has accepted the type. */
static void op_measure(struct record_op *op)
{
    int size = 0;

    if (op->call.type != MPI_DATATYPE_NULL) {
        PMPI_Type_size(op->call.type, &size);
    }
    op->bytes = (uint64_t)op->call.count * (uint64_t)size;
    op->kept = 0;
    op->hash = 0;
    op->type.dtype = ALAR_U8;
}

static void op_issue(struct record_op *op)
{
    op->is_active = true;
    op->is_complete = false;
    op->has_polled = false;
    op->polls = 0;
    op->guard = 0;
    op->number = op->group->issued++;
    op->position = op->group->calls++;
    if (op->is_opaque) {
        op_measure(op);
    } else {
        op_read(op);
    }
    record_write_issue(op);
    recorder.recorded++;
    if (!op->is_opaque && !op->is_persistent) {
        record_fault_flip(op);
    }
}

/* Does an error end the job? Then what was refused needs no second thought. */
static bool is_fatal(MPI_Comm comm)
{
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;

    PMPI_Comm_get_errhandler(comm, &handler);
    bool is = handler == MPI_ERRORS_ARE_FATAL;
    if (handler != MPI_ERRHANDLER_NULL) {
        PMPI_Errhandler_free(&handler);
    }
    return is;
}

/* What is not surely legal, where errors are returned, goes on record when MPI has accepted it: a
   refused call has no number among its group's. */
static void op_describe(struct record_op *op, bool is_legal)
{
    record_type_find(&op->call, &op->type);
    if (op->type.refusal == NULL && op->group->is_foreign) {
        op->type.refusal = "a communicator with members outside MPI_COMM_WORLD, or of two groups";
    }
    if (op->type.refusal == NULL && !is_legal) {
        op->type.refusal = "a buffer at MPI_BOTTOM";
    }
    op->is_opaque = op->type.refusal != NULL;
    bool is_certain =
        is_legal && (!op->is_opaque || op->group->is_foreign) && op->call.type != MPI_CHAR;
    op->is_deferred = !is_legal || (!is_certain && !is_fatal(op->call.comm));
}

/* One of no elements has no value, and MPI lets no rank wait for another there: it is left out. */
struct record_op *record_enter(const struct record_call *call, const void *request)
{
    struct record_op *op = NULL;

    if (recorder.history == NULL || call->count <= 0) {
        return NULL;
    }
    record_fault_delay();
    record_lock();
    struct record_group *group = record_group_of(call->comm);
    if (group != NULL && recorder.history != NULL) {
        op = op_take(call, group);
        op_describe(op, record_is_legal(call, request));
        op->t = record_now();
        if (!op->is_deferred) {
            op_issue(op);
        }
        record_slot_own()->op = op;
    }
    record_unlock();
    return op;
}

const void *record_input(const struct record_op *op, const void *send)
{
    return op != NULL && op->flipped != NULL ? op->flipped : send;
}

/* The library said no to a call that never was an operation. */
static void refusal_record(struct record_op *op, const struct record_call *call, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "unknown error";
    int length = 0;

    PMPI_Error_string(code, text, &length);
    text[strcspn(text, "\n")] = '\0';
    record_write_refuse(call->name, op != NULL ? op->group : NULL, text, false, call->caller);
    if (op != NULL) {
        record_drop(op);
    }
}

/* After the call, with the lock. False: nothing is left of `op`. */
static bool op_accept(struct record_op *op, const struct record_call *call, int code)
{
    record_slot_own()->op = NULL;
    if (recorder.history == NULL) {
        return false;
    }
    if (op == NULL || op->is_deferred) {
        if (code != MPI_SUCCESS) {
            refusal_record(op, call, code);
            return false;
        }
        if (op == NULL) {
            return false;
        }
        op->is_deferred = false;
        op_issue(op);
        return true;
    }
    if (code != MPI_SUCCESS) {
        record_failed(op, code);
        return false;
    }
    return true;
}

void record_leave(struct record_op *op, const struct record_call *call, int code)
{
    if (op == NULL && code == MPI_SUCCESS) {
        return;
    }
    record_lock();
    if (op_accept(op, call, code)) {
        record_settle(op, NULL);
    }
    record_unlock();
}

void record_pend(struct record_op *op, const struct record_call *call, int code,
                 const MPI_Request *request)
{
    if (op == NULL && code == MPI_SUCCESS) {
        return;
    }
    record_lock();
    if (op_accept(op, call, code)) {
        record_attach(op, *request);
        record_guard(op, record_slot_own());
    }
    record_unlock();
}

void record_prepare(const struct record_call *call, int code, const MPI_Request *request)
{
    record_lock();
    struct record_group *group = recorder.history != NULL ? record_group_of(call->comm) : NULL;
    if (recorder.history != NULL && code != MPI_SUCCESS) {
        refusal_record(NULL, call, code);
    } else if (group != NULL && call->count > 0) {
        struct record_op *op = op_take(call, record_group_persistent(group));

        op->is_persistent = true;
        record_type_find(call, &op->type);
        op->is_opaque = op->type.refusal != NULL;
        record_attach(op, *request);
    }
    record_unlock();
}

void record_start(struct record_op *op, const void *caller)
{
    op->call.caller = caller;
    op->t = record_now();
    op_issue(op);
}

void record_copy(struct record_group *group, MPI_Comm *made, MPI_Request request)
{
    const struct record_call none = {.comm = MPI_COMM_NULL};

    record_lock();
    struct record_op *op = op_take(&none, group);
    op->made = made;
    op->is_active = true;
    record_attach(op, request);
    record_unlock();
}

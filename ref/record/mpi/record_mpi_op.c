/* Operations from issue to end. A request's handle is reused at once, so it names an operation only
   while that lives. */
#include "record_mpi.h"

#include <string.h>

/* A request that is given out twice was complete the first time: nothing may change any more. */
static void twin_complete(uint64_t handle)
{
    for (struct record_op *op = record_first_of(handle); op != NULL; op = op->next) {
        if (op->handle == handle && op->is_active && op->made == NULL) {
            record_settle_values(op);
        }
    }
}

void record_attach(struct record_op *op, MPI_Request request)
{
    twin_complete(RECORD_BITS(request));
    record_put(op, RECORD_BITS(request));
}

/* The input as it is at issue: in place it is in the receive buffer, and soon gone. */
static void op_read(struct record_op *op)
{
    if (!op->is_opaque && !record_layout_read(op)) {
        op->is_opaque = true;
        op->type.refusal = "a long double that no f64 holds, or whose sum may round";
    }
    op->hash =
        op->is_opaque || op->call.send == MPI_IN_PLACE || op->call.is_sync || recorder.is_unhashed
            ? 0
            : record_hash(op->call.send, op->bytes);
}

/* What is of no known type is counted in bytes, once MPI has accepted the type. */
static void op_measure(struct record_op *op)
{
    int size = 0;

    if (op->type.is_known) {
        return;
    }
    PMPI_Type_size(op->call.type, &size);
    op->type.elements = 1;
    op->type.bytes = (uint32_t)size;
    op->type.dtype = ALAR_U8;
    record_layout_find(op);
    op->n *= (uint64_t)size;
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
    op_measure(op);
    record_write_issue(op);
    recorder.recorded++;
    if (!op->is_opaque && !op->is_persistent && op->call.kind == RECORD_ALL_REDUCE) {
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

/* Of an all-gather: is what is sent laid out as what is received? */
static bool sends_alike(const struct record_op *op)
{
    struct record_call sent = op->call;
    struct record_type type;

    if (sent.kind != RECORD_ALL_GATHER || sent.send == MPI_IN_PLACE ||
        (sent.send_type == sent.type && sent.send_count == sent.count)) {
        return true;
    }
    sent.type = sent.send_type;
    record_type_find(&sent, &type);
    return type.is_known && type.dtype == op->type.dtype && type.is_long == op->type.is_long &&
           type.pair == op->type.pair && (uint64_t)sent.send_count * type.elements == op->own;
}

/* Why the values of a call of a known type are not recorded; NULL: they are. */
static const char *op_refusal(const struct record_op *op, bool is_legal)
{
    enum alar_reduction red = op->type.red;

    if (op->group->is_foreign) {
        return "a communicator with members outside MPI_COMM_WORLD, or of two groups";
    }
    if (!is_legal) {
        return "a buffer at MPI_BOTTOM";
    }
    if (op->call.kind == RECORD_SCAN && (red == ALAR_LAND || red == ALAR_LOR || red == ALAR_LXOR)) {
        return "a scan by a logical operation, of which the first rank gets what it gave";
    }
    return sends_alike(op) ? NULL : "another datatype sent than received";
}

/* What is not surely legal, where errors are returned, goes on record when MPI has accepted it: a
   refused call has no number among its group's. */
static void op_describe(struct record_op *op, bool is_legal)
{
    record_type_find(&op->call, &op->type);
    record_layout_find(op);
    if (op->type.refusal == NULL) {
        op->type.refusal = op_refusal(op, is_legal);
    }
    op->is_opaque = op->type.refusal != NULL;
    bool is_certain =
        is_legal && (!op->is_opaque || op->group->is_foreign) && op->call.type != MPI_CHAR;
    op->is_deferred = !is_legal || (!is_certain && !is_fatal(op->call.comm));
}

/* What has no elements has no value, and of two groups each gets the other's: the call alone goes
   on record. MPI lets no rank wait for another in an all-reduce of none: it is left out. */
static bool is_call_alone(const struct record_op *op)
{
    return op->call.kind != RECORD_ALL_REDUCE && (op->group->is_foreign || op->n == 0);
}

struct record_op *record_enter(const struct record_call *call, const void *request)
{
    struct record_op *op = NULL;

    if (recorder.history == NULL || (call->count <= 0 && call->kind == RECORD_ALL_REDUCE)) {
        return NULL;
    }
    record_fault_delay();
    record_lock();
    struct record_group *group = record_group_of(call->comm);
    if (group != NULL && recorder.history != NULL) {
        op = record_take(call, group);
        op->t = record_now();
        op_describe(op, record_is_legal(call, group, request));
        if (is_call_alone(op)) {
            record_drop(op);
            op = NULL;
            record_write_call(group, call->name,
                              call->kind == RECORD_REDUCE ? call->root : RECORD_NO_PEER,
                              call->caller);
        } else {
            op_read(op);
            if (!op->is_deferred) {
                op_issue(op);
            }
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
        struct record_op *op = record_take(call, record_group_persistent(group));

        op->is_persistent = true;
        record_type_find(call, &op->type);
        record_layout_find(op);
        op->is_opaque = op->type.refusal != NULL;
        record_attach(op, *request);
    }
    record_unlock();
}

void record_start(struct record_op *op, const void *caller)
{
    op->call.caller = caller;
    op->t = record_now();
    op_read(op);
    op_issue(op);
}

void record_copy(struct record_group *group, MPI_Comm *made, MPI_Request request)
{
    const struct record_call none = {.comm = MPI_COMM_NULL};

    record_lock();
    struct record_op *op = record_take(&none, group);
    op->made = made;
    op->is_active = true;
    record_attach(op, request);
    record_unlock();
}

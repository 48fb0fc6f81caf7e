/* Which elements of an operation stand in the buffers of a call: a collective is recorded as the
   all-reduce that it is a part of, by the table "Other collectives" of spec/history.md. */
#include "record_mpi.h"

#include <math.h>
#include <string.h>

/* Elements of the call's type in the block of a rank. */
static int64_t count_of(const struct record_call *call, uint32_t rank)
{
    return call->counts != NULL ? call->counts[rank]
           : call->wide != NULL ? (int64_t)call->wide[rank]
                                : call->count;
}

/* Of the ranks before the k-th. */
static uint64_t counts_before(const struct record_call *call, uint32_t k)
{
    uint64_t sum = 0;

    for (uint32_t r = 0; r < k; r++) {
        int64_t count = count_of(call, r);

        sum += count > 0 ? (uint64_t)count : 0;
    }
    return sum;
}

/* In elements of the call's type: all of them, where this rank's part begins, and how many it is.
 */
void record_layout_find(struct record_op *op)
{
    const struct record_call *call = &op->call;
    uint32_t self = op->group->self;
    bool has_blocks = call->kind != RECORD_ALL_REDUCE && call->kind != RECORD_REDUCE;
    uint64_t all = has_blocks ? counts_before(call, op->group->members) : (uint64_t)call->count;
    uint64_t first = has_blocks ? counts_before(call, self) : 0;
    uint64_t own = has_blocks ? counts_before(call, self + 1) - first : all;

    if (call->kind == RECORD_REDUCE && (uint32_t)call->root != self) {
        own = 0;
    }
    bool takes_own = call->kind == RECORD_ALL_GATHER || call->kind == RECORD_SCAN;
    bool gives_all = call->kind == RECORD_ALL_REDUCE || call->kind == RECORD_ALL_GATHER;
    uint64_t most = has_blocks ? RECORD_PARTS : RECORD_ELEMENTS;
    op->n = all * op->type.elements;
    op->first = first * op->type.elements;
    op->own = own * op->type.elements;
    op->bytes = (takes_own ? own : all) * op->type.bytes;
    op->out_bytes = (gives_all ? all : own) * op->type.bytes;
    op->kept = op->n < most ? op->n : most;
}

const void *record_layout_input(const struct record_op *op)
{
    const struct record_call *call = &op->call;

    if (call->send != MPI_IN_PLACE) {
        return call->send;
    }
    return call->kind == RECORD_ALL_GATHER
               ? (const char *)call->recv + op->first / op->type.elements * op->type.bytes
               : call->recv;
}

/* Of whole numbers, as bits. */
static uint64_t nothing_whole(enum alar_reduction red, enum alar_dtype dtype, bool is_index)
{
    bool is_signed =
        dtype == ALAR_I8 || dtype == ALAR_I16 || dtype == ALAR_I32 || dtype == ALAR_I64;
    uint64_t top = UINT64_C(1) << (8 * alar_dtype_bytes(dtype) - 1);
    uint64_t least = is_signed ? top : 0;

    if (is_index || red == ALAR_MIN || red == ALAR_MINLOC) {
        return ~least; /* the greatest */
    }
    return red == ALAR_MAX || red == ALAR_MAXLOC ? least
           : red == ALAR_PRODUCT                 ? 1
           : red == ALAR_BAND                    ? UINT64_MAX
                                                 : 0;
}

static double nothing_real(enum alar_reduction red, bool is_index)
{
    if (is_index || red == ALAR_MIN || red == ALAR_MINLOC) {
        return INFINITY;
    }
    return red == ALAR_MAX || red == ALAR_MAXLOC ? -INFINITY : red == ALAR_PRODUCT ? 1.0 : -0.0;
}

/* The k-th element that changes nothing beside any other. spec: H-50 */
static void nothing_store(const struct record_type *type, uint64_t k, unsigned char *to)
{
    bool is_index = (type->red == ALAR_MAXLOC || type->red == ALAR_MINLOC) && k % 2 != 0;
    uint64_t whole = nothing_whole(type->red, type->dtype, is_index);
    double number = nothing_real(type->red, is_index);
    float single = (float)number;
    const void *from = type->dtype == ALAR_F64   ? (const void *)&number
                       : type->dtype == ALAR_F32 ? (const void *)&single
                                                 : (const void *)&whole;

    memcpy(to, from, alar_dtype_bytes(type->dtype));
}

/* Sums of long doubles are those of f64 where no order of additions rounds in either: of multiples
   of 2^-10 that are small enough together. */
static bool is_order_free(const struct record_op *op)
{
    double most = 0x1p42 / op->group->members;
    double value = 0;

    for (uint64_t k = 0; op->type.is_long && op->type.red == ALAR_SUM && k < op->kept; k++) {
        memcpy(&value, op->in + k * sizeof(value), sizeof(value));
        if (!(fabs(value) <= most) || floor(value * 0x1p10) != value * 0x1p10) {
            return false;
        }
    }
    return true;
}

/* A rank's own elements in its blocks, nothing in the others'. */
static bool blocks_read(struct record_op *op)
{
    size_t each = alar_dtype_bytes(op->type.dtype);
    const void *input = record_layout_input(op);
    bool is_exact = true;

    for (uint64_t k = 0; k < op->kept; k++) {
        nothing_store(&op->type, k, op->in + k * each);
    }
    for (uint64_t at = op->first; at < op->kept; at += op->own) {
        uint64_t count = op->kept - at < op->own ? op->kept - at : op->own;

        is_exact = record_type_load(&op->type, input, count, op->in + at * each) && is_exact;
        if (op->call.kind == RECORD_ALL_GATHER || count == 0) {
            break;
        }
    }
    return is_exact;
}

bool record_layout_read(struct record_op *op)
{
    bool has_blocks = op->call.kind == RECORD_ALL_GATHER || op->call.kind == RECORD_SCAN;
    bool is_exact = has_blocks
                        ? blocks_read(op)
                        : record_type_load(&op->type, record_layout_input(op), op->kept, op->in);

    return is_exact && (op->call.kind == RECORD_ALL_GATHER || is_order_free(op));
}

bool record_layout_is_part(const struct record_op *op, uint64_t *at, uint64_t *count)
{
    bool is_part = op->call.kind != RECORD_ALL_REDUCE && op->call.kind != RECORD_ALL_GATHER;
    uint64_t left = op->first < op->kept ? op->kept - op->first : 0;

    *at = is_part ? op->kept - left : 0;
    *count = !is_part ? op->kept : op->own < left ? op->own : left;
    return is_part;
}

bool record_layout_result(struct record_op *op)
{
    uint64_t at = 0, count = 0;

    (void)record_layout_is_part(op, &at, &count);
    return count == 0 || record_type_load(&op->type, op->call.recv, count, op->out);
}

static bool counts_are_legal(const struct record_call *call, uint32_t members)
{
    for (uint32_t r = 0; r < members; r++) {
        if (count_of(call, r) < 0) {
            return false;
        }
    }
    return true;
}

bool record_is_legal(const struct record_call *call, const struct record_group *group,
                     const void *request)
{
    bool moves = call->kind == RECORD_ALL_GATHER;
    bool has_handles = call->type != MPI_DATATYPE_NULL && RECORD_BITS(call->type) != 0 &&
                       (moves || (call->op != MPI_OP_NULL && RECORD_BITS(call->op) != 0));
    bool is_root = call->kind != RECORD_REDUCE || (uint32_t)call->root == group->self;
    bool has_root = call->kind != RECORD_REDUCE || (uint32_t)call->root < group->members;
    bool gets =
        is_root && (call->recv == NULL || call->recv == MPI_IN_PLACE || call->send == call->recv);
    bool gives = call->send != NULL && (is_root || call->send != MPI_IN_PLACE);

    return has_handles && has_root && !gets && gives && request != NULL &&
           counts_are_legal(call, group->members);
}

/* MPI's types and operations as a history has them, and the calls that no library accepts. */
#include "record_mpi.h"

#include <stddef.h>
#include <string.h>

enum kind {
    KIND_FLOAT,
    KIND_SIGNED,
    KIND_UNSIGNED,
    KIND_LOGICAL, /* C's bool, and integers that stand for Fortran's */
    KIND_BYTE,
    KIND_COMPLEX,
    KIND_PAIR, /* of a float or integer and an int, or of two alike */
    KIND_NONE
};

struct row {
    MPI_Datatype type;
    enum kind kind;
    uint32_t bytes; /* of a pair: of its value */
    uint32_t index; /* of a pair: where the int stands; 0: the index is of the value's type */
};

/* The layout of C's pairs. */
#define PAIR(type)       \
    ((uint32_t)offsetof( \
        struct {         \
            type value;  \
            int index;   \
        },               \
        index))
#define ROW(token, kind, type)              \
    {                                       \
        token, KIND_##kind, sizeof(type), 0 \
    }

/* Fortran's types have the size that the library was built for: 0, and asked for. */
static const struct row rows[] = {
    ROW(MPI_FLOAT, FLOAT, float),
    ROW(MPI_DOUBLE, FLOAT, double),
    ROW(MPI_INT, SIGNED, int),
    ROW(MPI_LONG, SIGNED, long),
    ROW(MPI_LONG_LONG, SIGNED, long long),
    ROW(MPI_SHORT, SIGNED, short),
    ROW(MPI_SIGNED_CHAR, SIGNED, char),
    ROW(MPI_INT8_T, SIGNED, int8_t),
    ROW(MPI_INT16_T, SIGNED, int16_t),
    ROW(MPI_INT32_T, SIGNED, int32_t),
    ROW(MPI_INT64_T, SIGNED, int64_t),
    ROW(MPI_CHAR, SIGNED, char),
    ROW(MPI_AINT, SIGNED, MPI_Aint),
    ROW(MPI_OFFSET, SIGNED, MPI_Offset),
    ROW(MPI_COUNT, SIGNED, MPI_Count),
    ROW(MPI_UNSIGNED_CHAR, UNSIGNED, char),
    ROW(MPI_UNSIGNED_SHORT, UNSIGNED, short),
    ROW(MPI_UNSIGNED, UNSIGNED, unsigned),
    ROW(MPI_UNSIGNED_LONG, UNSIGNED, unsigned long),
    ROW(MPI_UNSIGNED_LONG_LONG, UNSIGNED, unsigned long long),
    ROW(MPI_UINT8_T, UNSIGNED, uint8_t),
    ROW(MPI_UINT16_T, UNSIGNED, uint16_t),
    ROW(MPI_UINT32_T, UNSIGNED, uint32_t),
    ROW(MPI_UINT64_T, UNSIGNED, uint64_t),
    ROW(MPI_C_BOOL, LOGICAL, _Bool),
    ROW(MPI_BYTE, BYTE, char),
    ROW(MPI_C_FLOAT_COMPLEX, COMPLEX, float),
    ROW(MPI_C_DOUBLE_COMPLEX, COMPLEX, double),
    {MPI_FLOAT_INT, KIND_PAIR, sizeof(float), PAIR(float)},
    {MPI_DOUBLE_INT, KIND_PAIR, sizeof(double), PAIR(double)},
    {MPI_2INT, KIND_PAIR, sizeof(int), 0},
    {MPI_LONG_INT, KIND_PAIR, sizeof(long), PAIR(long)},
    {MPI_REAL, KIND_FLOAT, 0, 0},
    {MPI_DOUBLE_PRECISION, KIND_FLOAT, 0, 0},
    {MPI_REAL4, KIND_FLOAT, 0, 0},
    {MPI_REAL8, KIND_FLOAT, 0, 0},
    {MPI_INTEGER, KIND_SIGNED, 0, 0},
    {MPI_INTEGER1, KIND_SIGNED, 0, 0},
    {MPI_INTEGER2, KIND_SIGNED, 0, 0},
    {MPI_INTEGER4, KIND_SIGNED, 0, 0},
    {MPI_INTEGER8, KIND_SIGNED, 0, 0},
    {MPI_LOGICAL, KIND_LOGICAL, 0, 0},
    {MPI_COMPLEX, KIND_COMPLEX, 0, 0},
    {MPI_DOUBLE_COMPLEX, KIND_COMPLEX, 0, 0},
    {MPI_2REAL, KIND_PAIR, 0, 0},
    {MPI_2DOUBLE_PRECISION, KIND_PAIR, 0, 0},
    {MPI_2INTEGER, KIND_PAIR, 0, 0},
};

static bool row_find(MPI_Datatype type, struct row *found)
{
    int bytes = 0;

    for (size_t k = 0; type != MPI_DATATYPE_NULL && k < sizeof(rows) / sizeof(rows[0]); k++) {
        if (rows[k].type != type) {
            continue;
        }
        *found = rows[k];
        if (found->bytes == 0) {
            bool is_two = found->kind == KIND_COMPLEX || found->kind == KIND_PAIR;

            PMPI_Type_size(type, &bytes);
            found->bytes = (uint32_t)bytes / (is_two ? 2 : 1);
        }
        return true;
    }
    return false;
}

/* What MPI allows of an operation, by the kinds it takes. */
struct reduction {
    const char *name;
    unsigned kinds;
};

#define KIND_BIT(kind) (1U << KIND_##kind)

static struct reduction reduction_of(MPI_Op op)
{
    enum {
        WHOLE = KIND_BIT(SIGNED) | KIND_BIT(UNSIGNED),
        NUMBER = WHOLE | KIND_BIT(FLOAT)
    };
    const struct {
        MPI_Op op;
        struct reduction reduction;
    } table[] = {
        {MPI_SUM, {"sum", NUMBER | KIND_BIT(COMPLEX)}},
        {MPI_PROD, {"product", NUMBER}},
        {MPI_MAX, {"max", NUMBER}},
        {MPI_MIN, {"min", NUMBER}},
        {MPI_LAND, {"land", WHOLE | KIND_BIT(LOGICAL)}},
        {MPI_LOR, {"lor", WHOLE | KIND_BIT(LOGICAL)}},
        {MPI_LXOR, {"lxor", WHOLE | KIND_BIT(LOGICAL)}},
        {MPI_BAND, {"band", WHOLE | KIND_BIT(BYTE)}},
        {MPI_BOR, {"bor", WHOLE | KIND_BIT(BYTE)}},
        {MPI_BXOR, {"bxor", WHOLE | KIND_BIT(BYTE)}},
        {MPI_MAXLOC, {"maxloc", KIND_BIT(PAIR)}},
        {MPI_MINLOC, {"minloc", KIND_BIT(PAIR)}},
    };

    for (size_t k = 0; k < sizeof(table) / sizeof(table[0]); k++) {
        if (table[k].op == op) {
            return table[k].reduction;
        }
    }
    return (struct reduction){NULL, 0};
}

/* ALAR_DTYPE_COUNT: a history has no word for it. */
static enum alar_dtype dtype_of(enum kind kind, uint32_t bytes)
{
    static const enum alar_dtype whole[2][4] = {{ALAR_I8, ALAR_I16, ALAR_I32, ALAR_I64},
                                                {ALAR_U8, ALAR_U16, ALAR_U32, ALAR_U64}};
    uint32_t power = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : 4;

    if (kind == KIND_FLOAT || kind == KIND_COMPLEX) {
        return power == 2 ? ALAR_F32 : power == 3 ? ALAR_F64 : ALAR_DTYPE_COUNT;
    }
    return power < 4 ? whole[kind == KIND_SIGNED ? 0 : 1][power] : ALAR_DTYPE_COUNT;
}

/* The value of a pair has the type that its name begins with. */
static enum kind pair_kind(MPI_Datatype type)
{
    bool is_float = type == MPI_FLOAT_INT || type == MPI_DOUBLE_INT || type == MPI_2REAL ||
                    type == MPI_2DOUBLE_PRECISION;

    return is_float ? KIND_FLOAT : KIND_SIGNED;
}

static void type_find(const struct record_call *call, struct record_type *type)
{
    struct reduction reduction = reduction_of(call->op);
    struct row row = {MPI_DATATYPE_NULL, KIND_NONE, 0, 0};
    bool is_known = row_find(call->type, &row);
    bool is_two = row.kind == KIND_PAIR || row.kind == KIND_COMPLEX;

    *type = (struct record_type){.dtype = ALAR_U8, .reduction = reduction.name, .elements = 1};
    if (reduction.name == NULL) {
        type->refusal = "an operation of the program's own, or MPI_REPLACE or MPI_NO_OP";
        return;
    }
    if (!is_known) {
        type->refusal =
            call->type == MPI_LONG_DOUBLE ? "a long double" : "a derived datatype, or a rare one";
        return;
    }
    if (!(reduction.kinds >> row.kind & 1U)) {
        type->refusal = "an operation that MPI does not define for this datatype";
        return;
    }
    enum alar_dtype dtype =
        dtype_of(row.kind == KIND_PAIR ? pair_kind(call->type) : row.kind, row.bytes);
    if (dtype == ALAR_DTYPE_COUNT) {
        type->refusal = "a datatype of a size that a history has no word for";
        return;
    }
    type->dtype = dtype;
    type->elements = is_two ? 2 : 1;
    type->index = row.index;
    /* The int of a pair may be followed by padding. */
    type->bytes = row.index == 0                   ? row.bytes * type->elements
                  : row.index + 4 <= 2 * row.bytes ? 2 * row.bytes
                                                   : row.index + 4;
}

/* Programs ask for few types and operations, and mostly for those they asked for before. */
void record_type_find(const struct record_call *call, struct record_type *type)
{
    static struct record_type known;
    static uint64_t known_type, known_op;
    uint64_t of_type = RECORD_BITS(call->type);
    uint64_t of_op = RECORD_BITS(call->op);

    if (known.bytes == 0 || known_type != of_type || known_op != of_op) {
        type_find(call, &known);
        known_type = of_type;
        known_op = of_op;
    }
    *type = known;
}

static void index_store(enum alar_dtype dtype, int32_t index, unsigned char *to)
{
    float single = (float)index;
    double number = (double)index;
    int64_t wide = index;

    switch ((int)dtype) {
    case ALAR_F32:
        memcpy(to, &single, sizeof(single));
        break;
    case ALAR_F64:
        memcpy(to, &number, sizeof(number));
        break;
    default:
        memcpy(to, &wide, sizeof(wide));
        break;
    }
}

void record_type_load(const struct record_type *type, const void *from, uint64_t count,
                      unsigned char *to)
{
    size_t each = alar_dtype_bytes(type->dtype);
    const unsigned char *at = from;
    int32_t index = 0;

    if (type->index == 0) {
        memcpy(to, from, count * each);
        return;
    }
    for (uint64_t k = 0; k < count; k += 2, at += type->bytes, to += 2 * each) {
        memcpy(to, at, each);
        memcpy(&index, at + type->index, sizeof(index));
        index_store(type->dtype, index, to + each);
    }
}

bool record_is_legal(const struct record_call *call, const void *request)
{
    bool has_handles = call->comm != MPI_COMM_NULL && call->type != MPI_DATATYPE_NULL &&
                       call->op != MPI_OP_NULL && RECORD_BITS(call->comm) != 0 &&
                       RECORD_BITS(call->type) != 0 && RECORD_BITS(call->op) != 0;
    bool has_buffers = call->recv != NULL && call->recv != MPI_IN_PLACE && call->send != NULL &&
                       call->send != call->recv;

    return has_handles && has_buffers && call->count > 0 && request != NULL;
}

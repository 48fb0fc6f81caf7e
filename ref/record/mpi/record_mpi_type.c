/* MPI's types and operations as a history has them. */
#include "record_mpi.h"

#include <stddef.h>
#include <string.h>

enum kind {
    KIND_FLOAT,
    KIND_LONG, /* long double: kept as f64 where that is exact */
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
    ROW(MPI_LONG_DOUBLE, LONG, long double),
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
    {MPI_LONG_DOUBLE_INT, KIND_PAIR, sizeof(long double), PAIR(long double)},
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
    enum alar_reduction red;
    unsigned kinds;
};

#define KIND_BIT(kind) (1U << KIND_##kind)

static struct reduction reduction_of(const struct record_call *call)
{
    enum {
        WHOLE = KIND_BIT(SIGNED) | KIND_BIT(UNSIGNED),
        NUMBER = WHOLE | KIND_BIT(FLOAT) | KIND_BIT(LONG)
    };
    const struct {
        MPI_Op op;
        struct reduction reduction;
    } table[] = {
        {MPI_SUM, {ALAR_SUM, NUMBER | KIND_BIT(COMPLEX)}},
        {MPI_PROD, {ALAR_PRODUCT, NUMBER & ~KIND_BIT(LONG)}},
        {MPI_MAX, {ALAR_MAX, NUMBER}},
        {MPI_MIN, {ALAR_MIN, NUMBER}},
        {MPI_LAND, {ALAR_LAND, WHOLE | KIND_BIT(LOGICAL)}},
        {MPI_LOR, {ALAR_LOR, WHOLE | KIND_BIT(LOGICAL)}},
        {MPI_LXOR, {ALAR_LXOR, WHOLE | KIND_BIT(LOGICAL)}},
        {MPI_BAND, {ALAR_BAND, WHOLE | KIND_BIT(BYTE)}},
        {MPI_BOR, {ALAR_BOR, WHOLE | KIND_BIT(BYTE)}},
        {MPI_BXOR, {ALAR_BXOR, WHOLE | KIND_BIT(BYTE)}},
        {MPI_MAXLOC, {ALAR_MAXLOC, KIND_BIT(PAIR)}},
        {MPI_MINLOC, {ALAR_MINLOC, KIND_BIT(PAIR)}},
    };

    if (call->kind == RECORD_ALL_GATHER) {
        return (struct reduction){ALAR_SUM, ~0U}; /* with nothing beside it */
    }
    for (size_t k = 0; k < sizeof(table) / sizeof(table[0]); k++) {
        if (table[k].op == call->op) {
            return table[k].reduction;
        }
    }
    return (struct reduction){ALAR_REDUCTION_WORDS, 0};
}

/* ALAR_DTYPE_COUNT: a history has no word for it. */
static enum alar_dtype dtype_of(enum kind kind, uint32_t bytes)
{
    static const enum alar_dtype whole[2][4] = {{ALAR_I8, ALAR_I16, ALAR_I32, ALAR_I64},
                                                {ALAR_U8, ALAR_U16, ALAR_U32, ALAR_U64}};
    uint32_t power = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : 4;

    if (kind == KIND_LONG) {
        return ALAR_F64;
    }
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

    return type == MPI_LONG_DOUBLE_INT ? KIND_LONG : is_float ? KIND_FLOAT : KIND_SIGNED;
}

/* A type that the program asked for by its precision. */
static bool row_sized(MPI_Datatype type, int combiner, struct row *row)
{
    bool is_complex = combiner == MPI_COMBINER_F90_COMPLEX;
    int bytes = 0;

    PMPI_Type_size(type, &bytes);
    row->type = type;
    row->kind = combiner == MPI_COMBINER_F90_INTEGER ? KIND_SIGNED
                : is_complex                         ? KIND_COMPLEX
                                                     : KIND_FLOAT;
    row->bytes = (uint32_t)bytes / (is_complex ? 2 : 1);
    return is_complex || combiner == MPI_COMBINER_F90_INTEGER || combiner == MPI_COMBINER_F90_REAL;
}

/* What a type without gaps is made of, and how many times, or the type itself. */
static MPI_Datatype type_peel(MPI_Datatype type, int *combiner, int *times)
{
    int integers = 0, addresses = 0, types = 0;
    MPI_Datatype of = type;

    *combiner = MPI_COMBINER_NAMED;
    *times = 1;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, combiner);
    if (*combiner == MPI_COMBINER_CONTIGUOUS || *combiner == MPI_COMBINER_DUP) {
        PMPI_Type_get_contents(type, integers, 0, 1, times, NULL, &of);
    }
    return of;
}

/* Is a type one of the rows, so and so many times without gaps? */
static bool type_flatten(MPI_Datatype type, struct row *row, uint32_t *times)
{
    bool is_found = false, is_peeled = true;

    *times = 1;
    for (MPI_Datatype at = type; is_peeled && at != MPI_DATATYPE_NULL && RECORD_BITS(at) != 0;) {
        int combiner = MPI_COMBINER_NAMED, count = 1;

        is_found = row_find(at, row);
        MPI_Datatype of = is_found ? at : type_peel(at, &combiner, &count);
        is_peeled = of != at;
        is_found = is_found || (!is_peeled && row_sized(at, combiner, row));
        *times *= (uint32_t)count;
        bool is_predefined = combiner == MPI_COMBINER_NAMED || is_found;
        if (at != type && !is_predefined) {
            PMPI_Type_free(&at); /* a handle of our own */
        }
        at = of;
    }
    return is_found && *times > 0;
}

/* Where the elements stand in memory. */
static void type_lay(struct record_type *type, const struct row *row, uint32_t times)
{
    bool is_two = row->kind == KIND_PAIR || row->kind == KIND_COMPLEX;
    uint32_t bytes = is_two ? 2 * row->bytes : row->bytes;

    /* The int of a pair may be followed by padding. */
    if (row->index > 0 && row->index + sizeof(int) > bytes) {
        bytes = row->index + (uint32_t)sizeof(int);
    }
    type->elements = times * (is_two ? 2 : 1);
    type->pair = row->index > 0 ? bytes : 0;
    type->index = row->index;
    type->bytes = times * bytes;
}

static void type_find(const struct record_call *call, struct record_type *type)
{
    struct reduction reduction = reduction_of(call);
    struct row row = {MPI_DATATYPE_NULL, KIND_NONE, 0, 0};
    uint32_t times = 1;
    bool is_found = type_flatten(call->type, &row, &times);
    enum kind kind = row.kind == KIND_PAIR ? pair_kind(row.type) : row.kind;
    bool is_allowed = reduction.red == ALAR_REDUCTION_WORDS || (reduction.kinds >> row.kind & 1U);

    *type = (struct record_type){.dtype = dtype_of(kind, row.bytes), .red = reduction.red};
    type->is_known = is_found && type->dtype != ALAR_DTYPE_COUNT && is_allowed;
    type->is_long = kind == KIND_LONG;
    type->refusal = reduction.red == ALAR_REDUCTION_WORDS
                        ? "an operation of the program's own, or MPI_REPLACE or MPI_NO_OP"
                    : !is_found ? "a derived datatype with gaps or of several types, or a rare one"
                    : !is_allowed     ? row.kind == KIND_LONG
                                            ? "a product of long doubles"
                                            : "an operation that MPI has not for this datatype"
                    : !type->is_known ? "a datatype of a size that a history has no word for"
                                      : NULL;
    if (type->is_known) {
        type_lay(type, &row, times);
    } else {
        type->elements = 1;
    }
}

/* Programs ask for few types and operations, and mostly for those they asked for before. The handle
   of a type of their own may be another one's tomorrow. */
void record_type_find(const struct record_call *call, struct record_type *type)
{
    static struct record_type known;
    static uint64_t known_type, known_op;
    static bool is_known, known_moves;
    struct row row;
    uint64_t of_type = RECORD_BITS(call->type);
    uint64_t of_op = RECORD_BITS(call->op);
    bool moves = call->kind == RECORD_ALL_GATHER;

    if (!is_known || known_type != of_type || known_op != of_op || known_moves != moves) {
        type_find(call, &known);
        known_type = of_type;
        known_op = of_op;
        known_moves = moves;
        is_known = row_find(call->type, &row);
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

/* As f64; false: that would be another number. */
static bool long_store(const unsigned char *from, unsigned char *to)
{
    long double given;

    memcpy(&given, from, sizeof(given));
    double number = (double)given;
    memcpy(to, &number, sizeof(number));
    return (long double)number == given || given != given;
}

bool record_type_load(const struct record_type *type, const void *from, uint64_t count,
                      unsigned char *to)
{
    size_t each = alar_dtype_bytes(type->dtype);
    size_t value = type->is_long ? sizeof(long double) : each;
    size_t step = type->pair > 0 ? type->pair : value;
    const unsigned char *at = from;
    int32_t index = 0;
    bool is_exact = true;

    if (type->pair == 0 && !type->is_long) {
        memcpy(to, from, count * each);
        return true;
    }
    for (uint64_t k = 0; k < count; k++, at += step, to += each) {
        if (type->is_long) {
            is_exact = long_store(at, to) && is_exact;
        } else {
            memcpy(to, at, each);
        }
        if (type->pair > 0) {
            memcpy(&index, at + type->index, sizeof(index));
            to += each;
            k++;
            index_store(type->dtype, index, to);
        }
    }
    return is_exact;
}

/* MPI's types and operations as a history has them. */
#include "record_mpi.h"

#include <stddef.h>

enum kind {
    KIND_FLOAT,
    KIND_SIGNED,
    KIND_UNSIGNED
};

static bool kind_find(MPI_Datatype type, enum kind *kind)
{
    const struct {
        MPI_Datatype type;
        enum kind kind;
    } table[] = {
        {MPI_FLOAT, KIND_FLOAT},
        {MPI_DOUBLE, KIND_FLOAT},
        {MPI_REAL, KIND_FLOAT},
        {MPI_DOUBLE_PRECISION, KIND_FLOAT},
        {MPI_INT, KIND_SIGNED},
        {MPI_LONG, KIND_SIGNED},
        {MPI_LONG_LONG, KIND_SIGNED},
        {MPI_INT32_T, KIND_SIGNED},
        {MPI_INT64_T, KIND_SIGNED},
        {MPI_INTEGER, KIND_SIGNED},
        {MPI_COUNT, KIND_SIGNED},
        {MPI_SIGNED_CHAR, KIND_SIGNED},
        {MPI_CHAR, KIND_SIGNED},
        {MPI_INT8_T, KIND_SIGNED},
        {MPI_UNSIGNED_CHAR, KIND_UNSIGNED},
        {MPI_UINT8_T, KIND_UNSIGNED},
        {MPI_UNSIGNED, KIND_UNSIGNED},
        {MPI_UNSIGNED_LONG, KIND_UNSIGNED},
        {MPI_UNSIGNED_LONG_LONG, KIND_UNSIGNED},
        {MPI_UINT32_T, KIND_UNSIGNED},
        {MPI_UINT64_T, KIND_UNSIGNED},
    };

    for (size_t k = 0; k < sizeof(table) / sizeof(table[0]); k++) {
        if (table[k].type == type) {
            *kind = table[k].kind;
            return true;
        }
    }
    return false;
}

static const char *reduction_find(MPI_Op op)
{
    return op == MPI_SUM    ? "sum"
           : op == MPI_PROD ? "product"
           : op == MPI_MAX  ? "max"
           : op == MPI_MIN  ? "min"
                            : NULL;
}

const char *record_type_find(const struct record_call *call, enum alar_dtype *dtype,
                             const char **reduction)
{
    enum kind kind = KIND_FLOAT;
    int bytes = 0;

    *reduction = reduction_find(call->op);
    if (*reduction == NULL) {
        return "an operation other than MPI_SUM, MPI_PROD, MPI_MAX and MPI_MIN";
    }
    if (!kind_find(call->type, &kind)) {
        return "a datatype that a history has no word for: a derived one, or a rare one";
    }
    PMPI_Type_size(call->type, &bytes);
    /* Sums and products modulo 2^w have the same bits whatever the sign means. */
    bool is_modular = call->op == MPI_SUM || call->op == MPI_PROD;
    if (kind == KIND_FLOAT) {
        *dtype = bytes == 4 ? ALAR_F32 : ALAR_F64;
        return bytes == 4 || bytes == 8 ? NULL : "a float of another size";
    }
    if (!is_modular && (kind == KIND_UNSIGNED) != (bytes == 1)) {
        return "MPI_MAX or MPI_MIN of an integer type that a history has no word for";
    }
    *dtype = bytes == 1 ? ALAR_U8 : bytes == 4 ? ALAR_I32 : ALAR_I64;
    return bytes == 1 || bytes == 4 || bytes == 8 ? NULL : "an integer of another size";
}

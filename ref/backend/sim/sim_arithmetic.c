/* The simulator's arithmetic: contributions combined in an order, one rounding an operation.

   Native float and double: an assignment for each rounded operation, and no contraction. */
#include "backend/sim/sim_state.h"
#include "numbers/fp.h"

#include "base/check.h"
#include "numbers/fp.h"

#include <string.h>

static bool takes_left(bool is_greater, bool is_less, enum alar_reduction reduction)
{
    return reduction == ALAR_MAX ? is_greater : is_less;
}

/* left[i] = left[i] op right[i]. Loads and stores go through memcpy, for the bytes may have come
   from a rank that uses another dtype. */
#define MERGE_NATIVE(name, type, sum)                                          \
    static void merge_##name(const struct sim_fold *fold, unsigned char *left, \
                             const unsigned char *right, uint64_t count)       \
    {                                                                          \
        for (uint64_t i = 0; i < count; i++) {                                 \
            type x;                                                            \
            type y;                                                            \
            memcpy(&x, left + i * sizeof(type), sizeof(type));                 \
            memcpy(&y, right + i * sizeof(type), sizeof(type));                \
            if (fold->reduction == ALAR_SUM || fold->reduction == ALAR_AVG) {  \
                x = (type)(sum);                                               \
            } else if (x != x || y != y) {                                     \
                bool prefers_nan = fold->nan == ALAR_SIM_NAN_PROPAGATE;        \
                bool takes_x = (x != x) == prefers_nan;                        \
                x = fold->nan != ALAR_SIM_NAN_COMPARE && takes_x ? x : y;      \
            } else {                                                           \
                x = takes_left(x > y, x < y, fold->reduction) ? x : y;         \
            }                                                                  \
            memcpy(left + i * sizeof(type), &x, sizeof(type));                 \
        }                                                                      \
    }

MERGE_NATIVE(f32, float, x + y)
MERGE_NATIVE(f64, double, x + y)
MERGE_NATIVE(i32, int32_t, (uint32_t)x + (uint32_t)y)
MERGE_NATIVE(i64, int64_t, (uint64_t)x + (uint64_t)y)
MERGE_NATIVE(u8, uint8_t, x + y)
MERGE_NATIVE(i8, int8_t, x + y)
MERGE_NATIVE(i16, int16_t, x + y)
MERGE_NATIVE(u16, uint16_t, x + y)
MERGE_NATIVE(u32, uint32_t, x + y)
MERGE_NATIVE(u64, uint64_t, x + y)

/* The 16-bit formats, through the exact adder. */
static void merge_half(const struct sim_fold *fold, unsigned char *left, const unsigned char *right,
                       uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        uint16_t x = 0;
        uint16_t y = 0;
        double a = 0;
        double b = 0;

        memcpy(&x, left + 2 * i, 2);
        memcpy(&y, right + 2 * i, 2);
        a = alar_fp_to_double(fold->dtype, x);
        b = alar_fp_to_double(fold->dtype, y);
        if (fold->reduction == ALAR_SUM || fold->reduction == ALAR_AVG) {
            x = (uint16_t)alar_fp_add(fold->dtype, ALAR_NEAREST, x, y);
        } else if (a != a || b != b) {
            bool takes_x = (a != a) == (fold->nan == ALAR_SIM_NAN_PROPAGATE);

            x = fold->nan != ALAR_SIM_NAN_COMPARE && takes_x ? x : y;
        } else {
            x = takes_left(a > b, a < b, fold->reduction) ? x : y;
        }
        memcpy(left + 2 * i, &x, 2);
    }
}

/* Row `left` of elements from .. from + count - 1 takes in row `right`. */
static void merge_part(const struct sim_fold *fold, int32_t left, int32_t right, uint64_t from,
                       uint64_t count)
{
    size_t offset = (size_t)from * alar_dtype_bytes(fold->dtype);
    unsigned char *a = fold->rows + (size_t)left * fold->row_bytes + offset;
    const unsigned char *b = fold->rows + (size_t)right * fold->row_bytes + offset;

    switch (fold->dtype) {
    case ALAR_F32:
        merge_f32(fold, a, b, count);
        break;
    case ALAR_F64:
        merge_f64(fold, a, b, count);
        break;
    case ALAR_I32:
        merge_i32(fold, a, b, count);
        break;
    case ALAR_I64:
        merge_i64(fold, a, b, count);
        break;
    case ALAR_U8:
        merge_u8(fold, a, b, count);
        break;
    case ALAR_I8:
        merge_i8(fold, a, b, count);
        break;
    case ALAR_I16:
        merge_i16(fold, a, b, count);
        break;
    case ALAR_U16:
        merge_u16(fold, a, b, count);
        break;
    case ALAR_U32:
        merge_u32(fold, a, b, count);
        break;
    case ALAR_U64:
        merge_u64(fold, a, b, count);
        break;
    case ALAR_F16:
    case ALAR_BF16:
    case ALAR_DTYPE_COUNT:
        merge_half(fold, a, b, count);
        break;
    }
}

static void merge(const struct sim_fold *fold, int32_t left, int32_t right)
{
    merge_part(fold, left, right, 0, fold->count);
}

/* Partners 1, 2, 4 ... away, toward row 0. */
static void fold_binomial(const struct sim_fold *fold)
{
    for (int64_t distance = 1; distance < fold->ranks; distance *= 2) {
        for (int64_t i = 0; i + distance < fold->ranks; i += 2 * distance) {
            merge(fold, (int32_t)i, (int32_t)(i + distance));
        }
    }
}

/* Row of the node-th group after the first 2 * remainder ranks were folded pairwise. */
static int32_t group_row(int64_t node, int32_t remainder)
{
    return (int32_t)(node < remainder ? 2 * node : node + remainder);
}

static void fold_doubling(const struct sim_fold *fold)
{
    int64_t power = 1;
    int32_t remainder = 0;

    while (2 * power <= fold->ranks) {
        power *= 2;
    }
    remainder = (int32_t)(fold->ranks - power);
    for (int32_t i = 0; i < remainder; i++) {
        merge(fold, 2 * i, 2 * i + 1);
    }
    for (int64_t distance = 1; distance < power; distance *= 2) {
        for (int64_t node = 0; node < power; node += 2 * distance) {
            merge(fold, group_row(node, remainder), group_row(node + distance, remainder));
        }
    }
}

/* Chunk c is folded into row c, then gathered in row 0, whose own contribution is used up. */
static void fold_ring(const struct sim_fold *fold)
{
    uint64_t ranks = (uint64_t)fold->ranks;
    size_t size = alar_dtype_bytes(fold->dtype);
    uint64_t from = 0;

    for (int32_t chunk = 0; chunk < fold->ranks && from < fold->count; chunk++) {
        uint64_t count = fold->count / ranks + ((uint64_t)chunk < fold->count % ranks ? 1 : 0);

        for (int32_t i = 1; i < fold->ranks; i++) {
            int32_t right = chunk < fold->ranks - i ? chunk + i : chunk - (fold->ranks - i);

            merge_part(fold, chunk, right, from, count);
        }
        if (chunk > 0) {
            memcpy(fold->rows + from * size,
                   fold->rows + (size_t)chunk * fold->row_bytes + from * size, count * size);
        }
        from += count;
    }
}

/* The payload and sign of a NaN are nobody's promise, and differ between compilers: one for all. */
static void finish(const struct sim_fold *fold, unsigned char *row)
{
    bool is_average = fold->reduction == ALAR_AVG;
    size_t size = alar_dtype_bytes(fold->dtype);

    if (!is_average && !(fold->reduction == ALAR_SUM && alar_dtype_is_float(fold->dtype))) {
        return;
    }
    for (uint64_t i = 0; i < fold->count; i++) {
        uint64_t bits = 0;

        /* Little-endian, as every machine the project serves. */
        memcpy(&bits, row + i * size, size);
        if (alar_fp_is_nan(fold->dtype, bits)) {
            bits = alar_fp_nan(fold->dtype);
        } else if (is_average) {
            bits = alar_fp_divide(fold->dtype, bits, (uint32_t)fold->ranks);
        } else {
            continue;
        }
        memcpy(row + i * size, &bits, size);
    }
}

unsigned char *sim_fold_run(const struct sim_fold *fold)
{
    int32_t result = 0;

    PRE(fold->ranks >= 1);
    switch (fold->ranks == 1 ? ALAR_SIM_LEFT_FOLD : fold->order) {
    case ALAR_SIM_LEFT_FOLD:
    case ALAR_SIM_ORDER_COUNT:
        for (int32_t i = 1; i < fold->ranks; i++) {
            merge(fold, 0, i);
        }
        break;
    case ALAR_SIM_RIGHT_FOLD:
        for (int32_t i = fold->ranks - 2; i >= 0; i--) {
            merge(fold, i, i + 1);
        }
        break;
    case ALAR_SIM_RECURSIVE_DOUBLING:
        fold_doubling(fold);
        break;
    case ALAR_SIM_BINOMIAL:
        fold_binomial(fold);
        break;
    case ALAR_SIM_RING:
        fold_ring(fold);
        break;
    case ALAR_SIM_ARRIVAL:
        result = fold->arrivals[0];
        for (int32_t i = 1; i < fold->ranks; i++) {
            merge(fold, result, fold->arrivals[i]);
        }
        break;
    }
    if (fold->ranks > 1) {
        finish(fold, fold->rows + (size_t)result * fold->row_bytes);
    }
    return fold->rows + (size_t)result * fold->row_bytes;
}

void sim_scale(enum alar_dtype dtype, unsigned char *row, uint64_t count, double factor)
{
    size_t size = alar_dtype_bytes(dtype);
    uint64_t scale = alar_fp_from_double(dtype, factor);

    for (uint64_t i = 0; i < count; i++) {
        uint64_t bits = 0;

        memcpy(&bits, row + i * size, size);
        bits = alar_fp_multiply(dtype, ALAR_NEAREST, bits, scale);
        memcpy(row + i * size, &bits, size);
    }
}

uint32_t sim_order_height(enum alar_sim_order order, int32_t ranks)
{
    uint32_t floor_log = 0;

    while (INT64_C(2) << floor_log <= ranks) {
        floor_log++;
    }
    if (order == ALAR_SIM_BINOMIAL || order == ALAR_SIM_RECURSIVE_DOUBLING) {
        return floor_log + (INT64_C(1) << floor_log < ranks ? 1 : 0);
    }
    return (uint32_t)(ranks - 1);
}

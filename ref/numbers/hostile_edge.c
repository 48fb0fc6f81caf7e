/* Hostile inputs at the edges of the formats: overflow, subnormals, NaN, infinities, zeros, means,
   integers, and what libraries in use get wrong. */
#include "numbers/hostile_maker.h"

#include "numbers/fp.h"

enum {
    EDGE_CASES = 7,
    SPECIAL_CASES = 8,
    INTEGER_CASES = 6
};

static void bits_set(struct hostile_maker *maker, uint32_t rank, uint32_t element, uint64_t bits)
{
    maker->input->bits[(size_t)rank * maker->input->elements + element] = bits;
}

/* First half of the ranks one value, the others another, dealt out anew. */
static void halves(struct hostile_maker *maker, uint32_t element, double first, double second)
{
    for (uint32_t r = 0; r < maker->ranks; r++) {
        hostile_set(maker, r, element, r < maker->ranks / 2 ? first : second);
    }
    hostile_shuffle(maker, element);
}

/* One subnormal drawn for every rank, or one rank in two. */
static void subnormals(struct hostile_maker *maker, uint32_t element, bool has_normal)
{
    double smallest = maker->input->dtype == ALAR_F16 ? 0x1p-24 : 0x1p-149;
    double least_normal = maker->input->dtype == ALAR_F16 ? 0x1p-14 : 0x1p-126;

    for (uint32_t r = 0; r < maker->ranks; r++) {
        double tiny = smallest * (1 + hostile_below(maker, 500));

        hostile_set(maker, r, element, has_normal && r % 2 == 0 ? least_normal + tiny : -tiny);
    }
    hostile_shuffle(maker, element);
}

void hostile_edges(struct hostile_maker *maker)
{
    double largest;

    maker->input->dtype = maker->index % 2 == 0 ? ALAR_F32 : ALAR_F16;
    largest = maker->input->dtype == ALAR_F16 ? 65504.0 : 0x1.fffffep127;
    maker->input->elements = EDGE_CASES;
    halves(maker, 0, largest, -largest);
    halves(maker, 1, 1100.0, 1100.0 * 0x1p-3);
    halves(maker, 2, largest * 0.75, -largest * 0.5);
    subnormals(maker, 3, false);
    subnormals(maker, 4, true);
    halves(maker, 5, 1.0, -0x1p-12);
    halves(maker, 6, largest, largest);
}

/* A NaN with the sign and payload of its rank; signalling where the rank is odd. */
static uint64_t nan_of(uint32_t rank)
{
    return UINT64_C(0x7f800000) | (rank % 2 == 0 ? UINT64_C(0x400000) : 0) | (rank + 1) |
           (rank % 3 == 0 ? UINT64_C(0x80000000) : 0);
}

void hostile_specials(struct hostile_maker *maker)
{
    uint32_t n = maker->ranks;
    uint32_t one = hostile_below(maker, n);
    uint32_t other = (one + 1 + hostile_below(maker, n > 1 ? n - 1 : 1)) % n;
    uint64_t minus_zero = alar_dtype_sign(ALAR_F32);

    maker->input->elements = SPECIAL_CASES;
    for (uint32_t r = 0; r < n; r++) {
        for (uint32_t e = 0; e < SPECIAL_CASES; e++) {
            hostile_set(maker, r, e, 1.0 + hostile_below(maker, 9));
        }
        bits_set(maker, r, 4, minus_zero);
        bits_set(maker, r, 5, r == one ? 0 : minus_zero);
    }
    bits_set(maker, one, 0, nan_of(one));
    bits_set(maker, one, 1, alar_fp_inf(ALAR_F32, false));
    bits_set(maker, one, 2, alar_fp_inf(ALAR_F32, false));
    bits_set(maker, other, 2, alar_fp_inf(ALAR_F32, true));
    bits_set(maker, one, 3, alar_fp_inf(ALAR_F32, true));
    bits_set(maker, one, 6, nan_of(one));
    bits_set(maker, other, 6, nan_of(other));
    bits_set(maker, (uint32_t)(maker->index % n), 7, nan_of(other));
}

void hostile_averages(struct hostile_maker *maker)
{
    maker->input->dtype = maker->index % 2 == 0 ? ALAR_F32 : ALAR_F64;
    maker->input->red = ALAR_AVG;
    maker->input->elements = 6;
    for (uint32_t e = 0; e < 6; e++) {
        for (uint32_t r = 0; r < maker->ranks; r++) {
            hostile_set(maker, r, e, 1.0 + 11.0 * alar_rng_unit(&maker->rng));
        }
    }
}

/* Each row: the value of one rank, that of a second one, that of the others. */
void hostile_integers(struct hostile_maker *maker)
{
    static const int64_t rows[INTEGER_CASES][3] = {
        {INT32_MAX, 1, 0},      {INT32_MIN, -1, 0},   {(1 << 24) + 1, 0, 0},
        {-(1 << 24) - 1, 2, 0}, {1000003, -7, 12345}, {INT32_MAX, INT32_MIN, 3},
    };
    static const int64_t wide[INTEGER_CASES][3] = {
        {INT64_MAX, 1, 0},
        {INT64_MIN, -1, 0},
        {(INT64_C(1) << 53) + 1, 0, 0},
        {-(INT64_C(1) << 53) - 1, 2, 0},
        {INT64_C(1000000000000000003), -7, 12345},
        {INT64_MAX, INT64_MAX, INT64_MAX},
    };
    static const enum alar_reduction reds[] = {ALAR_SUM, ALAR_SUM, ALAR_MAX, ALAR_SUM, ALAR_MIN};
    static const enum alar_dtype dtypes[] = {ALAR_I32, ALAR_I64, ALAR_U8};
    enum alar_dtype dtype = dtypes[maker->index % 3];
    const int64_t(*table)[3] = dtype == ALAR_I64 ? wide : rows;

    maker->input->dtype = dtype;
    maker->input->red = reds[maker->index % 5];
    /* MPICH 4.0.2 compares unsigned bytes as signed ones: MAX of 1 and 255 is 1. */
    maker->input->is_contested = dtype == ALAR_U8 && maker->input->red != ALAR_SUM;
    maker->input->elements = INTEGER_CASES;
    for (uint32_t e = 0; e < INTEGER_CASES; e++) {
        for (uint32_t r = 0; r < maker->ranks; r++) {
            bits_set(maker, r, e,
                     (uint64_t)table[e][r < 2 ? r : 2] & alar_dtype_mask(maker->input->dtype));
        }
        hostile_shuffle(maker, e);
    }
}

/* Index by index: sums at counts 1, 2, 3, ..., then MAX and MIN. */
void hostile_live(struct hostile_maker *maker)
{
    bool is_sum = maker->index % 2 == 0;
    uint32_t one = hostile_below(maker, maker->ranks);

    maker->input->elements = 1 + (uint32_t)(maker->index / 2 % 33);
    maker->input->red = is_sum ? ALAR_SUM : maker->index % 4 == 1 ? ALAR_MAX : ALAR_MIN;
    for (uint32_t e = 0; e < maker->input->elements; e++) {
        for (uint32_t r = 0; r < maker->ranks; r++) {
            hostile_set(maker, r, e, 1.0 + 11.0 * alar_rng_unit(&maker->rng));
        }
    }
    if (is_sum) {
        return;
    }
    maker->input->is_contested = true;
    bits_set(maker, one, 0, nan_of(one));
    if (maker->input->elements > 1) {
        for (uint32_t r = 0; r < maker->ranks; r++) {
            bits_set(maker, r, 1, r == one ? 0 : alar_dtype_sign(ALAR_F32));
        }
    }
}

/* Reductions in which nothing is rounded: bitwise and logical ones, and the place of an extreme. */
#include "legal/provenance.h"

bool alar_red_is_discrete(enum alar_reduction red)
{
    return red >= ALAR_LAND;
}

static bool red_is_logical(enum alar_reduction red)
{
    return red >= ALAR_LAND && red <= ALAR_LXOR;
}

/* What is not 0 is true, NaN too. */
static bool logical_answer(const struct alar_reduce *reduce)
{
    uint32_t truths = 0;

    for (uint32_t i = 0; i < reduce->n; i++) {
        truths += !alar_fp_is_zero(reduce->adder.dtype, reduce->bits[i]);
    }
    return reduce->red == ALAR_LAND  ? truths == reduce->n
           : reduce->red == ALAR_LOR ? truths > 0
                                     : truths % 2 == 1;
}

/* True is 1; where every true contribution has all bits set, as some Fortran compilers write it,
   that too. One rank's value may come back as it was. spec: N-32 */
static bool logical_is_legal(const struct alar_reduce *reduce, uint64_t value, uint64_t *legal)
{
    enum alar_dtype dtype = reduce->adder.dtype;
    uint64_t mask = alar_dtype_mask(dtype);
    bool is_true = logical_answer(reduce);
    bool is_ones = true;

    for (uint32_t i = 0; i < reduce->n; i++) {
        is_ones = is_ones && (reduce->bits[i] == 0 || reduce->bits[i] == mask);
    }
    *legal = is_true ? alar_fp_from_double(dtype, 1) : 0;
    return value == *legal || (is_true && is_ones && value == mask) ||
           (reduce->n == 1 && alar_fp_is_same(dtype, value, reduce->bits[0]));
}

static bool bitwise_is_legal(const struct alar_reduce *reduce, uint64_t value, uint64_t *legal)
{
    *legal = reduce->bits[0];
    for (uint32_t i = 1; i < reduce->n; i++) {
        uint64_t bits = reduce->bits[i];

        *legal = reduce->red == ALAR_BAND  ? *legal & bits
                 : reduce->red == ALAR_BOR ? *legal | bits
                                           : *legal ^ bits;
    }
    return value == *legal;
}

/* Zeros of either sign are level, and NaN is level with NaN. */
static bool place_is_level(enum alar_dtype dtype, uint64_t a, uint64_t b)
{
    return alar_fp_is_same(dtype, a, b) || (alar_fp_is_zero(dtype, a) && alar_fp_is_zero(dtype, b));
}

/* The index beside an extreme: the least of those whose value is level with it. With a NaN about,
   of which comparisons say nothing, any of them. The value is judged as that of MAX or MIN; where
   it is none, its index is not to blame. spec: N-33 */
static bool place_is_legal(const struct alar_reduce *reduce, uint64_t value, uint64_t *legal)
{
    enum alar_dtype dtype = reduce->adder.dtype;
    bool has_nan = false, has_holder = false, is_holder = false;

    *legal = value;
    for (uint32_t i = 0; i < reduce->n; i++) {
        uint64_t index = reduce->bits[i];

        has_nan |= alar_fp_is_nan(dtype, reduce->beside[i]);
        if (!place_is_level(dtype, reduce->beside[i], reduce->extreme)) {
            continue;
        }
        is_holder |= alar_fp_is_same(dtype, index, value);
        if (!has_holder || alar_fp_rank(dtype, index) < alar_fp_rank(dtype, *legal)) {
            *legal = index;
        }
        has_holder = true;
    }
    return !has_holder || (has_nan ? is_holder : place_is_level(dtype, value, *legal));
}

bool alar_discrete_is_legal(const struct alar_reduce *reduce, uint64_t value, uint64_t *legal)
{
    struct alar_reduce extreme = *reduce;

    if (red_is_logical(reduce->red)) {
        return logical_is_legal(reduce, value, legal);
    }
    if (reduce->red <= ALAR_BXOR) {
        return bitwise_is_legal(reduce, value, legal);
    }
    if (reduce->beside) {
        return place_is_legal(reduce, value, legal);
    }
    extreme.red = reduce->red == ALAR_MAXLOC ? ALAR_MAX : ALAR_MIN;
    return alar_extremum_is_legal(&extreme, value, legal);
}

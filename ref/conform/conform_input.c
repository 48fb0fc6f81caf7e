/* Contributions, made for the dtype they travel in: each family at the edge of its format. */
#include "conform/conform_scene.h"

#include "base/rng.h"
#include "numbers/fp.h"

#include <math.h>

const char *const conform_family_names[FAMILY_COUNT] = {
    "ledger", "masks",    "width",  "ties", "ordered", "unordered", "cancel",
    "edges",  "specials", "thirds", "wrap", "async",   "equal",     "alone",
};

/* One element of one member. */
struct cell {
    enum alar_dtype dtype;
    uint32_t member;
    uint32_t members;
    uint64_t element;
    uint32_t number; /* of the all-reduce */
    uint64_t seed;   /* of the element, the same for all members */
    uint64_t own;    /* of the member as well */
    int precision;
    int place; /* of the member in an order drawn for the element */
};

/* The member's place when those of the element are shuffled by a drawn rotation and step. */
static int place_draw(const struct cell *cell)
{
    uint64_t turned = (cell->member + cell->seed) % cell->members;

    return (int)(cell->seed >> 32 & 1 ? cell->members - 1 - turned : turned);
}

static double loss(uint64_t draw)
{
    return 1.0 + 11.0 * ((double)(draw >> 11) * 0x1p-53);
}

/* ---- floats ------------------------------------------------------------------------------------
 */

static double ledger(const struct cell *cell)
{
    int digits = (cell->precision - 1) / 2;

    return ldexp(1.0, 2 * (int)((cell->member + cell->number) % (uint32_t)digits));
}

static double mask(const struct cell *cell)
{
    double huge = cell->dtype == ALAR_F16 ? 0x1p14 : 0x1p100;

    return cell->members < 2 ? 1.0 : cell->place == 0 ? huge : cell->place == 1 ? -huge : 1.0;
}

static double width(const struct cell *cell)
{
    double unit = ldexp(1.0, -cell->precision);
    /* Of the second row no order of additions in the dtype gives what a wider one does: what is
       lost of the third term decides a tie. */
    const double rows[4][4] = {{1.0, unit, unit, unit},
                               {1.0, unit / 2, unit / 2 + unit * unit, 0.0},
                               {1.0 + 2 * unit, unit, unit / 2, unit / 2},
                               {2.0, unit, 3 * unit, 3 * unit}};

    return rows[cell->element % 4][cell->place < 3 ? cell->place : 3];
}

static double tie(const struct cell *cell)
{
    double unit = ldexp(1.0, -cell->precision);
    double sign = cell->element % 2 == 0 ? 1.0 : -1.0;
    double odd = cell->element % 4 < 2 ? 2 * unit : 0.0;

    return sign * (cell->place == 0 ? 1.0 + odd : (double)(1 + 2 * (cell->own % 2)) * unit);
}

/* Whole numbers whose sum is exact, and just beyond what is. */
static double whole(const struct cell *cell)
{
    double limit = floor(ldexp(1.0, cell->precision) / (double)cell->members);
    double base = cell->number % 2 == 0 ? limit * 0.875 : limit * 1.5;

    return floor(base) - (double)(cell->own % (uint64_t)(limit / 8 + 1));
}

static double cancel(const struct cell *cell)
{
    double large = loss(cell->seed) * (double)(1 << (cell->seed % 12));
    bool is_left = cell->place == (int)cell->members - 1 && cell->members % 2 == 1;

    if (is_left) {
        return 0x1p-6 * loss(cell->own);
    }
    return cell->place % 2 == 0 ? large : -large * (1.0 + ldexp((double)(cell->own % 64), -14));
}

static uint64_t edge(const struct cell *cell)
{
    uint64_t most = alar_fp_inf(cell->dtype, false) - 1;
    uint64_t sign = cell->place % 2 == 1 ? alar_dtype_sign(cell->dtype) : 0;
    uint64_t normal = (alar_fp_inf(cell->dtype, false) >> (cell->precision - 1) & 1)
                      << (cell->precision - 1);

    switch (cell->element % 5) {
    case 0: /* overflow by order */
        return (most - (cell->own % 4 << (cell->precision - 2))) | sign;
    case 1: /* subnormals */
        return 1 + cell->own % 7;
    case 2: /* down to subnormals */
        return cell->place == 0   ? normal + 1
               : cell->place == 1 ? normal | alar_dtype_sign(cell->dtype)
                                  : 0;
    case 3: /* halves of the greatest */
        return cell->place < 2 ? most - (UINT64_C(1) << (cell->precision - 1)) : 0;
    default: /* zeros of both signs */
        return cell->own % 2 ? alar_dtype_sign(cell->dtype) : 0;
    }
}

static uint64_t special(const struct cell *cell)
{
    bool is_struck = cell->place == 0;
    uint64_t other = alar_fp_from_double(cell->dtype, loss(cell->own));

    switch (cell->element % 6) {
    case 0:
        return is_struck ? alar_fp_nan(cell->dtype) : other;
    case 1:
        return is_struck ? alar_fp_inf(cell->dtype, false) : other;
    case 2:
        return is_struck          ? alar_fp_inf(cell->dtype, false)
               : cell->place == 1 ? alar_fp_inf(cell->dtype, true)
                                  : other;
    case 3:
        return alar_dtype_sign(cell->dtype);
    case 4:
        return is_struck ? 0 : alar_dtype_sign(cell->dtype);
    default:
        return is_struck ? alar_fp_nan(cell->dtype) | 1 | alar_dtype_sign(cell->dtype) : other;
    }
}

static double float_value(const struct cell *cell, enum conform_family family)
{
    switch (family) {
    case FAMILY_LEDGER:
        return ledger(cell);
    case FAMILY_MASKS:
        return mask(cell);
    case FAMILY_WIDTH:
        return width(cell);
    case FAMILY_TIES:
        return tie(cell);
    case FAMILY_UNORDERED:
        return whole(cell);
    case FAMILY_CANCEL:
        return cancel(cell);
    case FAMILY_THIRDS:
        return (double)(1 + cell->own % 9) / 3.0;
    case FAMILY_EQUAL:
        return loss(cell->seed);
    case FAMILY_ALONE:
        return cell->place == 0 ? loss(cell->own) : 0.0;
    default:
        return loss(cell->own);
    }
}

/* ---- integers ----------------------------------------------------------------------------------
 */

static uint64_t integer_wrap(const struct cell *cell)
{
    uint64_t mask_all = alar_dtype_mask(cell->dtype);
    uint64_t sign = alar_dtype_sign(cell->dtype);
    uint64_t most = sign != 0 ? sign - 1 : mask_all;

    switch (cell->element % 5) {
    case 0: /* wraps from two ranks on */
        return most - cell->own % 3;
    case 1: /* negative, or above the middle of what has no sign */
        return (mask_all - cell->own % 100) & mask_all;
    case 2: /* more than floats hold: odd, and wide */
        return ((most >> 3) - 2 * (cell->own % 1000) - 1 + (most >> 3) % 2) | 1;
    case 3: /* beyond 32 bits, where there are more */
        return ((UINT64_C(5) << 32) + cell->own % 77) & (mask_all >> 1);
    default:
        return cell->place == 0 ? sign : cell->place == 1 ? most : cell->own % 2;
    }
}

static uint64_t integer_value(const struct cell *cell, enum conform_family family)
{
    int bits = (int)(8 * alar_dtype_bytes(cell->dtype)) - 1;

    switch (family) {
    case FAMILY_LEDGER:
        return UINT64_C(1) << (2 * ((cell->member + cell->number) % (uint32_t)(bits / 2)));
    case FAMILY_UNORDERED:
        return cell->own & alar_dtype_mask(cell->dtype) >> 5;
    case FAMILY_WRAP:
        return integer_wrap(cell);
    case FAMILY_ALONE:
        return cell->place == 0 ? 1 + cell->own % 99 : 0;
    default:
        return cell->seed & alar_dtype_mask(cell->dtype) >> 5;
    }
}

uint64_t conform_input(const struct conform_scene *scene, const struct conform_op *op,
                       uint32_t member, uint32_t members, uint64_t element)
{
    struct cell cell = {.dtype = op->dtype,
                        .member = member,
                        .members = members,
                        .element = element,
                        .number = op->number};

    if (op->family == FAMILY_ASYNC) {
        struct conform_named named = conform_named_input(op, member, members);

        return conform_named_bits(&named, element);
    }
    cell.seed = alar_rng_fold(alar_rng_fold(scene->seed, op->number), element);
    cell.own = alar_rng_fold(cell.seed, member + 1);
    cell.place = place_draw(&cell);
    if (!alar_dtype_is_float(op->dtype)) {
        return integer_value(&cell, op->family) & alar_dtype_mask(op->dtype);
    }
    cell.precision = alar_dtype_precision(op->dtype);
    if (op->family == FAMILY_EDGES) {
        return edge(&cell);
    }
    if (op->family == FAMILY_SPECIALS) {
        return special(&cell);
    }
    return alar_fp_from_double(op->dtype, float_value(&cell, op->family));
}

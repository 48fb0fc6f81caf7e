/* Power: which single faults this input could not have hidden.

   A missing or doubled rank moves the exact sum by its contribution x. Legal values lie within r of
   the sum, faulty ones within r' of the moved sum, so |x| > r + r' is always seen. For few ranks
   the exact hulls with and without the rank tell more. */
#include "legal/power.h"

#include "base/check.h"
#include "legal/hull.h"

#include <math.h>

enum {
    POWER_HULL_RANKS = 12,
    POWER_PRODUCT_RANKS = 256 /* of more it is not asked: that takes their number squared */
};

static void power_count(struct alar_power *power, uint8_t *seen, uint32_t rank, bool is_drop,
                        bool is_double)
{
    power->drops += is_drop;
    power->doubles += is_double;
    if (seen) {
        seen[rank] =
            (uint8_t)((is_drop ? ALAR_POWER_DROP : 0) | (is_double ? ALAR_POWER_DOUBLE : 0));
    }
}

/* Integers show every contribution that is not 0, unless the division of an average hides it, be it
   by all ranks or by those that are left. */
static void power_integers(const struct alar_reduce *reduce, struct alar_power *power,
                           uint8_t *seen)
{
    struct alar_adder adder = reduce->adder;
    enum alar_avg avg = reduce->red == ALAR_AVG ? ALAR_AVG_SUM_DIVIDE : ALAR_AVG_ANY;
    uint64_t sum = alar_adder_fold(adder, reduce->bits, reduce->n);
    uint64_t right = alar_average_finish(avg, adder.dtype, sum, reduce->n);

    for (uint32_t i = 0; i < reduce->n; i++) {
        uint64_t bits = reduce->bits[i];
        uint64_t less = alar_adder_add(adder, sum, alar_fp_negate(adder.dtype, bits));
        uint64_t more = alar_adder_add(adder, sum, bits);
        uint32_t left = reduce->n > 1 ? reduce->n - 1 : 1;
        bool is_drop = alar_average_finish(avg, adder.dtype, less, reduce->n) != right &&
                       alar_average_finish(avg, adder.dtype, less, left) != right;
        power_count(power, seen, i, is_drop,
                    alar_average_finish(avg, adder.dtype, more, reduce->n) != right);
    }
}

/* MAX and MIN show a missing rank only when no other has a value as good. */
static void power_extremum(const struct alar_reduce *reduce, uint64_t *others,
                           struct alar_power *power, uint8_t *seen)
{
    struct alar_reduce rest = *reduce;
    uint64_t right;
    uint64_t without;

    (void)alar_extremum_is_legal(reduce, reduce->bits[0], &right);
    rest.bits = others;
    rest.n = reduce->n - 1;
    for (uint32_t i = 1; i < reduce->n; i++) {
        others[i - 1] = reduce->bits[i];
    }
    for (uint32_t i = 0; i < reduce->n && reduce->n > 1; i++) {
        (void)alar_extremum_is_legal(&rest, others[0], &without);
        power_count(power, seen, i,
                    !alar_extremum_is_legal(reduce, without, &right) &&
                        !alar_extremum_is_legal(&rest, right, &without),
                    false);
        others[i < rest.n ? i : 0] = reduce->bits[i];
    }
}

/* The contributions without one. */
static void power_rest(const uint64_t *bits, uint32_t n, uint32_t left_out, uint64_t *rest)
{
    for (uint32_t r = 0, kept = 0; r < n; r++) {
        rest[kept] = bits[r];
        kept += r != left_out;
    }
}

/* Bitwise and logical results have one value, with the rank, without it, and with it twice. */
static void power_discrete(const struct alar_reduce *reduce, uint64_t *others,
                           struct alar_power *power, uint8_t *seen)
{
    struct alar_reduce changed = *reduce;
    uint64_t other, unused;

    changed.bits = others;
    for (uint32_t i = 0; i < reduce->n; i++) {
        uint32_t kept = reduce->n - 1;
        bool is_drop = false;

        power_rest(reduce->bits, reduce->n, i, others);
        if (kept > 0) {
            changed.n = kept;
            (void)alar_discrete_is_legal(&changed, others[0], &other);
            is_drop = !alar_discrete_is_legal(reduce, other, &unused);
        }
        others[kept] = reduce->bits[i];
        others[kept + 1] = reduce->bits[i];
        changed.n = kept + 2;
        (void)alar_discrete_is_legal(&changed, others[0], &other);
        power_count(power, seen, i, is_drop, !alar_discrete_is_legal(reduce, other, &unused));
    }
}

/* Who holds an extreme shows when without that rank it would be another. Of a NaN nothing is said:
   any index may stand beside it. */
static void power_place(const struct alar_reduce *reduce, uint64_t *others, uint64_t *values,
                        struct alar_power *power, uint8_t *seen)
{
    struct alar_reduce all = *reduce, rest = *reduce, of_values = *reduce;
    uint64_t place, unused;

    of_values.beside = NULL;
    of_values.bits = reduce->beside;
    of_values.red = reduce->red == ALAR_MAXLOC ? ALAR_MAX : ALAR_MIN;
    for (uint32_t i = 0; i < reduce->n; i++) {
        if (alar_fp_is_nan(reduce->adder.dtype, reduce->beside[i])) {
            return;
        }
    }
    (void)alar_extremum_is_legal(&of_values, reduce->beside[0], &all.extreme);
    of_values.bits = rest.beside = values;
    rest.bits = others;
    rest.n = of_values.n = reduce->n - 1;
    for (uint32_t i = 0; i < reduce->n && reduce->n > 1; i++) {
        power_rest(reduce->bits, reduce->n, i, others);
        power_rest(reduce->beside, reduce->n, i, values);
        (void)alar_extremum_is_legal(&of_values, values[0], &rest.extreme);
        (void)alar_discrete_is_legal(&rest, others[0], &place);
        power_count(power, seen, i, !alar_discrete_is_legal(&all, place, &unused), false);
    }
}

/* Do the products of these and of those have no value in common? */
static bool power_products_differ(struct alar_adder adder, const uint64_t *a, uint32_t a_count,
                                  const uint64_t *b, uint32_t b_count)
{
    struct alar_bound these, those;

    if (!alar_dtype_is_float(adder.dtype)) {
        return alar_adder_fold(adder, a, a_count) != alar_adder_fold(adder, b, b_count);
    }
    alar_bound_product(&these, adder, a, a_count);
    alar_bound_product(&those, adder, b, b_count);
    if (!these.is_valid || !those.is_valid || these.can_overflow || those.can_overflow) {
        return false;
    }
    bool is_apart = these.most < those.least || those.most < these.least;

    return is_apart ||
           (these.is_negative != those.is_negative && (these.least > 0 || those.least > 0));
}

/* A factor shows when the products with and without it, or with it twice, lie apart. */
static void power_products(const struct alar_reduce *reduce, uint64_t *others,
                           struct alar_power *power, uint8_t *seen)
{
    for (uint32_t i = 0; i < reduce->n; i++) {
        power_rest(reduce->bits, reduce->n, i, others);
        bool is_drop = reduce->n > 1 && power_products_differ(reduce->adder, reduce->bits,
                                                              reduce->n, others, reduce->n - 1);
        others[reduce->n - 1] = others[reduce->n] = reduce->bits[i];
        power_count(
            power, seen, i, is_drop,
            power_products_differ(reduce->adder, reduce->bits, reduce->n, others, reduce->n + 1));
    }
}

/* How far a value may be from the exact sum of these; what finishing an average adds is included.
 */
static double power_radius(const struct alar_reduce *reduce, const struct alar_bound *bound)
{
    double unit = ldexp(1, 2 - alar_dtype_precision(reduce->adder.dtype));
    double finish = reduce->red == ALAR_AVG
                        ? unit * (bound->magnitude + bound->radius) +
                              reduce->n * ldexp(1, alar_dtype_lowest(reduce->adder.dtype))
                        : 0;

    return (bound->is_order_free ? 0 : bound->radius) + finish;
}

/* Are the hulls with and without a rank apart, also after finishing? */
static bool hull_shows_drop(const struct alar_hull *hull, const struct alar_reduce *reduce,
                            enum alar_avg avg, uint32_t rank)
{
    uint32_t all = (UINT32_C(1) << reduce->n) - 1;
    struct alar_range with = hull->range[all];
    struct alar_range without = hull->range[all ^ UINT32_C(1) << rank];
    double low = without.high < with.low ? without.high : with.high;
    double high = without.high < with.low ? with.low : without.low;
    struct alar_adder adder = reduce->adder;

    if (with.can_be_nan && without.can_be_nan) {
        return false;
    }
    if (with.low > with.high || without.low > without.high) {
        return true; /* one of them is NaN in every order */
    }
    if (!(low < high)) {
        return false;
    }
    uint64_t below = alar_adder_store(adder, alar_fp_from_double(adder.wide, low));
    uint64_t above = alar_adder_store(adder, alar_fp_from_double(adder.wide, high));

    return alar_fp_ulps(adder.dtype, alar_average_finish(avg, adder.dtype, below, reduce->n),
                        alar_average_finish(avg, adder.dtype, above, reduce->n)) != 0;
}

/* An average over the ranks that are left is another one, too: x lies apart from the others' mean.
 */
static bool power_is_apart(double x, double sum, double radius, uint32_t n)
{
    return fabs(n * x - sum) > (n - 1.0) * 3 * radius * (1 + 0x1p-40) + fabs(sum) * 0x1p-50;
}

struct power_floats {
    uint64_t *prepared;       /* n + 2 */
    double *doubles;          /* 2n + 4 */
    struct alar_range *range; /* NULL when there are too many ranks, or no memory */
};

/* Every rank's contribution is beyond twice the wider radii of sums, which need no sorting and no
   hull: then it is beyond the narrower ones. Of averages it is not asked. */
static bool power_is_plain(const struct alar_reduce *reduce, const struct power_floats *room,
                           uint32_t height, uint32_t higher)
{
    enum alar_dtype dtype = reduce->adder.dtype;
    uint32_t n = reduce->n;
    struct alar_bound bound, doubled;

    if (n < 2 || reduce->red == ALAR_AVG) {
        return false;
    }
    alar_bound_estimate(&bound, reduce->adder, room->prepared, n, height, room->doubles);
    alar_bound_estimate(&doubled, reduce->adder, room->prepared, n + 2, higher, room->doubles);
    double radius = power_radius(reduce, &bound), other = power_radius(reduce, &doubled);
    double limit = (radius + fmax(radius, other)) * (1 + 0x1p-50);
    bool is_plain = bound.is_valid && !bound.can_overflow && doubled.is_valid;

    for (uint32_t i = 0; i < n && is_plain; i++) {
        is_plain = fabs(alar_fp_to_double(dtype, room->prepared[i])) > limit;
    }
    return is_plain;
}

static void power_sums(const struct alar_reduce *reduce, enum alar_avg avg,
                       struct power_floats room, struct alar_power *power, uint8_t *seen)
{
    enum alar_dtype dtype = reduce->adder.dtype;
    uint32_t n = reduce->n;
    struct alar_bound bound;
    struct alar_bound doubled;
    struct alar_hull hull;
    uint64_t largest = 0;
    double sum = 0;

    alar_average_prepare(avg, dtype, reduce->bits, n, room.prepared);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t magnitude = room.prepared[i] & ~alar_dtype_sign(dtype);
        largest = magnitude > largest ? magnitude : largest;
        sum += alar_fp_to_double(dtype, room.prepared[i]);
    }
    /* A set that dominates the contributions with any one of them doubled, of either sign. */
    room.prepared[n] = largest;
    room.prepared[n + 1] = alar_fp_negate(dtype, largest);
    /* One more contribution is one more addition on the way to the root. */
    uint32_t height = reduce->height > 0 ? reduce->height : n - 1;
    uint32_t higher = reduce->height > 0 ? reduce->height + 1 : n + 1;
    if (power_is_plain(reduce, &room, height, higher)) {
        for (uint32_t i = 0; i < n; i++) {
            power_count(power, seen, i, true, true);
        }
        return;
    }
    alar_bound_evaluate(&bound, reduce->adder, room.prepared, n, height, room.doubles);
    alar_bound_evaluate(&doubled, reduce->adder, room.prepared, n + 2, higher, room.doubles);
    if (room.range) {
        alar_hull_build(&hull, reduce->adder, room.prepared, n, room.range);
    }
    /* A doubled contribution may overflow what the others can't: that shows by itself. */
    bool is_known = bound.is_valid && !bound.can_overflow;
    double radius = power_radius(reduce, &bound);
    double other = power_radius(reduce, &doubled);
    for (uint32_t i = 0; i < n; i++) {
        double own = alar_fp_to_double(dtype, room.prepared[i]), moved = fabs(own);
        bool is_far = is_known && moved > (radius + radius) * (1 + 0x1p-50);
        bool is_drop = is_far || (room.range && hull_shows_drop(&hull, reduce, avg, i));
        is_drop = is_drop &&
                  (reduce->red != ALAR_AVG || (is_known && power_is_apart(own, sum, radius, n)));
        power_count(power, seen, i, n > 1 && is_drop,
                    is_known && doubled.is_valid && moved > (radius + other) * (1 + 0x1p-50));
    }
}

static enum alar_status power_floats(const struct alar_reduce *reduce, struct alar_scratch scratch,
                                     struct alar_power *power, uint8_t *seen)
{
    uint64_t n = reduce->n;
    bool is_avg = reduce->red == ALAR_AVG;
    enum alar_avg avg = !is_avg                       ? ALAR_AVG_ANY
                        : reduce->avg == ALAR_AVG_ANY ? ALAR_AVG_SUM_DIVIDE
                                                      : reduce->avg;
    struct power_floats room = {
        .prepared = alar_scratch_take(&scratch, n + 2, sizeof *room.prepared),
        .doubles = alar_scratch_take(&scratch, 2 * n + 4, sizeof *room.doubles),
    };

    if (!room.prepared || !room.doubles) {
        return ALAR_E_RANGE;
    }
    if (n > 1 && n <= POWER_HULL_RANKS) {
        room.range = alar_scratch_take(&scratch, UINT64_C(1) << n, sizeof *room.range);
    }
    power_sums(reduce, avg, room, power, seen);
    return ALAR_OK;
}

enum alar_status alar_power_evaluate(const struct alar_reduce *reduce, struct alar_scratch scratch,
                                     uint8_t *seen, struct alar_power *power)
{
    struct alar_reduce own = alar_reduce_normalize(reduce);

    PRE(own.n >= 1);
    *power = (struct alar_power){0, 0, true};
    for (uint32_t i = 0; i < own.n && seen; i++) {
        seen[i] = 0;
    }
    uint64_t *others = alar_scratch_take(&scratch, own.n + UINT64_C(1), sizeof *others);
    if (!others) {
        return ALAR_E_RANGE;
    }
    if (own.red == ALAR_PRODUCT && own.n > POWER_PRODUCT_RANKS) {
        return ALAR_E_UNSUPPORTED;
    }
    if (own.red == ALAR_PRODUCT) {
        power_products(&own, others, power, seen);
    } else if (own.red == ALAR_MAX || own.red == ALAR_MIN) {
        power_extremum(&own, others, power, seen);
    } else if (own.beside) {
        uint64_t *values = alar_scratch_take(&scratch, own.n, sizeof *values);
        if (!values) {
            return ALAR_E_RANGE;
        }
        power_place(&own, others, values, power, seen);
    } else if (own.red == ALAR_MAXLOC || own.red == ALAR_MINLOC) {
        own.red = own.red == ALAR_MAXLOC ? ALAR_MAX : ALAR_MIN;
        power_extremum(&own, others, power, seen);
    } else if (alar_red_is_discrete(own.red)) {
        power_discrete(&own, others, power, seen);
    } else if (!alar_dtype_is_float(own.adder.dtype)) {
        power_integers(&own, power, seen);
    } else {
        ALAR_TRY(power_floats(&own, scratch, power, seen));
    }
    power->is_vacuous = power->drops == 0 && power->doubles == 0;
    return ALAR_OK;
}

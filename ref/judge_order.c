/* Values no named tree explains: inside the exact hull of any order up to 12 ranks, beyond that
   inside the proven bound. And averages, by the convention that was promised, or by any. */
#include "judge_state.h"

#include "bound.h"
#include "hull.h"

/* What any order of additions can give, prepared for one column. */
struct order {
    struct alar_adder adder;
    const uint64_t *column;
    uint32_t n;
    struct alar_hull hull;   /* n <= JUDGE_HULL_RANKS */
    struct alar_bound bound; /* beyond */
};

static struct order order_prepare(const struct alar_judge *judge, struct alar_adder adder,
                                  const uint64_t *column, uint32_t n)
{
    struct judge_room room = judge_room(judge);
    struct order order = {.adder = adder, .column = column, .n = n};
    uint32_t height = judge->contract.height;

    if (n <= JUDGE_HULL_RANKS) {
        alar_hull_build(&order.hull, adder, column, n, room.range);
    } else {
        alar_bound_evaluate(&order.bound, adder, column, n,
                            height > 0 && height < n ? height : n - 1, room.sorted);
    }
    return order;
}

static uint32_t order_everybody(const struct order *order)
{
    return (uint32_t)((UINT64_C(1) << order->n) - 1);
}

/* Sums with infinities or NaN among the contributions, for adders that keep them: NaN stays NaN,
   and infinities of both signs become one. spec: O-32 */
static enum judge_legality order_special(const struct order *order, uint64_t value)
{
    enum alar_dtype dtype = order->adder.dtype;
    uint32_t nans = 0, positive = 0, negative = 0;

    for (uint32_t m = 0; m < order->n; m++) {
        bool is_inf = alar_fp_is_inf(dtype, order->column[m]);

        nans += alar_fp_is_nan(dtype, order->column[m]);
        positive += is_inf && !alar_fp_is_negative(dtype, order->column[m]);
        negative += is_inf && alar_fp_is_negative(dtype, order->column[m]);
    }
    if (order->adder.model == ALAR_SATURATE || nans + positive + negative == 0) {
        return JUDGE_UNDECIDED; /* overflow is possible in some order */
    }
    if (nans > 0 || (positive > 0 && negative > 0)) {
        return alar_fp_is_nan(dtype, value) ? JUDGE_LEGAL : JUDGE_ILLEGAL;
    }
    return value == alar_fp_inf(dtype, negative > 0) ? JUDGE_LEGAL : JUDGE_UNDECIDED;
}

static enum judge_legality order_bound(const struct order *order, uint64_t value)
{
    const struct alar_bound *bound = &order->bound;
    enum alar_dtype dtype = order->adder.dtype;

    if (!bound->is_valid) {
        return order_special(order, value);
    }
    if (!alar_fp_is_finite(dtype, value)) {
        return JUDGE_ILLEGAL;
    }
    if (bound->is_order_free) {
        return value == bound->only ? JUDGE_LEGAL : JUDGE_ILLEGAL;
    }
    return alar_bound_is_multiple(dtype, value, bound->granularity) &&
                   alar_bound_admits(bound, dtype, order->column, order->n, value)
               ? JUDGE_LEGAL
               : JUDGE_ILLEGAL;
}

static enum judge_legality order_admits(const struct order *order, uint64_t value)
{
    if (order->n > JUDGE_HULL_RANKS) {
        return order_bound(order, value);
    }
    return alar_hull_contains(&order->hull, order_everybody(order), value) ? JUDGE_LEGAL
                                                                           : JUDGE_ILLEGAL;
}

/* The legal range, where it is known exactly. */
static void order_limits(const struct order *order, struct judge_limits *limits)
{
    if (order->n > JUDGE_HULL_RANKS) {
        limits->is_known = order->bound.is_valid && order->bound.is_order_free;
        limits->lowest = order->bound.only;
        limits->highest = order->bound.only;
        return;
    }
    const struct alar_range *all = &order->hull.range[order_everybody(order)];
    limits->is_known = all->low <= all->high;
    if (limits->is_known) {
        limits->lowest = alar_fp_from_double(order->adder.dtype, all->low);
        limits->highest = alar_fp_from_double(order->adder.dtype, all->high);
    }
}

enum judge_legality judge_any_order(const struct alar_judge *judge, struct alar_adder adder,
                                    const uint64_t *column, uint32_t n, uint64_t value,
                                    struct judge_limits *limits)
{
    struct order order = order_prepare(judge, adder, column, n);

    order_limits(&order, limits);
    return order_admits(&order, value);
}

/* The contributions of one element as the convention prepares them, in place. */
static void average_prepare(enum alar_avg convention, enum alar_dtype dtype, uint64_t *column,
                            uint32_t n)
{
    uint64_t inverse = alar_fp_divide(dtype, alar_fp_from_double(dtype, 1.0), n);

    for (uint32_t m = 0; m < n; m++) {
        if (convention == ALAR_AVG_MULTIPLY_SUM) {
            column[m] = alar_fp_multiply(dtype, column[m], inverse);
        } else if (convention == ALAR_AVG_DIVIDE_SUM) {
            column[m] = alar_fp_divide(dtype, column[m], n);
        }
    }
}

static uint64_t average_finish(enum alar_avg convention, enum alar_dtype dtype, uint64_t sum,
                               uint32_t n)
{
    if (convention == ALAR_AVG_SUM_DIVIDE) {
        return alar_fp_divide(dtype, sum, n);
    }
    if (convention == ALAR_AVG_SUM_MULTIPLY) {
        return alar_fp_multiply(dtype, sum,
                                alar_fp_divide(dtype, alar_fp_from_double(dtype, 1.0), n));
    }
    return sum;
}

/* Is there a legal sum that becomes this average? Those that do are neighbours of value * n:
   division and multiplication are monotone, and a few sums at most share one average, more only
   where it underflows. */
static enum judge_legality average_backwards(const struct order *order, enum alar_avg convention,
                                             uint64_t value)
{
    enum alar_dtype dtype = order->adder.dtype;
    bool is_tiny = alar_fp_is_subnormal(dtype, value) || alar_fp_is_zero(dtype, value);
    int64_t window = 8 + (is_tiny ? (int64_t)order->n : 0);
    enum judge_legality best = JUDGE_ILLEGAL;

    if (!alar_fp_is_finite(dtype, value)) {
        return order_admits(order, value);
    }
    uint64_t near = alar_fp_from_double(dtype, alar_fp_to_double(dtype, value) * (double)order->n);
    if (!alar_fp_is_finite(dtype, near)) {
        near = alar_fp_largest(dtype, alar_fp_is_negative(dtype, value));
    }
    int64_t centre = alar_fp_rank(dtype, near);
    for (int64_t rank = centre - window; best != JUDGE_LEGAL && rank <= centre + window; rank++) {
        uint64_t sum = alar_fp_unrank(dtype, rank);

        if (alar_fp_is_finite(dtype, sum) &&
            alar_fp_is_same(dtype, value, average_finish(convention, dtype, sum, order->n))) {
            enum judge_legality legality = order_admits(order, sum);

            best = legality < best ? legality : best;
        }
    }
    return best;
}

static enum judge_legality average_by(const struct alar_judge *judge, const struct judge_op *op,
                                      uint32_t element, uint64_t value, enum alar_avg convention)
{
    uint64_t *column = judge_room(judge).column;

    judge_column(judge, op, element);
    average_prepare(convention, op->dtype, column, op->members);
    struct order order = order_prepare(judge, judge_adder(judge, op->dtype), column, op->members);

    if (convention == ALAR_AVG_MULTIPLY_SUM || convention == ALAR_AVG_DIVIDE_SUM) {
        return order_admits(&order, value);
    }
    return average_backwards(&order, convention, value);
}

/* The same with a sum in fp32 that is divided there and rounded to the 16-bit dtype once:
   everything between the ends of the hull counts. */
static enum judge_legality average_wide(const struct alar_judge *judge, const struct judge_op *op,
                                        uint32_t element, uint64_t value)
{
    uint64_t *column = judge_room(judge).column;
    struct alar_adder adder = {ALAR_F32, ALAR_F32, ALAR_NEAREST};
    struct judge_limits ends;

    if (op->members > JUDGE_HULL_RANKS || !alar_fp_is_finite(op->dtype, value)) {
        return JUDGE_UNDECIDED;
    }
    judge_column(judge, op, element);
    for (uint32_t m = 0; m < op->members; m++) {
        column[m] = alar_fp_convert(op->dtype, ALAR_F32, ALAR_NEAREST, column[m]);
    }
    struct order order = order_prepare(judge, adder, column, op->members);
    order_limits(&order, &ends);
    if (!ends.is_known) {
        return JUDGE_ILLEGAL;
    }
    for (unsigned side = 0; side < 2; side++) {
        uint64_t *end = side ? &ends.highest : &ends.lowest;

        *end = alar_fp_convert(ALAR_F32, op->dtype, ALAR_NEAREST,
                               alar_fp_divide(ALAR_F32, *end, op->members));
    }
    double at = alar_fp_to_double(op->dtype, value);
    return at >= alar_fp_to_double(op->dtype, ends.lowest) &&
                   at <= alar_fp_to_double(op->dtype, ends.highest)
               ? JUDGE_LEGAL
               : JUDGE_ILLEGAL;
}

/* An average is legal when the promised convention, or any one without a promise, can give it. */
enum judge_legality judge_average(struct alar_judge *judge, const struct judge_op *op,
                                  const uint64_t *out, struct judge_limits *limits)
{
    enum alar_avg promised = judge->contract.avg;

    for (uint32_t e = 0; e < op->lanes; e++) {
        enum judge_legality best = JUDGE_ILLEGAL;

        for (unsigned c = ALAR_AVG_SUM_DIVIDE; c <= ALAR_AVG_DIVIDE_SUM && best != JUDGE_LEGAL;
             c++) {
            if (promised == ALAR_AVG_ANY || promised == (enum alar_avg)c) {
                enum judge_legality legality = average_by(judge, op, e, out[e], (enum alar_avg)c);

                best = legality < best ? legality : best;
            }
        }
        if (best == JUDGE_ILLEGAL && judge_may_be_wide(judge, op->dtype)) {
            best = average_wide(judge, op, e, out[e]);
        }
        if (best != JUDGE_LEGAL) {
            limits->element = e;
            return best;
        }
    }
    judge_inside(judge, op);
    return JUDGE_LEGAL;
}

void judge_inside(struct alar_judge *judge, const struct judge_op *op)
{
    struct alar_provenance *from = &judge->verdict.provenance;

    if (op->members <= JUDGE_HULL_RANKS) {
        from->hull++;
    } else {
        from->bound++;
    }
}

/* The ladder: cheap and strong proofs first, each rung either settles the value or passes it on. */
#include "legal/proof.h"

#include "base/check.h"
#include "legal/hull.h"
#include "legal/reachable.h"
#include "numbers/exact.h"

/* Up to here the complete set, and the hull, are tried; above they cost more than they tell. */
enum {
    SET_RANKS = 12,
    HULL_RANKS = 16,
    ORDERED_RANKS = 64
};

static uint64_t ladder_finish(const struct alar_ladder *ladder, uint64_t sum)
{
    return alar_average_finish(ladder->avg, ladder->reduce->adder.dtype, sum, ladder->reduce->n);
}

/* Is the sum one of those that could have become the value? */
static bool ladder_takes(const struct alar_ladder *ladder, uint64_t sum)
{
    return alar_fp_is_same(ladder->reduce->adder.dtype, ladder_finish(ladder, sum), ladder->value);
}

static bool ladder_settle(struct alar_origin *origin, enum alar_rung rung, uint64_t sum)
{
    origin->rung = rung;
    origin->sum = sum;
    return true;
}

static bool ladder_refuse(struct alar_origin *origin, enum alar_refusal refusal)
{
    origin->rung = ALAR_RUNG_ILLEGAL;
    origin->refusal = refusal;
    return true;
}

/* One legal sum, whatever the order: the value comes from it, or is illegal. */
static bool ladder_only(const struct alar_ladder *ladder, struct alar_origin *origin, uint64_t only)
{
    origin->low = origin->high = ladder_finish(ladder, only);
    origin->has_range = true;
    return ladder_takes(ladder, only) ? ladder_settle(origin, ALAR_RUNG_ONLY, only)
                                      : ladder_refuse(origin, ALAR_REFUSED_ONLY);
}

/* Order cannot matter: integers, at most two ranks, certificate, or NaN and infinities that no
   order can avoid. */
static bool rung_only(const struct alar_ladder *ladder, struct alar_origin *origin)
{
    const struct alar_reduce *reduce = ladder->reduce;
    struct alar_adder adder = reduce->adder;
    struct alar_exact exact;

    if (origin->bound.is_order_free) {
        return ladder_only(ladder, origin, origin->bound.only);
    }
    bool is_wrapping = !alar_dtype_is_float(adder.dtype) && adder.model != ALAR_SATURATE;
    if (is_wrapping || reduce->n <= 2) {
        return ladder_only(ladder, origin, alar_adder_fold(adder, ladder->prepared, reduce->n));
    }
    if (!alar_dtype_is_float(adder.dtype) || adder.model == ALAR_SATURATE) {
        return false;
    }
    alar_exact_init(&exact);
    double finite = 0;
    for (uint32_t i = 0; i < reduce->n; i++) {
        alar_exact_add(&exact, adder.dtype, ladder->prepared[i]);
        double value = alar_fp_to_double(adder.dtype, ladder->prepared[i]);
        bool is_finite = alar_fp_is_finite(adder.dtype, ladder->prepared[i]);
        finite += !is_finite ? 0 : value < 0 ? -value : value;
    }
    bool is_nan = exact.nans > 0 || (exact.infinities[0] > 0 && exact.infinities[1] > 0);
    bool is_inf = exact.infinities[0] > 0 || exact.infinities[1] > 0;
    double largest = alar_fp_to_double(adder.wide, alar_fp_largest(adder.wide, false));
    if (is_nan || (is_inf && finite < largest / 4)) {
        uint64_t only = alar_exact_round(&exact, 1, adder.dtype, ALAR_NEAREST);
        return ladder_only(ladder, origin, only);
    }
    return false;
}

static bool rung_named(struct alar_ladder *ladder, struct alar_origin *origin)
{
    const struct alar_reduce *reduce = ladder->reduce;
    uint32_t names = alar_tree_names(reduce->n, ladder->starts);

    for (uint32_t i = 0; i < names; i++) {
        struct alar_tree_name name = alar_tree_name_at(reduce->n, ladder->starts, i);
        alar_tree_build(&origin->witness, name, reduce->n);
        if (reduce->height > 0 &&
            alar_tree_height(&origin->witness, ladder->stack) > reduce->height) {
            continue;
        }
        uint64_t sum =
            alar_tree_evaluate(&origin->witness, reduce->adder, ladder->prepared, ladder->stack);
        if (!ladder_takes(ladder, sum)) {
            continue;
        }
        origin->starts[name.kind] |= (uint16_t)(name.start < 16 ? 1u << name.start : 0);
        if (origin->name_count < ALAR_ORIGIN_NAMES) {
            origin->name[origin->name_count] = name;
        }
        if (origin->name_count++ == 0) {
            (void)ladder_settle(origin, ALAR_RUNG_NAMED, sum);
        }
    }
    origin->witness.count = 0;
    if (origin->name_count > 0) {
        alar_tree_build(&origin->witness, origin->name[0], reduce->n);
    }
    return origin->name_count > 0;
}

/* A sum is a multiple of the contributions' common grain, and a zero has the sign they allow. */
static bool rung_grain_refuses(const struct alar_ladder *ladder, struct alar_origin *origin)
{
    const struct alar_reduce *reduce = ladder->reduce;
    enum alar_dtype dtype = reduce->adder.dtype;
    uint64_t sum = ladder->candidate[0];

    if (ladder->candidates != 1 || !alar_fp_is_finite(dtype, sum)) {
        return false;
    }
    if (alar_fp_is_zero(dtype, sum) &&
        !alar_zero_is_legal(reduce->adder, ladder->prepared, reduce->n, UINT32_MAX,
                            alar_fp_is_negative(dtype, sum))) {
        return ladder_refuse(origin, ALAR_REFUSED_ZERO);
    }
    bool is_coarse = origin->bound.is_valid && reduce->adder.model != ALAR_FLUSH &&
                     !alar_bound_is_multiple(dtype, sum, origin->bound.granularity);

    return is_coarse && ladder_refuse(origin, ALAR_REFUSED_GRAIN);
}

/* A proven no from the radius: every candidate is too far from the exact sum. */
static bool rung_bound_refuses(const struct alar_ladder *ladder, struct alar_origin *origin)
{
    const struct alar_reduce *reduce = ladder->reduce;
    enum alar_dtype dtype = reduce->adder.dtype;

    if (!origin->bound.is_valid) {
        return false;
    }
    uint64_t sums[] = {ladder->ends[0], ladder->ends[1],
                       alar_exact_sum(dtype, ladder->prepared, reduce->n)};

    for (int i = 0; i < 3; i++) {
        if (ladder_takes(ladder, sums[i]) && alar_fp_is_finite(dtype, sums[i]) &&
            alar_bound_admits(&origin->bound, dtype, ladder->prepared, reduce->n, sums[i])) {
            return false;
        }
    }
    return ladder_refuse(origin, ALAR_REFUSED_BOUND);
}

/* Looks for any candidate in a complete set; keeps the witness. */
static bool reach_settles(const struct alar_ladder *ladder, const struct alar_reach *reach,
                          enum alar_rung rung, struct alar_origin *origin)
{
    for (uint32_t i = 0; i < ladder->candidates; i++) {
        uint64_t sum = ladder->candidate[i];
        if (!alar_reach_has(reach, sum)) {
            continue;
        }
        if (alar_reach_witness(reach, sum, &origin->witness, ladder->stack)) {
            return ladder_settle(origin, rung, sum);
        }
        origin->witness.count = 0;
    }
    return false;
}

static bool rung_ordered(const struct alar_ladder *ladder, struct alar_origin *origin)
{
    const struct alar_reduce *reduce = ladder->reduce;
    struct alar_reach reach;

    return reduce->n <= ORDERED_RANKS &&
           alar_reach_ordered(&reach, reduce->adder, ladder->prepared, reduce->n, ladder->work,
                              ladder->scratch) == ALAR_OK &&
           reach_settles(ladder, &reach, ALAR_RUNG_ORDERED, origin);
}

static bool rung_nodes(const struct alar_ladder *ladder, struct alar_origin *origin)
{
    const struct alar_reduce *reduce = ladder->reduce;
    struct alar_reach reach;

    return reduce->nodes > 0 &&
           alar_reach_nodes(&reach, reduce->adder, ladder->prepared, reduce->n, reduce->node,
                            reduce->nodes, ladder->work, ladder->scratch) == ALAR_OK &&
           reach_settles(ladder, &reach, ALAR_RUNG_NODES, origin);
}

/* The complete set says yes with a witness, or no for good. */
static bool rung_any(const struct alar_ladder *ladder, struct alar_origin *origin)
{
    const struct alar_reduce *reduce = ladder->reduce;
    struct alar_reach reach;

    if (reduce->n > SET_RANKS || alar_reach_any(&reach, reduce->adder, ladder->prepared, reduce->n,
                                                ladder->work, ladder->scratch) != ALAR_OK) {
        return false;
    }
    if (reach_settles(ladder, &reach, ALAR_RUNG_ANY, origin)) {
        return true;
    }
    for (uint32_t i = 0; i < ladder->candidates; i++) {
        if (alar_reach_has(&reach, ladder->candidate[i])) {
            return ladder_settle(origin, ALAR_RUNG_HULL, ladder->candidate[i]);
        }
    }
    return !ladder->is_cut && ladder_refuse(origin, ALAR_REFUSED_SET);
}

/* Is some candidate between the ends? They are the ends of what finishing them gives, too. */
static bool hull_takes(const struct alar_ladder *ladder, const struct alar_hull *hull)
{
    uint32_t all = (UINT32_C(1) << hull->n) - 1;

    for (uint32_t i = 0; i < ladder->candidates; i++) {
        if (alar_hull_contains(hull, all, ladder->candidate[i])) {
            return true;
        }
    }
    return ladder->is_cut;
}

/* The exact ends of any order: they refuse, or bring the value inside. */
static bool rung_hull(const struct alar_ladder *ladder, struct alar_origin *origin, bool *is_inside)
{
    const struct alar_reduce *reduce = ladder->reduce;
    struct alar_adder adder = reduce->adder;
    struct alar_scratch scratch = ladder->scratch;
    struct alar_hull hull;
    struct alar_range *range;

    *is_inside = false;
    if (reduce->n > HULL_RANKS) {
        return false;
    }
    range = alar_scratch_take(&scratch, UINT64_C(1) << reduce->n, sizeof *range);
    if (!range) {
        return false;
    }
    alar_hull_build(&hull, adder, ladder->prepared, reduce->n, range);
    struct alar_range whole = range[(UINT32_C(1) << reduce->n) - 1];
    if (whole.low <= whole.high) {
        uint64_t low = alar_adder_store(adder, alar_fp_from_double(adder.wide, whole.low));
        uint64_t high = alar_adder_store(adder, alar_fp_from_double(adder.wide, whole.high));
        origin->low = ladder_finish(ladder, low);
        origin->high = ladder_finish(ladder, high);
        origin->has_range = true;
    }
    *is_inside = hull_takes(ladder, &hull);
    return !*is_inside && ladder_refuse(origin, ALAR_REFUSED_HULL);
}

void alar_ladder_climb(struct alar_ladder *ladder, struct alar_origin *origin)
{
    bool is_inside = false;
    bool is_float = alar_dtype_is_float(ladder->reduce->adder.dtype);

    if (rung_only(ladder, origin) || rung_named(ladder, origin)) {
        return;
    }
    if (!is_float) {
        origin->rung = ALAR_RUNG_UNDECIDED;
        return;
    }
    if (!alar_ladder_candidates(ladder)) {
        (void)ladder_refuse(origin, ALAR_REFUSED_SET);
        return;
    }
    if (rung_grain_refuses(ladder, origin) || rung_bound_refuses(ladder, origin) ||
        rung_hull(ladder, origin, &is_inside) || rung_ordered(ladder, origin) ||
        rung_nodes(ladder, origin) || rung_any(ladder, origin)) {
        return;
    }
    origin->rung = is_inside && !ladder->is_cut ? ALAR_RUNG_HULL
                   : origin->bound.is_valid     ? ALAR_RUNG_BOUND
                                                : ALAR_RUNG_UNDECIDED;
    origin->sum = ladder->candidate[0];
}

bool alar_ladder_candidates(struct alar_ladder *ladder)
{
    enum alar_dtype dtype = ladder->reduce->adder.dtype;
    int64_t first;
    int64_t last;

    ladder->is_cut = false;
    ladder->candidate[0] = ladder->ends[0] = ladder->ends[1] = ladder->value;
    ladder->candidates = 1;
    if (alar_fp_is_nan(dtype, ladder->value)) {
        return true;
    }
    if (!alar_average_sums(ladder->avg, dtype, ladder->value, ladder->reduce->n, &first, &last)) {
        return false;
    }
    ladder->ends[0] = alar_fp_unrank(dtype, first);
    ladder->ends[1] = alar_fp_unrank(dtype, last);
    ladder->is_cut = last - first >= ALAR_LADDER_CANDIDATES;
    ladder->candidates = ladder->is_cut ? ALAR_LADDER_CANDIDATES : (uint32_t)(last - first + 1);
    for (uint32_t i = 0; i < ladder->candidates; i++) {
        ladder->candidate[i] = alar_fp_unrank(dtype, first + i);
    }
    return true;
}

/* The search: cheap and strong proofs first, each proof either settles the value or passes it on.
 */
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

static uint64_t proof_finish(const struct alar_proof_search *search, uint64_t sum)
{
    return alar_average_finish(search->avg, search->reduce->adder.dtype, sum, search->reduce->n);
}

/* Is the sum one of those that could have become the value? */
static bool proof_takes(const struct alar_proof_search *search, uint64_t sum)
{
    return alar_fp_is_same(search->reduce->adder.dtype, proof_finish(search, sum), search->value);
}

static bool proof_settle(struct alar_origin *origin, enum alar_proof proof, uint64_t sum)
{
    origin->proof = proof;
    origin->sum = sum;
    return true;
}

static bool proof_refuse(struct alar_origin *origin, enum alar_refusal refusal)
{
    origin->proof = ALAR_PROOF_ILLEGAL;
    origin->refusal = refusal;
    return true;
}

/* One legal sum, whatever the order: the value comes from it, or is illegal. */
static bool only_settle(const struct alar_proof_search *search, struct alar_origin *origin,
                        uint64_t only)
{
    origin->low = origin->high = proof_finish(search, only);
    origin->has_range = true;
    return proof_takes(search, only) ? proof_settle(origin, ALAR_PROOF_ONLY, only)
                                     : proof_refuse(origin, ALAR_REFUSED_ONLY);
}

/* Order cannot matter: integers, at most two ranks, certificate, or NaN and infinities that no
   order can avoid. */
static bool proof_only(const struct alar_proof_search *search, struct alar_origin *origin)
{
    const struct alar_reduce *reduce = search->reduce;
    struct alar_adder adder = reduce->adder;
    struct alar_exact exact;

    if (origin->bound.is_order_free) {
        return only_settle(search, origin, origin->bound.only);
    }
    bool is_wrapping = !alar_dtype_is_float(adder.dtype) && adder.model != ALAR_SATURATE;
    if (is_wrapping || reduce->n <= 2) {
        return only_settle(search, origin, alar_adder_fold(adder, search->prepared, reduce->n));
    }
    if (!alar_dtype_is_float(adder.dtype) || adder.model == ALAR_SATURATE) {
        return false;
    }
    alar_exact_init(&exact);
    double finite = 0;
    for (uint32_t i = 0; i < reduce->n; i++) {
        alar_exact_add(&exact, adder.dtype, search->prepared[i]);
        double value = alar_fp_to_double(adder.dtype, search->prepared[i]);
        bool is_finite = alar_fp_is_finite(adder.dtype, search->prepared[i]);
        finite += !is_finite ? 0 : value < 0 ? -value : value;
    }
    bool is_nan = exact.nans > 0 || (exact.infinities[0] > 0 && exact.infinities[1] > 0);
    bool is_inf = exact.infinities[0] > 0 || exact.infinities[1] > 0;
    double largest = alar_fp_to_double(adder.wide, alar_fp_largest(adder.wide, false));
    if (is_nan || (is_inf && finite < largest / 4)) {
        uint64_t only = alar_exact_round(&exact, 1, adder.dtype, ALAR_NEAREST);
        return only_settle(search, origin, only);
    }
    return false;
}

static bool proof_named(struct alar_proof_search *search, struct alar_origin *origin)
{
    const struct alar_reduce *reduce = search->reduce;
    uint32_t names = alar_tree_names(reduce->n, search->starts);

    for (uint32_t i = 0; i < names; i++) {
        struct alar_tree_name name = alar_tree_name_at(reduce->n, search->starts, i);
        alar_tree_build(&origin->witness, name, reduce->n);
        if (reduce->height > 0 &&
            alar_tree_height(&origin->witness, search->stack) > reduce->height) {
            continue;
        }
        uint64_t sum =
            alar_tree_evaluate(&origin->witness, reduce->adder, search->prepared, search->stack);
        if (!proof_takes(search, sum)) {
            continue;
        }
        origin->starts[name.kind] |= (uint16_t)(name.start < 16 ? 1u << name.start : 0);
        if (origin->name_count < ALAR_ORIGIN_NAMES) {
            origin->name[origin->name_count] = name;
        }
        if (origin->name_count++ == 0) {
            (void)proof_settle(origin, ALAR_PROOF_NAMED, sum);
        }
    }
    origin->witness.count = 0;
    if (origin->name_count > 0) {
        alar_tree_build(&origin->witness, origin->name[0], reduce->n);
    }
    return origin->name_count > 0;
}

/* A sum is a multiple of the contributions' common grain, and a zero has the sign they allow. */
static bool proof_grain_refuses(const struct alar_proof_search *search, struct alar_origin *origin)
{
    const struct alar_reduce *reduce = search->reduce;
    enum alar_dtype dtype = reduce->adder.dtype;
    uint64_t sum = search->candidate[0];

    if (search->candidates != 1 || !alar_fp_is_finite(dtype, sum)) {
        return false;
    }
    if (alar_fp_is_zero(dtype, sum) &&
        !alar_zero_is_legal(reduce->adder, search->prepared, reduce->n, UINT32_MAX,
                            alar_fp_is_negative(dtype, sum))) {
        return proof_refuse(origin, ALAR_REFUSED_ZERO);
    }
    bool is_coarse = origin->bound.is_valid && reduce->adder.model != ALAR_FLUSH &&
                     !alar_bound_is_multiple(dtype, sum, origin->bound.granularity);

    return is_coarse && proof_refuse(origin, ALAR_REFUSED_GRAIN);
}

/* A proven no from the radius: every candidate is too far from the exact sum. */
static bool proof_bound_refuses(const struct alar_proof_search *search, struct alar_origin *origin)
{
    const struct alar_reduce *reduce = search->reduce;
    enum alar_dtype dtype = reduce->adder.dtype;

    if (!origin->bound.is_valid) {
        return false;
    }
    uint64_t sums[] = {search->ends[0], search->ends[1],
                       alar_exact_sum(dtype, search->prepared, reduce->n)};

    for (int i = 0; i < 3; i++) {
        if (proof_takes(search, sums[i]) && alar_fp_is_finite(dtype, sums[i]) &&
            alar_bound_admits(&origin->bound, dtype, search->prepared, reduce->n, sums[i])) {
            return false;
        }
    }
    return proof_refuse(origin, ALAR_REFUSED_BOUND);
}

/* Looks for any candidate in a complete set; keeps the witness. */
static bool reachable_settles(const struct alar_proof_search *search,
                              const struct alar_reachable *reachable, enum alar_proof proof,
                              struct alar_origin *origin)
{
    for (uint32_t i = 0; i < search->candidates; i++) {
        uint64_t sum = search->candidate[i];
        if (!alar_reachable_has(reachable, sum)) {
            continue;
        }
        if (alar_reachable_witness(reachable, sum, &origin->witness, search->stack)) {
            return proof_settle(origin, proof, sum);
        }
        origin->witness.count = 0;
    }
    return false;
}

static bool proof_ordered(const struct alar_proof_search *search, struct alar_origin *origin)
{
    const struct alar_reduce *reduce = search->reduce;
    struct alar_reachable reachable;

    return reduce->n <= ORDERED_RANKS &&
           alar_reachable_ordered(&reachable, reduce->adder, search->prepared, reduce->n,
                                  search->work, search->scratch) == ALAR_OK &&
           reachable_settles(search, &reachable, ALAR_PROOF_ORDERED, origin);
}

static bool proof_nodes(const struct alar_proof_search *search, struct alar_origin *origin)
{
    const struct alar_reduce *reduce = search->reduce;
    struct alar_reachable reachable;

    return reduce->nodes > 0 &&
           alar_reachable_nodes(&reachable, reduce->adder, search->prepared, reduce->n,
                                reduce->node, reduce->nodes, search->work,
                                search->scratch) == ALAR_OK &&
           reachable_settles(search, &reachable, ALAR_PROOF_NODES, origin);
}

/* The complete set says yes with a witness, or no for good. */
static bool proof_any(const struct alar_proof_search *search, struct alar_origin *origin)
{
    const struct alar_reduce *reduce = search->reduce;
    struct alar_reachable reachable;

    if (reduce->n > SET_RANKS ||
        alar_reachable_any(&reachable, reduce->adder, search->prepared, reduce->n, search->work,
                           search->scratch) != ALAR_OK) {
        return false;
    }
    if (reachable_settles(search, &reachable, ALAR_PROOF_ANY, origin)) {
        return true;
    }
    for (uint32_t i = 0; i < search->candidates; i++) {
        if (alar_reachable_has(&reachable, search->candidate[i])) {
            return proof_settle(origin, ALAR_PROOF_HULL, search->candidate[i]);
        }
    }
    return !search->is_cut && proof_refuse(origin, ALAR_REFUSED_SET);
}

/* Is some candidate between the ends? They are the ends of what finishing them gives, too. */
static bool hull_takes(const struct alar_proof_search *search, const struct alar_hull *hull)
{
    uint32_t all = (UINT32_C(1) << hull->n) - 1;

    for (uint32_t i = 0; i < search->candidates; i++) {
        if (alar_hull_contains(hull, all, search->candidate[i])) {
            return true;
        }
    }
    return search->is_cut;
}

/* The exact ends of any order: they refuse, or bring the value inside. */
static bool proof_hull(const struct alar_proof_search *search, struct alar_origin *origin,
                       bool *is_inside)
{
    const struct alar_reduce *reduce = search->reduce;
    struct alar_adder adder = reduce->adder;
    struct alar_scratch scratch = search->scratch;
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
    alar_hull_build(&hull, adder, search->prepared, reduce->n, range);
    struct alar_range whole = range[(UINT32_C(1) << reduce->n) - 1];
    if (whole.low <= whole.high) {
        uint64_t low = alar_adder_store(adder, alar_fp_from_double(adder.wide, whole.low));
        uint64_t high = alar_adder_store(adder, alar_fp_from_double(adder.wide, whole.high));
        origin->low = proof_finish(search, low);
        origin->high = proof_finish(search, high);
        origin->has_range = true;
    }
    *is_inside = hull_takes(search, &hull);
    return !*is_inside && proof_refuse(origin, ALAR_REFUSED_HULL);
}

void alar_proof_find(struct alar_proof_search *search, struct alar_origin *origin)
{
    bool is_inside = false;
    bool is_float = alar_dtype_is_float(search->reduce->adder.dtype);

    if (proof_only(search, origin) || proof_named(search, origin)) {
        return;
    }
    if (!is_float) {
        origin->proof = ALAR_PROOF_UNDECIDED;
        return;
    }
    if (!alar_proof_candidates(search)) {
        (void)proof_refuse(origin, ALAR_REFUSED_SET);
        return;
    }
    if (proof_grain_refuses(search, origin) || proof_bound_refuses(search, origin) ||
        proof_hull(search, origin, &is_inside) || proof_ordered(search, origin) ||
        proof_nodes(search, origin) || proof_any(search, origin)) {
        return;
    }
    origin->proof = is_inside && !search->is_cut ? ALAR_PROOF_HULL
                    : origin->bound.is_valid     ? ALAR_PROOF_BOUND
                                                 : ALAR_PROOF_UNDECIDED;
    origin->sum = search->candidate[0];
}

bool alar_proof_candidates(struct alar_proof_search *search)
{
    enum alar_dtype dtype = search->reduce->adder.dtype;
    int64_t first;
    int64_t last;

    search->is_cut = false;
    search->candidate[0] = search->ends[0] = search->ends[1] = search->value;
    search->candidates = 1;
    if (alar_fp_is_nan(dtype, search->value)) {
        return true;
    }
    if (!alar_average_sums(search->avg, dtype, search->value, search->reduce->n, &first, &last)) {
        return false;
    }
    search->ends[0] = alar_fp_unrank(dtype, first);
    search->ends[1] = alar_fp_unrank(dtype, last);
    search->is_cut = last - first >= ALAR_PROOF_CANDIDATES;
    search->candidates = search->is_cut ? ALAR_PROOF_CANDIDATES : (uint32_t)(last - first + 1);
    for (uint32_t i = 0; i < search->candidates; i++) {
        search->candidate[i] = alar_fp_unrank(dtype, first + i);
    }
    return true;
}

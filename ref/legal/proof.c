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
        if (!alar_proof_takes(search, sum)) {
            continue;
        }
        origin->starts[name.kind] |= (uint16_t)(name.start < 16 ? 1u << name.start : 0);
        if (origin->name_count < ALAR_ORIGIN_NAMES) {
            origin->name[origin->name_count] = name;
        }
        if (origin->name_count++ == 0) {
            (void)alar_proof_settle(origin, ALAR_PROOF_NAMED, sum);
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
    uint64_t sum = alar_fp_unrank(dtype, search->first);

    if (search->is_nan || search->first != search->last || !alar_fp_is_finite(dtype, sum)) {
        return false;
    }
    if (alar_fp_is_zero(dtype, sum) &&
        !alar_zero_is_legal(reduce->adder, search->prepared, reduce->n, UINT32_MAX,
                            alar_fp_is_negative(dtype, sum))) {
        return alar_proof_refuse(origin, ALAR_REFUSED_ZERO);
    }
    bool is_coarse = origin->bound.is_valid && reduce->adder.model != ALAR_FLUSH &&
                     !reduce->adder.is_product &&
                     !alar_bound_is_multiple(dtype, sum, origin->bound.granularity);

    return is_coarse && alar_proof_refuse(origin, ALAR_REFUSED_GRAIN);
}

/* A proven no from the radius: every sum in question is too far from the exact one. */
static bool proof_bound_refuses(const struct alar_proof_search *search, struct alar_origin *origin)
{
    const struct alar_reduce *reduce = search->reduce;
    enum alar_dtype dtype = reduce->adder.dtype;
    bool is_finite = alar_fp_is_finite(search->average.result, search->value);

    if (!origin->bound.is_valid || (origin->bound.can_overflow && !is_finite)) {
        return false;
    }
    uint64_t sums[] = {alar_fp_unrank(dtype, search->first), alar_fp_unrank(dtype, search->last),
                       reduce->adder.is_product
                           ? search->value
                           : alar_exact_sum(dtype, search->prepared, reduce->n)};

    for (int i = 0; i < 3 && !search->is_nan; i++) {
        if (alar_proof_takes(search, sums[i]) && alar_fp_is_finite(dtype, sums[i]) &&
            alar_bound_admits(&origin->bound, dtype, search->prepared, reduce->n, sums[i])) {
            return false;
        }
    }
    return alar_proof_refuse(origin, ALAR_REFUSED_BOUND);
}

/* Looks for any of the sums in a complete set; keeps the witness. */
static bool reachable_settles(const struct alar_proof_search *search,
                              const struct alar_reachable *reachable, enum alar_proof proof,
                              struct alar_origin *origin)
{
    uint64_t sum = alar_fp_nan(search->reduce->adder.dtype);
    bool is_there = search->is_nan
                        ? alar_reachable_has(reachable, sum)
                        : alar_reachable_meets(reachable, search->first, search->last, &sum);

    if (is_there) {
        alar_reachable_witness(reachable, sum, &origin->witness, search->stack);
    }
    return is_there && alar_proof_settle(origin, proof, sum);
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
    return reachable_settles(search, &reachable, ALAR_PROOF_ANY, origin) ||
           alar_proof_refuse(origin, ALAR_REFUSED_SET);
}

/* The exact ends of any order: they refuse, or bring the value inside. They are the ends of what
   finishing the sums gives, too. */
static bool proof_hull(const struct alar_proof_search *search, struct alar_origin *origin,
                       bool *is_inside)
{
    const struct alar_reduce *reduce = search->reduce;
    struct alar_scratch scratch = search->scratch;
    uint32_t all = (UINT32_C(1) << (reduce->n % 32)) - 1;
    struct alar_hull hull;
    struct alar_range *range;
    uint64_t low;
    uint64_t high;

    *is_inside = false;
    if (reduce->n > HULL_RANKS) {
        return false;
    }
    range = alar_scratch_take(&scratch, UINT64_C(1) << reduce->n, sizeof *range);
    if (!range) {
        return false;
    }
    alar_hull_build(&hull, reduce->adder, search->prepared, reduce->n, range);
    if (alar_hull_ends(&hull, &low, &high)) {
        origin->low = alar_average_result(&search->average, low);
        origin->high = alar_average_result(&search->average, high);
        origin->has_range = true;
    }
    *is_inside = search->is_nan ? range[all].can_be_nan
                                : alar_hull_meets(&hull, all, search->first, search->last);
    return !*is_inside && alar_proof_refuse(origin, ALAR_REFUSED_HULL);
}

/* What could have become the value; false when nothing does. */
static bool search_start(struct alar_proof_search *search)
{
    search->is_nan = alar_fp_is_nan(search->average.result, search->value);
    search->first = search->last = 0;
    return search->is_nan ||
           alar_average_sources(&search->average, search->value, &search->first, &search->last);
}

void alar_proof_find(struct alar_proof_search *search, struct alar_origin *origin)
{
    const struct alar_bound *bound = &origin->bound;
    bool is_float = alar_dtype_is_float(search->reduce->adder.dtype);
    bool is_inside = false;

    if (alar_proof_only(search, origin) || proof_named(search, origin)) {
        return;
    }
    if (!is_float) {
        origin->proof = ALAR_PROOF_UNDECIDED;
        return;
    }
    if (!search_start(search)) {
        (void)alar_proof_refuse(origin, ALAR_REFUSED_SET);
        return;
    }
    if (proof_grain_refuses(search, origin) || proof_bound_refuses(search, origin) ||
        proof_hull(search, origin, &is_inside) || proof_ordered(search, origin) ||
        proof_nodes(search, origin) || proof_any(search, origin)) {
        return;
    }
    bool is_bounded = bound->is_valid && (!bound->can_overflow ||
                                          alar_fp_is_finite(search->average.result, search->value));

    origin->proof = is_inside    ? ALAR_PROOF_HULL
                    : is_bounded ? ALAR_PROOF_BOUND
                                 : ALAR_PROOF_UNDECIDED;
    origin->sum = alar_fp_unrank(search->reduce->adder.dtype, search->first);
}

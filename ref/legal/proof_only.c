/* Values that the order of combining can't change, and what no order can make of infinities. */
#include "base/check.h"
#include "legal/hull.h"
#include "legal/proof.h"
#include "numbers/exact.h"

#include <math.h>

bool alar_proof_takes(const struct alar_proof_search *search, uint64_t sum)
{
    return alar_fp_is_same(search->average.result, alar_average_result(&search->average, sum),
                           search->value);
}

bool alar_proof_settle(struct alar_origin *origin, enum alar_proof proof, uint64_t sum)
{
    origin->proof = proof;
    origin->sum = sum;
    return true;
}

bool alar_proof_refuse(struct alar_origin *origin, enum alar_refusal refusal)
{
    origin->proof = ALAR_PROOF_ILLEGAL;
    origin->refusal = refusal;
    return true;
}

/* One legal sum, whatever the order: the value comes from it, or is illegal. */
static bool only_settle(const struct alar_proof_search *search, struct alar_origin *origin,
                        uint64_t only)
{
    origin->low = origin->high = alar_average_result(&search->average, only);
    origin->has_range = true;
    return alar_proof_takes(search, only) ? alar_proof_settle(origin, ALAR_PROOF_ONLY, only)
                                          : alar_proof_refuse(origin, ALAR_REFUSED_ONLY);
}

/* What is not finite among the contributions, as the adder takes them in. */
struct unbounded {
    uint32_t nans, zeros, positive, negative; /* the last two: infinities */
    bool is_negative;                         /* all signs together */
    double finite;                            /* the sum of finite magnitudes */
};

static struct unbounded unbounded_count(const struct alar_proof_search *search)
{
    struct alar_adder adder = search->reduce->adder;
    struct unbounded found = {0};

    for (uint32_t i = 0; i < search->reduce->n; i++) {
        uint64_t bits = alar_adder_load(adder, search->prepared[i]);
        bool is_negative = alar_fp_is_negative(adder.wide, bits);
        bool is_inf = alar_fp_is_inf(adder.wide, bits);

        found.nans += alar_fp_is_nan(adder.wide, bits);
        found.zeros += alar_fp_is_zero(adder.wide, bits);
        found.positive += is_inf && !is_negative;
        found.negative += is_inf && is_negative;
        found.is_negative ^= is_negative;
        if (alar_fp_is_finite(adder.wide, bits)) {
            found.finite += fabs(alar_fp_to_double(adder.wide, bits));
        }
    }
    return found;
}

/* An infinity that was contributed is never lost: the result is that infinity, or NaN. Sums reach
   NaN when finite ones overflow the other way, products when finite ones underflow to zero. */
static bool only_unbounded(const struct alar_proof_search *search, struct alar_origin *origin)
{
    struct alar_adder adder = search->reduce->adder;
    struct unbounded found = unbounded_count(search);
    uint32_t infinities = found.positive + found.negative;
    double largest = alar_fp_to_double(adder.wide, alar_fp_largest(adder.wide, false));
    bool is_nan = found.nans > 0 || (adder.is_product ? infinities > 0 && found.zeros > 0
                                                      : found.positive > 0 && found.negative > 0);
    bool is_minus = adder.is_product ? found.is_negative : found.negative > 0;
    uint64_t infinity = alar_fp_inf(adder.dtype, is_minus);

    if (is_nan) {
        return only_settle(search, origin, alar_fp_nan(adder.dtype));
    }
    if (infinities == 0) {
        return false;
    }
    if (!adder.is_product && found.finite < largest / 4) {
        return only_settle(search, origin, infinity);
    }
    return !alar_proof_takes(search, infinity) &&
           !alar_fp_is_nan(search->average.result, search->value) &&
           only_settle(search, origin, infinity);
}

/* spec: N-15, N-30 */
bool alar_proof_only(const struct alar_proof_search *search, struct alar_origin *origin)
{
    const struct alar_reduce *reduce = search->reduce;
    struct alar_adder adder = reduce->adder;
    bool is_float = alar_dtype_is_float(adder.dtype);

    if (origin->bound.is_order_free) {
        return only_settle(search, origin, origin->bound.only);
    }
    if ((!is_float && adder.model != ALAR_SATURATE) || reduce->n <= 2) {
        return only_settle(search, origin, alar_adder_fold(adder, search->prepared, reduce->n));
    }
    return is_float && adder.model != ALAR_SATURATE && only_unbounded(search, origin);
}

/* Judges one value: conventions of averaging around the search, and the accuracy of the value. */
#include "legal/provenance.h"

#include "base/check.h"
#include "legal/proof.h"
#include "numbers/exact.h"

bool alar_proof_is_legal(enum alar_proof proof)
{
    return proof < ALAR_PROOF_UNDECIDED;
}

const char *alar_proof_name(enum alar_proof proof)
{
    static const char *const names[] = {"only-legal-value", "named", "ordered", "nodes",
                                        "any-order",        "hull",  "bound",   "undecided",
                                        "illegal"};

    return (unsigned)proof < ALAR_PROOF_COUNT ? names[proof] : "?";
}

/* Everything one convention needs, taken from the scratch. */
static enum alar_status proof_prepare(struct alar_proof_search *search,
                                      const struct alar_budget *budget, uint64_t **prepared,
                                      double **doubles)
{
    uint64_t n = search->reduce->n;

    search->scratch = budget->scratch;
    *prepared = alar_scratch_take(&search->scratch, n, sizeof **prepared);
    *doubles = alar_scratch_take(&search->scratch, 2 * n, sizeof **doubles);
    search->stack = alar_scratch_take(&search->scratch, 3 * n, sizeof *search->stack);
    search->prepared = *prepared;
    return *prepared && *doubles && search->stack ? ALAR_OK : ALAR_E_RANGE;
}

/* One convention from the start: what is summed, its bound, and the search. */
static enum alar_status origin_find(const struct alar_reduce *reduce, uint64_t value,
                                    enum alar_avg avg, const struct alar_budget *budget,
                                    struct alar_origin *origin)
{
    struct alar_proof_search search = {.reduce = reduce, .avg = avg, .value = value};
    enum alar_dtype dtype = reduce->adder.dtype;
    uint64_t *prepared;
    double *doubles;
    uint32_t height = reduce->height > 0 ? reduce->height : reduce->n - 1;

    ALAR_TRY(proof_prepare(&search, budget, &prepared, &doubles));
    search.work = budget->work;
    search.starts = budget->starts > 0 ? budget->starts : 1;
    alar_average_prepare(avg, dtype, reduce->bits, reduce->n, prepared);
    *origin = (struct alar_origin){.avg = avg, .witness = origin->witness};
    origin->witness.count = 0;
    if (alar_dtype_is_float(dtype)) {
        alar_bound_evaluate(&origin->bound, reduce->adder, prepared, reduce->n, height, doubles);
    }
    alar_proof_find(&search, origin);
    return ALAR_OK;
}

/* The first convention on the lowest proof, and all that make the value legal. */
static enum alar_status origin_find_average(const struct alar_reduce *reduce, uint64_t value,
                                            const struct alar_budget *budget,
                                            struct alar_origin *origin)
{
    bool is_any = reduce->avg == ALAR_AVG_ANY;
    enum alar_avg best = is_any ? ALAR_AVG_SUM_DIVIDE : reduce->avg;
    enum alar_proof proof = ALAR_PROOF_COUNT;
    uint32_t averages = 0;
    bool is_float = alar_dtype_is_float(reduce->adder.dtype);

    for (int avg = ALAR_AVG_SUM_DIVIDE; avg <= ALAR_AVG_DIVIDE_SUM && is_any && is_float; avg++) {
        ALAR_TRY(origin_find(reduce, value, (enum alar_avg)avg, budget, origin));
        averages |= alar_proof_is_legal(origin->proof) ? UINT32_C(1) << avg : 0;
        if (origin->proof < proof) {
            proof = origin->proof;
            best = (enum alar_avg)avg;
        }
    }
    ALAR_TRY(origin_find(reduce, value, best, budget, origin));
    averages |= alar_proof_is_legal(origin->proof) ? UINT32_C(1) << best : 0;
    origin->averages = averages;
    return ALAR_OK;
}

static void origin_extremum(const struct alar_reduce *reduce, uint64_t value,
                            struct alar_origin *origin)
{
    bool is_legal = alar_extremum_is_legal(reduce, value, &origin->low);

    origin->proof = is_legal ? ALAR_PROOF_ONLY : ALAR_PROOF_ILLEGAL;
    origin->refusal = is_legal ? ALAR_REFUSED_NOT : ALAR_REFUSED_POLICY;
    origin->high = origin->exact = origin->low;
    origin->sum = value;
}

/* How far the value is from the correctly rounded one. */
static void origin_measure(const struct alar_reduce *reduce, uint64_t value,
                           struct alar_origin *origin)
{
    enum alar_dtype dtype = reduce->adder.dtype;
    uint64_t divisor = reduce->red == ALAR_RED_AVG ? reduce->n : 1;
    struct alar_exact exact;
    uint64_t inner = origin->exact;
    uint64_t outer = origin->exact;

    if (alar_dtype_is_float(dtype) && reduce->red != ALAR_RED_MAX && reduce->red != ALAR_RED_MIN) {
        alar_exact_init(&exact);
        for (uint32_t i = 0; i < reduce->n; i++) {
            alar_exact_add(&exact, dtype, reduce->bits[i]);
        }
        origin->exact = alar_exact_round(&exact, divisor, dtype, ALAR_NEAREST);
        alar_exact_neighbours(&exact, divisor, dtype, &inner, &outer);
    } else if (!alar_dtype_is_float(dtype) && origin->has_range) {
        origin->exact = inner = outer = origin->low;
    }
    bool is_same = alar_fp_is_same(dtype, value, origin->exact);

    origin->ulps = is_same ? 0 : alar_fp_ulps(dtype, value, origin->exact);
    origin->is_faithful = is_same || value == inner || value == outer;
}

struct alar_reduce alar_reduce_normalize(const struct alar_reduce *reduce)
{
    struct alar_reduce own = *reduce;

    if (!alar_dtype_is_float(own.adder.dtype)) {
        own.adder.wide = own.adder.dtype;
        own.avg = own.avg == ALAR_AVG_DIVIDE_SUM ? own.avg : ALAR_AVG_SUM_DIVIDE;
    }
    return own;
}

enum alar_status alar_provenance_judge(const struct alar_reduce *reduce, uint64_t value,
                                       struct alar_budget budget, int32_t *nodes,
                                       struct alar_origin *origin)
{
    struct alar_reduce own = alar_reduce_normalize(reduce);

    PRE(own.n >= 1);
    PRE(own.n <= ALAR_BOUND_RANKS_MAX);
    *origin = (struct alar_origin){.witness = {nodes, 0, 2 * own.n - 1}};
    switch (own.red) {
    case ALAR_RED_MAX:
    case ALAR_RED_MIN:
        origin_extremum(&own, value, origin);
        break;
    case ALAR_RED_SUM:
        ALAR_TRY(origin_find(&own, value, ALAR_AVG_ANY, &budget, origin));
        break;
    case ALAR_RED_AVG:
        ALAR_TRY(origin_find_average(&own, value, &budget, origin));
        break;
    default:
        return ALAR_E_UNSUPPORTED;
    }
    origin_measure(&own, value, origin);
    return ALAR_OK;
}

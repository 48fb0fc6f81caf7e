/* Judges one value: conventions of averaging around the search, and the accuracy of the value. */
#include "legal/provenance.h"

#include "base/check.h"
#include "legal/proof.h"
#include "numbers/exact.h"

#include <string.h>

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
static enum alar_status search_prepare(struct alar_proof_search *search,
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

/* What is summed: contributions in the dtype of the average, multiplied or divided before. */
static void search_fill(const struct alar_reduce *reduce, const struct alar_average *average,
                        uint64_t *prepared)
{
    for (uint32_t i = 0; i < reduce->n; i++) {
        prepared[i] =
            average->dtype == average->result
                ? reduce->bits[i]
                : alar_fp_convert(average->result, average->dtype, average->model, reduce->bits[i]);
    }
    alar_average_prepare(average->avg, average->dtype, prepared, reduce->n, prepared);
}

/* One convention from the start: what is summed, its bound, and the search. */
static enum alar_status origin_find(const struct alar_reduce *reduce, uint64_t value,
                                    struct alar_average average, const struct alar_budget *budget,
                                    struct alar_origin *origin)
{
    struct alar_reduce inner = *reduce;
    struct alar_proof_search search = {.reduce = &inner, .average = average, .value = value};
    uint64_t *prepared;
    double *doubles;
    uint32_t height = reduce->height > 0 ? reduce->height : reduce->n - 1;

    inner.adder.dtype = average.dtype;
    ALAR_TRY(search_prepare(&search, budget, &prepared, &doubles));
    search.work = budget->work;
    search.starts = budget->starts > 0 ? budget->starts : 1;
    search_fill(reduce, &average, prepared);
    *origin = (struct alar_origin){.avg = average.avg, .witness = origin->witness};
    origin->witness.count = 0;
    if (alar_dtype_is_float(average.dtype)) {
        alar_bound_evaluate(&origin->bound, inner.adder, prepared, reduce->n, height, doubles);
    }
    alar_proof_find(&search, origin);
    return ALAR_OK;
}

static struct alar_average average_of(const struct alar_reduce *reduce, enum alar_avg avg)
{
    enum alar_dtype dtype = reduce->adder.dtype;

    return (struct alar_average){
        .avg = avg,
        .dtype = reduce->is_rounded_once ? reduce->adder.wide : dtype,
        .result = dtype,
        .model = reduce->adder.model,
        .n = reduce->n,
    };
}

/* One convention; where subnormal sums are flushed the quotient may be, or may not. */
static enum alar_status origin_find_mean(const struct alar_reduce *reduce, uint64_t value,
                                         enum alar_avg avg, const struct alar_budget *budget,
                                         struct alar_origin *origin)
{
    struct alar_average average = average_of(reduce, avg);

    ALAR_TRY(origin_find(reduce, value, average, budget, origin));
    if (reduce->adder.model == ALAR_FLUSH && !alar_proof_is_legal(origin->proof) &&
        alar_dtype_is_float(average.dtype)) {
        average.is_flushed = true;
        ALAR_TRY(origin_find(reduce, value, average, budget, origin));
    }
    return ALAR_OK;
}

/* Keeps an origin whose witness stands in the caller's nodes, and brings it back. */
static void origin_copy(struct alar_origin *to, const struct alar_origin *from, int32_t *nodes)
{
    *to = *from;
    to->witness.node = nodes;
    memcpy(nodes, from->witness.node, from->witness.count * sizeof *nodes);
}

/* The first convention with the strongest proof, and all that make the value legal. */
static enum alar_status origin_find_average(const struct alar_reduce *reduce, uint64_t value,
                                            struct alar_budget budget, struct alar_origin *origin)
{
    bool is_all = reduce->avg == ALAR_AVG_ANY && alar_dtype_is_float(reduce->adder.dtype);
    enum alar_avg only = reduce->avg == ALAR_AVG_ANY ? ALAR_AVG_SUM_DIVIDE : reduce->avg;
    int32_t *nodes = alar_scratch_take(&budget.scratch, 2 * (uint64_t)reduce->n, sizeof *nodes);
    int32_t *callers = origin->witness.node;
    struct alar_origin best = {.proof = ALAR_PROOF_COUNT};
    uint32_t averages = 0;

    if (!nodes) {
        return ALAR_E_RANGE;
    }
    for (int avg = ALAR_AVG_SUM_DIVIDE; avg <= ALAR_AVG_DIVIDE_SUM; avg++) {
        if (!is_all && avg != (int)only) {
            continue;
        }
        ALAR_TRY(origin_find_mean(reduce, value, (enum alar_avg)avg, &budget, origin));
        averages |= alar_proof_is_legal(origin->proof) ? UINT32_C(1) << avg : 0;
        if (origin->proof < best.proof) {
            origin_copy(&best, origin, nodes);
        }
    }
    origin_copy(origin, &best, callers);
    origin->averages = averages;
    return ALAR_OK;
}

static void origin_extremum(const struct alar_reduce *reduce, uint64_t value,
                            struct alar_origin *origin)
{
    bool is_legal = alar_extremum_is_legal(reduce, value, &origin->low);

    origin->proof = !is_legal                       ? ALAR_PROOF_ILLEGAL
                    : alar_extremum_is_open(reduce) ? ALAR_PROOF_ANY
                                                    : ALAR_PROOF_ONLY;
    origin->refusal = is_legal ? ALAR_REFUSED_NOT : ALAR_REFUSED_POLICY;
    origin->high = origin->exact = origin->low;
    origin->sum = value;
}

static void origin_discrete(const struct alar_reduce *reduce, uint64_t value,
                            struct alar_origin *origin)
{
    bool is_legal = alar_discrete_is_legal(reduce, value, &origin->low);

    origin->proof = is_legal ? ALAR_PROOF_ONLY : ALAR_PROOF_ILLEGAL;
    origin->refusal = is_legal ? ALAR_REFUSED_NOT : ALAR_REFUSED_ONLY;
    origin->high = origin->exact = origin->low;
    origin->has_range = true;
    origin->sum = value;
}

/* How far the value is from the correctly rounded one. */
static void origin_measure(const struct alar_reduce *reduce, uint64_t value,
                           struct alar_origin *origin)
{
    enum alar_dtype dtype = reduce->adder.dtype;
    uint64_t divisor = reduce->red == ALAR_AVG ? reduce->n : 1;
    struct alar_exact exact;
    uint64_t inner = origin->exact;
    uint64_t outer = origin->exact;

    if (alar_dtype_is_float(dtype) && (reduce->red == ALAR_SUM || reduce->red == ALAR_AVG)) {
        alar_exact_init(&exact);
        for (uint32_t i = 0; i < reduce->n; i++) {
            alar_exact_add(&exact, dtype, reduce->bits[i]);
        }
        origin->exact = alar_exact_round(&exact, divisor, dtype, ALAR_NEAREST);
        alar_exact_neighbours(&exact, divisor, dtype, &inner, &outer);
    } else if (origin->has_range && origin->low == origin->high) {
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
        own.is_rounded_once = false;
        own.avg = own.avg == ALAR_AVG_DIVIDE_SUM ? own.avg : ALAR_AVG_SUM_DIVIDE;
    }
    own.adder.is_product = own.red == ALAR_PRODUCT;
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
    case ALAR_MAX:
    case ALAR_MIN:
        origin_extremum(&own, value, origin);
        break;
    case ALAR_SUM:
    case ALAR_PRODUCT:
        ALAR_TRY(origin_find(&own, value, average_of(&own, ALAR_AVG_ANY), &budget, origin));
        break;
    case ALAR_AVG:
        ALAR_TRY(origin_find_average(&own, value, budget, origin));
        break;
    default:
        origin_discrete(&own, value, origin);
        break;
    }
    origin_measure(&own, value, origin);
    return ALAR_OK;
}

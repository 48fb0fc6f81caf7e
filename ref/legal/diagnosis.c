/* The diagnosis: whole values, division and adders here; ranks in diagnosis_ranks.c. */
#include "legal/diagnosis.h"

#include "base/check.h"
#include "legal/hypothesis.h"
#include "numbers/exact.h"

#include <math.h>

enum {
    DIAGNOSE_WORK = 100 * 1000, /* judgements of ranks: a second or two */
    ADDER_WORK = 200 * 1000,    /* additions for the set of one adder's sums: 2 ms */
    ADDER_RANKS = 12            /* above it no set is complete; named trees have to do */
};

bool alar_diagnosis_is_torn(const struct alar_origin *legal, const struct alar_diagnosis *other)
{
    bool is_other_step = false;

    for (uint32_t i = 0; i < other->kept; i++) {
        enum alar_cause cause = other->kept_explanation[i].cause;
        is_other_step |= cause == ALAR_CAUSE_PREVIOUS || cause == ALAR_CAUSE_NEXT;
    }
    return alar_proof_is_legal(legal->proof) && is_other_step;
}

static void hypothesis_note(struct alar_hypothesis *hypothesis, enum alar_cause cause,
                            uint32_t other, enum alar_proof proof)
{
    alar_hypothesis_note(hypothesis, (struct alar_explanation){cause, 0, other, 0, proof});
}

/* Values that were there before, or belong to another step. */
static void hypothesis_try_values(struct alar_hypothesis *hypothesis)
{
    const struct alar_observations *observations = hypothesis->observations;
    enum alar_dtype dtype = hypothesis->reduce.adder.dtype;
    struct alar_reduce other = *hypothesis->asked;
    const uint64_t *steps[] = {observations->previous, observations->next};
    bool has_value[] = {observations->has_previous_value, observations->has_next_value};
    uint64_t value[] = {observations->previous_value, observations->next_value};

    if (observations->has_poison && observations->poison == hypothesis->value) {
        hypothesis_note(hypothesis, ALAR_CAUSE_POISON, 0, ALAR_PROOF_ONLY);
    }
    for (int i = 0; i < 2; i++) {
        enum alar_cause cause = i ? ALAR_CAUSE_NEXT : ALAR_CAUSE_PREVIOUS;
        if (has_value[i] && alar_fp_is_same(dtype, value[i], hypothesis->value)) {
            hypothesis_note(hypothesis, cause, 0, ALAR_PROOF_ONLY);
        } else if (steps[i]) {
            other.bits = steps[i];
            enum alar_proof proof = alar_hypothesis_judge(hypothesis, &other, hypothesis->value);
            if (alar_proof_is_legal(proof)) {
                hypothesis_note(hypothesis, cause, 0, proof);
            }
        }
    }
    for (uint32_t i = 0; i < hypothesis->asked->n && hypothesis->asked->n > 1; i++) {
        if (alar_fp_is_same(dtype, hypothesis->asked->bits[i], hypothesis->value)) {
            alar_hypothesis_note(
                hypothesis, (struct alar_explanation){ALAR_CAUSE_OWN, i, 0, 0, ALAR_PROOF_ONLY});
        }
    }
    uint64_t negated = alar_fp_negate(dtype, hypothesis->value);
    if (alar_dtype_is_float(dtype) && alar_fp_is_zero(dtype, hypothesis->value) &&
        alar_proof_is_legal(alar_hypothesis_judge(hypothesis, hypothesis->asked, negated))) {
        hypothesis_note(hypothesis, ALAR_CAUSE_ZERO_SIGN, 0, ALAR_PROOF_ONLY);
    }
}

/* Is the value legal when each of these sums is divided by `count`, or `times` times by n? */
static void hypothesis_try_division(struct alar_hypothesis *hypothesis, enum alar_cause cause,
                                    uint32_t count, uint32_t times)
{
    struct alar_hypothesis changed = *hypothesis;
    enum alar_dtype dtype = hypothesis->reduce.adder.dtype;
    enum alar_avg avg = hypothesis->avg == ALAR_AVG_ANY ? ALAR_AVG_SUM_DIVIDE : hypothesis->avg;
    int64_t first;
    int64_t last;
    enum alar_proof proof;

    first = last = alar_fp_rank(dtype, hypothesis->value);
    for (uint32_t i = 0; i < times; i++) {
        int64_t unused;
        (void)alar_average_sums(avg, dtype, alar_fp_unrank(dtype, first), count, &first, &unused);
        (void)alar_average_sums(avg, dtype, alar_fp_unrank(dtype, last), count, &unused, &last);
    }
    if (first > last || last - first >= ALAR_HYPOTHESIS_SUMS) {
        return;
    }
    for (changed.sums = 0; first <= last; first++) {
        changed.sum[changed.sums++] = alar_fp_unrank(dtype, first);
    }
    changed.reduce.red = ALAR_SUM;
    if (alar_hypothesis_explains(&changed, hypothesis->reduce.bits, hypothesis->reduce.n,
                                 hypothesis->reduce.adder, &proof)) {
        hypothesis_note(hypothesis, cause, count, proof);
    }
}

static void hypothesis_try_divisions(struct alar_hypothesis *hypothesis)
{
    enum alar_dtype dtype = hypothesis->reduce.adder.dtype;
    uint32_t n = hypothesis->asked->n;
    struct alar_reduce plain = *hypothesis->asked;

    plain.red = ALAR_SUM;
    if (hypothesis->asked->red == ALAR_AVG) {
        enum alar_proof proof = alar_hypothesis_judge(hypothesis, &plain, hypothesis->value);
        if (alar_proof_is_legal(proof)) {
            hypothesis_note(hypothesis, ALAR_CAUSE_UNDIVIDED, 0, proof);
        }
    }
    bool is_possible = alar_dtype_is_float(dtype) && n > 1 &&
                       !alar_fp_is_nan(dtype, hypothesis->value) &&
                       hypothesis->asked->red != ALAR_MAX && hypothesis->asked->red != ALAR_MIN;

    if (is_possible && hypothesis->asked->red == ALAR_SUM) {
        hypothesis_try_division(hypothesis, ALAR_CAUSE_DIVIDED, n, 1);
    } else if (is_possible && (hypothesis->avg == ALAR_AVG_SUM_DIVIDE ||
                               hypothesis->avg == ALAR_AVG_SUM_MULTIPLY)) {
        hypothesis_try_division(hypothesis, ALAR_CAUSE_DIVIDED_TWICE, n, 2);
        hypothesis_try_division(hypothesis, ALAR_CAUSE_COUNT_OFF, n - 1, 1);
        hypothesis_try_division(hypothesis, ALAR_CAUSE_COUNT_OFF, n + 1, 1);
    }
}

/* Another arithmetic is claimed only when one of its orders gives the value: being within what it
   could be off says nothing, for coarse arithmetics reach far. spec: N-34 */
static bool hypothesis_adds(struct alar_hypothesis *hypothesis, const uint64_t *bits, uint32_t n,
                            struct alar_adder adder, enum alar_proof *proof)
{
    uint64_t before = hypothesis->sets;

    hypothesis->sets = n <= ADDER_RANKS ? ADDER_WORK : 0;
    bool is_legal = alar_hypothesis_explains(hypothesis, bits, n, adder, proof);
    hypothesis->sets = before;
    if (is_legal && *proof > ALAR_PROOF_ANY) {
        alar_hypothesis_cut(hypothesis, hypothesis->tier);
    }
    return is_legal && *proof <= ALAR_PROOF_ANY;
}

/* Narrower or wider accumulators, and other ways to round. */
static void hypothesis_try_adders(struct alar_hypothesis *hypothesis)
{
    struct alar_adder own = hypothesis->reduce.adder;
    bool is_float = alar_dtype_is_float(own.dtype);
    const uint64_t *bits = hypothesis->reduce.bits;
    uint32_t n = hypothesis->reduce.n;
    enum alar_proof proof;

    for (int wide = ALAR_F16; wide <= ALAR_F64 && is_float; wide++) {
        struct alar_adder adder = {own.dtype, (enum alar_dtype)wide, own.model, false};
        if (adder.wide != own.wide && hypothesis_adds(hypothesis, bits, n, adder, &proof)) {
            hypothesis_note(hypothesis, ALAR_CAUSE_WIDTH, (uint32_t)wide, proof);
        }
    }
    bool is_short = own.dtype == ALAR_F16 || own.dtype == ALAR_BF16;
    if (is_short && hypothesis->reduce.red == ALAR_SUM) {
        struct alar_exact exact;
        alar_exact_init(&exact);
        for (uint32_t i = 0; i < n; i++) {
            alar_exact_add(&exact, own.dtype, bits[i]);
        }
        uint64_t once = alar_exact_round(&exact, 1, ALAR_F32, ALAR_NEAREST);
        uint64_t twice = alar_fp_convert(ALAR_F32, own.dtype, ALAR_NEAREST, once);
        for (uint32_t i = 0; i < hypothesis->sums; i++) {
            if (alar_fp_is_same(own.dtype, hypothesis->sum[i], twice)) {
                hypothesis_note(hypothesis, ALAR_CAUSE_DOUBLE_ROUNDED, 0, ALAR_PROOF_NAMED);
            }
        }
    }
    for (int model = 0; model < ALAR_MODEL_COUNT; model++) {
        struct alar_adder adder = {own.dtype, own.wide, (enum alar_model)model, false};
        bool is_other = adder.model != own.model && (is_float || adder.model == ALAR_SATURATE);
        if (is_other && hypothesis_adds(hypothesis, bits, n, adder, &proof)) {
            hypothesis_note(hypothesis, ALAR_CAUSE_MODEL, (uint32_t)model, proof);
        }
    }
}

/* Another reduction than was asked for. A sum for an average, and an average for a sum, are among
   the divisions. spec: N-34 */
static void hypothesis_try_reductions(struct alar_hypothesis *hypothesis)
{
    bool is_float = alar_dtype_is_float(hypothesis->asked->adder.dtype);
    bool is_divided = hypothesis->asked->red == ALAR_SUM || hypothesis->asked->red == ALAR_AVG;

    hypothesis->sets = hypothesis->asked->n <= ADDER_RANKS ? ADDER_WORK : 0;
    for (int red = ALAR_SUM; red <= ALAR_BXOR && hypothesis->asked->n > 1; red++) {
        struct alar_reduce other = *hypothesis->asked;
        bool is_bitwise = red >= ALAR_BAND;

        if (red == (int)other.red || (is_bitwise && is_float) ||
            (is_divided && (red == ALAR_SUM || red == ALAR_AVG))) {
            continue;
        }
        other.red = (enum alar_reduction)red;
        other.avg = ALAR_AVG_ANY;
        enum alar_proof proof = alar_hypothesis_judge(hypothesis, &other, hypothesis->value);
        if (proof <= ALAR_PROOF_ANY) {
            hypothesis_note(hypothesis, ALAR_CAUSE_REDUCTION, (uint32_t)red, proof);
        }
    }
    hypothesis->sets = 0;
}

/* How far the sums in question are from the exact one, and how far an altered one can get. */
static void hypothesis_measure(struct alar_hypothesis *hypothesis, double *doubles)
{
    enum alar_dtype dtype = hypothesis->reduce.adder.dtype;
    uint32_t n = hypothesis->reduce.n;
    uint64_t *bits = hypothesis->altered;
    const uint64_t *sets[] = {hypothesis->reduce.bits, hypothesis->observations->previous,
                              hypothesis->observations->next};
    uint64_t largest = 0;
    struct alar_bound bound;

    for (uint32_t i = 0; i < 3 * n; i++) {
        uint64_t magnitude = sets[i / n] ? sets[i / n][i % n] & ~alar_dtype_sign(dtype) : 0;
        largest = magnitude > largest ? magnitude : largest;
    }
    for (uint32_t i = 0; i < n; i++) {
        bits[i] = hypothesis->reduce.bits[i];
    }
    bits[n] = largest;
    bits[n + 1] = alar_fp_negate(dtype, largest);
    alar_bound_evaluate(&bound, hypothesis->reduce.adder, bits, n + 2, n + 1, doubles);
    hypothesis->is_bounded =
        bound.is_valid && !bound.can_overflow && hypothesis->reduce.red == ALAR_SUM;
    hypothesis->radius = bound.radius;
    hypothesis->largest = alar_fp_to_double(dtype, largest);
    for (int end = 0; end < 2 && hypothesis->is_bounded; end++) {
        uint64_t sum = hypothesis->sum[end ? hypothesis->sums - 1 : 0];
        struct alar_exact exact;
        if (!alar_fp_is_finite(dtype, sum)) {
            hypothesis->is_bounded = false;
            break;
        }
        alar_exact_init(&exact);
        alar_exact_add(&exact, dtype, sum);
        for (uint32_t i = 0; i < n; i++) {
            alar_exact_subtract(&exact, dtype, bits[i]);
        }
        hypothesis->shift[end] =
            alar_fp_double(alar_exact_round(&exact, 1, ALAR_F64, ALAR_NEAREST));
        hypothesis->radius += fabs(hypothesis->shift[end]) * 0x1p-50;
    }
}

/* What was summed, and the sums that could have become the value; none is possible too. */
static void hypothesis_start(struct alar_hypothesis *hypothesis, uint64_t *prepared)
{
    const struct alar_reduce *asked = hypothesis->asked;
    enum alar_dtype dtype = asked->adder.dtype;
    int64_t first;
    int64_t last;

    hypothesis->reduce = *asked;
    hypothesis->sum[0] = hypothesis->value;
    hypothesis->sums = 1;
    if (asked->red != ALAR_AVG || !alar_dtype_is_float(dtype)) {
        return;
    }
    hypothesis->avg = asked->avg == ALAR_AVG_ANY ? ALAR_AVG_SUM_DIVIDE : asked->avg;
    hypothesis->reduce.red = ALAR_SUM;
    hypothesis->reduce.bits = prepared;
    alar_average_prepare(hypothesis->avg, dtype, asked->bits, asked->n, prepared);
    if (alar_fp_is_nan(dtype, hypothesis->value)) {
        return;
    }
    hypothesis->sums = 0;
    if (alar_average_sums(hypothesis->avg, dtype, hypothesis->value, asked->n, &first, &last)) {
        for (; first <= last && hypothesis->sums < ALAR_HYPOTHESIS_SUMS; first++) {
            hypothesis->sum[hypothesis->sums++] = alar_fp_unrank(dtype, first);
        }
        if (first <= last) {
            alar_hypothesis_cut(hypothesis, 1);
        }
    }
}

enum alar_status alar_diagnose(const struct alar_reduce *reduce, uint64_t value,
                               const struct alar_observations *observations,
                               struct alar_scratch scratch, struct alar_diagnosis *diagnosis)
{
    struct alar_reduce own = alar_reduce_normalize(reduce);
    uint64_t n = own.n;
    struct alar_hypothesis hypothesis = {
        .asked = &own, .value = value, .observations = observations};
    uint64_t *prepared = alar_scratch_take(&scratch, n, sizeof *prepared);
    double *doubles = alar_scratch_take(&scratch, 2 * n + 4, sizeof *doubles);

    PRE(n >= 1);
    hypothesis.altered = alar_scratch_take(&scratch, n + 2, sizeof *hypothesis.altered);
    hypothesis.nodes = alar_scratch_take(&scratch, 2 * n + 3, sizeof *hypothesis.nodes);
    if (!prepared || !doubles || !hypothesis.altered || !hypothesis.nodes) {
        return ALAR_E_RANGE;
    }
    if (own.red >= ALAR_MAXLOC) {
        return ALAR_E_UNSUPPORTED;
    }
    *diagnosis = (struct alar_diagnosis){0};
    hypothesis.tier = 1;
    hypothesis.work = DIAGNOSE_WORK;
    hypothesis.scratch = scratch;
    hypothesis.diagnosis = diagnosis;
    hypothesis_start(&hypothesis, prepared);
    hypothesis_try_values(&hypothesis);
    hypothesis_try_divisions(&hypothesis);
    if (hypothesis.sums > 0) {
        if (alar_dtype_is_float(own.adder.dtype)) {
            hypothesis_measure(&hypothesis, doubles);
        }
        alar_hypothesis_try_ranks(&hypothesis);
        hypothesis.tier = 2;
        hypothesis_try_adders(&hypothesis);
        hypothesis_try_reductions(&hypothesis);
        hypothesis.tier = 3;
        alar_hypothesis_try_pairs(&hypothesis);
        hypothesis.tier = 4;
        alar_hypothesis_try_subsets(&hypothesis);
    }
    hypothesis.tier = 5;
    alar_hypothesis_try_flips(&hypothesis);
    diagnosis->is_unique =
        diagnosis->in_tier == 1 && (diagnosis->cut == 0 || diagnosis->cut > diagnosis->tier);
    return ALAR_OK;
}

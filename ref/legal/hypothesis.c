/* Judging altered contributions, and keeping what explains. */
#include "legal/hypothesis.h"

#include "base/check.h"

#include <math.h>

/* Models other than nearest add slowly: above this, named trees and the bound have to do. */
enum {
    SLOW_HULL_RANKS = 10
};

void alar_hypothesis_note(struct alar_hypothesis *hypothesis, struct alar_explanation explanation)
{
    struct alar_diagnosis *diagnosis = hypothesis->diagnosis;
    uint32_t tier = alar_cause_tier(explanation.cause);

    INV("hypotheses are tried in order of tier", diagnosis->tier <= tier || diagnosis->tier == 0);
    diagnosis->tier = diagnosis->tier > 0 ? diagnosis->tier : tier;
    diagnosis->in_tier += tier == diagnosis->tier;
    diagnosis->count++;
    if (diagnosis->kept < ALAR_DIAGNOSIS_KEPT) {
        diagnosis->kept_explanation[diagnosis->kept++] = explanation;
    }
}

void alar_hypothesis_cut(struct alar_hypothesis *hypothesis, uint32_t tier)
{
    struct alar_diagnosis *diagnosis = hypothesis->diagnosis;

    diagnosis->cut = diagnosis->cut > 0 && diagnosis->cut < tier ? diagnosis->cut : tier;
}

enum alar_proof alar_hypothesis_judge(struct alar_hypothesis *hypothesis,
                                      const struct alar_reduce *reduce, uint64_t value)
{
    struct alar_budget budget = {
        .scratch = hypothesis->scratch, .work = hypothesis->sets, .starts = 4};
    struct alar_origin origin;
    size_t without_hull = 4096 + 64 * (size_t)reduce->n;

    if (reduce->n > SLOW_HULL_RANKS && reduce->adder.model != ALAR_NEAREST &&
        budget.scratch.bytes > without_hull) {
        budget.scratch.bytes = without_hull;
    }

    bool is_affordable = hypothesis->work >= reduce->n;
    hypothesis->work -= is_affordable ? reduce->n : 0;
    if (!is_affordable ||
        alar_provenance_judge(reduce, value, budget, hypothesis->nodes, &origin) != ALAR_OK) {
        origin.proof = ALAR_PROOF_UNDECIDED;
    }
    if (origin.proof == ALAR_PROOF_UNDECIDED) {
        alar_hypothesis_cut(hypothesis, hypothesis->tier);
    }
    return origin.proof;
}

bool alar_hypothesis_explains(struct alar_hypothesis *hypothesis, const uint64_t *bits, uint32_t n,
                              struct alar_adder adder, enum alar_proof *proof)
{
    struct alar_reduce reduce = hypothesis->reduce;

    reduce.bits = bits;
    reduce.n = n;
    reduce.adder = adder;
    reduce.nodes = 0;
    reduce.height = 0;
    *proof = ALAR_PROOF_ILLEGAL;
    for (uint32_t i = 0; i < hypothesis->sums; i++) {
        enum alar_proof found = alar_hypothesis_judge(hypothesis, &reduce, hypothesis->sum[i]);
        *proof = found < *proof ? found : *proof;
    }
    return alar_proof_is_legal(*proof);
}

/* A contribution larger than all others widens the radius by itself. */
bool alar_hypothesis_is_plausible(const struct alar_hypothesis *hypothesis, double moved)
{
    double ranks = hypothesis->reduce.n + 2.0;
    double unit = ldexp(1, 2 - alar_dtype_precision(hypothesis->reduce.adder.wide));
    double growth = fabs(moved) > hypothesis->largest ? ranks * ranks * unit : 0x1p-50;
    double slack = hypothesis->radius + fabs(moved) * growth;

    return isfinite(moved) && moved >= hypothesis->shift[0] - slack &&
           moved <= hypothesis->shift[1] + slack;
}

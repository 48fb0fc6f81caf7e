/* Judging altered contributions, and keeping what explains. */
#include "legal/hypothesis.h"

#include "base/check.h"

#include <math.h>

/* Models other than nearest add slowly: above this, named trees and the bound have to do. */
enum {
    SLOW_HULL_RANKS = 10
};

void alar_inquiry_note(struct alar_inquiry *inquiry, struct alar_explanation explanation)
{
    struct alar_diagnosis *diagnosis = inquiry->diagnosis;
    uint32_t tier = alar_cause_tier(explanation.cause);

    INV("hypotheses are tried in order of tier", diagnosis->tier <= tier || diagnosis->tier == 0);
    diagnosis->tier = diagnosis->tier > 0 ? diagnosis->tier : tier;
    diagnosis->in_tier += tier == diagnosis->tier;
    diagnosis->count++;
    if (diagnosis->kept < ALAR_DIAGNOSIS_KEPT) {
        diagnosis->kept_explanation[diagnosis->kept++] = explanation;
    }
}

void alar_inquiry_cut(struct alar_inquiry *inquiry, uint32_t tier)
{
    struct alar_diagnosis *diagnosis = inquiry->diagnosis;

    diagnosis->cut = diagnosis->cut > 0 && diagnosis->cut < tier ? diagnosis->cut : tier;
}

enum alar_rung alar_inquiry_judge(struct alar_inquiry *inquiry, const struct alar_reduce *reduce,
                                  uint64_t value)
{
    struct alar_budget budget = {.scratch = inquiry->scratch, .work = 0, .starts = 4};
    struct alar_origin origin;
    size_t without_hull = 4096 + 64 * (size_t)reduce->n;

    if (reduce->n > SLOW_HULL_RANKS && reduce->adder.model != ALAR_NEAREST &&
        budget.scratch.bytes > without_hull) {
        budget.scratch.bytes = without_hull;
    }

    bool is_affordable = inquiry->work >= reduce->n;
    inquiry->work -= is_affordable ? reduce->n : 0;
    if (!is_affordable ||
        alar_provenance_judge(reduce, value, budget, inquiry->nodes, &origin) != ALAR_OK) {
        origin.rung = ALAR_RUNG_UNDECIDED;
    }
    if (origin.rung == ALAR_RUNG_UNDECIDED) {
        alar_inquiry_cut(inquiry, inquiry->tier);
    }
    return origin.rung;
}

bool alar_inquiry_explains(struct alar_inquiry *inquiry, const uint64_t *bits, uint32_t n,
                           struct alar_adder adder, enum alar_rung *rung)
{
    struct alar_reduce reduce = inquiry->reduce;

    reduce.bits = bits;
    reduce.n = n;
    reduce.adder = adder;
    reduce.nodes = 0;
    reduce.height = 0;
    *rung = ALAR_RUNG_ILLEGAL;
    for (uint32_t i = 0; i < inquiry->sums; i++) {
        enum alar_rung found = alar_inquiry_judge(inquiry, &reduce, inquiry->sum[i]);
        *rung = found < *rung ? found : *rung;
    }
    return alar_rung_is_legal(*rung);
}

/* A contribution larger than all others widens the radius by itself. */
bool alar_inquiry_is_plausible(const struct alar_inquiry *inquiry, double moved)
{
    double ranks = inquiry->reduce.n + 2.0;
    double unit = ldexp(1, 2 - alar_dtype_precision(inquiry->reduce.adder.wide));
    double growth = fabs(moved) > inquiry->largest ? ranks * ranks * unit : 0x1p-50;
    double slack = inquiry->radius + fabs(moved) * growth;

    return isfinite(moved) && moved >= inquiry->shift[0] - slack &&
           moved <= inquiry->shift[1] + slack;
}

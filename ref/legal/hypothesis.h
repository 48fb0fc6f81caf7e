/* What the files of the diagnosis share: the question, and the room to alter it. Private to them.
 */
#ifndef ALAR_HYPOTHESIS_H
#define ALAR_HYPOTHESIS_H

#include "legal/diagnosis.h"

enum {
    ALAR_HYPOTHESIS_SUMS = 16
};

/* An average is asked as the sums that could have become it. */
struct alar_hypothesis {
    struct alar_reduce reduce; /* of what was summed: never ALAR_AVG */
    const struct alar_reduce *asked;
    enum alar_avg avg; /* ALAR_AVG_ANY for anything but averages */
    uint64_t value;    /* the result as it was seen */
    uint64_t sum[ALAR_HYPOTHESIS_SUMS];
    uint32_t sums;
    const struct alar_observations *observations;
    bool is_bounded;   /* shift, slack and radius are known */
    double shift[2];   /* the least and greatest of sum[] minus the exact sum */
    double largest;    /* magnitude of any contribution of any step */
    double radius;     /* of any sum with one contribution altered or doubled */
    uint64_t *altered; /* room for n + 2 contributions */
    int32_t *nodes;    /* room for a tree over them */
    struct alar_scratch scratch;
    uint32_t tier; /* being tried */
    uint64_t sets; /* additions that a complete set of sums may cost; 0: the hull will do */
    uint64_t work; /* judgements left, each counted by its ranks */
    struct alar_diagnosis *diagnosis;
};

/* Judges one value of an altered reduction; no sets, the hull and the bound will do. */
enum alar_proof alar_hypothesis_judge(struct alar_hypothesis *hypothesis,
                                      const struct alar_reduce *reduce, uint64_t value);

/* Is one of the sums legal for these contributions and this adder? */
bool alar_hypothesis_explains(struct alar_hypothesis *hypothesis, const uint64_t *bits, uint32_t n,
                              struct alar_adder adder, enum alar_proof *proof);

/* May a fault that moves the exact sum by this much explain the value? "No" is certain.
   PRE: the hypothesis is bounded. */
bool alar_hypothesis_is_plausible(const struct alar_hypothesis *hypothesis, double moved);

/* Notes that something of this tier was not tried, or not decided. */
void alar_hypothesis_cut(struct alar_hypothesis *hypothesis, uint32_t tier);

/* Keeps an explanation. */
void alar_hypothesis_note(struct alar_hypothesis *hypothesis, struct alar_explanation explanation);

/* Tier 1, as far as it is about ranks, and tiers 3 to 5. */
void alar_hypothesis_try_ranks(struct alar_hypothesis *hypothesis);
void alar_hypothesis_try_pairs(struct alar_hypothesis *hypothesis);
void alar_hypothesis_try_subsets(struct alar_hypothesis *hypothesis);
void alar_hypothesis_try_flips(struct alar_hypothesis *hypothesis);

#endif

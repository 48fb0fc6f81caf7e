/* What the files of the diagnosis share: the question, and the room to alter it. Private to them.
 */
#ifndef ALAR_INQUIRY_H
#define ALAR_INQUIRY_H

#include "legal/diagnosis.h"

enum {
    ALAR_INQUIRY_SUMS = 16
};

/* An average is asked as the sums that could have become it. */
struct alar_inquiry {
    struct alar_reduce reduce; /* of what was summed: never ALAR_RED_AVG */
    const struct alar_reduce *asked;
    enum alar_avg avg; /* ALAR_AVG_ANY for anything but averages */
    uint64_t value;    /* the result as it was seen */
    uint64_t sum[ALAR_INQUIRY_SUMS];
    uint32_t sums;
    const struct alar_clues *clues;
    bool is_bounded;   /* shift, slack and radius are known */
    double shift[2];   /* the least and greatest of sum[] minus the exact sum */
    double largest;    /* magnitude of any contribution of any step */
    double radius;     /* of any sum with one contribution altered or doubled */
    uint64_t *altered; /* room for n + 2 contributions */
    int32_t *nodes;    /* room for a tree over them */
    struct alar_scratch scratch;
    uint32_t tier; /* being tried */
    uint64_t work; /* judgements left, each counted by its ranks */
    struct alar_diagnosis *diagnosis;
};

/* Judges one value of an altered reduction; no sets, the hull and the bound will do. */
enum alar_rung alar_inquiry_judge(struct alar_inquiry *inquiry, const struct alar_reduce *reduce,
                                  uint64_t value);

/* Is one of the sums legal for these contributions and this adder? */
bool alar_inquiry_explains(struct alar_inquiry *inquiry, const uint64_t *bits, uint32_t n,
                           struct alar_adder adder, enum alar_rung *rung);

/* May a fault that moves the exact sum by this much explain the value? "No" is certain.
   PRE: the inquiry is bounded. */
bool alar_inquiry_is_plausible(const struct alar_inquiry *inquiry, double moved);

/* Notes that something of this tier was not tried, or not decided. */
void alar_inquiry_cut(struct alar_inquiry *inquiry, uint32_t tier);

/* Keeps an explanation. */
void alar_inquiry_note(struct alar_inquiry *inquiry, struct alar_explanation explanation);

/* Tier 1, as far as it is about ranks, and tiers 3 to 5. */
void alar_inquiry_try_ranks(struct alar_inquiry *inquiry);
void alar_inquiry_try_pairs(struct alar_inquiry *inquiry);
void alar_inquiry_try_subsets(struct alar_inquiry *inquiry);
void alar_inquiry_try_flips(struct alar_inquiry *inquiry);

#endif

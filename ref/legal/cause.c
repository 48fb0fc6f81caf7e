/* What the causes of a wrong value are called, and how plain each one is. */
#include "legal/diagnosis.h"

uint32_t alar_cause_tier(enum alar_cause cause)
{
    return cause <= ALAR_CAUSE_DOUBLED     ? 1
           : cause <= ALAR_CAUSE_REDUCTION ? 2
           : cause <= ALAR_CAUSE_EARLY     ? 3
           : cause <= ALAR_CAUSE_SUBSET    ? 4
                                           : 5;
}

bool alar_cause_has_rank(enum alar_cause cause)
{
    return cause == ALAR_CAUSE_OWN || cause == ALAR_CAUSE_MISSING || cause == ALAR_CAUSE_DOUBLED ||
           (cause >= ALAR_CAUSE_REPLACED && cause <= ALAR_CAUSE_EARLY) ||
           cause == ALAR_CAUSE_FLIPPED;
}

const char *alar_cause_name(enum alar_cause cause)
{
    static const char *const names[] = {
        "poison-left",    "previous-step",  "next-step",      "own-contribution", "sign-of-zero",
        "undivided",      "divided",        "divided-twice",  "wrong-count",      "missing",
        "doubled",        "accumulated-in", "double-rounded", "rounded-by",       "other-reduction",
        "replaced",       "stale",          "early",          "subset",           "bit-flip",
        "result-bit-flip"};

    return (unsigned)cause < ALAR_CAUSE_COUNT ? names[cause] : "?";
}

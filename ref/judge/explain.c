/* The explanations, all from explain.def. */
#include "judge/explain.h"

#include "base/check.h"

static const struct alar_example explanations[] = {
#define EXPLAIN(token, bad, good) [ALAR_ANOMALY_##token] = {bad, good},
#include "judge/explain.def"
};

_Static_assert(sizeof explanations / sizeof *explanations == ALAR_ANOMALY_COUNT,
               "the last anomaly has an explanation");

struct alar_example alar_explain(enum alar_anomaly anomaly)
{
    PRE((unsigned)anomaly < ALAR_ANOMALY_COUNT);
    return explanations[anomaly];
}

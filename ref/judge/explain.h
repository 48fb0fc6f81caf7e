/* The smallest history that shows an anomaly, and the nearest one that is good. */
#ifndef ALAR_EXPLAIN_H
#define ALAR_EXPLAIN_H

#include "judge/anomaly.h"

struct alar_example {
    const char *bad; /* JSON lines; "" for an anomaly that takes more than one history to show */
    const char *good;
};

/* Static storage. PRE: it is an anomaly. */
struct alar_example alar_explain(enum alar_anomaly anomaly);

#endif

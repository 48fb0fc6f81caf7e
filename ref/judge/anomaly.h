/* What a history can be convicted of; all of it stated in anomaly.def. */
#ifndef ALAR_ANOMALY_H
#define ALAR_ANOMALY_H

#include "judge/event.h"

/* In order of severity: causes first. */
enum alar_anomaly {
#define X(token, name, rule, kind, excuse, sentence, allowed) ALAR_ANOMALY_##token,
#include "judge/anomaly.def"
    ALAR_ANOMALY_COUNT
};

/* Families of injected faults, by what they can explain. */
enum alar_excuse {
    ALAR_EXCUSE_NONE, /* nothing explains it */
    ALAR_EXCUSE_PEER, /* a rank that is late, silent or gone; progress that stops; a late completion
                       */
    ALAR_EXCUSE_VALUE, /* a contribution that was changed */
    ALAR_EXCUSE_ISSUE, /* an issue or an allocation that was made to fail */
    ALAR_EXCUSE_COUNT
};

/* "early-read"; "?" for a number that is no anomaly; likewise below. Static storage. */
const char *alar_anomaly_name(enum alar_anomaly anomaly);
const char *alar_anomaly_rule(enum alar_anomaly anomaly);
const char *alar_anomaly_sentence(enum alar_anomaly anomaly);
const char *alar_anomaly_allowed(enum alar_anomaly anomaly);

/* Is it only said beside a PASS? */
bool alar_anomaly_is_note(enum alar_anomaly anomaly);

/* The family of faults that explains it. */
enum alar_excuse alar_anomaly_excuse(enum alar_anomaly anomaly);

/* The family a failure point belongs to, by the words in its path ("alar/rank/mute/2"). */
enum alar_excuse alar_excuse_of_point(struct alar_text point);

/* The anomaly of that name.
   Errors: ALAR_E_INPUT when there is none. */
ALAR_MUST_USE enum alar_status alar_anomaly_find(const char *name, enum alar_anomaly *anomaly);

#endif

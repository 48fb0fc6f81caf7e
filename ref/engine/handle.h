/* One pending all-reduce: a state, and the step function that is alone allowed to write it.
   The machine is stated in handle.def and nowhere else. */
#ifndef ALAR_HANDLE_H
#define ALAR_HANDLE_H

#include "api/status.h"

#include <stdbool.h>
#include <stdint.h>

enum alar_handle_state {
#define STATE(name, meaning) ALAR_HANDLE_##name,
#include "engine/handle.def"
    ALAR_HANDLE_STATE_COUNT
};

enum alar_handle_event {
#define EVENT(name, meaning) ALAR_EVENT_##name,
#include "engine/handle.def"
    ALAR_HANDLE_EVENT_COUNT
};

/* All that decides a handle's future; ids, ticks and statistics live with whoever holds it, so that
   a model checker can track this struct as it is. A zeroed handle is FREE. */
struct alar_handle {
    uint8_t state; /* enum alar_handle_state; written by alar_handle_step only */
};

/* Applies one event.
   Errors: ALAR_E_ILLEGAL when the table refuses the pair, or a number is no state or event; the
   handle is unchanged.
   spec: H-01, H-02 */
ALAR_MUST_USE enum alar_status alar_handle_step(struct alar_handle *handle,
                                                enum alar_handle_event event);

/* Do both buffers belong to the back end (PENDING, TIMED_OUT, QUARANTINED)? spec: H-05 */
bool alar_handle_is_owned(const struct alar_handle *handle);

/* Is there an end that the caller was not told yet (COMPLETED, FAILED, TIMED_OUT, LATE)? */
bool alar_handle_is_settled(const struct alar_handle *handle);

/* "PENDING"; "?" for a number that is no state. Static storage. */
const char *alar_handle_state_name(enum alar_handle_state state);

/* "COMPLETE"; "?" for a number that is no event. Static storage. */
const char *alar_handle_event_name(enum alar_handle_event event);

#endif

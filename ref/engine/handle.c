/* The step function of a handle, expanded from handle.def. */
#include "engine/handle.h"

#include "base/check.h"

enum {
#define MOVE(from, event, to, why) +1
#define REFUSE(from, event, why) +1
    ROW_COUNT = 0
#include "engine/handle.def"
};

_Static_assert(ROW_COUNT == ALAR_HANDLE_STATE_COUNT * (int)ALAR_HANDLE_EVENT_COUNT,
               "handle.def decides every (state, event) pair");

/* One number per pair, so that a pair decided twice is a duplicate case. */
#define MICROBATCH(state, event) \
    ((unsigned)(state) * (unsigned)ALAR_HANDLE_EVENT_COUNT + (unsigned)(event))

enum alar_status alar_handle_step(struct alar_handle *handle, enum alar_handle_event event)
{
    if (handle->state >= ALAR_HANDLE_STATE_COUNT || (unsigned)event >= ALAR_HANDLE_EVENT_COUNT) {
        return ALAR_E_ILLEGAL;
    }
    switch (MICROBATCH(handle->state, event)) {
#define MOVE(from, event, to, why)                           \
    case MICROBATCH(ALAR_HANDLE_##from, ALAR_EVENT_##event): \
        handle->state = ALAR_HANDLE_##to;                    \
        return ALAR_OK;
#define REFUSE(from, event, why)                             \
    case MICROBATCH(ALAR_HANDLE_##from, ALAR_EVENT_##event): \
        return ALAR_E_ILLEGAL;
#include "engine/handle.def"
    }
    return ALAR_E_ILLEGAL;
}

bool alar_handle_is_owned(const struct alar_handle *handle)
{
    return handle->state == ALAR_HANDLE_PENDING || handle->state == ALAR_HANDLE_TIMED_OUT ||
           handle->state == ALAR_HANDLE_QUARANTINED;
}

bool alar_handle_is_settled(const struct alar_handle *handle)
{
    return handle->state == ALAR_HANDLE_COMPLETED || handle->state == ALAR_HANDLE_FAILED ||
           handle->state == ALAR_HANDLE_TIMED_OUT || handle->state == ALAR_HANDLE_LATE;
}

const char *alar_handle_state_name(enum alar_handle_state state)
{
    static const char *const names[] = {
#define STATE(name, meaning) #name,
#include "engine/handle.def"
    };

    return (unsigned)state < ALAR_HANDLE_STATE_COUNT ? names[state] : "?";
}

const char *alar_handle_event_name(enum alar_handle_event event)
{
    static const char *const names[] = {
#define EVENT(name, meaning) #name,
#include "engine/handle.def"
    };

    return (unsigned)event < ALAR_HANDLE_EVENT_COUNT ? names[event] : "?";
}

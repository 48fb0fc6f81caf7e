/* The ring of pending handles: post at the tail, take the oldest live one, give back from the head.
 */
#include "engine/window.h"

#include "base/check.h"

#include <string.h>

static uint16_t window_slot(const struct alar_window *window, uint16_t offset)
{
    uint32_t index = (uint32_t)window->head + offset;

    return (uint16_t)(index < window->capacity ? index : index - window->capacity);
}

static bool window_is_occupied(const struct alar_window *window, uint16_t slot)
{
    uint16_t offset = slot >= window->head ? (uint16_t)(slot - window->head)
                                           : (uint16_t)(slot + window->capacity - window->head);

    return slot < window->capacity && offset < window->held;
}

void alar_window_inv(const struct alar_window *window)
{
    INV("a window has at least one slot", window->capacity >= 1);
    INV("a window has at most the greatest number of slots",
        window->capacity <= ALAR_WINDOW_CAPACITY_MAX);
    INV("the head is a slot", window->head < window->capacity);
    INV("no more slots are occupied than there are", window->held <= window->capacity);
    INV("told handles are occupied ones", window->retired <= window->held);
    INV("a told handle at the head is there for its buffers only",
        IMPLIES(window->retired > 0, window->slot[window->head].state == ALAR_HANDLE_QUARANTINED));
}

void alar_window_inv_deep(const struct alar_window *window)
{
    alar_window_inv(window);
    for (uint16_t i = 0; i < window->capacity; i++) {
        uint8_t state = window->slot[window_slot(window, i)].state;
        bool is_told = state == ALAR_HANDLE_QUARANTINED || state == ALAR_HANDLE_RETIRED;

        INV("slots past the tail are free", (i >= window->held) == (state == ALAR_HANDLE_FREE));
        INV("told handles come first and live ones after them",
            IMPLIES(i < window->held, is_told == (i < window->retired)));
    }
}

/* Gives back what nobody needs any more, from the head on. Loop bound: the told handles. */
static void window_reclaim(struct alar_window *window)
{
    while (window->retired > 0 && window->slot[window->head].state == ALAR_HANDLE_RETIRED) {
        enum alar_status status = alar_handle_step(&window->slot[window->head], ALAR_EVENT_RELEASE);

        POST(status == ALAR_OK);
        window->head = window_slot(window, 1);
        window->retired--;
        window->held--;
    }
}

static void window_end(struct alar_window *window)
{
    window_reclaim(window);
    alar_window_inv(window);
    DEEP(alar_window_inv_deep(window));
}

size_t alar_window_bytes(uint16_t capacity)
{
    return sizeof(struct alar_window) + capacity * sizeof(struct alar_handle);
}

enum alar_status alar_window_init(struct alar_window *window, uint16_t capacity)
{
    if (capacity == 0 || capacity > ALAR_WINDOW_CAPACITY_MAX) {
        return ALAR_E_RANGE;
    }
    memset(window, 0, alar_window_bytes(capacity));
    window->capacity = capacity;
    window_end(window);
    return ALAR_OK;
}

enum alar_status alar_window_post(struct alar_window *window, uint16_t *slot)
{
    uint16_t next = window_slot(window, window->held);

    if (!alar_window_has_room(window)) {
        return ALAR_E_FULL;
    }
    ALAR_TRY(alar_handle_step(&window->slot[next], ALAR_EVENT_POST));
    window->held++;
    *slot = next;
    window_end(window);
    return ALAR_OK;
}

enum alar_status alar_window_note(struct alar_window *window, uint16_t slot,
                                  enum alar_handle_event event)
{
    bool is_end = event == ALAR_EVENT_COMPLETE || event == ALAR_EVENT_FAIL;

    if ((!is_end && event != ALAR_EVENT_EXPIRE) || !window_is_occupied(window, slot)) {
        return ALAR_E_RANGE;
    }
    ALAR_TRY(alar_handle_step(&window->slot[slot], event));
    window_end(window);
    return ALAR_OK;
}

enum alar_status alar_window_retire(struct alar_window *window, uint16_t *slot,
                                    enum alar_outcome *outcome)
{
    uint16_t oldest = window_slot(window, window->retired);
    struct alar_handle *handle = &window->slot[oldest];
    uint8_t before = handle->state;

    if (alar_window_live(window) == 0) {
        return ALAR_E_EMPTY;
    }
    if (!alar_handle_is_settled(handle)) {
        return ALAR_E_PENDING;
    }
    ALAR_TRY(alar_handle_step(handle,
                              before == ALAR_HANDLE_COMPLETED ? ALAR_EVENT_READ : ALAR_EVENT_ACK));
    window->retired++;
    *slot = oldest;
    *outcome = before == ALAR_HANDLE_COMPLETED ? ALAR_OUTCOME_VALUE
               : before == ALAR_HANDLE_FAILED  ? ALAR_OUTCOME_FAILED
                                               : ALAR_OUTCOME_TIMED_OUT;
    window_end(window);
    return ALAR_OK;
}

void alar_window_teardown(struct alar_window *window)
{
    for (uint16_t i = 0; i < window->held; i++) {
        struct alar_handle *handle = &window->slot[window_slot(window, i)];

        if (alar_handle_is_owned(handle)) {
            enum alar_status status = alar_handle_step(handle, ALAR_EVENT_TEARDOWN);

            POST(status == ALAR_OK);
        }
    }
    window_end(window);
}

uint16_t alar_window_oldest(const struct alar_window *window)
{
    return alar_window_live_slot(window, 0);
}

uint16_t alar_window_live_slot(const struct alar_window *window, uint16_t i)
{
    PRE(i < alar_window_live(window));
    return window_slot(window, (uint16_t)(window->retired + i));
}

uint16_t alar_window_quarantined(const struct alar_window *window)
{
    uint16_t count = 0;

    for (uint16_t i = 0; i < window->retired; i++) {
        const struct alar_handle *handle = &window->slot[window_slot(window, i)];

        count = (uint16_t)(count + (handle->state == ALAR_HANDLE_QUARANTINED));
    }
    return count;
}

bool alar_window_has_room(const struct alar_window *window)
{
    return window->held < window->capacity;
}

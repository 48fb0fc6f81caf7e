/* The pending handles of one rank: a bounded ring in post order.

   From the head on, the ring holds first the handles that were already told to the caller and stay
   only because the back end still owns their buffers (QUARANTINED), mixed with RETIRED ones that
   wait behind them; then the live ones, oldest first. A full ring refuses the next post: the caller
   must drain. Nothing here names an operation, a tick or a buffer: whoever holds the window keeps
   those in arrays of `capacity` elements, indexed by slot. */
#ifndef ALAR_WINDOW_H
#define ALAR_WINDOW_H

#include "api/embed.h"
#include "engine/handle.h"

#include <stddef.h>

enum {
    ALAR_WINDOW_CAPACITY_MAX = 16384
};

/* No pointers, no padding, no statistics: a model checker tracks the whole of it. */
struct alar_window {
    uint16_t capacity; /* slots, 1..ALAR_WINDOW_CAPACITY_MAX */
    uint16_t head;     /* slot of the oldest occupied one */
    uint16_t retired;  /* occupied slots already told to the caller; they are the oldest */
    uint16_t held;     /* occupied slots, told ones included */
    struct alar_handle slot[];
};

/* Bytes of a window of that many slots. */
size_t alar_window_bytes(uint16_t capacity);

/* Empties `window`, which the caller allocated with alar_window_bytes(capacity) bytes.
   Errors: ALAR_E_RANGE when capacity is 0 or above ALAR_WINDOW_CAPACITY_MAX. */
ALAR_MUST_USE enum alar_status alar_window_init(struct alar_window *window, uint16_t capacity);

/* Takes the next slot, in post order, and moves its handle to PENDING.
   Errors: ALAR_E_FULL when every slot is occupied: drain first. spec: W-01, W-02 */
ALAR_MUST_USE enum alar_status alar_window_post(struct alar_window *window, uint16_t *slot);

/* Tells the window what happened to an occupied slot: COMPLETE, FAIL or EXPIRE. A late end gives a
   quarantined slot back.
   Errors: ALAR_E_RANGE for another event or an unoccupied slot; ALAR_E_ILLEGAL when the table
   refuses. spec: W-04 */
ALAR_MUST_USE enum alar_status alar_window_note(struct alar_window *window, uint16_t slot,
                                                enum alar_handle_event event);

/* Tells the caller about the oldest live handle: its value is read, or its end acknowledged.
   Errors: ALAR_E_EMPTY when none is live; ALAR_E_PENDING when the oldest has not ended, even if a
   younger one has. spec: W-03 */
ALAR_MUST_USE enum alar_status alar_window_retire(struct alar_window *window, uint16_t *slot,
                                                  enum alar_outcome *outcome);

/* The communicator is gone: every handle whose buffers the back end still owned ends. spec: W-05 */
void alar_window_teardown(struct alar_window *window);

/* Handles posted and not yet told; at the end of a run this many have leaked. spec: W-06 */
static inline uint16_t alar_window_live(const struct alar_window *window)
{
    return (uint16_t)(window->held - window->retired);
}

/* The slot of the oldest live handle. PRE: alar_window_live(window) > 0. */
uint16_t alar_window_oldest(const struct alar_window *window);

/* The slot of the i-th live handle from the oldest. PRE: i < alar_window_live(window). */
uint16_t alar_window_live_slot(const struct alar_window *window, uint16_t i);

/* Handles told as timed out whose buffers the back end still owns. */
uint16_t alar_window_quarantined(const struct alar_window *window);

/* Is there a free slot? */
bool alar_window_has_room(const struct alar_window *window);

/* Clauses that cost constant time; every mutating function ends with them. */
void alar_window_inv(const struct alar_window *window);

/* All clauses, in time linear in the capacity. */
void alar_window_inv_deep(const struct alar_window *window);

#endif

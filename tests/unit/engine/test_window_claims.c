/* Claims of the window that end the program: callers' duties, and every clause of the invariant. */
#include "engine/window.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

/* A window is as long as its capacity says, so it lives in bytes. */
struct window_memory {
    _Alignas(struct alar_window) unsigned char bytes[sizeof(struct alar_window) + 4];
};

static struct alar_window *window_in(struct window_memory *memory)
{
    memset(memory, 0, sizeof(*memory));
    return (struct alar_window *)(void *)memory->bytes;
}

/* spec: W-03 */
Test(window_claims, asking_an_empty_window_for_its_oldest_is_a_defect, .signal = SIGABRT)
{
    struct window_memory memory;
    struct alar_window *window = window_in(&memory);

    cr_assert_eq(alar_window_init(window, 2), ALAR_OK);
    alar_window_oldest(window);
}

Test(window_claims, asking_past_the_youngest_is_a_defect, .signal = SIGABRT)
{
    struct window_memory memory;
    struct alar_window *window = window_in(&memory);
    uint16_t slot = 0;

    cr_assert_eq(alar_window_init(window, 2), ALAR_OK);
    cr_assert_eq(alar_window_post(window, &slot), ALAR_OK);
    alar_window_live_slot(window, 1);
}

/* Each clause of the invariant can fail: a window of 3 with one handle pending, broken one way. */
struct breakage {
    uint16_t capacity, head, retired, held;
    uint8_t slot[3];
};

static const struct breakage breakages[] = {
    {0, 0, 0, 0, {0, 0, 0}},
    {ALAR_WINDOW_CAPACITY_MAX + 1, 0, 0, 0, {0, 0, 0}},
    {3, 3, 0, 0, {0, 0, 0}},
    {3, 0, 0, 4, {ALAR_HANDLE_PENDING, ALAR_HANDLE_PENDING, ALAR_HANDLE_PENDING}},
    {3, 0, 2, 1, {ALAR_HANDLE_QUARANTINED, 0, 0}},
    {3, 0, 1, 1, {ALAR_HANDLE_PENDING, 0, 0}},
    {3, 0, 0, 1, {ALAR_HANDLE_PENDING, ALAR_HANDLE_PENDING, 0}},
    {3, 0, 0, 2, {ALAR_HANDLE_PENDING, 0, 0}},
    {3, 0, 0, 2, {ALAR_HANDLE_PENDING, ALAR_HANDLE_RETIRED, 0}},
    {3, 0, 1, 2, {ALAR_HANDLE_QUARANTINED, ALAR_HANDLE_QUARANTINED, 0}},
};

static void break_window(size_t i)
{
    const struct breakage *breakage = &breakages[i];
    struct window_memory memory;
    struct alar_window *window = window_in(&memory);

    window->capacity = breakage->capacity;
    window->head = breakage->head;
    window->retired = breakage->retired;
    window->held = breakage->held;
    memcpy(window->slot, breakage->slot, sizeof(breakage->slot));
    alar_window_inv_deep(window);
}

#define BREAKS(number, name)                                            \
    Test(window_claims, invariant_objects_to_##name, .signal = SIGABRT) \
    {                                                                   \
        break_window(number);                                           \
    }

BREAKS(0, no_slots)
BREAKS(1, too_many_slots)
BREAKS(2, a_head_past_the_end)
BREAKS(3, more_handles_than_slots)
BREAKS(4, more_told_than_held)
BREAKS(5, a_pending_handle_counted_as_told)
BREAKS(6, a_handle_past_the_tail)
BREAKS(7, a_hole)
BREAKS(8, a_told_handle_counted_as_live)
BREAKS(9, a_told_handle_not_counted)

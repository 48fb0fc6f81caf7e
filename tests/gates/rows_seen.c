/* Linked around the `alar` program with --wrap=alar_handle_step: prints the rows of the handle's
   table that a command went through, on stderr, one `row STATE EVENT moved|refused` a line. */
#include "engine/handle.h"

#include <stdio.h>
#include <stdlib.h>

enum alar_status __real_alar_handle_step(struct alar_handle *handle, enum alar_handle_event event);
enum alar_status __wrap_alar_handle_step(struct alar_handle *handle, enum alar_handle_event event);

static bool seen[ALAR_HANDLE_STATE_COUNT][ALAR_HANDLE_EVENT_COUNT][2];

static void seen_print(void)
{
    for (int i = 0; i < ALAR_HANDLE_STATE_COUNT * ALAR_HANDLE_EVENT_COUNT * 2; i++) {
        int state = i / 2 / ALAR_HANDLE_EVENT_COUNT;
        int event = i / 2 % ALAR_HANDLE_EVENT_COUNT;

        if (seen[state][event][i % 2]) {
            fprintf(stderr, "row %s %s %s\n", alar_handle_state_name((enum alar_handle_state)state),
                    alar_handle_event_name((enum alar_handle_event)event),
                    i % 2 ? "moved" : "refused");
        }
    }
}

__attribute__((constructor)) static void seen_begin(void)
{
    atexit(seen_print);
}

enum alar_status __wrap_alar_handle_step(struct alar_handle *handle, enum alar_handle_event event)
{
    uint8_t before = handle->state;
    enum alar_status status = __real_alar_handle_step(handle, event);

    seen[before][event][status == ALAR_OK] = true;
    return status;
}

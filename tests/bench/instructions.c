/* A fixed number of handle steps and of engine events, for callgrind to count: instructions NAME N.
 */
#include "engine/engine.h"

#include "base/check.h"
#include "sys/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOTS = 8
};

/* One life of a handle: post, complete, read, release. */
static void handle_lives(int count)
{
    static const enum alar_handle_event life[] = {ALAR_EVENT_POST, ALAR_EVENT_COMPLETE,
                                                  ALAR_EVENT_READ, ALAR_EVENT_RELEASE};
    struct alar_handle handle = {0};

    for (int i = 0; i < count; i++) {
        enum alar_status status = alar_handle_step(&handle, life[i % 4]);

        PRE(status == ALAR_OK);
    }
}

static struct alar_action step(struct alar_engine *engine, enum alar_engine_event_kind kind,
                               uint16_t slot)
{
    const struct alar_engine_event event = {.kind = kind, .slot = slot};
    struct alar_action action = {0};
    enum alar_status status = alar_engine_step(engine, &event, &action);

    PRE(status == ALAR_OK);
    return action;
}

/* `count` events: contribute, posted, complete, step end, taken, reported, and again. */
static void engine_events(int count)
{
    const struct alar_engine_rules rules = {.log_interval = 1};
    struct alar_window *window = calloc(1, alar_window_bytes(SLOTS));
    struct alar_engine engine;

    PRE(window != NULL && alar_window_init(window, SLOTS) == ALAR_OK);
    PRE(alar_engine_init(&engine, &rules, window) == ALAR_OK);
    for (int i = 0; i < count; i += 6) {
        struct alar_action action = step(&engine, ALAR_ENGINE_CONTRIBUTE, 0);

        step(&engine, ALAR_ENGINE_POSTED, 0);
        step(&engine, ALAR_ENGINE_COMPLETE, action.slot);
        step(&engine, ALAR_ENGINE_STEP_END, 0);
        step(&engine, ALAR_ENGINE_RETIRED, 0);
        step(&engine, ALAR_ENGINE_REPORTED, 0);
    }
    free(window);
}

int main(int argc, char **argv)
{
    uint64_t number = 0;
    bool is_number = argc == 3 && alar_number_parse(argv[2], 1, 100000000, &number) == ALAR_OK;
    int count = (int)number;

    if (is_number && strcmp(argv[1], "handle") == 0) {
        handle_lives(count);
    } else if (is_number && strcmp(argv[1], "engine") == 0) {
        engine_events(count);
    } else {
        fputs("usage: instructions handle|engine N\n", stderr);
        return 3;
    }
    return 0;
}

/* The window against a naive model: a list of operations in post order that knows facts about each
   (over? expired? told?) and neither states nor a ring. */
#include "engine/window.h"
#include "tests/lib/demand.h"
#include "tests/lib/draw.h"

#include <stdlib.h>
#include <string.h>

enum {
    CAPACITY_MAX = 64,
    EXHAUSTIVE_MAX = 4, /* capacity to which all reachable windows are visited */
    SEED = 41702
};

struct op {
    uint16_t slot;
    bool is_over; /* its buffers are back */
    bool has_value;
    bool is_expired;
    bool is_told;
};

struct model {
    uint16_t capacity;
    uint16_t next; /* slot of the next post */
    uint16_t count;
    struct op op[CAPACITY_MAX]; /* oldest first */
};

/* A window is as long as its capacity says, so it lives in bytes. */
struct window_memory {
    _Alignas(struct alar_window) unsigned char bytes[sizeof(struct alar_window) + CAPACITY_MAX];
};

struct pair {
    struct window_memory memory;
    struct model model;
};

static struct alar_window *window_in(struct window_memory *memory)
{
    return (struct alar_window *)(void *)memory->bytes;
}

static void pair_init(struct pair *pair, uint16_t capacity)
{
    memset(pair, 0, sizeof(*pair));
    pair->model.capacity = capacity;
    cr_assert_eq(alar_window_init(window_in(&pair->memory), capacity), ALAR_OK);
}

/* What is told and over leaves, but only from the front. */
static void model_reclaim(struct model *model)
{
    while (model->count > 0 && model->op[0].is_told && model->op[0].is_over) {
        model->count--;
        memmove(&model->op[0], &model->op[1], model->count * sizeof(model->op[0]));
    }
}

static struct op *model_find(struct model *model, uint16_t slot)
{
    for (uint16_t i = 0; i < model->count; i++) {
        if (model->op[i].slot == slot) {
            return &model->op[i];
        }
    }
    return NULL;
}

static struct op *model_oldest_untold(struct model *model)
{
    for (uint16_t i = 0; i < model->count; i++) {
        if (!model->op[i].is_told) {
            return &model->op[i];
        }
    }
    return NULL;
}

static enum alar_status model_post(struct model *model, uint16_t *slot)
{
    if (model->count == model->capacity) {
        return ALAR_E_FULL;
    }
    *slot = model->next;
    model->op[model->count++] = (struct op){.slot = *slot};
    model->next = (uint16_t)((model->next + 1) % model->capacity);
    return ALAR_OK;
}

static enum alar_status model_note(struct model *model, uint16_t slot, enum alar_handle_event event)
{
    struct op *op = model_find(model, slot);

    if (event != ALAR_EVENT_COMPLETE && event != ALAR_EVENT_FAIL && event != ALAR_EVENT_EXPIRE) {
        return ALAR_E_RANGE;
    }
    if (op == NULL) {
        return ALAR_E_RANGE;
    }
    if (op->is_over || (event == ALAR_EVENT_EXPIRE && op->is_expired)) {
        return ALAR_E_ILLEGAL;
    }
    if (event == ALAR_EVENT_EXPIRE) {
        op->is_expired = true;
    } else {
        op->is_over = true;
        op->has_value = event == ALAR_EVENT_COMPLETE && !op->is_expired;
    }
    model_reclaim(model);
    return ALAR_OK;
}

static enum alar_status model_take(struct model *model, uint16_t *slot, enum alar_outcome *outcome)
{
    struct op *op = model_oldest_untold(model);

    if (op == NULL) {
        return ALAR_E_EMPTY;
    }
    if (!op->is_over && !op->is_expired) {
        return ALAR_E_PENDING;
    }
    *slot = op->slot;
    *outcome = op->is_expired  ? ALAR_OUTCOME_TIMED_OUT
               : op->has_value ? ALAR_OUTCOME_VALUE
                               : ALAR_OUTCOME_FAILED;
    op->is_told = true;
    model_reclaim(model);
    return ALAR_OK;
}

static void model_teardown(struct model *model)
{
    for (uint16_t i = 0; i < model->count; i++) {
        model->op[i].is_over = true;
    }
    model_reclaim(model);
}

static void compare(struct pair *pair, const char *after)
{
    const struct alar_window *window = window_in(&pair->memory);
    uint16_t untold = 0;
    uint16_t held_back = 0;

    for (uint16_t i = 0; i < pair->model.count; i++) {
        const struct op *op = &pair->model.op[i];

        if (!op->is_told) {
            demand(alar_window_live_slot(window, untold) == op->slot, "%s: live slot %d", after,
                   untold);
            untold++;
        } else if (!op->is_over) {
            held_back++;
        }
    }
    demand(alar_window_live(window) == untold, "%s: live", after);
    demand(untold == 0 || alar_window_oldest(window) == model_oldest_untold(&pair->model)->slot,
           "%s: oldest", after);
    demand(alar_window_quarantined(window) == held_back, "%s: quarantined", after);
    demand(alar_window_has_room(window) == (pair->model.count < pair->model.capacity), "%s: room",
           after);
    alar_window_inv_deep(window);
}

/* Choices: 0 post, 1 take, 2 teardown, then every event on every slot and one that is none. */
static uint32_t choices(const struct pair *pair)
{
    return 3 + (ALAR_HANDLE_EVENT_COUNT + 1) * (pair->model.capacity + 1U);
}

static void apply(struct pair *pair, uint32_t choice)
{
    struct alar_window *window = window_in(&pair->memory);
    struct window_memory before = pair->memory;
    enum alar_status expected = ALAR_OK;
    enum alar_status found = ALAR_OK;
    uint16_t slot[2] = {77, 77};
    enum alar_outcome outcome[2] = {ALAR_OUTCOME_VALUE, ALAR_OUTCOME_VALUE};
    const char *what = "note";

    if (choice == 0) {
        what = "post";
        expected = model_post(&pair->model, &slot[0]);
        found = alar_window_post(window, &slot[1]);
    } else if (choice == 1) {
        what = "take";
        expected = model_take(&pair->model, &slot[0], &outcome[0]);
        found = alar_window_retire(window, &slot[1], &outcome[1]);
    } else if (choice == 2) {
        what = "teardown";
        model_teardown(&pair->model);
        alar_window_teardown(window);
    } else {
        uint16_t at = (uint16_t)((choice - 3) / (ALAR_HANDLE_EVENT_COUNT + 1));
        enum alar_handle_event event =
            (enum alar_handle_event)((choice - 3) % (ALAR_HANDLE_EVENT_COUNT + 1));

        expected = model_note(&pair->model, at, event);
        found = alar_window_note(window, at, event);
    }
    demand(found == expected, "%s: expected %s, found %s", what, alar_status_name(expected),
           alar_status_name(found));
    demand(slot[0] == slot[1], "%s: expected slot %d, found %d", what, slot[0], slot[1]);
    demand(outcome[0] == outcome[1], "%s: expected outcome %d, found %d", what, (int)outcome[0],
           (int)outcome[1]);
    demand(found == ALAR_OK || memcmp(&before, &pair->memory, sizeof(before)) == 0,
           "%s: a refusal changed the window", what);
    compare(pair, what);
}

/* A number for each window of a capacity up to EXHAUSTIVE_MAX. */
static uint32_t window_number(const struct alar_window *window)
{
    uint32_t number = window->head;

    number = number * (EXHAUSTIVE_MAX + 1) + window->retired;
    number = number * (EXHAUSTIVE_MAX + 1) + window->held;
    for (uint16_t i = 0; i < window->capacity; i++) {
        number = number * ALAR_HANDLE_STATE_COUNT + window->slot[i].state;
    }
    return number;
}

/* Visits every window that any calls can lead to, and in each makes every call there is; returns
   how many windows there are. */
static uint32_t visit_all(uint16_t capacity)
{
    enum {
        NUMBERS = EXHAUSTIVE_MAX * 25 * 4096,
        REACHABLE_MAX = 8192
    };
    bool *seen = calloc(NUMBERS, sizeof(*seen));
    struct pair *queue = malloc(REACHABLE_MAX * sizeof(*queue));
    uint32_t count = 1;

    cr_assert(seen != NULL && queue != NULL);
    pair_init(&queue[0], capacity);
    seen[window_number(window_in(&queue[0].memory))] = true;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t choice = 0; choice < choices(&queue[i]); choice++) {
            struct pair next = queue[i];

            apply(&next, choice);
            uint32_t number = window_number(window_in(&next.memory));
            if (!seen[number]) {
                seen[number] = true;
                demand(count < REACHABLE_MAX, "more windows than expected");
                queue[count++] = next;
            }
        }
    }
    free(seen);
    free(queue);
    return count;
}

/* Every call on every reachable window of up to 4 slots does what the list says, and a refused call
   changes no byte. spec: W-01, W-02, W-03, W-04, W-05, W-06 */
Test(window, does_what_a_list_does_everywhere)
{
    uint32_t before = 0;

    for (uint16_t capacity = 1; capacity <= EXHAUSTIVE_MAX; capacity++) {
        uint32_t count = visit_all(capacity);

        cr_log_info("capacity %d: %u windows", capacity, count);
        cr_assert_gt(count, before * 2, "capacity %d reaches only %u windows", capacity, count);
        before = count;
    }
    cr_assert_gt(before, 1000);
}

/* Long runs over larger windows, seed by seed. spec: W-01, W-02, W-03, W-04, W-05 */
Test(window, does_what_a_list_does_in_long_runs)
{
    static const uint16_t capacities[] = {1, 5, 7, 16, 63, 64};

    cr_log_info("seeds %d..%d", SEED, SEED + 59);
    for (uint32_t run = 0; run < 60; run++) {
        struct draw draw = {SEED + run};
        struct pair pair;

        pair_init(&pair, capacities[run % 6]);
        for (int i = 0; i < 2000; i++) {
            uint32_t kind = draw_below(&draw, 40);
            uint32_t choice = kind < 10   ? 0
                              : kind < 18 ? 1
                              : kind < 39 ? 3 + draw_below(&draw, choices(&pair) - 3)
                                          : 2;

            /* Mostly events that a window takes. */
            if (kind >= 18 && kind < 36) {
                uint32_t at = draw_below(&draw, pair.model.capacity);

                choice = 3 + at * (ALAR_HANDLE_EVENT_COUNT + 1) + ALAR_EVENT_COMPLETE +
                         draw_below(&draw, 3);
            }
            apply(&pair, choice == 2 && draw_below(&draw, 20) > 0 ? 1 : choice);
        }
    }
}

/* A capacity is 1 to the greatest number; anything else leaves the memory alone. spec: W-02 */
Test(window, refuses_capacities_out_of_range)
{
    struct window_memory memory;
    struct alar_window *large = malloc(alar_window_bytes(ALAR_WINDOW_CAPACITY_MAX));

    memset(&memory, 0x5a, sizeof(memory));
    struct window_memory before = memory;
    cr_assert_eq(alar_window_init(window_in(&memory), 0), ALAR_E_RANGE);
    cr_assert_eq(alar_window_init(window_in(&memory), ALAR_WINDOW_CAPACITY_MAX + 1), ALAR_E_RANGE);
    cr_assert_eq(alar_window_init(window_in(&memory), UINT16_MAX), ALAR_E_RANGE);
    cr_assert_arr_eq(&memory, &before, sizeof(memory));
    cr_assert_not_null(large);
    cr_assert_eq(alar_window_init(large, ALAR_WINDOW_CAPACITY_MAX), ALAR_OK);
    free(large);
}

/* The ring's arithmetic holds at the greatest capacity, twice around. spec: W-01, W-03 */
Test(window, the_greatest_window_wraps)
{
    struct alar_window *window = malloc(alar_window_bytes(ALAR_WINDOW_CAPACITY_MAX));
    uint16_t slot = 0;
    enum alar_outcome outcome = ALAR_OUTCOME_FAILED;

    cr_assert_not_null(window);
    cr_assert_eq(alar_window_init(window, ALAR_WINDOW_CAPACITY_MAX), ALAR_OK);
    /* The shape of a full ring, put there directly: its deep clauses would be checked at each post.
     */
    window->head = ALAR_WINDOW_CAPACITY_MAX - 1;
    for (uint16_t i = 0; i < 3; i++) {
        cr_assert_eq(alar_window_post(window, &slot), ALAR_OK);
        cr_assert_eq(slot, (ALAR_WINDOW_CAPACITY_MAX - 1 + i) % ALAR_WINDOW_CAPACITY_MAX);
    }
    cr_assert_eq(alar_window_note(window, 1, ALAR_EVENT_COMPLETE), ALAR_OK);
    cr_assert_eq(alar_window_retire(window, &slot, &outcome), ALAR_E_PENDING);
    cr_assert_eq(alar_window_note(window, ALAR_WINDOW_CAPACITY_MAX - 1, ALAR_EVENT_FAIL), ALAR_OK);
    cr_assert_eq(alar_window_retire(window, &slot, &outcome), ALAR_OK);
    cr_assert_eq(slot, ALAR_WINDOW_CAPACITY_MAX - 1);
    cr_assert_eq(outcome, ALAR_OUTCOME_FAILED);
    free(window);
}

/* A timed-out handle keeps its slot until it ends, and the window says so. spec: W-04, H-06 */
Test(window, a_late_end_gives_the_slot_back)
{
    struct pair pair;
    struct alar_window *window = window_in(&pair.memory);
    uint16_t slot = 9;
    enum alar_outcome outcome = ALAR_OUTCOME_VALUE;

    pair_init(&pair, 1);
    cr_assert_eq(alar_window_post(window, &slot), ALAR_OK);
    cr_assert_eq(alar_window_note(window, slot, ALAR_EVENT_EXPIRE), ALAR_OK);
    cr_assert_eq(alar_window_retire(window, &slot, &outcome), ALAR_OK);

    cr_assert_eq(outcome, ALAR_OUTCOME_TIMED_OUT);
    cr_assert_eq(alar_window_live(window), 0);
    cr_assert_eq(alar_window_quarantined(window), 1);
    cr_assert_eq(alar_window_post(window, &slot), ALAR_E_FULL, "its buffers are not ours");
    cr_assert_eq(alar_window_note(window, slot, ALAR_EVENT_COMPLETE), ALAR_OK);
    cr_assert_eq(alar_window_quarantined(window), 0);
    cr_assert_eq(alar_window_post(window, &slot), ALAR_OK);
}

/* The only glue between the models and the production objects: what is tracked, what is left out,
   and the claims that a model makes. Included by the models' c_decl and compiled into pan.c.

   Tracked, `Matched`, and so both restored on backtracking and part of what makes two states equal:
     LONE   handle.pml: one struct alar_handle, and facts about its operation
     SHELF  window.pml: one struct alar_window with its slots, and facts about each operation
     WORLD  ranks.pml:  of each rank struct alar_engine_state and struct alar_window with its slots;
                        the rules; the program's position; facts about operations and decisions

   Left out, and why that is safe:
     struct alar_engine.rules   set from WORLD before each step
     struct alar_engine.window  points into WORLD, at an address that never changes
     struct alar_engine.stats   counts for people; nothing reads them
     moves_seen                 which rows of the table were reached, over the whole search

   The objects are those of the library: handle, window, engine, roll. Calls of alar_handle_step
   from anywhere pass through __wrap_alar_handle_step (the linker's --wrap), which only looks on. */
#ifndef SPEC_EMBED_H
#define SPEC_EMBED_H

#include "base/check.h"
#include "engine/barrier.h"
#include "engine/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of pan: counts an error, writes the trail and, at the first one, ends the search. */
extern void (*uerror)(char *text);

#ifdef STORY
#define TELL(...) printf(__VA_ARGS__)
static const char *const event_names[] = {
    "contribute",   "end of step", "finish",     "abandon",         "posted",
    "post refused", "taken",       "taken, NaN", "taken, wrong",    "reported",
    "torn down",    "complete",    "failed",     "deadline passed",
};
static const char *const action_names[] = {"go on",    "post", "await", "take",
                                           "log line", "stop", "closed"};
#else
#define TELL(...) ((void)0)
#endif

/* A broken claim, of the core or of a model, is an error that pan reports with its trail. */
_Noreturn void alar_check_failed(const char *kind, const char *claim, const char *file, int line)
{
    static char text[512];

    snprintf(text, sizeof(text), "%s: %s (%s:%d)", kind, claim, file, line);
    uerror(text);
    exit(1);
}

#define HOLDS(rule, truth) ALAR_ASSERT("property", rule, truth)

/* ---- the table, looked on ----------------------------------------------------------------------
 */

static unsigned char moves_seen[ALAR_HANDLE_STATE_COUNT][ALAR_HANDLE_EVENT_COUNT];
static const void *story_base; /* slots of the window that is being worked on */

static void moves_print(void)
{
    for (int state = 0; state < ALAR_HANDLE_STATE_COUNT; state++) {
        for (int event = 0; event < ALAR_HANDLE_EVENT_COUNT; event++) {
            if (moves_seen[state][event] != 0) {
                printf("row %s %s %s\n", alar_handle_state_name((enum alar_handle_state)state),
                       alar_handle_event_name((enum alar_handle_event)event),
                       moves_seen[state][event] == 1 ? "moved" : "refused");
            }
        }
    }
}

enum alar_status __real_alar_handle_step(struct alar_handle *handle, enum alar_handle_event event);

enum alar_status __wrap_alar_handle_step(struct alar_handle *handle, enum alar_handle_event event)
{
    uint8_t before = handle->state;
    enum alar_status status = __real_alar_handle_step(handle, event);

    if (before < ALAR_HANDLE_STATE_COUNT && event < ALAR_HANDLE_EVENT_COUNT) {
        moves_seen[before][event] = status == ALAR_OK ? 1 : 2;
    }
    TELL("    slot %d: %s --%s--> %s\n", (int)((const char *)handle - (const char *)story_base),
         alar_handle_state_name((enum alar_handle_state)before), alar_handle_event_name(event),
         status == ALAR_OK ? alar_handle_state_name((enum alar_handle_state)handle->state)
                           : "refused");
    return status;
}

/* ---- handle.pml: facts about one operation decide what the table must allow --------------------
 */

struct lone {
    struct alar_handle handle;
    uint8_t is_issued;
    uint8_t is_over; /* its buffers are back */
    uint8_t is_expired;
    uint8_t has_value;
    uint8_t is_told;
};
static struct lone LONE;

/* What the rules say of an event, from the facts alone. */
static bool lone_allows(enum alar_handle_event event)
{
    bool is_running = LONE.is_issued && !LONE.is_over;
    bool is_good = LONE.is_over && LONE.has_value && !LONE.is_expired;

    switch (event) {
    case ALAR_EVENT_POST: /* spec: H-08 */
        return !LONE.is_issued;
    case ALAR_EVENT_COMPLETE:
    case ALAR_EVENT_FAIL:
    case ALAR_EVENT_TEARDOWN: /* spec: H-05, H-07 */
        return is_running;
    case ALAR_EVENT_EXPIRE: /* spec: H-06 */
        return is_running && !LONE.is_expired;
    case ALAR_EVENT_READ: /* spec: H-03 */
        return is_good && !LONE.is_told;
    case ALAR_EVENT_ACK: /* spec: H-04 */
        return !LONE.is_told && (LONE.is_expired || (LONE.is_over && !LONE.has_value));
    default: /* RELEASE. spec: H-08 */
        return LONE.is_over && LONE.is_told;
    }
}

static void lone_record(enum alar_handle_event event)
{
    switch (event) {
    case ALAR_EVENT_POST:
        LONE.is_issued = 1;
        break;
    case ALAR_EVENT_COMPLETE:
    case ALAR_EVENT_FAIL:
    case ALAR_EVENT_TEARDOWN:
        LONE.is_over = 1;
        LONE.has_value = event == ALAR_EVENT_COMPLETE;
        break;
    case ALAR_EVENT_EXPIRE:
        LONE.is_expired = 1;
        break;
    case ALAR_EVENT_READ:
    case ALAR_EVENT_ACK:
        LONE.is_told = 1;
        break;
    default:
        LONE = (struct lone){.handle = LONE.handle};
        break;
    }
}

static void lone_try(enum alar_handle_event event)
{
    struct alar_handle before = LONE.handle;
    bool is_allowed = lone_allows(event);
    enum alar_status status;

    story_base = &LONE.handle;
    status = alar_handle_step(&LONE.handle, event);
    HOLDS("H-01: a refused move changes nothing",
          IMPLIES(status != ALAR_OK, before.state == LONE.handle.state));
    HOLDS("H-02: the table allows what the rules allow", IMPLIES(is_allowed, status == ALAR_OK));
    HOLDS("H-02: the table refuses what the rules refuse",
          IMPLIES(!is_allowed, status == ALAR_E_ILLEGAL));
    if (status == ALAR_OK) {
        lone_record(event);
    }
    HOLDS("H-05: owned means issued and not over",
          alar_handle_is_owned(&LONE.handle) == (LONE.is_issued && !LONE.is_over));
    HOLDS("H-04: settled means an end that is not told",
          alar_handle_is_settled(&LONE.handle) ==
              (!LONE.is_told && (LONE.is_over || LONE.is_expired)));
}

/* ---- what windows have in common: who owns which buffer, which operation sits where ------------
 */

struct book {
    uint8_t posted;       /* operations so far */
    uint8_t retired;      /* of which the caller was told */
    uint8_t op[SLOTS];    /* the operation in each slot */
    uint8_t lent[SLOTS];  /* the back end owns the slot's buffers */
    uint8_t late[SLOTS];  /* its deadline passed */
    uint8_t value[SLOTS]; /* 1: it completed in time; 2: with what is no sum */
};

/* A window's memory; its length depends on its capacity. */
struct shelf_memory {
    uint16_t words[(sizeof(struct alar_window) + SLOTS + 1) / 2];
};

static void book_post(struct book *book, uint16_t slot)
{
    HOLDS("H-05: a buffer is lent to one operation at a time", !book->lent[slot]);
    book->op[slot] = book->posted++;
    book->lent[slot] = 1;
    book->late[slot] = 0;
    book->value[slot] = 0;
}

static void book_end(struct book *book, uint16_t slot, uint8_t value)
{
    book->lent[slot] = 0;
    book->value[slot] = book->late[slot] ? 0 : value;
}

static void book_take(struct book *book, uint16_t slot, enum alar_outcome outcome)
{
    HOLDS("W-03: handles are told in post order, each once", book->op[slot] == book->retired);
    HOLDS("H-03: a value is read after it is complete and before its buffer is lent again",
          IMPLIES(outcome == ALAR_OUTCOME_VALUE, book->value[slot] && !book->lent[slot]));
    HOLDS("H-06: what expired is told as timed out",
          (outcome == ALAR_OUTCOME_TIMED_OUT) == (book->late[slot] != 0));
    HOLDS("H-04: a failure is told only of what failed",
          IMPLIES(outcome == ALAR_OUTCOME_FAILED, !book->value[slot] && !book->lent[slot]));
    book->retired++;
}

static void book_close(const struct book *book, const struct alar_window *window)
{
    HOLDS("W-06: nothing leaks", book->retired == book->posted);
    HOLDS("W-05: every slot comes back", window->held == 0);
}

/* ---- window.pml: one window, a caller and a world ----------------------------------------------
 */

struct shelf {
    struct shelf_memory memory;
    struct book book;
};
static struct shelf SHELF;

static struct alar_window *shelf(void)
{
    story_base = ((struct alar_window *)&SHELF.memory)->slot;
    return (struct alar_window *)&SHELF.memory;
}

static void shelf_begin(void)
{
    enum alar_status status = alar_window_init(shelf(), SLOTS);

    HOLDS("a window can be had", status == ALAR_OK);
    atexit(moves_print);
}

static void shelf_post(void)
{
    struct shelf before = SHELF;
    bool has_room = alar_window_has_room(shelf());
    uint16_t slot = SLOTS;
    enum alar_status status = alar_window_post(shelf(), &slot);

    HOLDS("W-02: a full window refuses", status == (has_room ? ALAR_OK : ALAR_E_FULL));
    HOLDS("H-01: a refused post changes nothing",
          IMPLIES(status != ALAR_OK, memcmp(&before, &SHELF, sizeof(SHELF)) == 0));
    if (status == ALAR_OK) {
        book_post(&SHELF.book, slot);
    }
    alar_window_inv_deep(shelf());
}

static bool shelf_is(uint16_t slot, enum alar_handle_state state)
{
    return shelf()->slot[slot].state == state;
}

static bool shelf_oldest_is_pending(void)
{
    return alar_window_live(shelf()) > 0 &&
           shelf_is(alar_window_oldest(shelf()), ALAR_HANDLE_PENDING);
}

static void shelf_take(void)
{
    struct shelf before = SHELF;
    bool is_pending = shelf_oldest_is_pending();
    uint16_t slot = SLOTS;
    enum alar_outcome outcome = ALAR_OUTCOME_VALUE;
    enum alar_status status = alar_window_retire(shelf(), &slot, &outcome);

    HOLDS("W-03: a pending handle is not passed over",
          IMPLIES(is_pending, status == ALAR_E_PENDING));
    HOLDS("H-01: a refused take changes nothing",
          IMPLIES(status != ALAR_OK, memcmp(&before, &SHELF, sizeof(SHELF)) == 0));
    if (status == ALAR_OK) {
        book_take(&SHELF.book, slot, outcome);
    }
    alar_window_inv_deep(shelf());
}

static void shelf_end(uint16_t slot, bool is_value)
{
    enum alar_status status =
        alar_window_note(shelf(), slot, is_value ? ALAR_EVENT_COMPLETE : ALAR_EVENT_FAIL);

    HOLDS("W-04: what is lent can end, in any order", status == ALAR_OK);
    book_end(&SHELF.book, slot, is_value);
    alar_window_inv_deep(shelf());
}

static void shelf_expire(uint16_t slot)
{
    enum alar_status status = alar_window_note(shelf(), slot, ALAR_EVENT_EXPIRE);

    HOLDS("H-06: what is pending can expire", status == ALAR_OK);
    SHELF.book.late[slot] = 1;
    alar_window_inv_deep(shelf());
}

static void shelf_teardown(void)
{
    alar_window_teardown(shelf());
    memset(SHELF.book.lent, 0, sizeof(SHELF.book.lent));
    alar_window_inv_deep(shelf());
    HOLDS("W-05: no buffer is lent after a teardown", alar_window_quarantined(shelf()) == 0);
}

static void shelf_close(void)
{
    book_close(&SHELF.book, shelf());
}

#endif

/* The handle's machine against a square typed by hand: a second opinion on every row of handle.def,
   which nothing here includes. */
#include "engine/handle.h"

#include <criterion/criterion.h>
#include <string.h>

/* Short names for the square: f_ree, p_ending, c_ompleted, x failed, t_imed out, l_ate,
   q_uarantined, r_etired; a dot is a refusal. Columns are events in the order of `event_names`. */
static const char state_letters[] = "fpcxtlqr";

static const char *const state_names[] = {"FREE",      "PENDING", "COMPLETED",   "FAILED",
                                          "TIMED_OUT", "LATE",    "QUARANTINED", "RETIRED"};

static const char *const event_names[] = {"POST", "COMPLETE", "FAIL",     "EXPIRE",
                                          "READ", "ACK",      "TEARDOWN", "RELEASE"};

enum {
    STATES = 8,
    EVENTS = 8
};

/* clang-format off */
/*                        POST COMPLETE FAIL EXPIRE READ ACK TEARDOWN RELEASE */
static const char square[STATES][EVENTS] = {
    /* FREE        */ { 'p',   '.',    '.',  '.',   '.', '.',   '.',    '.' },
    /* PENDING     */ { '.',   'c',    'x',  't',   '.', '.',   'x',    '.' },
    /* COMPLETED   */ { '.',   '.',    '.',  '.',   'r', '.',   '.',    '.' },
    /* FAILED      */ { '.',   '.',    '.',  '.',   '.', 'r',   '.',    '.' },
    /* TIMED_OUT   */ { '.',   'l',    'l',  '.',   '.', 'q',   'l',    '.' },
    /* LATE        */ { '.',   '.',    '.',  '.',   '.', 'r',   '.',    '.' },
    /* QUARANTINED */ { '.',   'r',    'r',  '.',   '.', '.',   'r',    '.' },
    /* RETIRED     */ { '.',   '.',    '.',  '.',   '.', '.',   '.',    'f' },
};
/* clang-format on */

static int state_of(char letter)
{
    return (int)(strchr(state_letters, letter) - state_letters);
}

/* The table and the square agree on all 64 pairs; a refusal has its code and changes nothing.
   spec: H-01, H-02 */
Test(handle, moves_as_the_square_says)
{
    for (int state = 0; state < STATES; state++) {
        for (int event = 0; event < EVENTS; event++) {
            struct alar_handle handle = {(uint8_t)state};
            char to = square[state][event];

            enum alar_status status = alar_handle_step(&handle, (enum alar_handle_event)event);

            cr_assert_eq(status, to == '.' ? ALAR_E_ILLEGAL : ALAR_OK,
                         "handle.def and the square disagree on (%s, %s)", state_names[state],
                         event_names[event]);
            cr_assert_eq(handle.state, to == '.' ? state : state_of(to),
                         "handle.def and the square disagree on (%s, %s): now %s",
                         state_names[state], event_names[event],
                         alar_handle_state_name(handle.state));
        }
    }
}

/* The words of the table are the words of histories and models, in the same order. spec: H-02 */
Test(handle, names_states_and_events)
{
    cr_assert_eq(ALAR_HANDLE_STATE_COUNT, STATES);
    cr_assert_eq(ALAR_HANDLE_EVENT_COUNT, EVENTS);
    for (int i = 0; i < STATES; i++) {
        cr_assert_str_eq(alar_handle_state_name((enum alar_handle_state)i), state_names[i]);
    }
    for (int i = 0; i < EVENTS; i++) {
        cr_assert_str_eq(alar_handle_event_name((enum alar_handle_event)i), event_names[i]);
    }
    cr_assert_str_eq(alar_handle_state_name(ALAR_HANDLE_STATE_COUNT), "?");
    cr_assert_str_eq(alar_handle_event_name(ALAR_HANDLE_EVENT_COUNT), "?");
}

/* Memory that holds no handle is refused like any other illegal move. spec: H-01 */
Test(handle, refuses_numbers_that_are_no_state_or_event)
{
    for (int state = 0; state < 256; state++) {
        for (int event = 0; event < 16; event++) {
            struct alar_handle handle = {(uint8_t)state};

            if (state < STATES && event < EVENTS) {
                continue;
            }
            cr_assert_eq(alar_handle_step(&handle, (enum alar_handle_event)event), ALAR_E_ILLEGAL,
                         "(%d, %d)", state, event);
            cr_assert_eq(handle.state, state, "(%d, %d)", state, event);
        }
    }
}

/* A value can be had in COMPLETED only, and there once. spec: H-03 */
Test(handle, a_value_is_read_once)
{
    for (int state = 0; state < STATES; state++) {
        struct alar_handle handle = {(uint8_t)state};
        enum alar_status status = alar_handle_step(&handle, ALAR_EVENT_READ);

        cr_assert_eq(status == ALAR_OK, state == ALAR_HANDLE_COMPLETED, "%s", state_names[state]);
        cr_assert_eq(alar_handle_step(&handle, ALAR_EVENT_READ), ALAR_E_ILLEGAL);
    }
}

/* Whatever ends without a value is told once: an ACK never succeeds twice in a row. spec: H-04 */
Test(handle, an_end_is_told_once)
{
    for (int state = 0; state < STATES; state++) {
        struct alar_handle handle = {(uint8_t)state};
        enum alar_status status = alar_handle_step(&handle, ALAR_EVENT_ACK);

        cr_assert_eq(status == ALAR_OK, strchr("xtl", state_letters[state]) != NULL, "%s",
                     state_names[state]);
        cr_assert_eq(alar_handle_step(&handle, ALAR_EVENT_ACK), ALAR_E_ILLEGAL);
    }
}

/* The two sets that windows rely on. spec: H-05 */
Test(handle, is_owned_and_is_settled_are_the_sets_typed_here)
{
    for (int state = 0; state < STATES; state++) {
        struct alar_handle handle = {(uint8_t)state};

        cr_assert_eq(alar_handle_is_owned(&handle), strchr("ptq", state_letters[state]) != NULL,
                     "%s", state_names[state]);
        cr_assert_eq(alar_handle_is_settled(&handle), strchr("cxtl", state_letters[state]) != NULL,
                     "%s", state_names[state]);
    }
}

/* While the back end owns the buffers nothing posts over them and nothing frees them; a teardown
   gives them back. spec: H-05, H-07, H-08 */
Test(handle, owned_buffers_are_neither_reused_nor_freed)
{
    for (int state = 0; state < STATES; state++) {
        struct alar_handle handle = {(uint8_t)state};

        if (!alar_handle_is_owned(&handle)) {
            continue;
        }
        cr_assert_eq(alar_handle_step(&handle, ALAR_EVENT_POST), ALAR_E_ILLEGAL);
        cr_assert_eq(alar_handle_step(&handle, ALAR_EVENT_RELEASE), ALAR_E_ILLEGAL);
        cr_assert_eq(alar_handle_step(&handle, ALAR_EVENT_TEARDOWN), ALAR_OK);
        cr_assert_not(alar_handle_is_owned(&handle), "%s", state_names[state]);
    }
}

/* An operation whose deadline passed never yields a value, on any way from there. spec: H-06 */
Test(handle, a_timed_out_operation_never_yields_a_value)
{
    uint8_t reached = 1 << ALAR_HANDLE_TIMED_OUT;

    /* A fixed point over at most STATES rounds; a free slot belongs to the next operation. */
    for (int round = 0; round < STATES; round++) {
        for (int i = 0; i < STATES * EVENTS; i++) {
            struct alar_handle handle = {(uint8_t)(i / EVENTS)};

            if ((reached >> handle.state & 1) != 0 && handle.state != ALAR_HANDLE_FREE &&
                alar_handle_step(&handle, (enum alar_handle_event)(i % EVENTS)) == ALAR_OK) {
                reached = (uint8_t)(reached | 1 << handle.state);
            }
        }
    }
    cr_assert_eq(reached & 1 << ALAR_HANDLE_COMPLETED, 0);
    cr_assert_eq(reached & 1 << ALAR_HANDLE_FREE, 1 << ALAR_HANDLE_FREE, "the slot comes back");
}

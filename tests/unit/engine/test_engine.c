/* The engine's phases: which event it takes when, and what it refuses. */
#include "tests/lib/engine_rig.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum {
    SEED = 90125,
    EVENTS = ALAR_ENGINE_EXPIRE + 1,
    PHASES = ALAR_ACTION_CLOSED + 1
};

/* y: taken; n: refused. COMPLETE and FAIL name slot 0, which is pending in READY, AWAIT and STOP.
   Columns: CONTRIBUTE STEP_END FINISH ABANDON, POSTED POST_REFUSED RETIRED RETIRED_NONFINITE
   RETIRED_WRONG REPORTED TORN_DOWN, COMPLETE FAIL EXPIRE. */
static const char *const answers[PHASES] = {
    [ALAR_ACTION_READY] = "yyyy nnnnnnn yyn",  [ALAR_ACTION_POST] = "nnnn yynnnnn nnn",
    [ALAR_ACTION_AWAIT] = "nnnn nnnnnnn yyy",  [ALAR_ACTION_RETIRE] = "nnnn nnyyynn nnn",
    [ALAR_ACTION_REPORT] = "nnnn nnnnnyn nnn", [ALAR_ACTION_STOP] = "nnnn nnnnnny yyn",
    [ALAR_ACTION_CLOSED] = "nnnn nnnnnnn nnn",
};

static void rig_event(struct rig *rig, enum alar_engine_event_kind kind)
{
    rig_step(rig, (struct alar_engine_event){.kind = kind, .status = ALAR_E_INPUT});
}

/* An engine in that phase, with slot 0 pending where the phase allows it. */
static void rig_enter(struct rig *rig, enum alar_action_kind phase)
{
    static struct plan plan;

    plan = plan_of_one();
    rig_init(rig, &plan, SEED);
    rig_event(rig, ALAR_ENGINE_CONTRIBUTE);
    if (phase == ALAR_ACTION_POST) {
        return;
    }
    rig_event(rig, ALAR_ENGINE_POSTED);
    if (phase == ALAR_ACTION_READY) {
        return;
    }
    if (phase == ALAR_ACTION_STOP) {
        rig_event(rig, ALAR_ENGINE_ABANDON);
        return;
    }
    rig_event(rig, phase == ALAR_ACTION_CLOSED ? ALAR_ENGINE_ABANDON : ALAR_ENGINE_STEP_END);
    if (phase == ALAR_ACTION_CLOSED) {
        rig_event(rig, ALAR_ENGINE_TORN_DOWN);
    } else if (phase != ALAR_ACTION_AWAIT) {
        rig_event(rig, ALAR_ENGINE_COMPLETE);
    }
    if (phase == ALAR_ACTION_REPORT || phase == ALAR_ACTION_CLOSED) {
        rig_event(rig, ALAR_ENGINE_RETIRED);
    }
}

/* The engine takes the event that answers its last action and no other; what it refuses changes not
   a byte of engine or window, nor the caller's action. spec: W-08 */
Test(engine, takes_only_the_event_that_answers)
{
    for (int phase = 0; phase < PHASES; phase++) {
        char expected[EVENTS + 3];
        size_t kind = 0;

        snprintf(expected, sizeof(expected), "%s", answers[phase]);
        for (const char *answer = expected; *answer != '\0'; answer++) {
            struct rig rig;
            struct rig before;

            if (*answer == ' ') {
                continue;
            }
            rig_enter(&rig, (enum alar_action_kind)phase);
            cr_assert_eq((int)rig.action.kind, phase);
            memcpy(&before, &rig, sizeof(rig));
            const struct alar_engine_event event = {.kind = (enum alar_engine_event_kind)kind,
                                                    .status = ALAR_E_INPUT};
            enum alar_status status = alar_engine_step(&rig.engine, &event, &rig.action);

            cr_assert_eq(status, *answer == 'y' ? ALAR_OK : ALAR_E_ILLEGAL,
                         "phase %d, event %d: %s", phase, (int)kind, alar_status_name(status));
            cr_assert(status == ALAR_OK || memcmp(&before, &rig, sizeof(rig)) == 0,
                      "phase %d, event %d: a refusal changed something", phase, (int)kind);
            kind++;
        }
        cr_assert_eq(kind, EVENTS);
    }
}

/* A completion of a slot that holds nothing, or that has ended, is refused. spec: W-04, W-08 */
Test(engine, refuses_completions_out_of_the_blue)
{
    struct rig rig;

    rig_enter(&rig, ALAR_ACTION_READY);
    struct alar_engine_state before = rig.engine.state;
    for (uint16_t slot = 1; slot < 4; slot++) {
        struct alar_engine_event event = {.kind = ALAR_ENGINE_COMPLETE, .slot = slot};

        cr_assert_eq(alar_engine_step(&rig.engine, &event, &rig.action), ALAR_E_RANGE);
    }
    struct alar_engine_event event = {.kind = ALAR_ENGINE_COMPLETE, .slot = 0};
    cr_assert_eq(alar_engine_step(&rig.engine, &event, &rig.action), ALAR_OK);
    cr_assert_eq(alar_engine_step(&rig.engine, &event, &rig.action), ALAR_E_ILLEGAL);
    event.kind = (enum alar_engine_event_kind)EVENTS;
    cr_assert_eq(alar_engine_step(&rig.engine, &event, &rig.action), ALAR_E_ILLEGAL);
    cr_assert_arr_eq(&before, &rig.engine.state, sizeof(before));
}

/* A timed-out operation may still end while the run is being stopped: its slot comes back, and its
   value is nobody's. spec: W-04, H-06 */
Test(engine, a_late_completion_is_heard_while_stopping)
{
    struct plan plan = plan_of_one();
    struct rig rig;

    plan.expired_op = 0;
    rig_init(&rig, &plan, SEED);
    rig_run(&rig);
    cr_assert_eq(alar_window_quarantined(rig_window(&rig)), 1);
    rig_step(&rig, (struct alar_engine_event){.kind = ALAR_ENGINE_COMPLETE, .slot = 0});

    cr_assert_eq(rig.action.kind, ALAR_ACTION_STOP);
    cr_assert_eq(alar_window_quarantined(rig_window(&rig)), 0);
    rig_close(&rig);
    cr_assert_str_eq(rig.trace.text, "PES");
}

/* A run may end inside a step: what was posted is told, and no log line covers half a step. */
Test(engine, finishing_inside_a_step_tells_what_was_posted)
{
    struct rig rig;

    rig_enter(&rig, ALAR_ACTION_READY);
    rig.posted = 1;
    rig_event(&rig, ALAR_ENGINE_FINISH);
    rig_serve(&rig);
    cr_assert_eq(rig.action.kind, ALAR_ACTION_STOP);
    cr_assert_eq(rig.action.status, ALAR_OK);
    rig_close(&rig);
    cr_assert_str_eq(rig.trace.text, "T");
}

/* A log line needs a step to cover, and a run a window that is its own. */
Test(engine, refuses_an_interval_of_no_steps)
{
    struct alar_engine_rules rules = {.log_interval = 0};
    struct alar_engine engine = {.stats = {.peak = 7}};
    struct plan plan = plan_of_one();
    struct rig rig;

    rig_init(&rig, &plan, SEED);
    cr_assert_eq(alar_engine_init(&engine, &rules, rig_window(&rig)), ALAR_E_RANGE);
    cr_assert_eq(engine.stats.peak, 7);
}

Test(engine, a_window_in_use_is_a_defect_of_the_caller, .signal = SIGABRT)
{
    struct rig rig;
    struct alar_engine second;

    rig_enter(&rig, ALAR_ACTION_READY);
    enum alar_status status = alar_engine_init(&second, &rig.plan->rules, rig_window(&rig));

    cr_log_error("accepted with %s", alar_status_name(status));
}

Test(engine, giving_up_without_a_reason_is_a_defect_of_the_caller, .signal = SIGABRT)
{
    struct plan plan = plan_of_one();
    struct rig rig;

    rig_init(&rig, &plan, SEED);
    rig_step(&rig, (struct alar_engine_event){.kind = ALAR_ENGINE_ABANDON});
}

/* What is no sum of the group's contributions ends the run at once: no log line is made of it.
   spec: N-51 */
Test(engine, a_wrong_value_ends_the_run_without_a_log_line)
{
    struct rig rig;

    rig_enter(&rig, ALAR_ACTION_RETIRE);
    rig_step(&rig, (struct alar_engine_event){.kind = ALAR_ENGINE_RETIRED_WRONG,
                                              .status = ALAR_E_MISCOUNT});

    cr_assert_eq(rig.action.kind, ALAR_ACTION_STOP);
    cr_assert_eq(rig.action.status, ALAR_E_MISCOUNT);
    rig_step(&rig, (struct alar_engine_event){.kind = ALAR_ENGINE_TORN_DOWN});
    cr_assert_eq(rig.action.kind, ALAR_ACTION_CLOSED);
    cr_assert_eq(rig.action.status, ALAR_E_MISCOUNT);
}

/* A wait may last its limit and no longer; without a limit it never expires, and a clock near its
   end does not expire it early. spec: W-11 */
Test(engine, deadlines_pass_at_their_limit)
{
    static const uint64_t since[] = {0, 1000, UINT64_MAX - 5};

    for (size_t i = 0; i < 3; i++) {
        struct alar_deadline deadline = {.since = since[i], .limit = 5};
        struct alar_deadline endless = {.since = since[i], .limit = 0};

        cr_assert_not(alar_deadline_passed(&deadline, since[i]));
        cr_assert_not(alar_deadline_passed(&deadline, since[i] + 4));
        cr_assert(alar_deadline_passed(&deadline, since[i] + 5));
        cr_assert_not(alar_deadline_passed(&endless, since[i] + 5));
    }
}

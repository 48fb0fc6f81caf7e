/* A program, a back end and a trace around the engine. */
#include "tests/lib/engine_rig.h"

#include "tests/lib/demand.h"

#include <stdio.h>
#include <string.h>

void trace_add(struct trace *trace, char letter)
{
    demand(trace->length + 1 < RIG_TRACE_MAX, "trace too long: %s", trace->text);
    trace->text[trace->length++] = letter;
    trace->text[trace->length] = '\0';
}

const char *plan_text(const struct plan *plan)
{
    static char text[256];

    snprintf(
        text, sizeof(text),
        "%s%s%s%s, window %d, every %u lag %u, %ux%u, pace %d, nonfinite %d failed %d refused %d "
        "expired %d abandon %d",
        plan->rules.is_sync ? "sync-" : "async-", alar_placement_names[plan->rules.placement],
        plan->rules.waits_at_log ? " wait-log" : "", plan->rules.stops_on_nonfinite ? " agree" : "",
        plan->capacity, plan->rules.log_interval, plan->rules.lag, plan->steps, plan->microbatches,
        (int)plan->pace, plan->nonfinite_op, plan->failed_op, plan->refused_op, plan->expired_op,
        plan->abandon_at);
    return text;
}

struct plan plan_of_one(void)
{
    return (struct plan){.rules = {.log_interval = 1},
                         .capacity = 2,
                         .microbatches = 1,
                         .steps = 1,
                         .nonfinite_op = NONE,
                         .failed_op = NONE,
                         .refused_op = NONE,
                         .expired_op = NONE,
                         .abandon_at = NONE};
}

struct alar_window *rig_window(struct rig *rig)
{
    return (struct alar_window *)(void *)rig->memory.bytes;
}

void rig_init(struct rig *rig, const struct plan *plan, uint64_t seed)
{
    memset(rig, 0, sizeof(*rig));
    rig->plan = plan;
    rig->draw.state = seed;
    rig->awaited = NONE;
    cr_assert_eq(alar_window_init(rig_window(rig), plan->capacity), ALAR_OK);
    cr_assert_eq(alar_engine_init(&rig->engine, &plan->rules, rig_window(rig)), ALAR_OK);
}

void rig_step(struct rig *rig, struct alar_engine_event event)
{
    enum alar_status status = alar_engine_step(&rig->engine, &event, &rig->action);

    demand(status == ALAR_OK, "event %d after %s: %s", (int)event.kind, rig->trace.text,
           alar_status_name(status));
}

static bool rig_is_pending(struct rig *rig, uint16_t slot)
{
    return rig_window(rig)->slot[slot].state == ALAR_HANDLE_PENDING;
}

/* Ends one pending all-reduce as planned. */
static void rig_end(struct rig *rig, uint16_t slot)
{
    bool is_failed = rig->op_of[slot] == rig->plan->failed_op;

    if (rig_is_pending(rig, slot) && rig->op_of[slot] != rig->plan->expired_op) {
        rig_step(rig,
                 (struct alar_engine_event){
                     .kind = is_failed ? ALAR_ENGINE_FAIL : ALAR_ENGINE_COMPLETE, .slot = slot});
    }
}

/* Completions that the pace gives while the program computes. */
static void rig_world(struct rig *rig)
{
    for (uint16_t slot = 0; slot < rig->plan->capacity; slot++) {
        if (rig->plan->pace == PACE_AT_ONCE ||
            (rig->plan->pace == PACE_DRAWN && draw_below(&rig->draw, 2) == 0)) {
            rig_end(rig, slot);
            demand(rig->action.kind == ALAR_ACTION_READY,
                   "a completion that was merely seen led to action %d", (int)rig->action.kind);
        }
    }
}

static void rig_await(struct rig *rig)
{
    uint16_t slot = rig->action.slot;

    demand(slot == alar_window_oldest(rig_window(rig)), "awaits another than the oldest");
    demand(rig_is_pending(rig, slot), "awaits what has ended");
    rig->waits += rig->awaited != rig->op_of[slot] ? 1 : 0;
    rig->awaited = rig->op_of[slot];
    if (rig->plan->pace == PACE_BACKWARD || rig->plan->pace == PACE_DRAWN) {
        for (uint16_t i = alar_window_live(rig_window(rig)); i-- > 1;) {
            uint16_t younger = alar_window_live_slot(rig_window(rig), i);

            if (rig->plan->pace == PACE_BACKWARD || draw_below(&rig->draw, 2) == 0) {
                rig_end(rig, younger);
                demand(rig->action.kind == ALAR_ACTION_AWAIT && rig->action.slot == slot,
                       "a younger completion ended the wait for the oldest");
            }
        }
    }
    if (rig->op_of[slot] == rig->plan->expired_op) {
        rig_step(rig, (struct alar_engine_event){.kind = ALAR_ENGINE_EXPIRE});
    } else {
        rig_end(rig, slot);
    }
}

static void rig_take(struct rig *rig)
{
    static const char letters[] = {
        [ALAR_OUTCOME_VALUE] = 'T', [ALAR_OUTCOME_FAILED] = 'F', [ALAR_OUTCOME_TIMED_OUT] = 'E'};
    int op = rig->op_of[rig->action.slot];
    bool is_nonfinite = op == rig->plan->nonfinite_op && rig->action.outcome == ALAR_OUTCOME_VALUE;

    demand(op == rig->retired, "takes operation %d, expected %d", op, rig->retired);
    rig->retired++;
    trace_add(&rig->trace, letters[rig->action.outcome]);
    rig_step(rig, (struct alar_engine_event){.kind = is_nonfinite ? ALAR_ENGINE_RETIRED_NONFINITE
                                                                  : ALAR_ENGINE_RETIRED});
}

void rig_serve(struct rig *rig)
{
    for (;;) {
        switch (rig->action.kind) {
        case ALAR_ACTION_POST:
            trace_add(&rig->trace, 'P');
            rig->op_of[rig->action.slot] = rig->posted++;
            rig_step(rig,
                     (struct alar_engine_event){.kind = rig->posted - 1 == rig->plan->refused_op
                                                            ? ALAR_ENGINE_POST_REFUSED
                                                            : ALAR_ENGINE_POSTED});
            break;
        case ALAR_ACTION_AWAIT:
            rig_await(rig);
            break;
        case ALAR_ACTION_RETIRE:
            rig_take(rig);
            break;
        case ALAR_ACTION_REPORT:
            trace_add(&rig->trace, 'R');
            rig_step(rig, (struct alar_engine_event){.kind = ALAR_ENGINE_REPORTED});
            break;
        default:
            return;
        }
    }
}

static void rig_program(struct rig *rig, enum alar_engine_event_kind kind)
{
    rig_world(rig);
    rig_step(rig,
             (struct alar_engine_event){
                 .kind = kind, .status = kind == ALAR_ENGINE_ABANDON ? ALAR_E_INPUT : ALAR_OK});
    rig_serve(rig);
}

void rig_run(struct rig *rig)
{
    const struct plan *plan = rig->plan;

    for (uint32_t i = 0; i < plan->steps * plan->microbatches; i++) {
        rig_program(rig, (int)i == plan->abandon_at ? ALAR_ENGINE_ABANDON : ALAR_ENGINE_CONTRIBUTE);
        if (rig->action.kind == ALAR_ACTION_READY &&
            i % plan->microbatches == plan->microbatches - 1) {
            rig_program(rig, ALAR_ENGINE_STEP_END);
        }
        if (rig->action.kind != ALAR_ACTION_READY) {
            break;
        }
    }
    if (rig->action.kind == ALAR_ACTION_READY) {
        rig_program(rig, ALAR_ENGINE_FINISH);
    }
    demand(rig->action.kind == ALAR_ACTION_STOP, "no STOP after %s", rig->trace.text);
    rig->trace.stop = rig->action.status;
    trace_add(&rig->trace, 'S');
}

void rig_close(struct rig *rig)
{
    bool was_complete[RIG_OPS_MAX] = {false};

    for (uint16_t i = 0; i < alar_window_live(rig_window(rig)); i++) {
        uint16_t slot = alar_window_live_slot(rig_window(rig), i);

        was_complete[rig->op_of[slot]] = rig_window(rig)->slot[slot].state == ALAR_HANDLE_COMPLETED;
    }
    rig_step(rig, (struct alar_engine_event){.kind = ALAR_ENGINE_TORN_DOWN});
    while (rig->action.kind == ALAR_ACTION_RETIRE) {
        bool has_value = rig->action.outcome == ALAR_OUTCOME_VALUE;

        demand(has_value == was_complete[rig->op_of[rig->action.slot]], "a value out of nothing");
        rig_take(rig);
    }
    demand(rig->action.kind == ALAR_ACTION_CLOSED, "action %d after the teardown",
           (int)rig->action.kind);
    demand(rig->action.status == rig->trace.stop, "closed with another status");
    demand(rig->retired == rig->posted, "%d posted, %d told", rig->posted, rig->retired);
    demand(alar_window_live(rig_window(rig)) == 0, "a live handle in a closed engine");
    demand(alar_window_quarantined(rig_window(rig)) == 0, "a buffer lent after the teardown");
}

/* The third part of embed.h: several ranks, each with the production engine over its own window,
   and what a back end and a training loop do around them. Every function is one atomic step of a
   model. */
#ifndef SPEC_EMBED_RANKS_H
#define SPEC_EMBED_RANKS_H

#include "spec/embed_world.h"

/* ---- one rank's driver -------------------------------------------------------------------------
 */

static bool rank_is(int r, enum alar_action_kind phase)
{
    return WORLD.rank[r].engine.phase == phase && !WORLD.rank[r].is_silent;
}

/* One event to the production engine; its state goes in and out of what is tracked. */
static struct alar_action rank_step(int r, struct alar_engine_event event)
{
    struct alar_action action = {ALAR_ACTION_READY, 0, ALAR_OUTCOME_VALUE, ALAR_OK};
    enum alar_status status;

    engines[r].rules.placement = (enum alar_placement)WORLD.placement;
    engines[r].rules.is_sync = WORLD.is_sync;
    engines[r].rules.waits_at_log = WORLD.waits_at_log;
    engines[r].rules.lag = lag();
    engines[r].rules.stops_on_nonfinite = WORLD.check == ALAR_CHECK_AGREE;
    engines[r].state = WORLD.rank[r].engine;
    story_base = rank_window(r)->slot;
    TELL("rank %d: %s\n", r, event_names[event.kind]);
    status = alar_engine_step(&engines[r], &event, &action);
    HOLDS("W-08: the engine takes the event that answers", status == ALAR_OK);
    WORLD.rank[r].engine = engines[r].state;
    alar_window_inv_deep(rank_window(r));
    TELL("rank %d:   so %s%s%s\n", r, action_names[action.kind],
         action.status == ALAR_OK ? "" : ", ",
         action.status == ALAR_OK ? "" : alar_status_name(action.status));
    return action;
}

static struct alar_engine_event rank_post(int r, uint16_t slot, bool is_refused)
{
    struct rank *rank = &WORLD.rank[r];
    int op = rank->book.posted;

    HOLDS("W-10: nothing is posted by a rank that stops", !rank->has_ended);
    book_post(&rank->book, slot);
    if (is_refused) {
        WORLD.faults++;
        WORLD.faults_but_nan++;
        book_end(&rank->book, slot, false);
        return (struct alar_engine_event){.kind = ALAR_ENGINE_POST_REFUSED};
    }
    rank->contributed++;
    WORLD.nonfinite[op] = (uint8_t)(WORLD.nonfinite[op] | rank->has_nan << r);
    rank->has_nan = 0;
    return (struct alar_engine_event){.kind = ALAR_ENGINE_POSTED};
}

static struct alar_engine_event rank_take(int r, const struct alar_action *action)
{
    struct rank *rank = &WORLD.rank[r];
    int op = rank->book.retired;
    struct alar_engine_event answer = {.kind = ALAR_ENGINE_RETIRED};

    book_take(&rank->book, action->slot, action->outcome);
    if (action->outcome != ALAR_OUTCOME_VALUE) {
        return answer;
    }
    HOLDS("H-03: no value is read before all ranks contributed", is_contributed(op));
    if (rank->book.value[action->slot] == 2) {
        answer = (struct alar_engine_event){.kind = ALAR_ENGINE_RETIRED_WRONG,
                                            .status = ALAR_E_MISCOUNT};
    } else if (WORLD.nonfinite[op] != 0) {
        rank->has_learnt = 1;
        answer.kind = ALAR_ENGINE_RETIRED_NONFINITE;
    }
    return answer;
}

/* Operations that hold the first `steps` steps. */
static int ops_of(int steps)
{
    switch (WORLD.placement) {
    case ALAR_PLACEMENT_MICROBATCH:
        return steps * MICROBATCHES;
    case ALAR_PLACEMENT_STEP:
        return steps;
    default:
        return (steps + INTERVAL - 1) / INTERVAL;
    }
}

static struct alar_engine_event rank_report(int r)
{
    struct rank *rank = &WORLD.rank[r];
    int full = rank->reported + INTERVAL;
    int last = full < rank->step ? full : rank->step;

    HOLDS("L-13: a log line covers whole steps", rank->microbatch == 0);
    HOLDS("L-13: a log line covers steps, and each once", rank->reported < rank->step);
    HOLDS("L-13: all that a log line covers was taken",
          lag() > 0 ? rank->book.retired >= ops_of(last) : rank->book.retired == rank->book.posted);
    HOLDS("L-13: a log line comes when its interval is full, and the lag over, or the run ends",
          rank->step == full + (int)lag() || rank->step == STEPS ||
              WORLD.check == ALAR_CHECK_AGREE);
    rank->reported = (uint8_t)last;
    return (struct alar_engine_event){.kind = ALAR_ENGINE_REPORTED};
}

/* Whoever decides first writes down what was decided after that many steps; the others must agree.
 */
static void rank_decide(int r, const struct alar_action *action)
{
    struct rank *rank = &WORLD.rank[r];
    uint8_t *decision = &WORLD.decision[rank->has_finished ? STEPS + 1 : rank->step];
    bool goes_on = action->kind == ALAR_ACTION_READY ||
                   (action->kind == ALAR_ACTION_STOP && action->status == ALAR_OK);
    uint8_t mine = goes_on ? WENT_ON : STOPPED;

    if (!rank->is_deciding || (!goes_on && action->kind != ALAR_ACTION_STOP)) {
        return;
    }
    rank->is_deciding = 0;
    /* A rank that lost its patience, or its back end, has nothing to say about that step. */
    if (mine == STOPPED && action->status != ALAR_E_NONFINITE) {
        return;
    }
    HOLDS("L-09: all ranks decide alike after the same step",
          *decision == PENDING_DECISION || *decision == mine);
    HOLDS("L-09: what a rank has learnt stops it with that step, under agree alone",
          (mine == STOPPED) == (rank->has_learnt && WORLD.check == ALAR_CHECK_AGREE));
    HOLDS("L-09: a run that stops has logged the step that shows why",
          IMPLIES(mine == STOPPED, rank->reported == rank->step));
    *decision = mine;
}

/* A wait expired: who is there, who raised? spec: F-05 */
static enum alar_status roll_call(int own)
{
    uint8_t presence[RANKS];
    struct alar_note note[RANKS];
    struct alar_barrier roll = {RANKS, (uint32_t)own, presence, note};

    for (int r = 0; r < RANKS; r++) {
        presence[r] = WORLD.rank[r].is_silent ? ALAR_SILENT : ALAR_HERE;
        note[r] = (struct alar_note){.status = WORLD.rank[r].engine.stop,
                                     .step = WORLD.rank[r].step,
                                     .posted = WORLD.rank[r].book.posted};
    }
    return alar_barrier_judge(&roll).status;
}

/* The status a rank leaves with must be that of the others that left, as far as one fault allows.
 */
static void rank_leave(int r, enum alar_status stop)
{
    struct rank *rank = &WORLD.rank[r];

    rank->ending = (uint8_t)(stop == ALAR_E_TIMEOUT ? roll_call(r) : stop);
    for (int other = 0; other < RANKS; other++) {
        const struct rank *peer = &WORLD.rank[other];

        if (other == r || !peer->has_ended) {
            continue;
        }
        HOLDS("L-08: without other faults all ranks leave with one status",
              IMPLIES(WORLD.faults_but_nan == 0, peer->ending == rank->ending));
        HOLDS("F-05: one fault has one name, whoever tells it",
              IMPLIES(WORLD.faults <= 1, peer->ending == rank->ending || peer->ending == ALAR_OK ||
                                             rank->ending == ALAR_OK));
    }
    rank->has_ended = 1;
}

/* Gives the engine an event and does all that follows, as the driver does. One step for the model:
   at most one of the actions, the post, is seen by other ranks. */
static void rank_go(int r, struct alar_engine_event event, bool is_refused)
{
    struct rank *rank = &WORLD.rank[r];
    int posts = 0;

    for (;;) {
        bool was_wrong = event.kind == ALAR_ENGINE_RETIRED_WRONG && !rank->has_ended;
        struct alar_action action = rank_step(r, event);

        HOLDS("W-10: what is no sum stops the run at its take",
              IMPLIES(was_wrong, action.kind == ALAR_ACTION_STOP));
        rank_decide(r, &action);
        switch (action.kind) {
        case ALAR_ACTION_POST:
            HOLDS("one step of the model posts once", ++posts == 1);
            event = rank_post(r, action.slot, is_refused);
            break;
        case ALAR_ACTION_RETIRE:
            event = rank_take(r, &action);
            break;
        case ALAR_ACTION_REPORT:
            event = rank_report(r);
            break;
        case ALAR_ACTION_CLOSED:
            HOLDS("W-10: a rank closes with the status it stopped with",
                  action.status == rank->engine.stop);
            book_close(&rank->book, rank_window(r));
            return;
        default:
            return;
        }
    }
}

/* ---- the steps of the model --------------------------------------------------------------------
 */

/* The program goes on by one event; a microbatch may be NaN, a post may be refused. */
static void rank_advance(int r, bool is_nan, bool is_refused)
{
    struct rank *rank = &WORLD.rank[r];
    struct alar_engine_event event = {.kind = ALAR_ENGINE_CONTRIBUTE};

    WORLD.faults = (uint8_t)(WORLD.faults + is_nan);
    if (rank->microbatch == MICROBATCHES) {
        event.kind = ALAR_ENGINE_STEP_END;
        rank->microbatch = 0;
        rank->step++;
        rank->is_deciding = 1;
    } else if (rank->step == STEPS) {
        event.kind = ALAR_ENGINE_FINISH;
        rank->has_finished = 1;
        rank->is_deciding = 1;
    } else if (is_nan && WORLD.check == ALAR_CHECK_RAISE) {
        event = (struct alar_engine_event){.kind = ALAR_ENGINE_ABANDON, .status = ALAR_E_NONFINITE};
    } else {
        rank->has_nan |= is_nan;
        rank->microbatch++;
    }
    rank_go(r, event, is_refused);
}

/* Is the program's next event a microbatch? */
static bool is_computing(int r)
{
    return rank_is(r, ALAR_ACTION_READY) && WORLD.rank[r].microbatch < MICROBATCHES &&
           WORLD.rank[r].step < STEPS;
}

/* May a poll of rank r find that the operation in `slot` ended? A poll that finds nothing is no
   step at all: polls may be dropped, or come late, as often as one likes. */
static bool can_end(int r, uint16_t slot)
{
    const struct rank *rank = &WORLD.rank[r];
    bool polls = rank_is(r, ALAR_ACTION_READY) || rank_is(r, ALAR_ACTION_AWAIT) ||
                 rank_is(r, ALAR_ACTION_STOP);

    return polls && rank->book.lent[slot];
}

static bool can_complete(int r, uint16_t slot)
{
    return can_end(r, slot) && is_contributed(WORLD.rank[r].book.op[slot]);
}

/* `value`: 1 a sum, 2 what is no sum, 0 an error; the last two are faults. */
static void rank_end(int r, uint16_t slot, uint8_t value)
{
    WORLD.faults += value != 1;
    WORLD.faults_but_nan += value != 1;
    book_end(&WORLD.rank[r].book, slot, value);
    rank_go(r,
            (struct alar_engine_event){.kind = value == 0 ? ALAR_ENGINE_FAIL : ALAR_ENGINE_COMPLETE,
                                       .slot = slot},
            false);
}

/* Must the wait of rank r expire, because some rank will never come? */
static bool must_expire(int r)
{
    return rank_is(r, ALAR_ACTION_AWAIT) &&
           is_hopeless(WORLD.rank[r].book.op[alar_window_oldest(rank_window(r))]);
}

/* The deadline passes: because nobody comes, or, as a fault, because somebody is slow. */
static void rank_expire(int r, bool is_fault)
{
    WORLD.faults = (uint8_t)(WORLD.faults + is_fault);
    WORLD.faults_but_nan = (uint8_t)(WORLD.faults_but_nan + is_fault);
    WORLD.rank[r].book.late[alar_window_oldest(rank_window(r))] = 1;
    rank_go(r, (struct alar_engine_event){.kind = ALAR_ENGINE_EXPIRE}, false);
}

static bool can_die(int r)
{
    return (WORLD.faults < FAULTS) && !WORLD.rank[r].is_silent && !rank_is(r, ALAR_ACTION_CLOSED);
}

/* The process is gone: it posts, polls and answers nothing more. */
static void rank_die(int r)
{
    WORLD.faults++;
    WORLD.faults_but_nan++;
    WORLD.rank[r].is_silent = 1;
}

/* Gives up the communicator, and closes. */
static void rank_stop(int r)
{
    rank_leave(r, (enum alar_status)WORLD.rank[r].engine.stop);
    memset(WORLD.rank[r].book.lent, 0, SLOTS);
    rank_go(r, (struct alar_engine_event){.kind = ALAR_ENGINE_TORN_DOWN}, false);
}

/* 0: not posted; 1: posted; 2: told, or its rank is gone. */
static uint8_t witness_of(int r, int op)
{
    const struct rank *rank = &WORLD.rank[r];

    return rank->is_silent || rank->book.retired > op ? 2 : rank->book.posted > op ? 1 : 0;
}

#endif

/* RANKS ranks at their own speeds, each the production engine over a window of SLOTS, in a program of
   STEPS x MICROBATCHES with a log line every INTERVAL steps, and at most FAULTS faults in a run: a NaN
   on one rank, a refused post, a back-end error, a sum that is none, a deadline that passes early, a
   rank that goes silent. Dropped polls and delays are free. The search covers all rules at once: placement, sync or
   not, where it waits, and the policy for NaN (RULES narrows them to async-microbatch under agree).

   That no rank waits for ever on one that raised or went silent is the absence of invalid end states:
   a rank's process ends only when it closed or went silent. spec: W-05, W-10, W-11, W-12, L-08, L-09 */
c_decl {
\#include "spec/embed_ranks.h"
}
c_track "&WORLD" "sizeof(WORLD)" "Matched";

#ifdef LIVE
byte witness;
byte picked;
byte observed;
#define AFTER now.witness = witness_of(now.observed, now.picked);
#include "props.pml"
#else
#define AFTER
#endif

#define CAN(expression) c_expr { (expression) }
#define DO(expression, call) :: atomic { CAN(expression) -> c_code { call; AFTER } }
#define ME Prank->me

#define END(slot) \
    DO(can_complete(ME, slot), rank_end(ME, slot, 1)) \
    DO(WORLD.faults < FAULTS && can_complete(ME, slot), rank_end(ME, slot, 2)) \
    DO(WORLD.faults < FAULTS && can_end(ME, slot), rank_end(ME, slot, 0))

proctype rank(byte me)
{
    do
    /* The program. */
    DO(rank_is(ME, ALAR_ACTION_READY), rank_advance(ME, false, false))
    DO(WORLD.faults < FAULTS && is_computing(ME), rank_advance(ME, true, false))
    DO(WORLD.faults < FAULTS && rank_is(ME, ALAR_ACTION_READY), rank_advance(ME, false, true))
    /* The world. */
    END(0)
#if SLOTS > 1
    END(1)
#endif
#if SLOTS > 2
    END(2)
#endif
    DO(must_expire(ME), rank_expire(ME, false))
    DO(WORLD.faults < FAULTS && rank_is(ME, ALAR_ACTION_AWAIT), rank_expire(ME, true))
    DO(can_die(ME), rank_die(ME))
    DO(rank_is(ME, ALAR_ACTION_STOP), rank_stop(ME))
    /* The end. */
    :: CAN(rank_is(ME, ALAR_ACTION_CLOSED)) -> break
    :: CAN(WORLD.rank[ME].is_silent) -> break
    od
}

init {
    byte placement = 0;
    byte sync = 0;
    byte log = 0;
    byte policy = 0;
    byte i;
    atomic {
        c_code { world_begin(); };
#ifndef RULES
        select (placement : 0 .. 2);
        select (sync : 0 .. 1);
        select (log : 0 .. 1);
        select (policy : 0 .. 2);
#endif
        c_code { world_rule(Pinit->placement, Pinit->sync, Pinit->log, Pinit->policy); };
        placement = 0;
        sync = 0;
        log = 0;
        policy = 0;
#ifdef LIVE
        select (picked : 0 .. STEPS * MICROBATCHES - 1);
        select (observed : 0 .. RANKS - 1);
#endif
        for (i : 0 .. RANKS - 1) {
            run rank(i)
        }
    }
}

/* One window: a caller that posts, takes and loses patience, and a world that ends what is lent in any
   order, or too late, or never. SLOTS handles, OPS operations.
   spec: W-01, W-02, W-03, W-04, W-05, W-06, W-12 */
c_decl {
\#include "spec/embed.h"
}
c_track "&SHELF" "sizeof(SHELF)" "Matched";

bool is_down;
#ifdef LIVE
byte witness;
byte picked;
#define AFTER now.witness = SHELF.book.retired > now.picked ? 2 : SHELF.book.posted > now.picked ? 1 : 0;
#include "props.pml"
#else
#define AFTER
#endif

#define CAN(expression) c_expr { (expression) }
#define STEP(call) c_code { call; AFTER }
#define DO(expression, call) :: atomic { CAN(expression) -> STEP(call) }

/* The world ends a slot that the back end still owns. */
#define END(slot) \
    DO(SHELF.book.lent[slot], shelf_end(slot, true)) \
    DO(SHELF.book.lent[slot], shelf_end(slot, false)) \
    DO(shelf_is(slot, ALAR_HANDLE_PENDING), shelf_expire(slot))

proctype world()
{
end:
    do
    END(0)
#if SLOTS > 1
    END(1)
#endif
#if SLOTS > 2
    END(2)
#endif
    :: is_down -> break
    od
}

proctype caller()
{
    do
    DO(!now.is_down && SHELF.book.posted < OPS && alar_window_has_room(shelf()), shelf_post())
    DO(shelf_oldest_is_pending(), shelf_expire(alar_window_oldest(shelf())))
    DO(alar_window_live(shelf()) > 0 && !shelf_oldest_is_pending(), shelf_take())
#ifndef LIVE
    /* Calls that must be refused; for ever, so not under fairness. */
    DO(!alar_window_has_room(shelf()), shelf_post())
    DO(alar_window_live(shelf()) == 0 || shelf_oldest_is_pending(), shelf_take())
#endif
    /* It may give up at any time, and has to in the end. */
    :: atomic { !is_down -> STEP(shelf_teardown()); is_down = true }
    :: atomic { is_down && CAN(alar_window_live(shelf()) == 0) -> STEP(shelf_close()); break }
    od
}

init {
    atomic {
        c_code { shelf_begin(); };
#ifdef LIVE
        select (picked : 0 .. OPS - 1);
#endif
        run world();
        run caller()
    }
}

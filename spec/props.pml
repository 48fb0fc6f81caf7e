/* What must happen in the end, each with its rule. What must never happen is claimed where it can be
   seen, by HOLDS in embed.h and embed_ranks.h. `witness` is one operation, picked at the start: 0 not
   posted, 1 posted, 2 told to its caller.

   W-12: every posted handle is told in the end: read, failed or timed out. */
ltl told { [] ((witness == 1) -> <> (witness == 2)) }

#!/usr/bin/env bash
# No row of judge/life.def can be lost: some small history is then judged otherwise. spec: O-70
. "$(dirname "$0")/../lib/tally.sh"

lossy() { # `alar`, but for one row of its table
    gcc -std=c11 -O1 -Iref -I. tests/gates/life_lost.c "$BUILD"/obj/ref/{timeline,cost,view,cli}/*.o "$BUILD/obj/view_page.o" \
        "$BUILD/libparts.a" -Wl,--as-needed,--wrap=judge_life_row -lyajl -lm -ldl -lfiu -o "$SCRATCH/lossy"
}
missed() { tests/gates/life.py "$SCRATCH/lossy"; }

check "the judge can lose a row" lossy
expect_text "every row is missed by some history" 0 "153 rows, 5472 histories: 0 never looked up, 0 not missed" missed
# With its histories cut short nobody misses the last row.
short() { sed 's/"peer": PEER, //' tests/gates/life.py >"$SCRATCH/short.py" && /usr/bin/python3 "$SCRATCH/short.py" "$SCRATCH/lossy"; }
expect_text "a row that nobody misses is told" 1 "nobody misses ABORTED FAIL" short
tally

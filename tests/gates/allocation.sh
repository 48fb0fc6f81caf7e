#!/usr/bin/env bash
# `alar run` allocates before its first step and never again: twenty steps and two hundred take the same
# number of allocations, counted by valgrind.
. "$(dirname "$0")/../lib/tally.sh"

# heap OPTION...: "N allocs" of a run of all schedules' hardest case, the window full at every post.
heap() {
    valgrind "$BUILD/alar" run --backend sim --quiet --input sums --async-log-allreduce --wait log \
        --log-interval 5 --window 3 --compute-us 50 "$@" 2>&1 >/dev/null |
        sed -n 's/.*total heap usage: \([0-9,]*\) allocs.*/\1 allocs/p'
}

short=$(heap --steps 0:20)
expect_text "200 steps allocate as often as 20" 0 "$short" echo "$(heap --steps 0:200)"
expect_code "the count is one" 0 test -n "$short"
expect_code "and can differ: three ranks take fewer" 1 test "$short" = "$(heap --steps 0:20 --ranks 3)"
with=$(heap --steps 0:20 --history "$SCRATCH/a")
expect_text "with a history too" 0 "$with" echo "$(heap --steps 0:200 --history "$SCRATCH/b")"
tally

#!/usr/bin/env bash
# A slice of the fault matrix, and that the matrix can fail: `make faults` runs all of it.
. "$(dirname "$0")/../lib/tally.sh"

slice() { faults/matrix.sh --slice "$@"; }
expect_text "every plan on one schedule of each back end" 0 " 0 unexpected" slice

plan() { # plan NAME FIRST-LINE FAULT
    printf '%s\n' "$2" "$3" >"$SCRATCH/$1.plan"
    slice "$SCRATCH/$1.plan"
}
expect_text "a plan that fires nothing is unexpected" 1 "no fault fired" \
    plan idle '# expect exit=2 log=same check=any: nothing' 'alar/loss/nan 2 99999 1 0'
expect_text "another code is unexpected" 1 "exit code 0, expected 1" \
    plan code '# expect exit=1 log=same check=PASS: x' 'alar/rank/delay 2 1 1 10'
expect_text "another log is unexpected" 1 "log: not same" \
    plan log '# expect exit=0 log=same check=PASS: x' 'alar/loss/spike 2 1 1 10'
expect_text "another verdict is unexpected" 1 "alar check: " \
    plan verdict '# expect exit=0 log=same check=FAIL: x' 'alar/rank/delay 2 1 1 10'
tally

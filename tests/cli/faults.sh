#!/usr/bin/env bash
# Ways in: `alar faults`, plans and fiu-run, on the simulator.
. "$(dirname "$0")/../lib/tally.sh"

alar=$BUILD/alar
expect_text "alar faults says what a point models" 0 "models   a slow host" "$alar" faults
grep -oE "enable name=[^']*" <("$alar" faults) | sort -u >"$SCRATCH/commands"
check "alar faults has a command for each of its points" test \
    "$(wc -l <"$SCRATCH/commands")" -eq "$(grep -c '^POINT(' faults/points.def)"

# tries COMMAND: the command that alar faults prints; does its fault fire?
tries() {
    rm -rf "$SCRATCH/history"
    timeout -k 2 60 fiu-run -c "$1" "$alar" run --async-log-allreduce --deadline-ms 1000 --history "$SCRATCH/history" \
        >"$SCRATCH/tried" 2>&1
    [ $? -le 2 ] && grep -E 'faults +[1-9][0-9]* fired|memory' "$SCRATCH/tried"
}
while read -r command; do check "try: $command" tries "$command"; done <"$SCRATCH/commands"

plan() { printf '%b\n' "$1" >"$SCRATCH/plan"; shift; "$alar" run --async-log-allreduce --quiet --faults "$SCRATCH/plan" "$@"; }
expect_text "a plan is refused where it is wrong" 3 "plan:2:3: expected a failure point (did you mean 'alar/rank/mute'?)" \
    plan '# x\n  alar/rank/mut 2 1 1 0'
expect_text "a plan that is not there" 3 "expected a fault plan, found: No such file" "$alar" run --faults /nowhere
expect_text "a plan for a rank that is not there" 3 "expected a rank from 0 to 3, found 4" plan 'alar/rank/mute 4 1 1 0'
expect_text "a plan that fires nothing is incomplete" 2 "0 fired, seed 1: this run shows nothing about faults" \
    plan 'alar/rank/mute 2 9999 1 0'
# spec: F-16
expect_text "the twin repeats a spike" 0 "4 of 4 logged values have the same bits" plan 'alar/loss/spike 2 9 5 100'

# Points inside libc: a run in which writes fail now and then must end with a word, and whole lines.
# libfiu draws by the clock, so the chance that nothing happens has to be none: of more than 3000 writes
# one in 100 fails, and of those fewer than one in 5 with EINTR, which is no failure: five runs in which
# some has none are 5 x 0.992^3000 < 2e-10. "No memory" fails the first allocation, always.
"$alar" run --async-log-allreduce --quiet --history "$SCRATCH/healthy" >/dev/null 2>&1
check "a run writes more than 3000 records" test "$(cat "$SCRATCH"/healthy/*.jsonl | wc -l)" -gt 3000
libc_fails() {
    local n
    for n in 1 2 3 4 5; do
        rm -rf "$SCRATCH/libc"
        timeout -k 2 60 fiu-run -x -c 'enable_random name=posix/io/rw/write,probability=0.01' "$alar" run \
            --async-log-allreduce --quiet --history "$SCRATCH/libc" >"$SCRATCH/said" 2>&1
        [ $? -eq 2 ] && grep 'expected to write the history, found: ' "$SCRATCH/said" || return 1
        cat "$SCRATCH/libc"/*.jsonl | jq -c . >/dev/null || return 1
    done
}
check "fiu-run -x: writes that fail lose no whole line" libc_fails
expect_text "fiu-run -x: no memory" 2 "memory" \
    fiu-run -x -c 'enable name=libc/mm/calloc,onetime' "$alar" run --quiet
tally

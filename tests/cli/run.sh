#!/usr/bin/env bash
# `alar run` on the simulator: what it prints, what it refuses, and that its comparison can fail.
. "$(dirname "$0")/../lib/tally.sh"

alar=$BUILD/alar
data=tests/data/gpt-losses
run() { "$alar" run --backend sim --quiet "$@"; }
lines() { [ "$(grep -c "$1" "$2")" -eq "$3" ]; }
field() { jq -e "$1" "$2" >/dev/null; } # field FILTER FILE: true for every line

# --- the good run ------------------------------------------------------------------------------
expect_text "the default run keeps every value" 0 \
    "4 of 4 logged values have the same bits as their synchronous twin" "$alar" run
expect_text "nothing leaks" 0 ", 0 leaked;" run --async-log-allreduce --wait log
expect_text "160 handles a rank, per microbatch" 0 "640 handles posted" run --async-log-allreduce
expect_text "40 a rank, per step" 0 "160 handles posted" run --schedule async-step
expect_text "4 a rank, per window" 0 "16 handles posted" run --schedule async-window
expect_text "a small window is drained, not overrun" 0 "4 of 4" \
    run --async-log-allreduce --wait log --window 1
expect_text "a straggler changes no bit" 0 "4 of 4" \
    run --async-log-allreduce --wait log --compute-us 500 --straggler rotate:900 --grad-bytes 4096

# --- the comparison can fail --------------------------------------------------------------------
# On real losses a left and a right fold differ in about a third of the sums.
expect_text "another order in the twin shows" 0 "ulp apart" \
    run --input sums --log-interval 1 --reduce-order left-fold --twin-order right-fold
expect_text "and only as far as orders go" 0 "the others are at most 3 ulp apart" \
    run --input sums --log-interval 1 --reduce-order left-fold --twin-order right-fold
expect_code "--compare none leaves the twin out" 1 grep -q twin <(run --compare none)

# --- reports as JSON ----------------------------------------------------------------------------
json=$SCRATCH/log.jsonl
check "one line a report" run --input sums --log-interval 1 --log-json "$json"
check "200 reports" lines . "$json" 200
check "each complete" field 'has("step") and has("logged_at_step") and has("metric") and
    has("normalization") and has("loss") and has("bits") and has("tokens") and
    has("nonfinite") and has("empty")' "$json"
check "step 150 is EMPTY: null, neither 0 nor NaN" field \
    'select(.step == 150) | .loss == null and .bits == null and .empty == 1' \
    <(sed -n 151p "$json")
check "bits are fp32" field '.bits == null or (.bits | length) == 8' "$json"
check "pair64 runs" run --input sums --log-interval 1 --encoding pair64 --log-json "$json"
check "and its bits are fp64" field '.bits == null or (.bits | length) == 16' "$json"

# --- the least and the greatest -------------------------------------------------------------------
check "extremes are logged" run --extremes --log-interval 20 --log-json "$json"
check "four reports a log line" lines . "$json" 8
check "whose the greatest is, of what there is" test "$(jq -c 'select(.kind == "max") | [.metric, .holder]' \
    "$json" | head -n 1)" = '["lm loss max",2]'
check "the sum is the tokens, beside the mean too" test \
    "$(jq -s '.[3].metric == "tokens" and .[3].loss == .[0].tokens' "$json")" = true
check "the loss is the same without" cmp -s <(jq -c 'select(.metric == "lm loss")' "$json") \
    <(run --log-interval 20 --log-json /dev/stdout | jq -c 'select(.metric == "lm loss")' 2>/dev/null)
expect_text "a line each for people" 0 "| lm loss max: 5.678776E+00, of rank 2 |" \
    "$alar" run --backend sim --extremes
expect_text "NaN is the greatest and the least" 0 "| lm loss min: NAN, of rank 0 |" \
    "$alar" run --backend sim --extremes --losses "$data/diverge" --check-for-nan count
expect_text "a shared microbatch has no loss of one rank" 3 \
    "--extremes: expected --cp 1, or --scope replicated, found --cp 2" run --extremes --cp 2
expect_text "more ranks than have lanes" 3 \
    "--extremes: expected at most 1024 data parallel ranks, found 1025" run --extremes --ranks 1025

# --- a loss that is not finite ------------------------------------------------------------------
diverge=(--losses "$data/diverge" --async-log-allreduce)
expect_text "agree: all stop after the step, exit 1" 1 \
    "first: step 15, microbatch 0, rank 0; all ranks stopped after that step" run "${diverge[@]}"
expect_text "count: goes on" 0 "non-finite contributions, first: step 15" \
    run "${diverge[@]}" --check-for-nan count
expect_text "raise: the rank says so at once" 1 "NONFINITE raised at step 15, microbatch 0" \
    run "${diverge[@]}" --check-for-nan raise
expect_code "off: nobody looks" 0 run "${diverge[@]}" --check-for-nan off
expect_text "the seed's defect warns" 0 "never divided" run --normalization seed-undivided

# --- bad input: one line, exit 3, nothing half-written -------------------------------------------
refuse() { # refuse CLAIM TEXT OPTION...
    local claim=$1 text=$2
    shift 2
    expect_text "$claim" 3 "$text" run "$@"
    check "$claim: in one line" test "$(wc -l <"$SCRATCH/.output")" -eq 1
}
refuse "a missing directory" "/nowhere" --losses /nowhere
refuse "an unknown option" "did you mean '--encoding'?" --encodig pair32
refuse "an unknown schedule" "did you mean 'async-step'?" --schedule async-stp
refuse "an unknown normalization" "did you mean 'rank-mean'?" --normalization rankmean
refuse "window 0" "expected a whole number from 1 to 16384, found '0'" --window 0
refuse "a word for a number" "found 'ten'" --log-interval ten
refuse "a negative number" "found '-1'" --deadline-ms -1
refuse "steps out of range" "300" --steps 0:300
refuse "more ranks than losses" "expected losses of 5 ranks, found those of 4" --ranks 5
refuse "a straggler without a time" "expected RANK:US or rotate:US, found '2'" --straggler 2
refuse "async and sync at once" "found 'sync-step'" --async-log-allreduce --schedule sync-step
refuse "a word too many" "expected options only, found 'x'" x
refuse "a back end that is nowhere" "nosuch" --backend ./nosuch.so
printf 'no directory' >"$SCRATCH/file"
refuse "a history that can't be written" "$SCRATCH/file/h" --history "$SCRATCH/file/h"
refuse "a JSON log that can't be written" "$SCRATCH/file/l" --log-json "$SCRATCH/file/l"
cp -r "$data/train" "$SCRATCH/cut" && truncate -s 1000 "$SCRATCH/cut/losses.rank2.npy"
refuse "a truncated file" "losses.rank2.npy" --losses "$SCRATCH/cut"
# The same file a step shorter: its header says so, and its length fits.
shorter() { LC_ALL=C sed '1s/(40, /(39, /' "$data/train/$1" | head -c "-$2" >"$SCRATCH/cut/$1"; }
shorter losses.rank2.npy 8192
shorter mask.rank2.npy 2048
refuse "files of different shapes" "rank2.npy" --losses "$SCRATCH/cut"
check "a history is recorded" run --history "$SCRATCH/h"
refuse "and never overwritten" "$SCRATCH/h" --history "$SCRATCH/h"
expect_text "no subcommand: usage, exit 3" 3 "usage: alar" "$alar"
expect_text "a misspelt one" 3 "did you mean 'run'?" "$alar" rum
expect_text "--help is on stdout" 0 "examples:" "$alar" run --help
tally

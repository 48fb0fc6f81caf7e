#!/usr/bin/env bash
# The encoding `exact` on the simulator: one log for every split, order, schedule and wait.
. "$(dirname "$0")/../lib/tally.sh"
. tests/lib/exact.sh

alar=$BUILD/alar
run() { "$alar" run --backend sim --quiet --encoding exact --steps 27:62 --log-interval 3 "$@"; }

# --- the same tokens ----------------------------------------------------------------------------
as_one "4 ranks, as recorded" run
for n in 1 2 3 4 5 6 7 8; do
    check "split over $n ranks" split "$n" "$n" $((n % 3 + 1))
    as_one "$n ranks" run --losses "$SCRATCH/$n" --async-log-allreduce
done
for order in left-fold right-fold recursive-doubling binomial ring arrival; do
    as_one "8 ranks, $order" run --losses "$SCRATCH/8" --reduce-order "$order" --compute-us 90 \
        --straggler rotate:400
done
for schedule in {async,sync}-{microbatch,step,window}; do
    for wait in step log; do
        as_one "5 ranks, $schedule, waited at the $wait" \
            run --losses "$SCRATCH/5" --schedule "$schedule" --wait "$wait" --twin-order ring \
            --reduce-order left-fold
    done
done
expect_code "pairs do depend on the split" 1 cmp -s \
    <(run --encoding pair32 --losses "$SCRATCH/1" --log-json /dev/stdout | jq -r .bits 2>/dev/null) \
    <(run --encoding pair32 --losses "$SCRATCH/7" --log-json /dev/stdout | jq -r .bits 2>/dev/null)

# --- what it prints -----------------------------------------------------------------------------
log=$SCRATCH/log.json
check "rank means" run --normalization rank-mean --over pooled --log-json "$log"
check "bits are fp64" jq -e '.bits | length == 16' "$log"
expect_text "a twin in another order has the same bits" 0 "4 of 4 logged values have the same bits" \
    run --reduce-order left-fold --twin-order right-fold
expect_text "agree names rank, step and microbatch" 1 \
    "first: step 15, microbatch 0, rank 0; all ranks stopped after that step" \
    "$alar" run --backend sim --quiet --encoding exact --losses tests/data/gpt-losses/diverge
expect_text "an encoding that is none" 3 "did you mean 'exact'?" run --encoding exat

# --- extremes beside the loss -------------------------------------------------------------------------
rm -f "$SCRATCH/log.first"
as_one "extremes, 4 ranks, as recorded" run --extremes
for order in left-fold right-fold recursive-doubling binomial ring arrival; do
    as_one "extremes, $order" run --extremes --reduce-order "$order" --twin-order ring
done
for schedule in {async,sync}-{microbatch,step,window}; do
    as_one "extremes, $schedule" run --extremes --schedule "$schedule" --wait log
done
as_one "extremes of the last of two stages" run --extremes --pp 2 --dp 4
as_one "extremes of replicas" run --extremes --dp 4 --cp 2 --scope replicated
for n in 1 2 3 4 5 6 7 8; do
    expect_text "extremes of $n ranks pass" 0 "16 of 16 logged values have the same bits" \
        run --extremes --losses "$SCRATCH/$n" --history "$SCRATCH/e$n"
    expect_text "and are judged" 0 "$((16 * n)) of $((16 * n)) reports recomputed" "$alar" check "$SCRATCH/e$n"
done
check "split over 26 ranks" split 26 26 1
for encoding in pair32 pair64 exact; do
    expect_text "$encoding, a set of 26 ranks" 0 "16 of 16 logged values have the same bits" \
        run --extremes --losses "$SCRATCH/26" --encoding "$encoding" --history "$SCRATCH/e-$encoding"
    expect_text "and is judged" 0 "416 of 416 reports recomputed" "$alar" check "$SCRATCH/e-$encoding"
done

# --- it checks itself -----------------------------------------------------------------------------
broken() { # broken MUTANT TEXT: no twin and no oracle is needed to see it
    expect_text "the engine itself sees $1" 1 "$2" run --async-log-allreduce --compare none --mutant "$1"
    expect_code "$1: and logs no value of it" 1 grep -q '"step":61' "$SCRATCH/log.json"
}
rm -f "$log"
run() { "$alar" run --backend sim --encoding exact --steps 27:62 --log-interval 3 --log-json "$log" "$@"; }
broken drop-rank "is missing from all-reduce"
broken double-rank "counts twice in all-reduce"
broken replace-rank "counts twice in, all-reduce"
broken stale-rank "'s contribution to all-reduce"
broken previous-value "came out of all-reduce"
broken stale-result "came out of all-reduce"
broken torn-pair "came out of all-reduce"
broken last-lost "not one of each rank"
broken tail-short "is missing from all-reduce"
broken shifted "MISCOUNT"
broken own-only "1 contributions, not one of each rank"
broken untouched "0 contributions, not one of each rank"
run() {
    "$alar" run --backend sim --encoding exact --steps 27:62 --log-interval 3 --extremes \
        --log-json "$log" "$@"
}
broken drop-rank "is missing from all-reduce"
broken double-rank "counts twice in all-reduce"
broken replace-rank "counts twice in, all-reduce"
broken stale-rank "'s contribution to all-reduce"
broken tail-short "3 contributions, not one of each rank"
run() { "$alar" run --backend sim --quiet --encoding exact --steps 27:62 --log-interval 3 "$@"; }

# --- histories ----------------------------------------------------------------------------------
for normalization in token-weighted rank-mean microbatch-mean; do
    for schedule in async-microbatch sync-step async-window; do
        h=$SCRATCH/h-$normalization-$schedule
        check "a history of $normalization, $schedule" \
            run --losses "$SCRATCH/3" --normalization "$normalization" --schedule "$schedule" --history "$h"
        expect_text "is judged and passes" 0 "PASS" "$alar" check "$h"
    done
done
tally

#!/usr/bin/env bash
# Histories of `alar run` on MPICH ranks must PASS, every report recomputed; and what goes wrong there is named.
. "$(dirname "$0")/../lib/tally.sh"
. tests/lib/mpi.sh
YIELD=1

alar=$BUILD/alar
few=(--steps 5:62 --log-interval 4 --compare none --quiet)

# judged RANKS CODE OPTION...: one run, then its verdict line.
judged() {
    local n=$1 code=$2 found=0
    shift 2
    rm -rf "$SCRATCH/h"
    ranks "$n" "$alar" run "${few[@]}" --history "$SCRATCH/h" "$@" >"$SCRATCH/run" 2>&1 || found=$?
    if [ "$found" -ne "$code" ]; then
        cat "$SCRATCH/run"
        echo "exit code $found, expected $code"
        return 99
    fi
    "$alar" check "$SCRATCH/h"
}
passes() { # passes CLAIM REPORTS RANKS OPTION...
    local claim=$1 reports=$2 n=$3
    shift 3
    expect_text "$claim" 0 "$reports of $reports reports recomputed" judged "$n" 0 "$@"
}

passes "per microbatch, waited at the step" 16 4 --async-log-allreduce
passes "per microbatch, waited at the log line" 16 4 --async-log-allreduce --wait log
passes "per step, rank means, fp64" 16 4 --schedule async-step --normalization rank-mean \
    --encoding pair64
passes "per window, pooled" 16 4 --schedule async-window --over pooled
passes "per window, microbatch means" 16 4 --schedule async-window --normalization microbatch-mean
passes "blocking calls without a deadline" 16 4 --schedule sync-step --deadline-ms 0
passes "the original's undivided sums" 16 4 --async-log-allreduce --normalization seed-undivided \
    --check-for-nan off
passes "a straggler" 16 4 --async-log-allreduce --wait log --compute-us 200 --straggler rotate:400
passes "three ranks" 12 3 --async-log-allreduce --wait log
expect_text "a run that stops at a NaN is whole up to there" 0 "reports recomputed" \
    judged 4 1 --async-log-allreduce --losses tests/data/gpt-losses/diverge --steps 0:40
tally

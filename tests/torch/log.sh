#!/usr/bin/env bash
# seconds: 900
# alar.Log on real gloo with torch 1.13 and 2.13: what it logs and refuses, how it ends; its numbers against
# those of `alar run` on MPI and on the simulator, and before the oracle; the plans of faults/ in Python.
. "$(dirname "$0")/../lib/torch.sh"
. tests/lib/mpi.sh
export ALAR_LIBRARY=$PWD/$BUILD/libalar.so
here=tests/torch
TALLY_SECONDS=240

# values FILE: what was logged, without when and with what bits of the encoding
values() { jq -c '[.first_step, .step, .loss, .tokens]' "$1"; }
same_reports() { diff <(values "$1") <(values "$2"); }

# by_run ENCODING: $SCRATCH/mpi and $SCRATCH/sim of the same losses
by_run() {
    local options="--input sums --schedule async-step --wait log --encoding $1 --check-for-nan agree -q"
    # shellcheck disable=SC2086 # one option a word
    {
        ranks 4 "$alar" run --backend mpi $options --log-json "$SCRATCH/mpi" &&
            "$alar" run --backend sim --ranks 4 $options --log-json "$SCRATCH/sim"
    }
}

logged() { bare $here/log_runs.py "$@" >"$SCRATCH/log"; } # logged OPTIONS...

# The same losses through three carriers of one engine: MPI, the simulator, torch.
same() { # same VERSION
    # Sums of a few fp32 losses are exact in fp64, in any order; in fp32 each carrier's order rounds in its own way.
    for encoding in pair64 pair32; do
        check "$encoding, by alar run on MPI and the simulator" by_run $encoding
        check "$1: $encoding, by alar.Log, recorded" logged_recorded --encoding $encoding
        expect_text "$1: every number passes" 0 "80 of 80 reports recomputed" verdict "$SCRATCH/h"
        [ $encoding = pair32 ] || check "$1: has the same bits" same_reports "$SCRATCH/log" "$SCRATCH/mpi"
        [ $encoding = pair32 ] || check "$1: and the simulator's" same_reports "$SCRATCH/log" "$SCRATCH/sim"
    done
    check "$1: pair32: the same steps and tokens" same_tokens
    check "exact, by alar run on MPI and the simulator" by_run exact
    check "the same bits" same_reports "$SCRATCH/mpi" "$SCRATCH/sim"
    for how in async-microbatch async-window; do
        # shellcheck disable=SC2086 # one option a word
        check "$1: by alar.Log, $how" logged --encoding exact --schedule $how
        check "$1: has the same bits" same_reports "$SCRATCH/log" "$SCRATCH/mpi"
    done
    check "$1: async-step, recorded" logged_recorded --encoding exact --schedule async-step --lag 1
    check "$1: has the same bits" same_reports "$SCRATCH/log" "$SCRATCH/mpi"
    expect_text "$1: every number passes" 0 "80 of 80 reports recomputed" verdict "$SCRATCH/h"
}
same_tokens() { diff <(jq -c '[.first_step, .step, .tokens]' "$SCRATCH/log") <(jq -c '[.first_step, .step, .tokens]' "$SCRATCH/mpi"); }
logged_recorded() { recorded "$SCRATCH/h" -- $here/log_runs.py "$@" >"$SCRATCH/log"; }

# plan VERSION NAME: ends as the head of the plan says of `alar run`
plan() {
    local file=faults/plans/$2.plan options code log
    options=$(sed -n 's/^# run: //p' "$file")
    code=$(sed -n 's/^# expect exit=\([0-9]\).*/\1/p' "$file")
    log=$(sed -n 's/^# expect .* log=\([a-z]*\).*/\1/p' "$file")
    # shellcheck disable=SC2086 # one option a word
    expect_code "$1: plan $2 ends with $code" "$code" logged --schedule async-microbatch --wait step --encoding exact \
        --steps 40 $options --faults "$file"
    cp "$SCRATCH/.output" "$SCRATCH/said"
    # shellcheck disable=SC2086 # one option a word
    [ "$log" = any ] || check "$1: and logs as told" as_told "$log" ${options%%--log-interval*}
}
as_told() { # as_told same|prefix
    if [ "$1" = same ]; then
        diff <(values "$SCRATCH/log") <(values "$SCRATCH/mpi" | head -n 4)
    else
        jq -e -s 'length == 6' "$SCRATCH/log" # steps 0 to 5, the last one with a NaN
    fi
}

cases="schedules empty uneven nan resume bad groups devices stopped host died"
# What depends on torch, with both; what is ours alone, with the newest there is.
for version in 1.13 2.13; do
    python_of $version || continue
    newest=$version
    # shellcheck disable=SC2086 # one case a word
    check "$version: all cases" bare $here/log_cases.py $cases
    cp "$SCRATCH/.output" "$SCRATCH/cases"
    for case in $cases; do check "$version: $case" grep -q "^$case: good" "$SCRATCH/cases"; done
    expect_text "$version: Megatron-LM's report, taken and handed back" 0 '"good": true' bare $here/log_frameworks.py megatron 2
    check "$version: all encodings and kinds of metrics, recorded" recorded "$SCRATCH/h" -- $here/log_recorded.py "$SCRATCH/store"
    expect_text "$version: every number passes" 0 "224 of 224 reports recomputed" verdict "$SCRATCH/h"
done
if python_of "${newest:-1.13}"; then
    same "$newest"
    for name in straggler late-completion nan-once mute-early post-refused never-told; do plan "$newest" $name; done
fi
tally

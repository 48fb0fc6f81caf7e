#!/usr/bin/env bash
# `alar run` on MPICH ranks: the main job, at every size, and how it says no.
. "$(dirname "$0")/../lib/tally.sh"
. tests/lib/mpi.sh

alar=$BUILD/alar
same="of 4 logged values have the same bits as their synchronous twin"
run() { # run RANKS OPTION...
    local n=$1
    shift
    ranks "$n" "$alar" run --async-log-allreduce --quiet "$@"
}

# Eight ranks read the losses of four, twice.
eight=$SCRATCH/eight
mkdir "$eight"
for rank in 0 1 2 3; do
    for name in losses mask; do
        ln -s "$PWD/tests/data/gpt-losses/train/$name.rank$rank.npy" "$eight/"
        ln -s "$PWD/tests/data/gpt-losses/train/$name.rank$rank.npy" "$eight/$name.rank$((rank + 4)).npy"
    done
done
cp tests/data/gpt-losses/train/steps.npy "$eight/"

# MPICH spins in the twin's blocking calls, so many ranks on few cores get few steps, and yield
# where a claim is about values; the others run as a user's do.
few=(--losses "$eight" --steps 27:62 --log-interval 3)
for n in 1 2 3 4 5 8; do
    YIELD=1 expect_text "$n ranks: every value as its twin's" 0 "4 $same" run "$n" "${few[@]}"
    expect_text "$n ranks, waited at the log line: nothing leaks" 0 ", 0 leaked" \
        run "$n" "${few[@]}" --compare none --wait log --window 3
done
for schedule in async-step async-window sync-microbatch; do
    YIELD=1 expect_text "4 ranks, $schedule" 0 "4 $same" \
        ranks 4 "$alar" run --schedule "$schedule" --quiet
done
YIELD=1 expect_text "fp64 pairs, rank means, pooled" 0 "4 $same" \
    run 4 --encoding pair64 --normalization rank-mean --over pooled
expect_text "blocking calls without a deadline" 0 "4 $same" \
    ranks 4 "$alar" run --schedule sync-step --deadline-ms 0 --quiet
expect_text "gradients and a straggler" 0 "3 of 3 logged values have the same bits" \
    run 4 --compute-us 300 --straggler rotate:500 --grad-bytes 65536 --steps 27:62 --log-interval 4
expect_text "outside a launcher it is one rank" 0 "1 ranks on mpi" \
    "$alar" run --backend mpi --async-log-allreduce --quiet

expect_text "agree: all ranks leave with 1" 1 "first: step 15, microbatch 0, rank 0" \
    run 4 --losses tests/data/gpt-losses/diverge

# One rank complains, all leave with 3.
refuse() { # refuse CLAIM TEXT RANKS OPTION...
    local claim=$1 text=$2
    shift 2
    expect_text "$claim" 3 "$text" run "$@"
    check "$claim: said once" test "$(grep -c '^alar run: ' "$SCRATCH/.output")" -eq 1
}
refuse "an unknown option under a launcher" "did you mean '--window'?" 4 --windw 3
refuse "a missing directory under a launcher" "/nowhere" 4 --losses /nowhere
refuse "more ranks than losses under a launcher" "expected losses of 5 ranks" 5
refuse "an unwritable history under a launcher" "/proc/h" 4 --history /proc/h
apart() { # rank 0 has a place for its history, ranks 1 and 2 have none
    timeout -k 2 50 mpiexec.mpich -n 1 "$alar" run --quiet --steps 27:28 --history "$SCRATCH/h" : \
        -n 2 "$alar" run --quiet --steps 27:28 --history "$SCRATCH/none/h"
}
expect_text "a rank whose peers can't open their histories says that" 3 "found 2 of 3 that can't, each with a line of its own" apart
cp "$SCRATCH/.output" "$SCRATCH/said"
check "and they say why" grep -q "rank 2: .*none/h/rank2.jsonl: expected a file to write to" "$SCRATCH/said"
tally

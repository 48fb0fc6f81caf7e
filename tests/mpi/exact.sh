#!/usr/bin/env bash
# The encoding `exact` on MPICH: the simulator's log, bit for bit, for every split and algorithm.
. "$(dirname "$0")/../lib/tally.sh"
. tests/lib/mpi.sh
YIELD=1
. tests/lib/exact.sh

alar=$BUILD/alar
few=(--quiet --encoding exact --steps 27:62 --log-interval 3)
run() { # run RANKS OPTION...: of the tokens split over so many ranks
    local n=$1
    shift
    ranks "$n" "$alar" run "${few[@]}" --losses "$SCRATCH/$n" --async-log-allreduce "$@"
}

as_one "the simulator, 4 ranks" "$alar" run --backend sim "${few[@]}"
for n in 1 2 3 4 5 6 7 8; do
    check "split over $n ranks" split "$n" "$n" 2
    as_one "$n ranks" run "$n"
done
for schedule in async-step async-window sync-microbatch sync-step; do
    as_one "4 ranks, $schedule" \
        ranks 4 "$alar" run "${few[@]}" --losses "$SCRATCH/4" --schedule "$schedule" --wait log
done

# Every algorithm of MPICH's for small messages that works, and those of its blocking twin: also the
# two whose floating-point sums differ from rank to rank. `sched_auto` aborts in 4.0.2. An algorithm
# that MPICH would replace is an error, but for two that it replaces in the small sums of the start.
fallback() {
    case $1 in
    sched_reduce_scatter_allgather | smp) echo silent ;;
    *) echo error ;;
    esac
}
for algorithm in sched_naive sched_smp sched_recursive_doubling sched_reduce_scatter_allgather \
    tsp_recexch_single_buffer tsp_recexch_multiple_buffer tsp_tree tsp_ring \
    tsp_recexch_reduce_scatter_recexch_allgatherv; do
    for n in 3 4; do
        export MPIR_CVAR_IALLREDUCE_INTRA_ALGORITHM=$algorithm
        export MPIR_CVAR_IALLREDUCE_RECEXCH_KVAL=4
        MPIR_CVAR_COLLECTIVE_FALLBACK=$(fallback "$algorithm")
        export MPIR_CVAR_COLLECTIVE_FALLBACK
        as_one "$n ranks, $algorithm" run "$n"
    done
done
unset MPIR_CVAR_IALLREDUCE_INTRA_ALGORITHM MPIR_CVAR_IALLREDUCE_RECEXCH_KVAL
for algorithm in nb smp recursive_doubling reduce_scatter_allgather; do
    export MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=$algorithm
    MPIR_CVAR_COLLECTIVE_FALLBACK=$(fallback "$algorithm")
    as_one "3 ranks, blocking $algorithm" \
        ranks 3 "$alar" run "${few[@]}" --losses "$SCRATCH/3" --schedule sync-step --deadline-ms 0
done
unset MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM MPIR_CVAR_COLLECTIVE_FALLBACK

# Other layouts of the world over the same tokens.
as_one "dp 2 x cp 2" run 4 --dp 2 --cp 2
as_one "cp 4, gradients" run 4 --cp 4 --grad-bytes 4096
as_one "pp 2 x dp 2 x cp 2, gradients" ranks 8 "$alar" run "${few[@]}" --losses "$SCRATCH/4" \
    --pp 2 --cp 2 --grad-bytes 4096 --async-log-allreduce
expect_text "pp 2 x cp 2: a NaN ends all stages with 1" 1 "rank 2; all ranks stopped" \
    ranks 4 "$alar" run --losses tests/data/gpt-losses/diverge --encoding exact --pp 2 --cp 2

h=$SCRATCH/history
as_one "3 ranks, recorded" run 3 --history "$h"
expect_text "the history passes" 0 "PASS" "$alar" check "$h"

# Extremes are sums of one number and nothing else, so in fp32 too not even the algorithms whose sums
# differ from rank to rank, or from call to call, can change one.
extremes() { # extremes COMMAND...: their bits and holders, as they are logged
    "$@" --extremes --log-json "$SCRATCH/log.json" >/dev/null &&
        jq -c 'select(.kind != null) | [.step, .metric, .bits, .holder]' "$SCRATCH/log.json"
}
plain=(run --quiet --log-interval 10 --async-log-allreduce)
extremes "$alar" "${plain[@]}" --backend sim >"$SCRATCH/extremes"
check "extremes: three a line" test "$(wc -l <"$SCRATCH/extremes")" -eq 12
for algorithm in sched_naive tsp_recexch_single_buffer tsp_recexch_multiple_buffer tsp_tree tsp_ring; do
    export MPIR_CVAR_IALLREDUCE_INTRA_ALGORITHM=$algorithm MPIR_CVAR_IALLREDUCE_RECEXCH_KVAL=4
    check "extremes, $algorithm" cmp "$SCRATCH/extremes" <(extremes ranks 4 "$alar" "${plain[@]}")
done
unset MPIR_CVAR_IALLREDUCE_INTRA_ALGORITHM MPIR_CVAR_IALLREDUCE_RECEXCH_KVAL
for encoding in pair32 pair64 exact; do
    check "extremes are recorded, $encoding" ranks 3 "$alar" run "${few[@]}" --async-log-allreduce \
        --losses "$SCRATCH/3" --extremes --encoding "$encoding" --history "$SCRATCH/h-$encoding"
    expect_text "and recomputed" 0 "48 of 48 reports recomputed" "$alar" check "$SCRATCH/h-$encoding"
done
tally

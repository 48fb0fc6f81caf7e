#!/usr/bin/env bash
# Faults on MPICH ranks: who is named, by whom, how soon, and with which code the job ends.
. "$(dirname "$0")/../lib/tally.sh"
. tests/lib/mpi.sh

alar=$BUILD/alar
ranks_broken() { # ranks_broken PLAN-TEXT [OPTION]...: four ranks with the plan, $launcher for hydra
    printf '%b\n' "$1" >"$SCRATCH/plan"
    shift
    rm -rf "$SCRATCH/history"
    # shellcheck disable=SC2086
    ranks 4 $launcher "$alar" run --async-log-allreduce --deadline-ms 600 --steps 0:35 --quiet \
        --faults "$SCRATCH/plan" --history "$SCRATCH/history" "$@"
}
launcher=

# ended CLAIM CODE LINES TEXT PLAN [OPTION]...: so many ranks say TEXT, each once, and the job ends with CODE.
ended() {
    local claim=$1 code=$2 lines=$3 text=$4
    shift 4
    expect_text "$claim" "$code" "$text" ranks_broken "$@"
    expect_code "$claim: $lines lines" 0 test \
        "$(grep -F -e "$text" "$SCRATCH/.output" | grep -o 'alar run: rank [0-9]' | sort -u | wc -l)" -eq "$lines"
}

# What a job costs that does nothing, so that the bound below is on what the ranks do.
started=$EPOCHREALTIME
ranks 4 "$alar" run --steps 0:2 --compare none --quiet >/dev/null 2>&1
start_up=$(awk "BEGIN { print $EPOCHREALTIME - $started }")
in_time() { # in_time BEGIN END: deadline + 2 x grace + 1 s, and the start-up
    awk "BEGIN { exit !($2 - $1 < 0.6 + 2 * 0.1 + 1.0 + $start_up) }"
}

# The last one hangs after its last post, where the others would wait for it without a bound.
# spec: F-04 spec: F-07
for when in "9 1 0" "9 1 1" "40 1 1"; do
    started=$EPOCHREALTIME
    ended "mute rank 2 ($when) is named by all" 2 3 "1 of 4 ranks silent: 2" "alar/rank/mute 2 $when"
    check "mute rank 2 ($when): the job is over in time" in_time "$started" "$EPOCHREALTIME"
done
ended "mute rank 0 is named by all" 2 3 "1 of 4 ranks silent: 0" "alar/rank/mute 0 9 1 0"
ended "two mute ranks are named by both others" 2 2 "2 of 4 ranks silent: 1,3" \
    "alar/rank/mute 1 9 1 0\nalar/rank/mute 3 9 1 0"
launcher=-disable-auto-cleanup
started=$EPOCHREALTIME
ended "a rank that exits before posting is named by all" 2 3 "1 of 4 ranks silent: 2" "alar/rank/exit 2 9 1 0"
check "an exit: the job is over in time" in_time "$started" "$EPOCHREALTIME"
names_the_exit() { "$alar" check "$SCRATCH/history" | grep -q 'excused by the injected fault alar/rank/exit/2'; }
check "the histories name it too" names_the_exit
launcher=

# A rank of the first stage, which reduces nothing, one of the last stage, and one that raises there.
ended "pp 2: a mute rank of the first stage is named by all" 2 3 "1 of 4 ranks silent: 1" \
    "alar/rank/mute 1 3 1 0" --pp 2 --dp 2
ended "pp 2: a mute rank of the last stage is named by all" 2 3 "1 of 4 ranks silent: 3" \
    "alar/rank/mute 3 3 1 0" --pp 2 --dp 2
ended "pp 2: a rank that raised is named by both stages" 1 4 "by rank 2" "alar/loss/nan 2 9 1 0" --pp 2 --dp 2 \
    --check-for-nan raise

# No claim is about time from here on.
YIELD=1
# spec: F-03, F-06
ended "a rank that raised is named by all" 1 4 "NONFINITE raised at step" "alar/loss/nan 2 9 1 0" --check-for-nan raise
ended "rank 0 that raised is named by all" 1 4 "by rank 0" "alar/loss/nan 0 9 1 0" --check-for-nan raise
ended "a refused post is told by all" 2 4 "microbatch 1: rank 1" "alar/post/fail 1 2 1 0"
ended "a completion that is never told ends all ranks" 2 4 "all ranks answer; rank 1" "alar/complete/never 1 5 1 0"
# spec: F-15
for n in 1 4 8 12; do
    expect_code "allocation $n of rank 2 fails: all leave" 2 ranks_broken "alar/alloc/fail 2 $n 1 0"
done

# spec: F-02
timing="alar/rank/delay ? 1..20 5 9000\nalar/progress/drop * 1..9 3 30\nalar/complete/late ? 1..9 9 4000"
for seed in 1 2 3; do
    expect_text "seed $seed: timing changes no bit" 0 "1 of 1 logged values have the same bits" \
        ranks_broken "$timing" --seed "$seed" --deadline-ms 30000
done

# fiu-run preloads what it needs.
YIELD=
# spec: F-13
broken_fiu() { # broken_fiu COMMAND [OPTION]...
    local command=$1
    shift
    rm -rf "$SCRATCH/fiu"
    ranks 4 fiu-run -c "$command" "$alar" run --async-log-allreduce --steps 0:35 --quiet --history "$SCRATCH/fiu" "$@"
}
fired() { [ "$(cat "$SCRATCH/fiu/"*.jsonl | grep -c "\"point\":\"$1\"")" -ge "$2" ]; }
expect_text "fiu-run: a delayed rank" 0 "same bits" broken_fiu 'enable name=alar/rank/delay/2,failinfo=3000'
check "fiu-run: it is in the history" fired alar/rank/delay/2 40
check "fiu-run: all ranks at once" broken_fiu 'enable name=alar/rank/delay/*,failinfo=300'
check "fiu-run: each by its name" fired alar/rank/delay/3 40
expect_text "fiu-run: a misspelt point" 3 "did you mean 'alar/rank/delay/2'?" \
    broken_fiu 'enable name=alar/rank/dleay/2,failinfo=3000'
expect_text "fiu-run: a unit" 3 "without a unit" broken_fiu 'enable name=alar/rank/delay/2,failinfo=3ms'
expect_text "fiu-run: a rank that is not there" 3 "from 0 to 3, found 7" \
    broken_fiu 'enable name=alar/rank/delay/7,failinfo=3000'

# A point enabled from outside, while the ranks run.
controlled() {
    local pid
    rm -rf "$SCRATCH/fiu"
    ranks 4 fiu-run -f "$SCRATCH/control" "$alar" run --async-log-allreduce --quiet --steps 0:35 --compute-us 60000 \
        --compare none --history "$SCRATCH/fiu" &
    for _ in $(seq 100); do
        if [ "$(ls "$SCRATCH"/control-*.in 2>/dev/null | wc -l)" -eq 4 ] && [ -s "$SCRATCH/fiu/rank3.jsonl" ]; then break; fi
        sleep 0.05
    done
    for pid in "$SCRATCH"/control-*.in; do
        pid=${pid##*-} pid=${pid%.in}
        timeout 10 fiu-ctrl -f "$SCRATCH/control" -c 'enable name=alar/rank/delay/1,failinfo=1000' "$pid"
    done
    wait
}
check "fiu-ctrl reaches ranks that run" controlled
check "fiu-ctrl: it is in the history" fired alar/rank/delay/1 1

tally

#!/usr/bin/env bash
# Ranks and launchers that stop or die at any moment of a run: nobody hangs, and who is missing is named.
. "$(dirname "$0")/../lib/tally.sh"
. tests/lib/mpi.sh

# At random moments, which a gate can't be built on: `make stops` does it, 60 times each.
life() { timeout -k 2 "${STOPS_SECONDS:-110}" /usr/bin/python3 tests/mpi/stops.py "$BUILD/alar" "$1" "$2" "${3:-1}"; }
if [ -n "${STOPS:-}" ]; then
    expect_text "a rank is stopped, $STOPS times" 0 "$STOPS of $STOPS ended as promised" life STOP "$STOPS"
    tail -n 8 "$SCRATCH/.output"
    expect_text "a rank is killed, $STOPS times" 0 "$STOPS of $STOPS ended as promised" life KILL "$STOPS"
    tail -n 8 "$SCRATCH/.output"
fi

# ---- stopped after the last word -----------------------------------------------------------------
last_word() { # last_word RANK: that one is stopped once its library has ended; nobody is left to wait for it
    local ended
    LAST_WORD=$1 timeout -k 1 60 mpiexec.mpich -n 4 -genv LD_PRELOAD "$PWD/$BUILD/tests/preload/last_word.so" "$BUILD/alar" run \
        --async-log-allreduce --steps 0:20 --losses tests/data/gpt-losses/train --deadline-ms 1000 --quiet
    ended=$?
    [ $ended -ne 124 ] && [ $ended -ne 137 ] && [ $ended -ne 0 ] # how it was ended is hydra's to say
}
expect_text "a rank that is stopped after its last word is named, and the run is over" 0 \
    "TIMEOUT in the end of the library, deadline 1000 ms: the library does not return; stopped or gone on this host: 2" last_word 2

# ---- a launcher that does not answer -------------------------------------------------------------
children() { ps -o pid= --ppid "$1" | tr -d ' '; }
deserted() { # deserted SIGNAL: the launcher's proxy is hit while a rank is mute; do the others end by themselves?
    local job proxy ranks rank until
    timeout -k 1 60 mpiexec.mpich -n 4 "$BUILD/alar" run --async-log-allreduce --deadline-ms 1000 \
        --faults faults/plans/mute-early.plan --quiet --history "$SCRATCH/h$1" &
    job=$!
    until [ -s "$SCRATCH/h$1/rank0.jsonl" ]; do kill -0 $job || return 9; done
    proxy=$(children "$(children $job)")
    ranks=$(children "$proxy")
    [ "$(wc -w <<<"$ranks")" -eq 4 ] || return 8
    kill -"$1" "$proxy"
    until=$((SECONDS + 12))
    for rank in $ranks; do # a zombie is one that ended, and whose parent does not look
        while [[ "$(ps -o stat= -p "$rank")" =~ ^[RSD] ]] && [ $SECONDS -lt $until ]; do sleep 0.1; done
        ps -o pid=,stat=,args= -p "$rank"
    done
    left=$(for rank in $ranks; do ps -o stat= -p "$rank"; done | grep -c '^[RSD]')
    kill -CONT "$proxy" 2>/dev/null
    for rank in $ranks; do kill -KILL "$rank" 2>/dev/null; done
    wait $job
    [ "$left" -le 1 ] # the mute one sleeps on, for it lost nobody
}
check "a launcher that was stopped: who lost a peer ends all the same" deserted STOP
tally

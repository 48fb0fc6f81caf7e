#!/usr/bin/env bash
# seconds: 300
# Newer MPI libraries, from the package index: programs behave recorded as bare and are judged, and the back
# end that is built for the library logs losses. spec: H-30, H-36, H-50
. "$(dirname "$0")/../lib/tally.sh"
. tests/lib/newer.sh

unset LD_PRELOAD
export UCX_TLS=self,sm HWLOC_PLUGINS_PATH=/nonexistent UCX_LOG_LEVEL=error

run() { # run COMMAND...: what it prints, in an order that is always the same, and its code
    local code=0
    timeout -k 2 60 "$@" >"$SCRATCH/run" 2>"$SCRATCH/run.err" || code=$?
    sort "$SCRATCH/run"
    echo "code $code"
}
same() { # same N PROGRAM...
    run "${launcher[@]}" -n "$@" >"$SCRATCH/bare"
    run "$alar" record --replace -o "$SCRATCH/h" -- "${launcher[@]}" -n "$@" >"$SCRATCH/recorded"
    diff "$SCRATCH/bare" "$SCRATCH/recorded" || { cat "$SCRATCH/run.err"; return 1; }
}
judged() { "$alar" check "$SCRATCH/h"; }
right() { # right LIBRARY CHECK-TEXT N PROGRAM WORD...
    check "$1, ${*:5}: bare and recorded alike" same "$3" "$programs/$4" "${@:5}"
    expect_text "$1, ${*:5}: judged" 0 "$2" judged
}
logged() { # the back end, and what it recorded
    ALAR_MPI=$family timeout -k 2 60 "${launcher[@]}" -n 3 "$alar" run --backend mpi --async-log-allreduce \
        --history "$SCRATCH/run-h" >"$SCRATCH/log" 2>&1 || { tail -n 5 "$SCRATCH/log"; return 1; }
    "$alar" check "$SCRATCH/run-h"
}

# shows CODE LIBRARY MODE: a reproducer, run as anybody would
shows() {
    library_reproducer "$2" "$3" "" >"$SCRATCH/reproduce.sh"
    if [ "$(wc -l <"$SCRATCH/reproduce.sh")" -gt 20 ]; then return 9; fi
    local code=0
    (cd "$SCRATCH" && timeout -k 2 60 sh reproduce.sh) || code=$?
    [ "$code" -eq 0 ] || code=1
    [ "$code" -eq "$1" ]
}
n=2
# What is known of each: does MAX take bytes for signed? Does a null datatype end the job all the same?
known() { case $1-$2 in mpich-unsigned | mpich5-null) echo 1 ;; *) echo 0 ;; esac; }
for mode in null unsigned; do
    check "mpich: $mode" shows "$(known mpich $mode)" mpich $mode
done
library_take mpich
alar=$BUILD/alar
expect_code "mpich, bytes: recorded" 2 timeout 60 "$alar" record --replace -o "$SCRATCH/h" -- "${launcher[@]}" -n 2 "$SCRATCH/d"
expect_text "mpich, bytes: convicted" 1 "illegal-value: operation world/0" judged

for library in ${MATRIX_LIBRARIES:-mpich5 openmpi5 impi}; do
    if ! library_make "$library"; then
        skip "$library" "it can't be had from the package index"
        continue
    fi
    library_take "$library"
    alar=$library_build/alar programs=$library_build/tests/mpi
    [ "$family" = mpich ] || programs=$library_build/tests/openmpi
    right "$library" "13 of 13 operations judged" 3 stray types
    right "$library" "10 of 10 operations judged" 3 stray persistent
    right "$library" "8 of 8 operations judged" 4 stray groups
    right "$library" "120 of 120 operations judged" 2 odd same-handle
    right "$library" "4 of 4 operations judged" 2 odd made
    right "$library" "16 of 16 operations judged" 2 odd kinds
    right "$library" "1 of 1 operations judged" 2 odd refused communicator
    # On some processors Intel MPI 2021.17 loses half of a contiguous type: then alar must say so, and else nothing.
    if shows 1 "$library" contiguous >/dev/null 2>&1; then
        check "$library, collectives: bare and recorded alike" same 3 "$programs/collect" right
        expect_text "$library, which gathers wrongly: convicted" 1 "illegal-value: operation 0-2.1/4" judged
    else
        right "$library" "74 of 79 operations judged" 3 collect right
    fi
    right "$library" "2 of 2 operations judged" 3 everyday worst
    check "$library, a frame that is gone: bare and recorded alike" same 3 "$programs/odd" stack
    expect_text "$library: convicted" 1 "in-flight-write: operation world/0" judged
    for mode in unsigned null; do
        check "$library: $mode" shows "$(known "$library" $mode)" "$library" $mode
    done
    library_take "$library"
    rm -rf "$SCRATCH/run-h"
    expect_text "$library: the back end logs losses" 0 "PASS" logged
done
tally

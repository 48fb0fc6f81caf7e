#!/usr/bin/env bash
# The swarm: drawn runs on the simulator, first with faults, then without. A planted defect is found.
. "$(dirname "$0")/../lib/tally.sh"

export TALLY_SECONDS=400
expect_text "300 seeds, none fails" 0 " 0 failed" "$BUILD/swarm" "$SCRATCH/sim" 1 300
check "each seed was printed with what it draws" test "$(grep -c '^seed [0-9]*: ranks .* faults ' "$SCRATCH/.output")" -eq 300

# A swarm over a broken core: the patch's object stands before the archive.
plant() { # plant PATCH SOURCE
    rm -rf "$SCRATCH/planted" && mkdir -p "$SCRATCH/planted/$(dirname "$2")"
    cp "$2" "$SCRATCH/planted/$2" &&
        git apply --unsafe-paths -p1 --directory="$SCRATCH/planted" "faults/patches/$1.patch" &&
        gcc -std=c11 -O2 -ffp-contract=off -fno-tree-slp-vectorize -D_XOPEN_SOURCE=700 -DALAR_FAULTS=1 -I. -Iref \
            -c "$SCRATCH/planted/$2" -o "$SCRATCH/planted.o" &&
        gcc "$BUILD"/obj/tests/sim/*.o "$SCRATCH/planted.o" "$BUILD/libparts.a" -lyajl -lfiu -lm -ldl \
            -o "$SCRATCH/swarm"
}
found() { # found PATCH SOURCE: the core is broken there
    local claim
    claim=$(sed -n 's/^Breaks: //p' "faults/patches/$1.patch")
    rm -rf "$SCRATCH/broken"
    check "$claim: it is planted" plant "$1" "$2"
    expect_text "$claim: it is found within 1,000 seeds" 1 "FAILED seed" "$SCRATCH/swarm" "$SCRATCH/broken" 1 1000
    cp "$SCRATCH/.output" "$SCRATCH/.output.kept"
    check "$claim: it is shrunk to at most 2 faults" \
        bash -c '! sed -n "s/.*shrunk to \([0-9]*\) faults.*/\1/p" "$0" | grep -qv "^[0-2]$"' "$SCRATCH/.output.kept"
    check "$claim: it leaves a plan, a command and histories" bash -c '
        for b in "$0"/seed-*; do grep -q "^# command: " "$b/case.plan" && ls "$b"/safety/rank0.jsonl || exit 1; done' \
        "$SCRATCH/broken"
}
found private-nan ref/engine/engine.c
found out-of-order ref/engine/window.c
tally

#!/usr/bin/env bash
# seconds: 900
# The judge against an enumeration of small histories that knows spec/semantics.md alone: healthy ones
# and all their single faults. `make prove-judge` enumerates more.
. "$(dirname "$0")/../lib/tally.sh"

prove=tests/prove/prove_judge.py
as_enumerated() { "$prove"; }
check "small histories are judged as the rules say" as_enumerated
cp "$SCRATCH/.output" "$SCRATCH/told"
grep -E '^(section|[a-z]+ +[0-9])|misjudged' "$SCRATCH/told"
enough() { # enough SECTION HISTORIES HEALTHY LESS WRONG: no fewer than these
    awk -v section="$1" -v all="$2" -v healthy="$3" -v less="$4" -v wrong="$5" \
        '$1 == section { ok = $2 >= all && $3 >= healthy && $4 >= less && $5 >= wrong } END { exit !ok }' "$SCRATCH/told"
}
check "no fewer histories than there are" enough all 88000 41000 2900 43000
check "no fewer healthy ones of several ranks" enough worlds 19000 17000 0 1700
check "no fewer single faults" enough faults 43000 16000 900 25000

# --- the enumeration can object -------------------------------------------------------------------
# A judge that passes what it convicted of early reads, one that convicts what is healthy, one that calls
# what is healthy unknown, and one that names another rank than the one that did it.
planted() { # planted NAME SED: alar with its answers changed
    printf '#!/bin/sh\n"%s" "$@" | sed -E "%s"\n' "$PWD/$BUILD/alar" "$2" >"$SCRATCH/$1"
    chmod +x "$SCRATCH/$1"
}
asked() { "$prove" --alar "$SCRATCH/$1" "$2"; } # bounded by the limit of this script alone
planted blind 's/\tFAIL\tearly-read/\tPASS\tearly-read/'
expect_text "a judge that lets early reads pass is found" 1 "O-18 read before it was complete) and judged PASS" \
    asked blind pairs
planted harsh 's/\tPASS\t/\tFAIL\tleak: /'
expect_text "a judge that convicts the healthy is found" 1 "healthy (-) and judged FAIL leak" \
    asked harsh long
planted shy 's/\tPASS\t/\tUNKNOWN\t/'
expect_text "a judge that knows nothing is found" 1 "healthy (-) and judged UNKNOWN" asked shy long
planted unfair 's/rank 0:/rank 1:/'
expect_text "a judge that names another rank is found" 1 "judged ANOTHER'S" asked unfair pairs
tally

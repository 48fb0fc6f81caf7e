#!/usr/bin/env bash
# A verdict depends on what each rank recorded, in its order, and on nothing else: not on how lines of
# ranks interleave, on the file they stand in, or on what ranks are called. `make metamorphic` draws more.
. "$(dirname "$0")/../lib/tally.sh"

metamorphic=tests/prove/metamorphic.py
all_same() { "$metamorphic" --variants 4000 --seed 1; }
check "4,000 variants of the histories on file get the verdict of their history" all_same
grep ^seed "$SCRATCH/.output"
some_of_each() { # every way of saying the same was drawn, and most histories
    awk '/^seed/ { gsub(/[(),]/, ""); for (k = 1; k < NF; k++) n[$(k + 1)] = $k }
         END { exit !(n["renamed"] > 500 && n["files"] > 100 && n["framed"] > 500 && n["interleaved"] > 2000 &&
                      n["headers"] > 200 && n["spelled"] > 800 && n["histories"] >= 470) }' "$SCRATCH/told"
}
cp "$SCRATCH/.output" "$SCRATCH/told"
check "each way of saying the same was drawn" some_of_each

# --- the comparison can fail ----------------------------------------------------------------------
others() { "$metamorphic" --plant --variants 1000; }
expect_text "variants that say something else are told" 1 "differ; " others
tally

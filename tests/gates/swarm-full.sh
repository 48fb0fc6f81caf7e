#!/usr/bin/env bash
# 2,000 seeds of the swarm, at least 1,000 a minute of one core: see tests/sim.
# seconds: 300
# only: full
. "$(dirname "$0")/../lib/tally.sh"

export TALLY_SECONDS=280
expect_text "2,000 seeds, none fails" 0 " 0 failed" "$BUILD/swarm" "$SCRATCH/sim" 1 2000
fast() { awk '/seeds a minute/ { exit !($(NF - 6) >= 1000) }' "$SCRATCH/.output.kept"; }
cp "$SCRATCH/.output" "$SCRATCH/.output.kept"
check "at least 1,000 seeds a minute of one core" fast
tally

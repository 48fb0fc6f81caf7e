#!/usr/bin/env bash
# A million records: summarised, and open in under 3 s of work.
# seconds: 900
# only: full
. "$(dirname "$0")/../lib/tally.sh"

if command -v chromium >/dev/null; then
    mkdir "$SCRATCH/long"
    opened() { timeout -k 2 800 /usr/bin/python3 tests/view/long.py "$BUILD/alar" "$SCRATCH/long"; }
    expect_text "a million records open in under 3 s, summarised" 0 "opening it kept its thread busy for" opened
    cat "$SCRATCH/.output"
else
    skip "a million records open in under 3 s, summarised" "there is no chromium"
fi
tally

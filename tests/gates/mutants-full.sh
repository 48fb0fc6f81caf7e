#!/usr/bin/env bash
# The whole score: see faults/mutants.sh.
# seconds: 300
# only: full
. "$(dirname "$0")/../lib/tally.sh"

expect_text "make mutants: 41 of 41 killed" 0 "41 were killed whenever they did" faults/mutants.sh
check "at least 3,000 healthy runs, none reported" \
    jq -e '.false_positive.hits == 0 and .false_positive.trials >= 3000' "$BUILD/mutants.json"
tally

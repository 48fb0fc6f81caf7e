#!/usr/bin/env bash
# A short draw of `make mutate`: of a few changes of the core the cheap checks notice most.
# only: full
# seconds: 300
# cores: 1
. "$(dirname "$0")/../lib/tally.sh"

TALLY_SECONDS=280
mutate() { timeout -k 2 280 tests/mutate/mutate.py --quick "$@"; }
check "of 16 drawn changes at least 12 are noticed" mutate --count 16 --seed 11 --floor 75
expect_text "changes that nothing looks at survive" 1 "0 of 3 killed" mutate --blind --count 3
tally

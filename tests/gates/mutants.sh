#!/usr/bin/env bash
# The score in short: a few runs of every mutant on the simulator, and healthy ones.
. "$(dirname "$0")/../lib/tally.sh"

score() {
    SEED=$1 faults/mutants.sh --quick
}

expect_text "every defect that shows is named, and nothing healthy is" 0 "0 of 200 healthy runs reported" score 1
expect_text "the oracle can't know the mutants" 1 "only faults/ may know the mutants" bash -c '
    cp -r ref faults ci Makefile "$0" && cd "$0" && echo "#include \"faults/mutants.def\"" >>ref/judge/judge.c && ci/tidy .' "$SCRATCH"
tally

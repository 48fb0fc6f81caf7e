#!/usr/bin/env bash
# seconds: 900
# What users see of back ends, in short: the score on their paths, a stranger's back end in healthy variants, of which
# nothing is said, and in wrong ones, which are named. The long forms: make mutants, make strangers.
. "$(dirname "$0")/../lib/tally.sh"
TALLY_SECONDS=300

expect_text "a few of the score: all that can show is named rightly" 0 "0 other rank, 0 other reason, 0 silent" \
    faults/score.py --quick
expect_text "drawn variants of a healthy back end, in drawn worlds: nothing is said" 0 ": 0 with a must broken" \
    faults/strangers.py healthy 12
expect_text "wrong variants of it are named, promise and rank" 0 "8 of 8 wrong variants named rightly" \
    faults/strangers.py wrong wait-0-once-in-20 says-64-bears-4 wide-not-declared one-rank-other-order free-writes issue-null-request \
    test-leaves-done-unset ends-a-peer
tally

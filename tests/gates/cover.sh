#!/usr/bin/env bash
# seconds: 300
# only: full
# The core is covered by its suites, and leaving suites out is noticed.
. "$(dirname "$0")/../lib/tally.sh"

TALLY_SECONDS=200
check "the core is covered" make cover
expect_text "one suite alone is not enough" 2 "failed minimum line coverage" \
    env UNIT_ARGS='--filter status/*' make cover
expect_text "a file that isn't measured is noticed" 1 "ref/none.c was not measured" \
    ci/cover.sh ref/base/status.c ref/none.c

tally

#!/usr/bin/env bash
# Histories that nobody chose, by tests/histories/make_drawn.py: what is right by construction is never convicted, a log line that its
# contributions can't give never passes, and each word of all of them is held.
# spec: O-05, O-31, O-57
# cores: 1
. "$(dirname "$0")/../lib/tally.sh"
. "$(dirname "$0")/../lib/words.sh"

mkdir "$SCRATCH/drawn"
check "histories are drawn" tests/histories/make_drawn.py "$SCRATCH/drawn"
words_add "$BUILD/alar" check "$SCRATCH"/drawn/*.jsonl >"$SCRATCH/said"
words_input "$SCRATCH"/drawn/*.jsonl
words_hold drawn

# none KIND VERDICT: no history of the kind has the verdict, and there are some.
none() {
    awk -F '\t' -v kind="-$1.jsonl" -v verdict="$2" 'NF > 1 && index($1, kind) { seen++; if ($2 == verdict) { print; bad = 1 } }
        END { exit bad || seen < 10 }' "$SCRATCH/said"
}
check "what no rounding can blur is never convicted" none right FAIL
check "a log line with a mistake never passes" none wrong PASS
expect_text "one that does would be seen" 1 "illegal-report" none wrong FAIL
tally

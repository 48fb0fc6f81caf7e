#!/usr/bin/env bash
# Every word that `alar check` says of the histories on file, and of those that `alar explain` shows: verdict, rule, story, what is
# allowed, what is unknown, how it was added up; and what it says of those that can't be used.
# spec: O-18
# cores: 1
. "$(dirname "$0")/../lib/tally.sh"
. "$(dirname "$0")/../lib/words.sh"

words_add "$BUILD/alar" check tests/histories/{,judge/,field/}*.jsonl >"$SCRATCH/last"
for folder in tests/histories/judge/*/; do
    words_add "$BUILD/alar" check "$folder" >"$SCRATCH/last"
done

# The smallest history of each anomaly, and the nearest good one.
mkdir "$SCRATCH/explained"
for anomaly in $(sed -n 's/^X([A-Z0-9_]*, *"\([^"]*\)".*/\1/p' ref/judge/anomaly.def); do
    "$BUILD/alar" explain "$anomaly" | awk -v name="$SCRATCH/explained/$anomaly" '/^The nearest/ { good = "-not" } /^{/ { print >(name good ".jsonl") }'
done
check "most anomalies have a history and a good neighbour" test "$(find "$SCRATCH/explained" -type f | wc -l)" -gt 80
words_add "$BUILD/alar" check "$SCRATCH"/explained/*.jsonl >"$SCRATCH/last"
words_hold histories
tally

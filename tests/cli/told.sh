#!/usr/bin/env bash
# Every word that `alar check` says of the histories on file: verdict, rule, story, what is allowed, what is unknown, how it was
# added up; and what it says of those that can't be used.
# spec: O-18
# cores: 1
. "$(dirname "$0")/../lib/tally.sh"
. "$(dirname "$0")/../lib/words.sh"

words_add "$BUILD/alar" check tests/histories/{,judge/,field/}*.jsonl >"$SCRATCH/last"
for folder in tests/histories/judge/*/; do
    words_add "$BUILD/alar" check "$folder" >"$SCRATCH/last"
done
words_hold histories
tally

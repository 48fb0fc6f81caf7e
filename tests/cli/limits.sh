#!/usr/bin/env bash
# seconds: 60
# cores: 1
# Bounds of a check: limits of time and memory, and what is found among more pending operations than are
# looked at one by one. spec: O-117, O-75
. "$(dirname "$0")/../lib/tally.sh"

input() { python3 tests/bench/worst_input.py "$1" "$2" "$SCRATCH/$3.jsonl"; }
alar() { timeout -k 2 50 "$BUILD/alar" check "$@"; }
in_json() { # in_json ITEM: what --json says of the limit
    alar --json --limit-memory 1 "$SCRATCH/many.jsonl" | grep -qF "$1"
}
# 600 all-reduces pending on slices of one buffer, and one more line.
among() { # among LINE
    head -n 1200 "$SCRATCH/slices.jsonl"
    echo "$1"
    tail -n +1201 "$SCRATCH/slices.jsonl"
}
found() { # found LINE TEXT: the finding, among many, is about that operation alone
    among "$1" >"$SCRATCH/found.jsonl"
    expect_text "among 600 slices: $2" 1 "$2" alar -q "$SCRATCH/found.jsonl"
}

input pending 3000 many
input slices 600 slices
few=tests/histories/B09-all-waited.jsonl

reached="a limit was reached before all records were judged"
expect_text "no second is enough for nothing" 2 "UNKNOWN	$reached: 0 s; 0 records were, and 0 of 0 operations so far; at $few:1" \
    alar -q --limit-seconds 0 "$few"
expect_text "a mebibyte is not enough for 3,000 pending operations" 2 "$reached: 1 MiB; " alar -q --limit-memory 1 "$SCRATCH/many.jsonl"
expect_text "and it is said where that was" 2 "operations so far; at $SCRATCH/many.jsonl:" alar -q --limit-memory 1 "$SCRATCH/many.jsonl"
check "JSON has the reason" in_json "\"unknown\":[{\"reason\":\"$reached\",\"times\":1,\"file\":"
{ sed 1q "$SCRATCH/many.jsonl"; echo '{"ev":"read","rank":0,"op":"world/0"}'; tail -n +2 "$SCRATCH/many.jsonl"; } >"$SCRATCH/early.jsonl"
expect_text "what was found before stays found" 1 "early-read: operation world/0" alar -q --limit-memory 1 "$SCRATCH/early.jsonl"
expect_text "and the story says that it is not all" 1 "$reached: 1 MiB" alar --limit-memory 1 "$SCRATCH/early.jsonl"
expect_text "limits that are not reached change nothing" 0 "PASS	3000 of 3000 operations judged" \
    alar -q --limit-seconds 3600 --limit-memory 4096 "$SCRATCH/many.jsonl"
{ echo '{"ev":"trace","v":1,"world":131072}'; cat "$few"; } >"$SCRATCH/world.jsonl"
expect_text "ranks that do not fit are told of" 2 "expected a limit of memory that its ranks fit into, found 1 MiB" \
    alar --limit-memory 1 "$SCRATCH/world.jsonl"
expect_text "runs are compared whole" 3 "expected --rerun alone" alar --rerun --limit-seconds 1 "$few" "$few"

found '{"ev":"write","rank":1,"buf":"all","at":300,"n":1}' "in-flight-write: operation world/300, rank 1:"
found '{"ev":"read","rank":0,"buf":"all","at":599}' "early-read: operation world/599, rank 0:"
found '{"ev":"free","rank":0,"buf":"all"}' "freed-in-flight: operation world/0, rank 0:"
found '{"ev":"issue","rank":0,"op":"world/600","dtype":"f32","n":1,"send":"all","at":17}' "reused-in-flight: operation world/17, rank 0:"
expect_text "all of them are right when nobody interferes" 0 "600 of 600 operations judged" alar -q "$SCRATCH/slices.jsonl"
tally

#!/usr/bin/env bash
# Flight Recorder dumps become histories. Python alone is needed, no torch.
. "$(dirname "$0")/../lib/torch.sh"
python=/usr/bin/python3
dumps=$SCRATCH/dumps

# import NAME: dumps NAME_0, NAME_1, and what `alar check` says of their history
import() {
    rm -rf "$SCRATCH/h"
    "$python" -m alar.flight --flight-recorder "$dumps/$1"_* -o "$SCRATCH/h" && "$alar" check "$SCRATCH/h"
}
check "dumps are made" "$python" tests/torch/dumps.py "$dumps"
expect_text "the dump of torch's tutorial" 1 "FAIL	mismatch-count: operation pg0/4, rank 1" import tutorial
expect_text "says who is missing" 1 "joined {0}, missing {1}" import tutorial
expect_text "and where it was called" 1 "called from crash.py:44" import tutorial
expect_text "the same as JSON" 1 "FAIL	mismatch-count: operation pg0/4, rank 1" import json
expect_text "a healthy job has no values to judge" 2 "no operation was judged" import healthy
expect_text "pending everywhere, in time" 2 "2 operations were in flight" import flying
expect_text "pending everywhere, overdue" 1 "FAIL	timeout: operation pg0/4" import overdue
expect_text "other sizes" 1 "different numbers of elements to one all-reduce: 15 against 12" import sizes
expect_text "other dtypes" 1 "mismatch-dtype" import dtypes
expect_text "another collective" 1 "against broadcast" import kinds
expect_text "one that the format has no word for" 1 '"all_to_all" against "all_reduce"' import unknown
expect_text "a ring that lost its beginning" 2 "no operation was judged" import ring
expect_text "gloo, retired" 2 "no operation was judged" import gloo
expect_text "a pickle that would run something" 3 "it was not run" import evil
check "was not run" [ ! -e "$dumps/ran" ]
for looks in gzip:gunzip chrome:"a Chrome trace" nccl:"an NCCL log" empty:"an empty file" history:"a history" \
    cut:"cut off" zip:"zip archive" html:"HTML" text:"something else"; do
    expect_text "not a dump: ${looks%%:*}" 3 "${looks#*:}" import "${looks%%:*}"
done
expect_text "no file" 3 "expected a dump: No such file" "$python" -m alar.flight --flight-recorder nowhere_0 -o "$SCRATCH/x"
expect_text "no rank in the name" 3 "expected a rank at the end of its name" "$python" -m alar.flight --flight-recorder tests/lib/torch.sh -o "$SCRATCH/x"
expect_text "no output" 3 "required: -o" "$python" -m alar.flight --flight-recorder "$dumps/tutorial_0"
expect_text "a history is there" 2 "no operation was judged" import healthy
expect_text "not over a history" 3 "expected a directory without a history" "$python" -m alar.flight --flight-recorder "$dumps"/healthy_* -o "$SCRATCH/h"
tally

#!/usr/bin/env bash
# seconds: 900
# The torch recorder on real gloo, 2 and 4 processes: a right loop, its mistakes, and what it costs.
. "$(dirname "$0")/../lib/tally.sh"

alar=$BUILD/alar
python=/usr/bin/python3
export PYTHONPATH=$PWD/ref/python PYTHONDONTWRITEBYTECODE=1

# loop WHAT RANKS: the histories of a run go to $SCRATCH/h; the verdict follows.
loop() {
    local rank
    rm -rf "$SCRATCH/h" "$SCRATCH"/store*
    for ((rank = 0; rank < $2; rank++)); do
        timeout -k 2 60 "$python" tests/matrix/loop.py "$1" "$rank" "$2" "$SCRATCH/h" \
            "$SCRATCH/store" >"$SCRATCH/rank$rank" 2>&1 &
    done
    wait
    "$alar" check "$SCRATCH/h"
}

for n in 2 4; do
    expect_text "$n ranks, clean" 0 "24 of 24 operations judged, same bits on all ranks" \
        loop clean "$n"
    expect_text "$n ranks: every report too" 0 "$((3 * n)) of $((3 * n)) reports recomputed" \
        "$alar" check "$SCRATCH/h"
    check "$n ranks: callers" grep -q '"src":"loop.py:[0-9]*"' "$SCRATCH/h/rank0.jsonl"
    expect_text "$n ranks, means summed and never divided" 1 "FAIL	never-divided" loop mean-plain "$n"
    expect_text "$n ranks, means divided and called what they are" 0 "reports recomputed" \
        loop mean-divided "$n"
    expect_text "$n ranks, the ratio of sums divided again" 1 "FAIL	divided-twice" \
        loop pair-divided "$n"
    expect_text "$n ranks, overwritten in flight" 1 "FAIL	in-flight-write: operation world/13 of step 3" \
        loop overwrite "$n"
    expect_text "$n ranks, read too early" 1 "FAIL	early-read: operation world/13 of step 3, rank 0" \
        loop early-read "$n"
    expect_text "$n ranks, a handle dropped" 1 "leak: operation world/8 of step 2, rank 0: an all-reduce was never waited for" \
        loop dropped "$n"
    expect_text "$n ranks, one never joins" 1 "rank $((n - 1)): some ranks ended without ever issuing" \
        loop absent "$n"
    expect_text "$n ranks, other groups, types, futures, functional collectives" 0 \
        "operations judged, same bits on all ranks" loop others "$n"
done
expect_text "gloo adds two floats from the right" 0 "added up  right-fold" loop clean 4

# As a module, without a change to the script.
script=$SCRATCH/plain.py
cat >"$script" <<'END'
import os, sys, torch, torch.distributed as dist
rank = int(sys.argv[1])
if sys.argv[3] == "nothing":
    sys.exit(0)
if sys.argv[3] == "forks" and os.fork() == 0:
    os._exit(0)
dist.init_process_group("gloo", init_method="file://" + sys.argv[2], rank=rank, world_size=2)
for k in range(3):
    dist.all_reduce(torch.tensor([float(rank), k]))
if sys.argv[3] == "raises":
    raise ValueError("a mistake of the script's")
if sys.argv[3] == "killed":
    os.kill(os.getpid(), 9)
dist.destroy_process_group()
END
module() { # module WHAT: two ranks
    local rank first code=0
    rm -rf "$SCRATCH/store"
    [ "$1" = again ] || rm -rf "$SCRATCH/m"
    for rank in 0 1; do
        timeout -k 2 60 "$python" -m alar.torch -o "$SCRATCH/m" "$script" "$rank" "$SCRATCH/store" "$1" &
        [ "$rank" -eq 1 ] || first=$!
    done
    wait "$first" || code=$?
    wait
    return "$code"
}
expect_code "python3 -m alar.torch" 0 module plain
expect_text "is judged" 0 "3 of 3 operations judged" "$alar" check "$SCRATCH/m"
expect_code "a script that forks" 0 module forks
expect_text "is judged as if it had not" 0 "3 of 3 operations judged" "$alar" check "$SCRATCH/m"
expect_code "a script that raises" 1 module raises
expect_text "what it left is whole" 0 "3 of 3 operations judged" "$alar" check "$SCRATCH/m"
check "and says how it ended" grep -q '"ev":"exit".*ValueError: a mistake' "$SCRATCH/m/rank0.jsonl"
expect_code "a script that is killed" 137 module killed
expect_text "never passes" 2 "UNKNOWN" "$alar" check "$SCRATCH/m"
expect_text "a script without an all-reduce" 3 "no collective was recorded" module nothing
expect_text "no directory" 3 "expected -o DIR script.py" "$python" -m alar.torch "$script"
expect_text "no script" 3 "expected a script, found none" "$python" -m alar.torch -o "$SCRATCH/x" /nowhere.py x
expect_code "recorded once" 0 module plain
expect_text "not into an older recording" 3 "expected a directory without a history" module again
tally

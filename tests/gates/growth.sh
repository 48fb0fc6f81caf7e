#!/usr/bin/env bash
# seconds: 300
# cores: 1
# Bounded work of `alar check`: four times as large an input of the worst kinds (tests/bench/worst_input.py)
# takes about four times the processor time, where work that grows with the square takes sixteen times.
# spec/scale.md has the table of all kinds. Instructions would need an hour of callgrind: at sizes that it can
# count in seconds the square is not seen yet.
. "$(dirname "$0")/../lib/tally.sh"

cat >"$SCRATCH/growth.py" <<'PYTHON'
import os
import resource
import subprocess
import sys

sys.path.insert(0, "tests/bench")
import worst_input

TURNS = 2
LARGER = 4
MOST = 8  # 4 where each operation costs the same, 16 where it costs as much as there are


def seconds(command):
    """Processor seconds of a check, the least of some: whatever else runs only adds to them."""
    found = []
    for _ in range(TURNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        code = subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if code > 2:
            sys.exit(f"{' '.join(command)}: exit code {code}")
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def main(checker, path, kind, count):
    taken = []
    for size in (int(count), LARGER * int(count)):
        worst_input.write(kind, size, path)
        taken.append(seconds([*checker.split(), path]))
    growth = taken[1] / max(taken[0], 0.005)
    print(f"{kind}: {taken[0]:.3f} s, {LARGER} times as large {taken[1]:.3f} s: {growth:.1f} times; at most {MOST}")
    return growth > MOST


sys.exit(main(*sys.argv[1:]))
PYTHON

grows() { python3 "$SCRATCH/growth.py" "$1" "$SCRATCH/input.jsonl" "$2" "$3"; } # grows CHECKER KIND N

for kind in pending newest-first slices rank-by-rank other-starts groups metrics reports-waiting ops-list microbatches \
    calls ranks; do
    check "$kind: work grows with the input" grows "$BUILD/alar check -q" "$kind" 2000
done
# A checker whose work is the square of its lines, and no more than that.
echo 'import sys; n = sum(1 for _ in open(sys.argv[1])) // 10; sum(1 for _ in range(n) for _ in range(n))' >"$SCRATCH/square.py"
expect_text "work that grows with the square is noticed" 1 "at most 8" grows "python3 $SCRATCH/square.py" calls 8000
tally

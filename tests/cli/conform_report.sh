#!/usr/bin/env bash
# What `alar conform` prints and writes for machines: JSON, JUnit, TAP, and a command that plays a failure again.
. "$(dirname "$0")/../lib/conform.sh"

check "a healthy one compiles" build mine ""
check "one that leaves a rank out compiles" build wrong 's/for (int r = 1; r < c->n; r++) fold/for (int r = 2; r < c->n; r++) fold/'

# What a reader makes of the three, as words.
files() { # files BACKEND
    conform "$1" --ranks 2 --json "$SCRATCH/t.json" --junit "$SCRATCH/t.xml" --tap >"$SCRATCH/t.tap"
    local code=$?
    python3 - "$SCRATCH/t" <<'P' || return 9
import json, re, sys
import xml.etree.ElementTree as tree
table = json.load(open(sys.argv[1] + ".json"))
suite = tree.parse(sys.argv[1] + ".xml").getroot()
tap = open(sys.argv[1] + ".tap").read().split("\n")
rows, cases = table["rows"], suite.findall("testcase")
points = [line for line in tap if re.match(r"(not )?ok \d+ - ", line)]
assert tap[0] == "TAP version 13" and tap[1] == "1..%d" % len(rows), tap[:2]
assert len(rows) == len(cases) == len(points) == int(suite.get("tests")), (len(rows), len(cases), len(points))
assert [row["name"] for row in rows] == [case.get("name") for case in cases]
broken = [row["name"] for row in rows if row["level"] == "must" and row["failed"]]
assert broken == [case.get("name") for case in cases if case.find("failure") is not None]
assert len(broken) == int(suite.get("failures"))
assert broken == [re.match(r"not ok \d+ - must ([^:]*):", p).group(1) for p in points if p.startswith("not ok") and " # " not in p]
skipped = [row["name"] for row in rows if not row["tried"] and not row["failed"]]
assert skipped == [case.get("name") for case in cases if case.find("skipped") is not None]
assert len(skipped) == sum(" # SKIP" in p for p in points)
for row in rows:
    if row["failed"] and row["level"] == "must":
        assert row["reason"] and open(row["history"]).read().startswith('{"ev":"trace"'), row
print("musts broken:", " ".join(broken) or "none", "| tried:", table["operations"] > 100, table["worlds"])
P
    return $code
}
expect_text "a healthy back end: three files agree, and nothing is broken" 0 "musts broken: none | tried: True 1" \
    files "$SCRATCH/mine.so"
expect_text "a wrong one: they agree on the must that is broken" 1 "musts broken: values" files "$SCRATCH/wrong.so"

again() { # the command of the first failure, with the program's path
    local line
    line=$(conform "$SCRATCH/wrong.so" --ranks 2 | sed -n 's/^ *again *alar //p' | head -n 1)
    echo "$line"
    # shellcheck disable=SC2086
    "$alar" $line --output "$SCRATCH/failures"
}
expect_text "the command that a failure names plays it again" 1 "must    BROKEN  values" again
expect_text "a table that can't be written is one line" 3 "expected to write the table" \
    conform "$SCRATCH/mine.so" --ranks 1 --json /nowhere/t.json

# torch: what is missing is said.
printf '#!/bin/sh\nexec python3 -S "$@"\n' >"$SCRATCH/python" && chmod +x "$SCRATCH/python"
missing() { PYTHONDONTWRITEBYTECODE=1 ALAR_PYTHON=$SCRATCH/python PYTHONPATH=$1 "$alar" conform torch:gloo --ranks 2; }
expect_text "torch:gloo without the package says so" 3 "No module named 'alar'" missing ""
expect_text "... and without torch" 3 "No module named 'torch'" missing ref/python
expect_text "... and without a Python" 3 "expected a Python with the packages alar and torch" \
    env ALAR_PYTHON=/nowhere/python "$alar" conform torch:gloo
expect_text "... and with a mutant" 3 "expected neither --launched nor --mutant" "$alar" conform torch:gloo --mutant drop-rank
expect_text "a name that is no back end is one line" 3 "expected sim, mpi, mpi:mpich, mpi:openmpi, torch:gloo" "$alar" conform torch
tally

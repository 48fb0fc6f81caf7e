#!/usr/bin/env bash
# seconds: 900
# Two rows of spec/frameworks.md come out again, and its findings have their scripts. The whole table is `make frameworks`.
. "$(dirname "$0")/../lib/torch.sh"
TALLY_SECONDS=300

# of_scripts DIR: each finding of rows.py has a script of at most 30 lines there, which needs no alar, and each script a finding.
of_scripts() {
    local here=$1
    (cd tests/frameworks && python3 -B -c 'import rows; print(*sorted(f.script for f in rows.FINDINGS), sep="\n")') >"$SCRATCH/.listed"
    (cd "$here" && ls -- *.py) | diff "$SCRATCH/.listed" - || return 1
    awk 'FNR == 31 { print FILENAME ": expected 30 lines, found more"; bad = 1 } END { exit bad }' "$here"/*.py || return 1
    ! grep -nE '^ *(import|from) +(alar|ledger|toy)\b' "$here"/*.py
}

# rows_whole FILE: each row of its tables has a cell for each of its head, and closes what it begins as code.
rows_whole() {
    awk -F'|' '
        !/^\|/ { head = 0; next }
        { gsub(/\\\|/, ""); cells = NF; marks = gsub(/`/, "") }
        head == 0 { head = cells }
        cells != head { print FILENAME ":" FNR ": expected " head - 2 " cells, found " cells - 2; bad = 1 }
        marks % 2 { print FILENAME ":" FNR ": expected the end of a code span"; bad = 1 }
        END { exit bad }' "$1"
}

expect_code "who reads when, of recordings made by hand" 0 env PYTHONPATH=tests/frameworks python3 -B tests/frameworks/planted.py
expect_code "the tables of the page are whole" 0 rows_whole spec/frameworks.md
sed 's/ | all | / | /' spec/frameworks.md >"$SCRATCH/cut.md"
expect_text "a row that lacks a cell is noticed" 1 "cells, found" rows_whole "$SCRATCH/cut.md"
sed 's/` |$/ |/' spec/frameworks.md >"$SCRATCH/open.md"
expect_text "code that does not end is noticed" 1 "expected the end of a code span" rows_whole "$SCRATCH/open.md"
expect_code "each finding has a script of 30 lines that needs the framework alone" 0 of_scripts tests/frameworks/repro
cp -r tests/frameworks/repro "$SCRATCH/repro"
echo "import alar" >>"$SCRATCH/repro/plain_means.py"
expect_text "a script that needs alar is noticed" 1 "import alar" of_scripts "$SCRATCH/repro"
rm "$SCRATCH/repro/plain_means.py"
expect_text "a finding without a script is noticed" 1 "< plain_means.py" of_scripts "$SCRATCH/repro"

if why=$(ci/venv.sh frameworks-short $(cd tests/frameworks && python3 -B -c 'import rows; print(*rows.SHORT_PINS)') 2>&1); then
    export ALAR=$alar
    expect_code "accelerate and torchmetrics log what the table says" 0 \
        python3 -B tests/frameworks/frameworks.py --short --against spec/frameworks.md
    sed 's/nonfinite-dropped/right/' spec/frameworks.md >"$SCRATCH/other.md"
    expect_text "another table is noticed" 1 "torchmetrics MeanMetric, NaN on one rank: expected right" \
        python3 -B tests/frameworks/frameworks.py "torchmetrics" --short --against "$SCRATCH/other.md"
else
    skip "what accelerate and torchmetrics log" "$why"
fi
expect_text "without packages everything is skipped, in one line" 0 "; the tables stay as they are" \
    env ALAR_VENVS="$SCRATCH/none" PIP_CONFIG_FILE=/dev/null PIP_INDEX_URL=http://127.0.0.1:9/ PIP_RETRIES=0 PIP_NO_INDEX=1 \
    python3 -B tests/frameworks/frameworks.py --against spec/frameworks.md
tally

#!/usr/bin/env bash
# seconds: 900
# Two rows of spec/frameworks.md come out again. The whole table is `make frameworks`.
. "$(dirname "$0")/../lib/torch.sh"

if why=$(ci/venv.sh live-short $(cd tests/frameworks && python3 -B -c 'import rows; print(*rows.SHORT_PINS)') 2>&1); then
    export ALAR=$alar
    expect_code "accelerate and torchmetrics log what the table says" 0 \
        python3 -B tests/frameworks/frameworks.py --short --against spec/frameworks.md
    sed 's/nonfinite-dropped/right/' spec/frameworks.md >"$SCRATCH/other.md"
    expect_text "another table is noticed" 1 "torchmetrics MeanMetric, NaN on one rank: expected right" \
        python3 -B tests/frameworks/frameworks.py "torchmetrics" --short --against "$SCRATCH/other.md"
else
    skip "what accelerate and torchmetrics log" "$why"
fi
tally

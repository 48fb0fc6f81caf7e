#!/usr/bin/env bash
# `alar conform torch:gloo`: torch.distributed keeps what it promises, on both torches.
# seconds: 200
. "$(dirname "$0")/../lib/torch.sh"

gloo() { # its table in one line: how many are broken, and whether progress of its own was tried
    ALAR_PYTHON=$python "$alar" conform torch:gloo --ranks "$1" --seconds 80 --output "$SCRATCH/failures" >"$SCRATCH/table"
    local code=$?
    grep -c "^must    ok      own progress" "$SCRATCH/table"
    grep "BROKEN" -A 3 "$SCRATCH/table"
    tail -n 1 "$SCRATCH/table"
    return $code
}
for version in 2.13 1.13; do
    python_of "$version" || continue
    expect_text "torch $version: gloo on three ranks" 0 "0 of 22 musts broken" gloo 3
done
python_of 2.13 && expect_text "a transport that needs a device is refused" 3 "expected one of gloo, mpi, ucc" \
    env "ALAR_PYTHON=$python" "$alar" conform torch:nccl
tally

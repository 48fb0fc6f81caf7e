#!/usr/bin/env bash
# only: full
# seconds: 900
# The adapter of alar.Log for Lightning against the real package: what is logged is sum of losses / samples, to the bit.
# `make torch-frameworks`; the other adapters are in log_frameworks.sh.
. "$(dirname "$0")/../lib/torch.sh"
export ALAR_LIBRARY=$PWD/$BUILD/libalar.so
TALLY_SECONDS=300
python=$(ci/venv.sh lightning $TORCH_PINS pytorch-lightning==2.6.6 2>"$SCRATCH/.why") || {
    skip "Lightning" "$(cat "$SCRATCH/.why")"
    tally
}
expect_text "Lightning, 2 ranks" 0 '"good": true' bare tests/torch/log_frameworks.py lightning 2
tally

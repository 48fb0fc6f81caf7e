#!/usr/bin/env bash
# only: full
# seconds: 900
# The adapters of alar.Log against the real packages, on two and three processes: what is logged is sum of
# losses / tokens, to the bit. `make torch-frameworks`; Megatron-LM's, which needs no package, is in log.sh.
. "$(dirname "$0")/../lib/torch.sh"
export ALAR_LIBRARY=$PWD/$BUILD/libalar.so
TALLY_SECONDS=300
python=$(ci/venv.sh frameworks $TORCH_PINS transformers==5.18.0 accelerate==1.15.0 pytorch-lightning==2.6.6 2>"$SCRATCH/.why") || {
    skip "transformers, Lightning" "$(cat "$SCRATCH/.why")"
    tally
}
for ranks in 2 3; do
    expect_text "transformers' Trainer, $ranks ranks" 0 '"good": true' bare tests/torch/log_frameworks.py transformers $ranks
    grep "^Trainer's own" "$SCRATCH/.output"
done
expect_text "Lightning, 2 ranks" 0 '"good": true' bare tests/torch/log_frameworks.py lightning 2
tally

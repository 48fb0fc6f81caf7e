#!/usr/bin/env bash
# seconds: 900
# The adapters of alar.Log against the real packages: what is logged is sum of losses / tokens, to the bit, where the
# framework's own line is another number. Megatron-LM's, which needs no package, is in log.sh, Lightning's in log_lightning.sh.
. "$(dirname "$0")/../lib/torch.sh"
export ALAR_LIBRARY=$PWD/$BUILD/libalar.so
TALLY_SECONDS=300
titan="torchtitan==0.3.0 spmd_types==0.2.3 tyro==1.0.17 docstring_parser==0.18.0" # what it imports of what it asks for

pins=$(cd tests/frameworks && python3 -B -c 'import rows; print(*rows.SHORT_PINS)')
if python=$(ci/venv.sh frameworks-short $pins 2>"$SCRATCH/.why"); then
    check "transformers' Trainer, logging_steps 1 and 5, on 2 and 3 ranks" bare tests/torch/log_frameworks.py transformers 2 3
    cp "$SCRATCH/.output" "$SCRATCH/said"
    check "... on each" test "$(grep -c '"good": true' "$SCRATCH/said")" -eq 2
    grep "^Trainer's own" "$SCRATCH/said"
else
    skip "transformers' Trainer" "$(cat "$SCRATCH/.why")"
fi
# shellcheck disable=SC2086 # one package a word
if python_of 2.13 && "$python" -m pip install -q --disable-pip-version-check --no-deps --target "$SCRATCH/titan" $titan >"$SCRATCH/.why" 2>&1; then
    export PYTHONPATH=$PYTHONPATH:$SCRATCH/titan
    expect_text "torchtitan's train_step, 2 ranks" 0 '"good": true' bare tests/torch/log_frameworks.py torchtitan 2
    grep "^torchtitan's own" "$SCRATCH/.output"
else
    skip "torchtitan" "$(tail -n 1 "$SCRATCH/.why")"
fi
tally

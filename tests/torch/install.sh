#!/usr/bin/env bash
# seconds: 1200
# The package as people get it: pip install in an empty environment, and the wheel in another one. Then a
# recorded torchrun script and its verdict, in the two minutes that the README promises without torch.
. "$(dirname "$0")/../lib/torch.sh"
unset PYTHONPATH

python=/usr/bin/python3
# spent: processor seconds of all commands so far, in $used; a busy machine takes no more of them
spent() {
    times >"$SCRATCH/times"
    used=$(awk 'NR == 2 { gsub(/[ms]/, " "); print int($1 * 60 + $2 + $3 * 60 + $4) }' "$SCRATCH/times")
}
started=$SECONDS
check "an empty environment" "$python" -m venv "$SCRATCH/e"
TALLY_SECONDS=600
if ! timeout 300 "$SCRATCH/e/bin/pip" download -q --no-deps -d "$SCRATCH/x" setuptools==80.9.0 >"$SCRATCH/.output" 2>&1; then
    skip "pip install ./ref/python" "the package index can't be reached"
    tally
fi
check "pip install ./ref/python" "$SCRATCH/e/bin/pip" install -q ./ref/python
took=$((SECONDS - started))
spent
installing=$used
expect_text "alar is on the PATH" 0 "check" "$SCRATCH/e/bin/alar" --help
expect_text "and takes dumps" 0 "Flight Recorder" "$SCRATCH/e/bin/alar" import --help
expect_text "alar.torch without torch is a line" 3 "expected torch" "$SCRATCH/e/bin/python" -m alar.torch -o x y.py
printf '%s\n' '{"ev":"issue","rank":0,"op":0,"in":[1]}' '{"ev":"done","rank":0,"op":0,"out":[1]}' >"$SCRATCH/h.jsonl"
expect_text "and judges" 0 PASS "$SCRATCH/e/bin/alar" check "$SCRATCH/h.jsonl"
has_compiled() { [ -n "$("$1/bin/python" -c 'import _alar_torch; print(_alar_torch.Queue)')" ]; }
if [ -e "$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" ]; then
    check "the recorder's compiled part comes along" has_compiled "$SCRATCH/e"
else
    skip "the recorder's compiled part" "no Python.h"
fi
check "types come along" ls "$SCRATCH"/e/lib/python3*/site-packages/alar/py.typed

check "make wheel" make wheel
wheel=$(ls "$BUILD"/dist/alar-*.whl)
check "another empty environment" "$python" -m venv "$SCRATCH/w"
check "the wheel installs" "$SCRATCH/w/bin/pip" install -q --no-index "$wheel"
[ ! -e "$BUILD/wheel/python/_alar_torch.abi3.so" ] || check "with the compiled part" has_compiled "$SCRATCH/w"
expect_text "and judges" 0 PASS "$SCRATCH/w/bin/alar" check "$SCRATCH/h.jsonl"
needs() { ldd "$SCRATCH"/w/lib/python3*/site-packages/alar/bin/alar; }
check "it needs neither yajl nor libfiu nor MPI" bash -c "! ldd '$SCRATCH'/w/lib/python3*/site-packages/alar/bin/* | grep -E 'yajl|fiu|mpi'"
check "and is named for Linux" [ "$(basename "$wheel")" != "${wheel%linux_x86_64.whl}" -o "$(uname -m)" != x86_64 ]

if python_of 2.13; then
    started=$SECONDS
    spent
    before=$used
    site=$(echo "$SCRATCH"/e/lib/python3*/site-packages)
    run() {
        PYTHONPATH=$site timeout -k 2 240 "$python" -m torch.distributed.run --nproc_per_node 2 \
            -m alar.torch -o "$SCRATCH/run" tests/torch/life.py torchrun x
    }
    check "a recorded torchrun script" run
    expect_text "and its verdict" 0 "6 of 6 operations judged" "$SCRATCH/e/bin/alar" check "$SCRATCH/run"
    spent
    echo "pip install, a recorded script and its verdict: $((took + SECONDS - started)) s, $((installing + used - before)) of processor"
    check "pip install, a recorded script and its verdict: under two minutes" [ $((installing + used - before)) -lt 120 ]
    zipped() {
        (cd ref/python && "$python" -m zipfile -c "$SCRATCH/alar.zip" alar) &&
            PYTHONPATH=$SCRATCH/alar.zip timeout -k 2 240 "$python" -m alar.torch -o "$SCRATCH/zip" \
                tests/torch/life.py alone "$SCRATCH/store.zip"
    }
    expect_text "one file on PYTHONPATH does as well" 0 "[1.0, 2999.0]" zipped
fi
tally

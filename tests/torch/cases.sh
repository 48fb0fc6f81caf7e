#!/usr/bin/env bash
# seconds: 6000
# only: full
# Programs that people sent, as they came, with torch 1.13 and 2.13: a small training with its mistakes, every way to
# look at a pending tensor, labels and reports of all kinds. tests/torch/recorder.sh has the same kinds, told apart.
. "$(dirname "$0")/../lib/torch.sh"

cases=$PWD/tests/torch/cases
export PYTHONPATH=$PYTHONPATH:$cases MASTER_ADDR=127.0.0.1

# launched DIR RANKS PROGRAM ARGUMENT...: under the recorder, each rank a process with torchrun's environment
launched() {
    local directory=$1 ranks=$2 rank pids=() pid code=0
    shift 2
    rm -rf "$directory"
    port=$((port + 1))
    for ((rank = 0; rank < ranks; rank++)); do
        (cd "$SCRATCH" && RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=$ranks MASTER_PORT=$port \
            timeout -k 2 120 "$python" -m alar.torch -o "$directory" "$@") &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid" || code=$?; done
    return "$code"
}
port=$((29000 + RANDOM % 2000))

trained() { # trained VERSION MODE CODE VERDICT
    MODE=$2 check "$1: train, $2: runs" launched "$SCRATCH/train" 3 "$cases/train.py"
    expect_text "$1: train, $2: is judged" "$3" "$4" verdict "$SCRATCH/train"
}

# looked VERSION: one all-reduce a form, the form early on both ranks
looked() {
    local op wanted
    check "$1: 18 forms in one program" launched "$SCRATCH/forms" 2 "$cases/forms.py"
    "$alar" check --all --json "$SCRATCH/forms" >"$SCRATCH/forms.json"
    for op in $(seq 0 17); do
        wanted=early-read
        [ "$op" -ne 13 ] || wanted=in-flight-write # div_
        [ "$op" -ne 17 ] || wanted=leak            # del handle
        check "$1: $wanted of operation $op" jq -e --arg wanted $wanted --argjson op "$op" \
            '[.findings[] | select(.anomaly == $wanted) | .ops[]] | index($op) != null' "$SCRATCH/forms.json"
    done
}

# alone VERSION: one form a recording, rank 1 late; the program records itself
alone() {
    local form wanted TALLY_SECONDS=1600
    check "$1: 18 forms, one a program" bash -c "cd '$SCRATCH' && rm -rf rec && timeout -k 2 1500 '$python' '$cases/read-forms.py'"
    for form in "$SCRATCH"/rec/forms/*; do
        wanted="FAIL	early-read: operation world/0, rank 0"
        [ "${form##*/}" != div_ ] || wanted="FAIL	in-flight-write: operation world/0, rank 0"
        expect_text "$1: ${form##*/}" 1 "$wanted" verdict "$form"
    done
    check "$1: all of them" [ "$(find "$SCRATCH/rec/forms" -mindepth 1 -maxdepth 1 | wc -l)" -eq 18 ]
}

copied() { # copied FIX: makes a copy before the wait, or after it
    rm -rf "$SCRATCH/copied"
    OUT=$SCRATCH/copied FIX=$1 timeout -k 2 120 "$python" "$cases/copied-before-wait.py"
}

reported() { # reported VERSION: each report is recorded and judged, or left out with a line
    local what
    for what in tensorstep floatstep npstep f64 oneop strop boolempty; do
        check "$1: a report, $what" launched "$SCRATCH/report" 1 "$cases/report_bad_json.py" $what
        check "$1: is one line of the history" [ "$(grep -c '"ev":"report"' "$SCRATCH/report/rank0.jsonl")" -eq 1 ]
        check "$1: that is read" bash -c "'$alar' check '$SCRATCH/report'; [ \$? -le 2 ]"
    done
    for what in empty vec; do
        expect_text "$1: a report, $what" 0 "the report was left out" launched "$SCRATCH/report" 1 "$cases/report_bad_json.py" $what
        expect_text "$1: the rest is judged" 0 "1 of 1 operations judged" verdict "$SCRATCH/report"
    done
}

for version in ${TORCH_VERSIONS:-1.13 2.13}; do
    python_of $version || continue
    trained $version good 0 "operations judged, same bits on all ranks"
    trained $version meanmean 0 "operations judged, same bits on all ranks"
    trained $version nodivide 0 "operations judged, same bits on all ranks"
    trained $version shared 1 "FAIL	"
    trained $version overwrite 1 "FAIL	in-flight-write"
    trained $version early 1 "FAIL	early-read: operation world/41, rank 0"
    looked $version
    alone $version
    check "$version: a copy made before the wait" copied 0
    expect_text "$version: is an early read" 1 "FAIL	early-read: operation world/0" verdict "$SCRATCH/copied"
    check "$version: a copy made after the wait" copied 1
    expect_text "$version: is none" 0 "3 of 3 operations judged" verdict "$SCRATCH/copied"
    check "$version: keys of any letters" launched "$SCRATCH/emoji" 1 "$cases/emoji.py"
    expect_text "$version: are judged" 0 "2 of 2 operations judged" verdict "$SCRATCH/emoji"
    reported $version
done
tally

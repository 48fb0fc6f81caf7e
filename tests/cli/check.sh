#!/usr/bin/env bash
# `alar check` and `alar explain`, as people use them.
. "$(dirname "$0")/../lib/tally.sh"

alar=$BUILD/alar
gloo=tests/data/histories-gloo

# ---- real recordings -----------------------------------------------------------------------------
expect_text "fault-free gloo passes" 0 \
    "$gloo/fault-free	PASS	50 of 50 operations judged, same bits on all ranks, all values legal" \
    "$alar" check "$gloo/fault-free"
expect_text "its order is named" 0 "  added up  right-fold" "$alar" check "$gloo/fault-free"
expect_text "the overwrite is found at operation 9 on rank 1" 1 \
    "$gloo/overwrite	FAIL	in-flight-write: operation world/9, rank 1:" "$alar" check "$gloo/overwrite"
expect_text "the early read is found at operation 9 on rank 2" 1 \
    "$gloo/early-read	FAIL	early-read: operation world/9, rank 2:" "$alar" check "$gloo/early-read"
one_line_each() { "$alar" check -q "$gloo" | awk -F'\t' 'NF != 3 { exit 1 } END { exit NR != 3 }'; }
check "a directory of directories is one line of three columns per history" one_line_each
as_one() { "$alar" check -q "$gloo"/fault-free/rank?.jsonl | grep -c PASS | grep -qx 1; }
check "rank files named one by one are one history" as_one
json() {
    "$alar" check --json "$gloo" | jq -se 'length == 3 and .[0].findings[0].op == 9 and
        .[0].findings[0].ranks == [2] and .[1].verdict == "PASS" and .[1].judged == 50'
}
check "--json is one object per history" json

# ---- small histories, exit codes -----------------------------------------------------------------
four='{"ev":"issue","rank":0,"op":0,"in":[1]}
{"ev":"issue","rank":1,"op":0,"in":[2]}
{"ev":"done","rank":0,"op":0,"out":[3]}
{"ev":"done","rank":1,"op":0,"out":[3]}'
echo "$four" >"$SCRATCH/good.jsonl"
echo "${four//3/4}" >"$SCRATCH/bad.jsonl"
head -c 60 "$SCRATCH/good.jsonl" >"$SCRATCH/cut.jsonl"
echo '{"ev":"isue"}' >"$SCRATCH/broken.jsonl"
piped() { "$alar" check - <"$SCRATCH/good.jsonl"; }
expect_text "standard input is a history" 0 "-	PASS	" piped
expect_code "PASS is 0" 0 "$alar" check "$SCRATCH/good.jsonl"
expect_code "FAIL is 1" 1 "$alar" check "$SCRATCH/bad.jsonl"
expect_code "UNKNOWN is 2" 2 "$alar" check "$SCRATCH/cut.jsonl"
expect_text "unusable is 3, with line and column" 3 "broken.jsonl:1:7: expected a known record" \
    "$alar" check "$SCRATCH/broken.jsonl"
expect_code "over several, 1 wins over 3, 2 and 0" 1 "$alar" check "$SCRATCH"/{good,cut,broken,bad}.jsonl
expect_code "over several, 3 wins over 2 and 0" 3 "$alar" check "$SCRATCH"/{good,cut,broken}.jsonl
expect_code "over several, 2 wins over 0" 2 "$alar" check "$SCRATCH"/{good,cut}.jsonl
expect_text "the others are judged all the same" 3 "good.jsonl	PASS" \
    "$alar" check "$SCRATCH"/{broken,good}.jsonl

# ---- the command line ----------------------------------------------------------------------------
expect_text "no path" 3 "expected paths of histories, or -, found none" "$alar" check
expect_text "a path that is not there" 3 "expected a file or directory, found: No such file" \
    "$alar" check "$SCRATCH/nowhere"
mkdir "$SCRATCH/empty"
expect_text "a directory without histories" 3 "expected .jsonl or .alar files, found none" \
    "$alar" check "$SCRATCH/empty"
expect_text "an option that is not there" 3 "did you mean" "$alar" check --jsno "$SCRATCH/good.jsonl"
quiet() { "$alar" check -q "$SCRATCH/bad.jsonl" | awk 'END { exit NR != 1 }'; }
check "-q leaves the lines" quiet
plain() { ! "$alar" check "$SCRATCH/bad.jsonl" | grep -q $'\033'; }
check "no colours away from a terminal" plain

# ---- reruns --------------------------------------------------------------------------------------
expect_text "a rerun with the same bits" 0 "50 operations with the same bits, 0 with others" \
    "$alar" check -q --rerun "$gloo/fault-free" "$gloo/fault-free"
three() { # three CONTRACT OUT: three ranks whose order of additions matters
    echo "{\"ev\":\"contract\",\"order\":\"$1\"}"
    for value in 0:1 1:1e8 2:-1e8; do
        echo "{\"ev\":\"issue\",\"rank\":${value%:*},\"op\":0,\"in\":[${value#*:}]}"
    done
    for rank in 0 1 2; do echo "{\"ev\":\"done\",\"rank\":$rank,\"op\":0,\"out\":[$2]}"; done
}
for contract in free fixed; do
    for out in 0 1; do three $contract $out >"$SCRATCH/$contract$out.jsonl"; done
done
expect_text "other bits under a free order are a note" 0 "0 operations with the same bits, 1 with others" \
    "$alar" check -q --rerun "$SCRATCH"/free{0,1}.jsonl
expect_text "other bits under a fixed order are wrong" 1 "rerun-differs" \
    "$alar" check -q --rerun "$SCRATCH"/fixed{0,1}.jsonl
expect_text "a rerun takes two" 3 "expected two histories" "$alar" check --rerun "$SCRATCH/free0.jsonl"

# ---- explain -------------------------------------------------------------------------------------
listed=0
for anomaly in $("$alar" explain | cut -d' ' -f1); do
    listed=$((listed + 1))
    expect_text "explains $anomaly" 0 "Allowed instead:" "$alar" explain "$anomaly"
done
check "lists the anomalies" test "$listed" -ge 30
expect_text "an anomaly that is not there" 3 "did you mean 'early-read'" "$alar" explain early-raed
# spec: N-19
expect_text "NaNs of other payloads are the same value, and told apart" 0 "same values on all ranks, all values legal (in 1 NaNs" \
    "$alar" check tests/histories/judge/H-nan-payload.jsonl
tally

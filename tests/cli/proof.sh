#!/usr/bin/env bash
# What stands behind a verdict of `alar check`: certificates, diagnoses, and what a pass is worth.
. "$(dirname "$0")/../lib/tally.sh"

alar=$BUILD/alar
gloo=tests/data/histories-gloo

# ---- certificates --------------------------------------------------------------------------------
proofs=$SCRATCH/proofs
check "legal values are certified" "$alar" check -q --certificates "$proofs" "$gloo/fault-free"
check "one certificate for each value" test "$(wc -l <"$proofs")" -eq 100
expect_text "they hold, by plain evaluation" 0 "100 certificates checked" \
    "$alar" check --verify-certificate "$proofs"
right_fold() { grep -c 'proof=tree:(0+(1+(2+3)))' "$proofs" | grep -vqx 0; }
check "values that the right fold alone gives say so" right_fold

# changed EXPRESSION: one field of the first certificate is edited, its check made anew or not.
digest() { # FNV-1a, as in ref/legal/certificate.h
    local text=$1 digest=$((0xcbf29ce484222325)) k
    for ((k = 0; k < ${#text}; k++)); do
        digest=$(((digest ^ $(printf %d "'${text:k:1}")) * 0x100000001b3))
    done
    printf '%016x' "$digest"
}
changed() {
    local text
    text=$(head -n 1 "$proofs" | cut -f 2 | sed "s/ check=.*//; $1")
    printf '%s check=%s\n' "$text" "$(digest "$text")" >"$SCRATCH/changed"
}
changed ''
expect_code "a certificate whose check is made anew still holds" 0 \
    "$alar" check --verify-certificate "$SCRATCH/changed"
value=$(sed -n '1s/.* value=\([0-9a-f]*\) .*/\1/p' "$proofs")
for ulp in 1 -1; do
    changed "s/value=$value/value=$(printf %08x $((16#$value + ulp)))/"
    expect_text "a value $ulp ulp off is refused" 1 "the proof does not hold" \
        "$alar" check --verify-certificate "$SCRATCH/changed"
done
for rank in 0 1 2 3; do
    leaf=$(sed -n '1s/.* leaves=\([0-9a-f,]*\) .*/\1/p' "$proofs" | cut -d, -f $((rank + 1)))
    changed "s/$leaf/$(printf %08x $((16#$leaf ^ 0x10000)))/"
    expect_text "another leaf at rank $rank is refused" 1 "the proof does not hold" \
        "$alar" check --verify-certificate "$SCRATCH/changed"
done
sed '7s/[0-9a-f]\( proof\)/x\1/' "$proofs" >"$SCRATCH/edited"
expect_text "a line that was edited is refused, with its number" 1 "edited:7" \
    "$alar" check --verify-certificate "$SCRATCH/edited"
: >"$SCRATCH/empty"
expect_text "no certificate is no proof" 3 "found none" "$alar" check --verify-certificate "$SCRATCH/empty"
expect_code "a file that is not there" 3 "$alar" check --verify-certificate "$SCRATCH/nowhere"
expect_code "a file that can't be written" 3 \
    "$alar" check --certificates "$SCRATCH/nowhere/file" "$gloo/fault-free"
expect_text "certificates need no history" 3 "no history beside certificates" \
    "$alar" check --verify-certificate "$proofs" "$gloo/fault-free"

all_kinds() { # every reduction that can be certified, each legal in its own way
    local name
    for name in own-wide-accumulator own-max-idiom own-minus-zero own-integers-wrap own-fp16-average \
        B39-legal-1 B58-five-elements own-counts-in-fp64; do
        "$alar" check -q --certificates "$SCRATCH/kinds" "tests/histories/$name.jsonl" >"$SCRATCH/line"
        [ ! -s "$SCRATCH/kinds" ] && grep -q PASS "$SCRATCH/line" && echo "$name: none" && return 1
        [ ! -s "$SCRATCH/kinds" ] || "$alar" check --verify-certificate "$SCRATCH/kinds" || return 1
    done
}
check "sums, averages, maxima, integers, wide and exact ones" all_kinds

# ---- diagnosis -----------------------------------------------------------------------------------
ops() { # ops OUT...: an operation for each, of 4 ranks on a ledger that is rotated by one each time
    local op=0 rank out value
    for out in "$@"; do
        for rank in 0 1 2 3; do
            value=$((4 ** ((rank + op) % 4) * (op + 1)))
            echo "{\"ev\":\"issue\",\"rank\":$rank,\"op\":$op,\"in\":[$value]}"
        done
        for rank in 0 1 2 3; do echo "{\"ev\":\"done\",\"rank\":$rank,\"op\":$op,\"out\":[$out]}"; done
        op=$((op + 1))
    done
}
says() { # says CLAIM TEXT OUT...
    ops "${@:3}" >"$SCRATCH/ops.jsonl"
    expect_text "$1" 1 "$2" "$alar" check "$SCRATCH/ops.jsonl"
}
says "a missing rank is named" "diagnosis: rank 2 is missing" 69
says "a doubled rank is named" "diagnosis: rank 3 is counted twice" 149
says "the value of the operation before is named" "diagnosis: the previous operation's value" 85 85
says "one stale contribution is named" "rank 1's contribution is the previous operation's" 85 142
says "what nothing explains is said to be so" "no single known fault gives it" 77777.125
ops 69 >"$SCRATCH/ops.jsonl"
as_data() {
    "$alar" check --json "$SCRATCH/ops.jsonl" | jq -e '.findings[0].diagnosis |
        .unique and .complete and .explanations[0].cause == "missing" and .explanations[0].rank == 2'
}
check "the same as data" as_data

# Faster than the whole table, which is `make bench-diagnosis`; fails when a ledger does not name its rank
# or a legal sum is not passed.
expect_text "drawn faults are named; legal sums in drawn orders pass" 0 "illegal 0" \
    python3 tests/bench/diagnosis.py 4000 40000 7

# ---- power ---------------------------------------------------------------------------------------
ops 85 | sed 's/"in":\[[0-9]*\]/"in":[0]/; s/"out":\[85\]/"out":[0]/' >"$SCRATCH/zeros.jsonl"
ops 85 >"$SCRATCH/ops.jsonl"
expect_text "zeros pass, and show nothing" 0 "vacuous: no missing rank would have shown" \
    "$alar" check "$SCRATCH/zeros.jsonl"
expect_text "that is no pass when power is required" 2 "could not have revealed a fault" \
    "$alar" check --require-power "$SCRATCH/zeros.jsonl"
expect_text "inputs that show every rank pass either way" 0 "any missing rank would have shown" \
    "$alar" check --require-power "$SCRATCH/ops.jsonl"
counted() {
    "$alar" check --json "$SCRATCH/zeros.jsonl" "$SCRATCH/ops.jsonl" | jq -se '
        .[0].power.vacuous == 1 and .[0].power.missing_seen == 0 and
        .[1].power.vacuous == 0 and .[1].power.missing_seen == 4 and .[1].power.doubled_seen == 4'
}
check "counted as data" counted
tally

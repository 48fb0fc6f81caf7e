#!/usr/bin/env bash
# Hostile inputs as files: made, filled in by the script that spec/hostile.md shows, and judged.
. "$(dirname "$0")/../lib/tally.sh"

alar=$BUILD/alar
expect_text "each kind says what it can reveal" 0 "reveals which rank is missing, doubled or stale" "$alar" hostile --list
check "all fourteen are listed" test "$(grep -c '^[a-z]' "$SCRATCH/.output")" -eq 14
check "all kinds go to files" "$alar" hostile all --ranks 4 --count 6 --seed 3 --output "$SCRATCH/in"
check "one file a kind" test "$(find "$SCRATCH/in" -name '*.jsonl' | wc -l)" -eq 14
again() { "$alar" hostile ledger --ranks 4 --count 6 --seed 3 | cmp - "$SCRATCH/in/ledger.jsonl"; }
check "the same seed makes the same inputs" again

# The reducer of the page: fp32, left fold.
sed -n '/^```python$/,/^```$/p' spec/hostile.md | sed '1d;$d' >"$SCRATCH/fill.py"
fill() { # fill FAMILY [EDIT]: a filled-in history
    python3 "$SCRATCH/fill.py" <"$SCRATCH/in/$1.jsonl" | sed "${2:-}" >"$SCRATCH/$1.jsonl"
}
for kind in ledger masks ties cancel unordered ordered; do
    fill "$kind"
    expect_text "filled in with right sums, $kind passes" 0 "PASS" "$alar" check "$SCRATCH/$kind.jsonl"
done
fill ledger 's/"out": \["4/"out": ["5/'
expect_text "a wrong sum is illegal" 1 "illegal-value" "$alar" check "$SCRATCH/ledger.jsonl"
expect_text "what nobody filled in never passes" 1 "never waited for" "$alar" check "$SCRATCH/in/ledger.jsonl"

expect_text "an unknown kind" 3 "did you mean 'ledger'?" "$alar" hostile ledgr
expect_text "no kind" 3 "expected one kind of inputs" "$alar" hostile
expect_text "all kinds on one stream" 3 "give -o DIR" "$alar" hostile all
expect_text "a directory that can't be" 3 "/proc/x: expected a directory" "$alar" hostile ledger --output /proc/x
expect_text "files are never overwritten" 3 "expected a new file" "$alar" hostile ledger --output "$SCRATCH/in"

# A mutant in `alar run`.
mutant() { "$alar" run --async-log-allreduce --quiet --mutant "$1" --history "$SCRATCH/$1"; }
expect_text "a mutant makes the run's own audit object" 1 "ILLEGAL" mutant drop-rank
expect_text "and is convicted from its history" 1 "illegal-value" "$alar" check "$SCRATCH/drop-rank"
expect_text "an unknown mutant" 3 "did you mean 'one-ulp'?" "$alar" run --mutant one-upl
tally

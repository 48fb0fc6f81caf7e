#!/usr/bin/env bash
# `alar check --threads`: the same verdict, letter by letter, with any number of threads, of text and packed.
# cores: 1
. "$(dirname "$0")/../lib/tally.sh"

alar=$BUILD/alar
gloo=tests/data/histories-gloo

# ---- every history on file -----------------------------------------------------------------------
told() { # told OPTION...: all verdicts, of files and of directories of rank files
    find tests/histories -name '*.jsonl' | sort | xargs "$alar" check "$@" 2>&1
    find tests/histories -mindepth 2 -type d | sort | xargs "$alar" check "$@" 2>&1
    "$alar" check "$@" "$gloo" 2>&1
}
told --threads 1 >"$SCRATCH/one"
told --threads 1 --json >"$SCRATCH/one.json"
same() { # same THREADS
    [ "$(wc -l <"$SCRATCH/one.json")" -gt 300 ] &&
        diff "$SCRATCH/one" <(told --threads "$1") && diff "$SCRATCH/one.json" <(told --threads "$1" --json)
}
for threads in 2 5; do check "$threads threads tell what one tells" same $threads; done

# ---- long ones, so that every file is many batches ------------------------------------------------
tests/bench/history.sh 20000 "$SCRATCH/long"
"$alar" pack -q -o "$SCRATCH/packed" "$SCRATCH/long"
sed -i '3000,3020s/"out":\["[0-9a-f]*/"out":["7f800000/' "$SCRATCH/long/rank1.jsonl"
sed -i '4000s/"rank":2/"rank":-2/' "$SCRATCH/long/rank2.jsonl"
cp -r "$SCRATCH/long" "$SCRATCH/refused"
cp "$SCRATCH/packed/rank2.alar" "$SCRATCH/long/" && rm "$SCRATCH/long/rank2.jsonl"
sed '4500s/"rank":3/"rank":9/' "$SCRATCH/long/rank3.jsonl" >"$SCRATCH/rank3" && mkdir "$SCRATCH/judged" &&
    cp "$SCRATCH"/packed/rank[012].alar "$SCRATCH/judged" && cp "$SCRATCH/rank3" "$SCRATCH/judged/rank3.jsonl"
mkdir "$SCRATCH/judged-packed" && cp "$SCRATCH"/packed/rank[012].alar "$SCRATCH/judged-packed"
"$alar" pack -q -o "$SCRATCH/judged-packed/rank3.alar" "$SCRATCH/rank3"
expect() { # expect HISTORY TEXT: by one thread and by several
    local threads
    for threads in 1 2 4; do
        "$alar" check --threads $threads "$SCRATCH/$1" >"$SCRATCH/told.$threads" 2>&1
        grep -F -e "$2" "$SCRATCH/told.$threads" && cmp "$SCRATCH/told.1" "$SCRATCH/told.$threads" || return 1
    done
}
check "a long history" expect packed "PASS	"
check "a wrong value in the middle of one, a part of it packed" expect long "rank1.jsonl:30"
check "a line that is no record" expect refused ": expected an integer from 0 in \`rank\`, found -2"
check "a record that the judge refuses" expect judged "rank3.jsonl:4500:"
check "and the same packed: with the column that it had" expect judged-packed "rank3.alar:4500:"
column() { diff <(sed 's/.*rank3\.jsonl/x/' "$SCRATCH/judged.told") <(sed 's/.*rank3\.alar/x/' "$SCRATCH/packed.told"); }
"$alar" check "$SCRATCH/judged" >"$SCRATCH/judged.told" 2>&1
"$alar" check "$SCRATCH/judged-packed" >"$SCRATCH/packed.told" 2>&1
check "which is that of its text" column
piped() { "$alar" check -q --threads 3 - <"$gloo/fault-free/rank0.jsonl"; }
expect_text "standard input" 2 "-	UNKNOWN" piped
expect_text "no thread at all" 3 "expected a whole number from 1 to 256, found '0'" "$alar" check --threads 0 "$gloo"
tally

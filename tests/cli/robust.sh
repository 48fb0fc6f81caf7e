#!/usr/bin/env bash
# Odd files and odd places: nothing hangs, nothing is overwritten, nothing is lost without a word.
. "$(dirname "$0")/../lib/tally.sh"

alar=$BUILD/alar
good=tests/histories/own-four-lines.jsonl
bounded() { timeout -k 2 10 "$@"; } # what hangs is told from what is slow

# ---- a command does not write onto what it reads -------------------------------------------------
cp $good "$SCRATCH/h.jsonl"
ln -s h.jsonl "$SCRATCH/link.jsonl"
for onto in h.jsonl link.jsonl; do
    expect_text "certificates onto the history itself, as $onto" 3 "found one of the histories" \
        "$alar" check --certificates "$SCRATCH/$onto" "$SCRATCH/h.jsonl"
done
for command in "view" "cost" "export --perfetto"; do
    expect_text "alar $command onto the history itself" 3 "found: the history that is read" \
        "$alar" $command -o "$SCRATCH/link.jsonl" "$SCRATCH/h.jsonl"
done
check "and the history is as it was" cmp $good "$SCRATCH/h.jsonl"

# ---- directories ---------------------------------------------------------------------------------
mkdir -p "$SCRATCH/deep/1/2/3/4/5/6/7/8/9"
cp $good "$SCRATCH/deep/1/"
expect_text "directories deeper than are searched are refused aloud" 3 "to a depth of 8, found a deeper one" "$alar" check -q "$SCRATCH/deep"
expect_code "none is deeper from there" 0 "$alar" check -q "$SCRATCH/deep/1"
mkdir "$SCRATCH/round"
cp $good "$SCRATCH/round/"
for k in $(seq 9); do ln -s . "$SCRATCH/round/s$k"; done
ln -s "$SCRATCH/round" "$SCRATCH/round/up"
one_line() { bounded "$alar" check -q "$SCRATCH/round" | wc -l | grep -qx 1; }
check "links that go round are followed once" one_line
many() { # a wide tree takes time by its size, not by its square
    mkdir -p "$SCRATCH"/wide/{0..9}{0..9}{0..9}/{a,b,c} && cp $good "$SCRATCH/wide/000/a/" && bounded "$alar" check -q "$SCRATCH/wide"
}
check "4,000 directories" many

# ---- pipes, devices ------------------------------------------------------------------------------
mkfifo "$SCRATCH/fifo" "$SCRATCH/fifo.jsonl"
expect_text "a pipe nobody writes to" 3 "found a pipe (a history from a pipe is -, standard input)" bounded "$alar" check "$SCRATCH/fifo"
mkdir "$SCRATCH/with-fifo" && mv "$SCRATCH/fifo.jsonl" "$SCRATCH/with-fifo/"
expect_text "one in a directory" 3 "expected a file, found a pipe" bounded "$alar" check "$SCRATCH/with-fifo"
for command in check cost "view -o $SCRATCH/x.html"; do
    expect_text "alar $command /dev/zero" 3 "/dev/zero: expected a file, found a device" bounded "$alar" $command /dev/zero
done
endless() { yes | bounded "$alar" check -; }
expect_text "a pipe without an end that is no history" 3 "standard input:1:1: expected" endless
zeros() { bounded "$alar" check - </dev/zero; }
expect_code "zeros without an end" 3 zeros
piped() { "$alar" check -q - <$good; }
check "a history from a pipe" piped
truncate -s 40M "$SCRATCH/zeros.jsonl" && echo >>"$SCRATCH/zeros.jsonl"
expect_text "a line of 40 MB" 3 "zeros.jsonl:1:1: expected a line of at most 16 MiB" bounded "$alar" check "$SCRATCH/zeros.jsonl"
unread() { timeout -k 2 60 valgrind -q --error-exitcode=9 "$alar" check "$SCRATCH/zeros.jsonl"; }
expect_code "and nothing is read that was not written" 3 unread

# ---- what could not be written -------------------------------------------------------------------
run() { "$alar" run --async-log-allreduce --steps 32:34 --quiet "$@"; }
for option in --stats-json --log-json; do
    expect_text "$option on a full disk" 2 "/dev/full: expected to write all of it, found: No space left on device" run $option /dev/full
    expect_text "$option in a place that is not there" 3 "/nonexistent/x: expected a file" run $option /nonexistent/x
done
nowhere() { run >/dev/full; }
expect_text "a summary on a full disk" 2 "expected to write all of standard output" nowhere
closed() { run --history "$SCRATCH/h" >&-; }
expect_text "a closed standard output" 2 "found: Bad file descriptor" closed
check "leaves the history alone" "$alar" check -q "$SCRATCH/h"

# ---- two hosts of one name, that booted at different times ---------------------------------------
mkdir "$SCRATCH/skewed"
for rank in 0 1; do
    echo '{"ev":"trace","rank":'$rank',"v":1,"world":2,"clock":"monotonic_ns","t0":1000000000'$([ $rank = 0 ] || echo 000000)',"host":"localhost"}
{"ev":"issue","rank":'$rank',"t":10,"op":0,"in":['$((rank + 1))']}
{"ev":"done","rank":'$rank',"t":20,"op":0,"out":[3]}
{"ev":"end","rank":'$rank',"t":30}' >"$SCRATCH/skewed/rank$rank.jsonl"
done
expect_text "clocks that can't be one are not compared" 0 "PASS" "$alar" check -q "$SCRATCH/skewed"
tally

#!/usr/bin/env bash
# seconds: 5000
# The torch recorder on real gloo, two processes, with torch 1.13 and 2.13, with its compiled part and in Python
# alone: what it must see, what it must not change, and what it does with programs, labels and disks that go wrong.
. "$(dirname "$0")/../lib/torch.sh"

here=tests/torch

# all_are VERDICT DIR NAME...: each of these histories
all_are() {
    local wanted=$1 directory=$2 name bad=0
    shift 2
    for name in "$@"; do
        verdict "$directory/$name" | head -n 1 | grep -qF "$wanted" || {
            bad=1
            echo "$name: expected $wanted"
            verdict "$directory/$name" | head -n 4
        }
    done
    return $bad
}

forms() { # forms VERSION
    local reads writes nothing
    check "$1: looks at a pending tensor" bare $here/forms.py "$SCRATCH/forms" "$SCRATCH/store"
    cp "$SCRATCH/.output" "$SCRATCH/names"
    reads=$(sed -n 's/^reads //p' "$SCRATCH/names") writes=$(sed -n 's/^writes //p' "$SCRATCH/names")
    nothing=$(sed -n 's/^nothing //p' "$SCRATCH/names")
    # shellcheck disable=SC2086
    {
        check "$1: every way to read early" all_are "FAIL	early-read: operation world/0, rank 0" "$SCRATCH/forms" $reads
        check "$1: every way to write early" all_are "FAIL	in-flight-write: operation world/0, rank 0" "$SCRATCH/forms" $writes
        check "$1: views and shapes are no reads" all_are PASS "$SCRATCH/forms" $nothing
    }
    check "$1: at the line of the program" grep -q '"ev":"read".*"src":"forms.py:' "$SCRATCH/forms/ratio-item/rank0.jsonl"
}

# looked_at DIR WORD...: where the program looked first at what each operation gave, "never" where it did not
looked_at() {
    local directory=$1
    shift
    python3 - "$directory/rank0.jsonl" >"$SCRATCH/.looks" <<'END' || return 1
import json, sys
records = [json.loads(line) for line in open(sys.argv[1])]
ends = [record["op"] for record in records if record["ev"] == "done"]
looks = [(record["op"], record["src"]) for at, record in enumerate(records) if record["ev"] == "read"]
print(*(" ".join(src for op, src in looks if op == end) or "never" for end in ends))
END
    echo "$*" | diff - "$SCRATCH/.looks"
}

looks() { # looks VERSION
    check "$1: looks at results" recorded "$SCRATCH/looks" --watch -- $here/looks.py "$SCRATCH/store"
    check "$1: each is seen where it was made" looked_at "$SCRATCH/looks" $(tail -n 1 "$SCRATCH/.output")
    expect_text "$1: and is no mistake" 0 PASS verdict "$SCRATCH/looks"
}

# clocks_are_one DIR: their headers say so, and an end that is told before a late rank came is found
clocks_are_one() {
    [ "$(cat "$1"/*.jsonl | grep -o '"boot_id":"[^"]*"' | sort | uniq -c | awk '{print $1}')" -eq 2 ] || return 1
    mkdir -p "$SCRATCH/early"
    cp "$1/rank0.jsonl" "$SCRATCH/early"
    sed 's/"t0":/&9/' "$1/rank1.jsonl" >"$SCRATCH/early/rank1.jsonl"
    verdict "$SCRATCH/early" | grep -q 'premature: operation world/'
}

programs() { # programs VERSION
    check "$1: every collective" recorded "$SCRATCH/c" -- $here/collectives.py "$SCRATCH/store"
    cp "$SCRATCH/.output" "$SCRATCH/said"
    check "$1: a sparse tensor is left out with a line" grep -q 'collectives.py:[0-9]*: a sparse tensor: its operation was left out' "$SCRATCH/said"
    expect_text "$1: is judged" 0 "operations judged, same bits on all ranks" verdict "$SCRATCH/c"
    check "$1: clocks are compared" clocks_are_one "$SCRATCH/c"
    check "$1: every collective, with --watch" recorded "$SCRATCH/w" --watch -- $here/collectives.py "$SCRATCH/store"
    expect_text "$1: is judged" 0 "operations judged, same bits on all ranks" verdict "$SCRATCH/w"
    expect_text "$1: wrong labels and reports" 0 "went on" recorded "$SCRATCH/r" -- $here/reports.py "$SCRATCH/store"
    cp "$SCRATCH/.output" "$SCRATCH/said"
    check "$1: are left out with a line each" [ "$(grep -c 'was left out' "$SCRATCH/said")" -eq 19 ]
    expect_text "$1: the right ones are judged" 0 "reports recomputed" verdict "$SCRATCH/r"
    expect_text "$1: 50 seeds, bare and recorded" 0 "200 losses the same to the bit" \
        bare $here/seeds.py "$SCRATCH/seeds" "$SCRATCH/store"
    check "$1: all of them pass" all_are PASS "$SCRATCH/seeds" $(seq -w 00 49)
}

lives() { # lives VERSION
    check "$1: groups made anew" recorded "$SCRATCH/a" -- $here/life.py again "$SCRATCH/store"
    expect_text "$1: are judged" 0 "operations judged" verdict "$SCRATCH/a"
    check "$1: two threads" recorded "$SCRATCH/t" -- $here/life.py threads "$SCRATCH/store"
    expect_text "$1: are judged" 0 "400 of 400 operations judged" verdict "$SCRATCH/t"
    check "$1: the last 20 operations" recorded "$SCRATCH/ring" --last 20 -- $here/life.py ring "$SCRATCH/store"
    expect_text "$1: are judged" 0 "15 of 15 operations judged" verdict "$SCRATCH/ring/from-00000080"
    check "$1: older ones are gone" [ ! -e "$SCRATCH/ring/from-00000040" ]
    check "$1: and it says where it begins" grep -q '"begins":80' "$SCRATCH/ring/from-00000080/rank0.jsonl"
    check "$1: a forked child" recorded "$SCRATCH/f" -- $here/life.py fork "$SCRATCH/store"
    expect_text "$1: is a rank of its own" 0 "4 of 4 operations judged" verdict "$SCRATCH/f"
    expect_code "$1: a program that raises" 1 recorded "$SCRATCH/e" -- $here/life.py raises "$SCRATCH/store"
    check "$1: leaves a whole history" grep -q '"ev":"exit"' "$SCRATCH/e/rank0.jsonl"
}

killed() { # killed: ten operations, a second, and a kill
    local pid k
    rm -rf "$SCRATCH/k" "$SCRATCH"/store*
    "$python" -m alar.torch -o "$SCRATCH/k" $here/life.py slow "$SCRATCH/store" >"$SCRATCH/slow" 2>&1 &
    pid=$!
    for k in $(seq 600); do
        grep -q reduced "$SCRATCH/slow" && break
        sleep 0.1
    done
    sleep 1
    kill -9 $pid
    wait $pid
    [ "$(grep -c '"ev":"done"' "$SCRATCH/k/rank0.jsonl")" -eq 10 ]
}

# full: a disk of 64 KiB, or, where none can be mounted, a limit on the size of files
full() {
    rm -rf "$SCRATCH/d" "$SCRATCH"/store*
    (trap '' XFSZ; ulimit -f 100; timeout -k 2 240 "$python" -m alar.torch -o "$SCRATCH/d" $here/life.py alone "$SCRATCH/store" 2>&1 | cat)
}

wrong() { # wrong VERSION
    check "$1: a killed process loses the last moment only" killed
    expect_text "$1: and never passes" 2 UNKNOWN verdict "$SCRATCH/k"
    expect_text "$1: a full disk does not end the program" 0 "[1.0, 2999.0]" full
    cp "$SCRATCH/.output" "$SCRATCH/said"
    check "$1: and is said in a line" grep -q 'File too large.*the program goes on' "$SCRATCH/said"
    expect_text "$1: nothing to record" 3 "no collective was recorded" recorded "$SCRATCH/n" -- $here/life.py nothing x
    expect_code "$1: the program's own exit code" 7 recorded "$SCRATCH/n" -- $here/life.py exits x
    expect_text "$1: no process group" 1 "Error: " recorded "$SCRATCH/n" -- $here/life.py groupless x
    expect_text "$1: a torch without distributed" 3 "expected a torch with distributed" strange undistributed
    expect_text "$1: a torch of other names" 3 "[1.0, 2999.0]" strange renamed
    cp "$SCRATCH/.output" "$SCRATCH/said"
    check "$1: is said to be not recorded" grep -q "no collective was recorded" "$SCRATCH/said"
    expect_text "$1: a torch that lacks something" 3 "[1.0, 2999.0]" strange without
    cp "$SCRATCH/.output" "$SCRATCH/said"
    check "$1: is said in one line" grep -q "alar.torch: AttributeError: .* the program goes on" "$SCRATCH/said"
    expect_text "$1: no script" 3 "expected a script, found none" recorded "$SCRATCH/n" -- nowhere.py
    expect_text "$1: no directory" 3 "expected -o DIR script.py" "$python" -m alar.torch x.py
    expect_text "$1: help" 0 "torchrun --nproc_per_node" "$python" -m alar.torch --help
}

# strange WHAT: a torch that was never seen; the program prints what it reduced all the same
strange() {
    rm -rf "$SCRATCH/s" "$SCRATCH"/store*
    timeout -k 2 240 "$python" $here/strange.py "$1" -o "$SCRATCH/s" $here/life.py alone "$SCRATCH/store"
}

# attempt NUMBER: of two ranks, in the environment that torchrun makes. (torchrun itself often can't start gloo anew
# here: the second attempt finds the first one's addresses and does not connect, bare as recorded.)
attempt() {
    local rank pids=() pid code=0
    for rank in 0 1; do
        TORCHELASTIC_RESTART_COUNT=$1 RANK=$rank WORLD_SIZE=2 timeout -k 2 240 "$python" -m alar.torch \
            -o "$SCRATCH/elastic" $here/elastic.py "$SCRATCH/attempt" &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid" || code=$?; done
    return $code
}

ended_badly() { ! attempt 0; }

joined() { "$alar" check --rerun "$SCRATCH/elastic" | grep "2 operations with the same bits, 0 with others, 4 not comparable"; }

restarted() { # restarted VERSION
    rm -rf "$SCRATCH/elastic" "$SCRATCH"/attempt.*
    check "$1: an attempt that ends badly" ended_badly
    expect_text "$1: who ended it" 1 "FAIL	failed-rank: operation world/4 of step 4, rank 1" verdict "$SCRATCH/elastic"
    check "$1: the next attempt" attempt 1
    expect_text "$1: is judged by itself" 0 "4 of 4 operations judged" verdict "$SCRATCH/elastic/attempt-1"
    check "$1: and joined by step" joined
}

gradients() { # gradients VERSION: those that its reducer makes in C++
    check "$1: gradients of DDP on request" recorded "$SCRATCH/g" --gradients -- $here/collectives.py "$SCRATCH/store"
    expect_text "$1: are judged" 0 "operations judged, same bits on all ranks" verdict "$SCRATCH/g"
    check "$1: and are more operations" [ "$(cat "$SCRATCH"/g/*.jsonl | grep -c issue)" -gt \
        "$(cat "$SCRATCH"/c/*.jsonl | grep -c issue)" ]
    check "$1: each has its value" bash -c "! cat '$SCRATCH'/g/*.jsonl | grep '\"complete\"' | grep -v '\"out\"'"
}

# both_say_the_same DIR OPTION... -- PROGRAM...: recorded with the compiled part and without
both_say_the_same() {
    local directory=$1 way
    shift
    for way in 0 1; do
        ALAR_NATIVE=$way recorded "$directory-$way" "$@" || return 1
    done
    "$python" $here/same.py "$directory-0" "$directory-1"
}

compared() { # compared VERSION
    expect_text "$1: usual and unusual all-reduces, compiled and in Python" 0 "records the same" \
        both_say_the_same "$SCRATCH/u" -- $here/unusual.py "$SCRATCH/store"
    expect_text "$1: the last 20 operations" 0 "records the same" both_say_the_same "$SCRATCH/l" --last 20 -- $here/life.py ring "$SCRATCH/store"
    expect_text "$1: every collective" 0 "records the same" both_say_the_same "$SCRATCH/v" -- $here/collectives.py "$SCRATCH/store"
    expect_text "$1: the compiled part lets go of what it held" 0 "operations of a handle: _alar_torch" \
        bare $here/leaks.py "$SCRATCH/leaks" "$SCRATCH/store"
}

for version in ${TORCH_VERSIONS:-1.13 2.13}; do
    python_of $version || continue
    ways="1 0"
    [ -e "$BUILD/python/_alar_torch.abi3.so" ] || {
        ways=0
        skip "torch $version, compiled" "make found no Python.h of 3.10 or later"
    }
    for ALAR_NATIVE in $ways; do
        export ALAR_NATIVE
        claim="$version$([ $ALAR_NATIVE = 1 ] || echo ', Python alone')"
        rm -rf "${SCRATCH:?}"/* # the other recordings: nothing is recorded over them
        forms "$claim"
        looks "$claim"
        programs "$claim"
        lives "$claim"
        wrong "$claim"
        restarted "$claim"
        [ $version = 1.13 ] || gradients "$claim"
        [ $ALAR_NATIVE = 0 ] || compared $version
    done
done
tally
